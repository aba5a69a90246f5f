/** The three sides of a conflict as two diffs: what the session did to the file, and what somebody else did to that. */

import type { ConflictReason } from "../../contract/history.ts";
import type { RewoundFile } from "../../contract/rewind.ts";
import type { Host } from "./command.ts";
import { paintVersions } from "./paint-versions.ts";
import type { Looked } from "./past.ts";
import { diffOfSides, type Side, sideOf, sideOfContent, sideOnDisk, type VersionDiff } from "./versions.ts";

export interface ConflictView {
  /** `changed in between`: what somebody else did lies between two changes of the session, and so in `ours`. */
  readonly why: ConflictReason;
  /** From what a rewind would bring back to what the session left. */
  readonly ours: VersionDiff;
  /** From what the session left to what is there. */
  readonly theirs: VersionDiff;
}

/** Undefined if the file is not in conflict. */
export async function conflictView(file: RewoundFile, { session, turns }: Looked): Promise<ConflictView | undefined> {
  const { step, path, came } = file;
  if (step.does !== "conflict") return undefined;
  // Nobody else did anything to it.
  if (step.why === "too large to keep" || step.why === "cannot be kept") return undefined;
  const refused = await session.readRefusal(path);
  const hidden: Side = { why: refused ?? "" };
  const sides = refused === undefined ? [await sideOf(step.base, turns), await sideOf(step.ours, turns)] : [];
  const [base = hidden, ours = hidden] = sides;
  const now = async (): Promise<Side> => {
    if (step.theirs === undefined) return "absent";
    // What was there before a forced rewind is in the history now.
    return came === "done" ? sideOfContent(step.theirs, turns) : sideOnDisk(path);
  };
  return {
    why: step.why,
    ours: diffOfSides(base, ours),
    theirs: diffOfSides(ours, refused === undefined ? await now() : hidden),
  };
}

export function paintConflict(name: string, { why, ours, theirs }: ConflictView, host: Host): string {
  const mixed = why === "changed in between" ? " and somebody else in between" : "";
  const parts = [
    paintVersions(`${name}: what this session${mixed} changed`, ours, host),
    ...(why === "changed since" ? [paintVersions(`${name}: what somebody else changed since`, theirs, host)] : []),
  ];
  return parts.map((part) => part.replaceAll(/^/gm, "    ")).join("\n\n");
}
