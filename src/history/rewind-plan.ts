/** What a rewind does to each file. Pure. The work of others is never overwritten without asking. */

import {
  beginning,
  type ConflictReason,
  type FileVersion,
  type NotKept,
  type RewindAction,
  type RewindStep,
  type VersionIs,
} from "../contract/history.ts";
import { byPath, changesIn, isBroken, lastOf, type Story } from "./snapshots.ts";

export interface FileStory {
  readonly path: string;
  readonly relative: string;
  /** As it was at that moment. */
  readonly base: FileVersion;
  /** As the session left it. */
  readonly ours: FileVersion;
  /** As it was before the session's last change, which may not have happened. */
  readonly lastBefore: FileVersion;
  /** Others changed it between two changes of the session. */
  readonly broken: boolean;
}

export type Found =
  | { readonly found: "turn"; readonly files: readonly FileStory[] }
  | { readonly found: "pruned" | "unknown" };

export function changedSince(story: Story, messageId: string): Found {
  const at = story.steps.findIndex((step) => step.type === "turn" && step.messageId === messageId);
  if (at < 0 && messageId !== beginning) return { found: story.pruned.includes(messageId) ? "pruned" : "unknown" };
  const files = [...byPath(changesIn(story.steps.slice(Math.max(at, 0))))].flatMap(([path, changes]) => {
    const [first, last] = [changes[0], lastOf(changes)];
    const { before: base, relative } = first;
    return [{ path, relative, base, ours: last.after, lastBefore: last.before, broken: isBroken(changes) }];
  });
  return { found: "turn", files };
}

/** The present state of a file, compared with its story. */
export type Facts =
  | { readonly now: "absent" }
  | { readonly now: "other"; readonly what: "folder" | "link" | "special" | "outside" | "refused" }
  | {
      readonly now: "file";
      readonly is?: VersionIs | undefined;
      readonly mode: number;
      readonly hash: string | undefined;
      readonly isBase: boolean;
      readonly isOurs: boolean;
      /** Whether it got another hard link since the session left it. */
      readonly linkedSince: boolean;
      /** Why the present content could not be stored if it were overwritten now. */
      readonly unkept: Exclude<NotKept, "failed"> | undefined;
    };

export type Availability = "there" | "pruned" | "damaged";

export function stepOf(file: FileStory, facts: Facts, availability: Availability): RewindStep {
  const { base, ours, lastBefore } = file;
  if (facts.now === "other") return { does: "unavailable", why: facts.what };
  if (facts.now === "file" && !isOfKind(file, facts.is)) return { does: "unavailable", why: facts.is ?? "file" };
  const mode = modeFor(file, facts);
  const isThere = facts.now === "absent" ? base.kind === "absent" : base.kind === "file" && facts.isBase;
  if (isThere && (mode === undefined || (facts.now === "file" && mode === facts.mode))) return { does: "nothing" };
  const action = actionFor(base, facts, availability, mode);
  if (action.does === "unavailable") return action;
  const isOurs =
    facts.now === "absent" ? ours.kind === "absent" || lastBefore.kind === "absent" : facts.isOurs || facts.isBase;
  const why = conflictWith(file, facts, isOurs);
  if (why === undefined) return action;
  const theirs = facts.now === "file" ? facts.hash : undefined;
  const unkept = facts.now === "file" ? facts.unkept : undefined;
  const loses = unkept === undefined ? {} : { loses: { why: unkept } };
  return { does: "conflict", why, base, ours, theirs, forced: action, ...loses };
}

/** A file does not become a folder or a link: only what the session left there, or what was there, is touched. */
function isOfKind({ base, ours, lastBefore }: FileStory, is: VersionIs | undefined): boolean {
  const kinds = [base, ours, lastBefore].flatMap((version) => (version.kind === "absent" ? [] : [version.is]));
  return kinds.includes(is);
}

function conflictWith({ broken }: FileStory, facts: Facts, isOurs: boolean): ConflictReason | undefined {
  if (!isOurs) return "changed since";
  if (broken) return "changed in between";
  if (facts.now !== "file") return undefined;
  if (facts.linkedSince) return "linked since";
  return facts.unkept === undefined ? undefined : lossReasons[facts.unkept];
}

/** Reasons for which a rewind would destroy content, so the user must decide. */
export const lossReasons = {
  secret: "never stored",
  "too large": "too large to keep",
  failed: "cannot be kept",
} as const satisfies Record<NotKept, ConflictReason>;

function actionFor(
  base: FileVersion,
  facts: Facts,
  availability: Availability,
  mode: number | undefined,
): RewindAction | Extract<RewindStep, { readonly does: "unavailable" }> {
  if (base.kind === "absent") return { does: "delete", ...(facts.now === "file" && facts.is && { is: facts.is }) };
  if (base.notKept !== undefined) return { does: "unavailable", why: base.notKept };
  if (base.content === undefined) return { does: "unavailable", why: "failed" };
  if (availability !== "there") return { does: "unavailable", why: availability };
  const { content, sizeBytes, is } = base;
  const does = facts.now === "absent" ? "create" : "restore";
  const replaces = facts.now === "file" && facts.is !== is ? { replaces: facts.is ?? ("file" as const) } : {};
  return { does, ...(is && { is }), ...replaces, content, sizeBytes, ...(mode === undefined ? {} : { mode }) };
}

/** The mode to restore, unless the session did not change it or others have changed it since. */
function modeFor({ base, ours }: FileStory, facts: Facts): number | undefined {
  if (base.kind !== "file" || base.mode === undefined) return undefined;
  if (facts.now !== "file") return base.mode;
  const oursMode = ours.kind === "file" ? (ours.mode ?? facts.mode) : facts.mode;
  return oursMode === facts.mode && base.mode !== facts.mode ? base.mode : undefined;
}
