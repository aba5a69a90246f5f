/** Versions of files, as the history has them or as they are now: found by what the page names, and read under the rules. */

import type { SessionHistory } from "../../api.ts";
import type { FileVersion } from "../../contract/history.ts";
import type { NoDiff, VersionRef } from "../../contract/inspector.ts";
import { type Inspected, mayShow } from "./desk.ts";
import { choice, fieldsOf, flag, own, text } from "./input.ts";
import { bad, isFailure, Refusal } from "./refusal.ts";

/** One side of a comparison. */
export type Side = { readonly bytes: Buffer } | "nothing" | { readonly none: Exclude<NoDiff, "same" | "none"> };

export function versionRefOf(value: unknown, name: string): VersionRef {
  const fields = fieldsOf(value, `"${name}"`);
  if (own(fields, "nothing") !== undefined) {
    if (!flag(fields, "nothing")) throw bad(`"${name}.nothing" must be true`);
    return { nothing: true };
  }
  if (own(fields, "now") !== undefined) return { now: text(fields, "now") };
  return {
    session: text(fields, "session"),
    turn: text(fields, "turn"),
    path: text(fields, "path"),
    when: choice(fields, "when", ["before", "after"]),
  };
}

export const pathOf = (ref: VersionRef): string | undefined =>
  "now" in ref ? ref.now : "path" in ref ? ref.path : undefined;

/** What was kept of a session. Nothing is written by looking. */
export async function pastOf(inspected: Inspected, session: string): Promise<SessionHistory> {
  const { filehand, dialect } = inspected.desk;
  const history = await filehand.history();
  if (history === undefined) throw noHistory();
  return history.session({ id: session, roots: filehand.roots, dialect });
}

export const noHistory = (): Refusal =>
  new Refusal(409, "NO_HISTORY", "The past of files is not kept here: there is no state folder, or the setting is off");

export async function sideOf(ref: VersionRef, bytesMax: number, inspected: Inspected): Promise<Side> {
  if ("nothing" in ref) return "nothing";
  if ("now" in ref) return sideNow(ref.now, bytesMax, inspected);
  if (!mayShow(inspected, ref.path)) return { none: "withheld" };
  const past = await pastOf(inspected, ref.session);
  const version = past.versionOf(ref.turn, ref.path, ref.when);
  if (version === undefined)
    throw new Refusal(404, "NO_SUCH_TURN", "That turn did not change that file, or is no longer kept");
  return sideOfVersion(version, past, bytesMax);
}

export async function sideOfVersion(version: FileVersion, past: SessionHistory, bytesMax: number): Promise<Side> {
  if (version.kind === "absent") return "nothing";
  if (version.notKept === "secret") return { none: "withheld" };
  if (version.notKept === "too large" || version.sizeBytes > bytesMax) return { none: "too large" };
  if (version.content === undefined || version.notKept !== undefined) return { none: "gone" };
  const kept = await past.open(version.content);
  if (typeof kept === "string") return { none: kept === "missing" ? "gone" : "damaged" };
  try {
    if (kept.sizeBytes > bytesMax) return { none: "too large" };
    const bytes = Buffer.alloc(kept.sizeBytes);
    await kept.read(bytes, 0);
    return { bytes };
  } finally {
    kept.close();
  }
}

/** As any program reads it: under the rules, and nobody is asked. */
async function sideNow(path: string, bytesMax: number, inspected: Inspected): Promise<Side> {
  if (!mayShow(inspected, path)) return { none: "withheld" };
  try {
    const content = await inspected.own.workspace.content(path, bytesMax);
    switch (content.is) {
      case "text":
        return { bytes: Buffer.from(content.text) };
      case "bytes":
        return { bytes: Buffer.from(content.base64, "base64") };
      case "too large":
        return { none: "too large" };
      case "folder":
        return { none: "not text" };
    }
  } catch (error) {
    if (!isFailure(error)) throw error;
    if (error.code === "NOT_FOUND") return "nothing";
    return { none: error.code === "ACCESS_DENIED" ? "withheld" : "gone" };
  }
}
