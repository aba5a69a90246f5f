/** The history: sessions, their turns and files, and all versions of one file. Denied files are not named. */

import { createHash } from "node:crypto";
import type { FileChange, FileVersion, TurnChanges } from "../../contract/history.ts";
import type { SessionHistory } from "../../options.ts";
import { contains } from "../../contract/common.ts";
import { overlap } from "../../state/state.ts";
import { didTo, modesOf, shortNames, type TouchedFile, turnFiles, undoneIn } from "../../text/text.ts";
import { type Inspected, mayName, mayShow, relativeOf } from "./inspected.ts";
import {
  bad,
  choice,
  type Fields,
  fieldsOf,
  flag,
  integer,
  isFailure,
  maybeText,
  own,
  RequestRefused,
  text,
} from "./input.ts";
import type {
  FileVersionInfo,
  NoDiff,
  PastSessions,
  TurnFile,
  TurnInfo,
  TurnPage,
  VersionInfo,
  VersionList,
  VersionRef,
} from "./wire.ts";

const filesMax = 500; // of one turn in a list
const versionsMax = 1_000; // of one file in a list
/** Sessions that are searched for one file: each is a file to read. */
const sessionsMax = 200;
const currentBytesMax = 16_777_216; // hashing more would take too long for a list

/** Sessions whose roots are ours, are inside ours or contain them. */
export async function pastSessions({ workspace }: Inspected): Promise<PastSessions> {
  const history = await workspace.filehand.history();
  if (history === undefined) throw noHistory();
  const here = history.sessions().filter(({ roots }) => overlap(roots, workspace.filehand.roots));
  return {
    sessions: here.map(({ id, client = null, dialect, startedMs = null, lastMs, turns }) => ({
      id,
      client,
      dialect,
      startedMs,
      lastMs,
      turns,
    })),
  };
}

export async function turnPage(body: Fields, inspected: Inspected): Promise<TurnPage> {
  const session = text(body, "session");
  const path = maybeText(body, "path");
  const from = integer(body, "from", 0, Number.MAX_SAFE_INTEGER, 0);
  const max = integer(body, "max", 1, 200, 50);
  const past = await pastOf(inspected, session);
  const isNamed = mayName(inspected);
  const all = past.turns();
  const names = shortNames(all.map(({ messageId }) => messageId));
  const isAsked = ({ path: own }: FileChange): boolean => path === undefined || contains(path, own);
  const turns = all.filter(({ files }) => path === undefined || files.some(isAsked)).toReversed();
  const { undo, redo } = past.undoTargets();
  const end = from + max;
  return {
    session,
    turns: turns.slice(from, end).map((turn) => turnInfo(turn, names, isNamed)),
    total: turns.length,
    next: end < turns.length ? end : null,
    undo: undo[0] ?? null,
    redo: redo[0] ?? null,
  };
}

function turnInfo(turn: TurnChanges, names: ReadonlyMap<string, string>, isNamed: (path: string) => boolean): TurnInfo {
  const { messageId: id, timestamp, rewinds } = turn;
  const { files, hiddenByRules } = turnFiles(turn, isNamed);
  return {
    id,
    name: names.get(id) ?? id,
    timeMs: timestamp.getTime(),
    rewinds: rewinds ?? null,
    undone: undoneIn(turn),
    files: files.slice(0, filesMax).map(turnFile),
    filesTotal: files.length,
    hiddenByRules,
  };
}

function turnFile(touched: TouchedFile): TurnFile {
  const { change, from, before, after } = touched;
  const { path, relative, observed, undone } = change;
  return {
    path,
    relative,
    did: didTo(touched),
    movedFrom: from === undefined ? null : { path: from.path, relative: from.relative },
    modes: modesOf(before, after) ?? null,
    observed,
    undone,
    before: versionInfo(before),
    after: versionInfo(after),
  };
}

function versionInfo(version: FileVersion): VersionInfo {
  if (version.kind === "absent") return { sizeBytes: null, content: null, notKept: null };
  const { sizeBytes, content, notKept } = version;
  return { sizeBytes, content: notKept === undefined ? (content ?? null) : null, notKept: notKept ?? null };
}

/** From the newest sessions, oldest version first. A version that repeats the one before it is left out. */
export async function versionList(body: Fields, inspected: Inspected): Promise<VersionList> {
  const path = text(body, "path");
  if (!mayName(inspected)(path))
    throw new RequestRefused(404, "NO_SUCH_PATH", "That path cannot be shown: a rule denies it, or it is outside");
  const found: FileVersionInfo[] = [];
  for (const { id: session } of (await pastSessions(inspected)).sessions.slice(0, sessionsMax)) {
    const past = await pastOf(inspected, session);
    for (const { messageId: turn, timestamp, files } of past.turns()) {
      const file = files.find((one) => one.path === path);
      if (file === undefined) continue;
      const ref = (when: "before" | "after") => ({ session, turn, path, when }) as const;
      const timeMs = timestamp.getTime();
      found.push({ ref: ref("before"), timeMs: null, current: null, ...versionInfo(file.before) });
      found.push({ ref: ref("after"), timeMs, current: null, ...versionInfo(file.after) });
    }
  }
  const current = await currentContent(path, inspected);
  const known = new Set<string>();
  const versions = inOrder(found).filter(({ content, sizeBytes, timeMs }) => {
    const key = JSON.stringify([content, sizeBytes]);
    // The state before a change is listed only if no known change made it.
    const isNews = timeMs !== null || content === null || !known.has(key);
    known.add(key);
    return isNews;
  });
  return {
    path,
    relative: relativeOf(inspected, path),
    versions: versions
      .slice(-versionsMax)
      .map((version) => ({ ...version, current: current === undefined ? null : isCurrent(version, current) })),
  };
}

/** By time; the state before a change comes right before the state after it. */
function inOrder(found: readonly FileVersionInfo[]): readonly FileVersionInfo[] {
  const pairs = found.flatMap((version, at) => (at % 2 === 0 ? [[version, found[at + 1]] as const] : []));
  return pairs
    .toSorted(([, a], [, b]) => (a?.timeMs ?? 0) - (b?.timeMs ?? 0))
    .flatMap(([before, after]) => (after === undefined ? [before] : [before, after]));
}

const isCurrent = ({ content, sizeBytes }: VersionInfo, current: string): boolean =>
  current === "nothing" ? sizeBytes === null : content === current;

/** The hash of the current content, `nothing` if there is no file, or undefined if it may not be read. */
async function currentContent(path: string, inspected: Inspected): Promise<string | undefined> {
  if (!mayShow(inspected, path)) return undefined;
  const side = await inspectedVersion({ now: path }, currentBytesMax, inspected);
  if (side === "nothing") return side;
  return "bytes" in side ? createHash("sha256").update(side.bytes).digest("hex") : undefined;
}

// Versions of files, from the history or from the disk, by the reference that the page sends; the rules apply.

export type InspectedVersion =
  | { readonly bytes: Buffer }
  | "nothing"
  | { readonly none: Exclude<NoDiff, "same" | "none"> };

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

/** The history of a session, opened without writing anything. */
export async function pastOf(inspected: Inspected, session: string): Promise<SessionHistory> {
  const { filehand, dialect } = inspected.workspace;
  const history = await filehand.history();
  if (history === undefined) throw noHistory();
  return history.session({ id: session, roots: filehand.roots, dialect });
}

const noHistory = (): RequestRefused =>
  new RequestRefused(
    409,
    "NO_HISTORY",
    "The past of files is not kept here: there is no state folder, or the setting is off",
  );

export async function inspectedVersion(
  ref: VersionRef,
  bytesMax: number,
  inspected: Inspected,
): Promise<InspectedVersion> {
  if ("nothing" in ref) return "nothing";
  if ("now" in ref) return sideNow(ref.now, bytesMax, inspected);
  if (!mayShow(inspected, ref.path)) return { none: "hidden" };
  const past = await pastOf(inspected, ref.session);
  const version = past.versionOf(ref.turn, ref.path, ref.when);
  if (version === undefined)
    throw new RequestRefused(404, "NO_SUCH_TURN", "That turn did not change that file, or is no longer kept");
  return sideOfVersion(version, past, bytesMax);
}

export async function sideOfVersion(
  version: FileVersion,
  past: SessionHistory,
  bytesMax: number,
): Promise<InspectedVersion> {
  if (version.kind === "absent") return "nothing";
  if (version.notKept === "secret") return { none: "hidden" };
  if (version.notKept === "too large" || version.sizeBytes > bytesMax) return { none: "too large" };
  if (version.content === undefined || version.notKept !== undefined) return { none: "gone" };
  const opened = await past.open(version.content);
  if (typeof opened === "string") return { none: opened === "missing" ? "gone" : "damaged" };
  using kept = opened;
  if (kept.sizeBytes > bytesMax) return { none: "too large" };
  const bytes = Buffer.alloc(kept.sizeBytes);
  await kept.read(bytes, 0);
  return { bytes };
}

/** Reads the current file under the rules; asks nobody. */
async function sideNow(path: string, bytesMax: number, inspected: Inspected): Promise<InspectedVersion> {
  if (!mayShow(inspected, path)) return { none: "hidden" };
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
    return { none: error.code === "ACCESS_DENIED" ? "hidden" : "gone" };
  }
}
