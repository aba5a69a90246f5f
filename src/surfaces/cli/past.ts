/** Stored sessions for the commands that look back: which there are, and which session and turn a command means. */

import { isUtf8 } from "node:buffer";
import * as nodePath from "node:path";
import type { Hunk } from "../../contract/edit.ts";
import type { FileVersion, NotKept } from "../../contract/history.ts";
import { FilehandError } from "../../contract/problem.ts";
import { commandLineClient, personDialect, typedByPerson } from "../../dialects/dialects.ts";
import type { History, Session, SessionHistory } from "../../options.ts";
import { readNamedFile } from "../../settings/settings.ts";
import { overlap } from "../../state/state.ts";
import { escapeName, gitBinaryPatch, gitPatch, hunksOfTexts, shortNames } from "../../text/text.ts";
import type { Given, Host } from "./command.ts";
import { type Opened, openSession, ownSessionId } from "./open-session.ts";
import { findWorkspace, namedSessions, noTurn, type SessionSummary, sessionsOfAgent, whoseIn } from "./whose.ts";

export interface Past extends Opened {
  readonly history: History;
  readonly ownId: string;
  readonly nowMs: number;
  /** Reports once for each session that records are damaged, since a change that is not listed may still have happened. */
  readonly tellOfDamage: (turns: SessionHistory) => void;
}

/** Without `--root` the workspace is looked for above the current folder, unless the command is about all that is kept. */
export async function openPast(given: Given, host: Host, about: "workspace" | "store" = "workspace"): Promise<Past> {
  const opened = await openSession(given, host, "people", {
    dialect: personDialect,
    ...(about === "workspace" && { workspace: (stateDir) => findWorkspace(stateDir, host) }),
  });
  const history = await opened.filehand.history();
  if (history === undefined) {
    throw noTurn(
      opened.stateDir === undefined
        ? "Cannot look back: no history is kept without a state folder, give one with --state-dir"
        : 'Cannot look back: the setting "history" is false, so nothing is kept',
    );
  }
  const ownId = ownSessionId(opened.filehand);
  return { ...opened, history, ownId, nowMs: Date.now(), tellOfDamage: damageTeller(host) };
}

function damageTeller(host: Host): Past["tellOfDamage"] {
  const reported = new Set<string>();
  return (turns) => {
    const counts = new Map<string, number>();
    for (const fault of turns.faults()) {
      const session = ("session" in fault ? fault.session : undefined) ?? turns.id;
      counts.set(session, (counts.get(session) ?? 0) + 1);
    }
    for (const [session, count] of counts) {
      if (reported.has(session)) continue;
      reported.add(session);
      const [records, are] = count === 1 ? ["one record", "is"] : [`${count} records`, "are"];
      const left = `${records} of the session ${escapeName(session)} cannot be read and ${are} left out`;
      host.stderr.write(`filehand: ${left}, see filehand history verify\n`);
    }
  };
}

export const sessionsHere = ({ history, filehand }: Past): readonly SessionSummary[] =>
  history.sessions().filter(({ roots }) => overlap(roots, filehand.roots));

/** The turns that a command is about: of all sessions of the workspace, unless the person named some. */
export interface Looked {
  readonly past: Past;
  readonly session: Session;
  readonly turns: SessionHistory;
  /** Of turns that changed something, oldest first. */
  readonly ids: readonly string[];
  readonly sessions: readonly SessionSummary[];
}

export function chosenTurns(past: Past, given: Given): Promise<Looked> {
  const whose = whoseIn(given);
  if (given.flag("all")) return looked(past, past.history.sessions());
  const within = past.filehand.roots;
  switch (whose.of) {
    case "all":
      return looked(past, sessionsHere(past), within);
    case "mine":
      return looked(past, sessionsHere(past).filter(typedByPerson), within);
    case "agent":
      return looked(past, sessionsOfAgent(whose.name, sessionsHere(past)), within);
    case "session": {
      const all = past.history.sessions();
      const found = all.find(({ id }) => id === whose.id);
      if (found !== undefined) return looked(past, [found]);
      const here = sessionsHere(past).filter(({ turns }) => turns > 0);
      const others = here.length === 0 ? "see filehand history --all" : `here are ${namedSessions(here, past.nowMs)}`;
      throw noTurn(`Cannot look at the session "${escapeName(whose.id)}": nothing is kept of it, ${others}`);
    }
  }
}

/** `within`: leaves out turns that changed nothing below these folders. */
async function looked(past: Past, sessions: readonly SessionSummary[], within?: readonly string[]): Promise<Looked> {
  const { filehand, ownId } = past;
  const ids = sessions.map(({ id }) => id);
  // The person's own session is looked at even if only damaged records are left of it, which are reported.
  const own = within !== undefined && sessions.every(typedByPerson) ? [ownId] : [];
  const over = { sessions: [...new Set([...own, ...ids])], ...(within && { within }) };
  const session = filehand.session({ dialect: personDialect, id: ownId, client: commandLineClient, over });
  const turns = await session.history();
  if (turns === undefined) throw new Error("a session of a kept history has one");
  past.tellOfDamage(turns);
  return { past, session, turns, sessions, ids: turns.snapshots().map(({ messageId }) => messageId) };
}

export interface Named extends Looked {
  readonly turn: string;
}

/** The turn that a person means. */
export async function namedTurn(asked: string, past: Past, given: Given): Promise<Named> {
  const list = await chosenTurns(past, given);
  const found = findTurn(asked, list.ids);
  if (typeof found === "string") return { ...list, turn: found };
  if (found.why === "several") throw ambiguous(asked, found.among, list.ids);
  if (found.why === "counted too far") throw noTurn(countedTooFar(asked, list));
  throw await unknown(asked, list);
}

/** The sessions that have something to undo or redo and are not among those that were looked at. */
export async function othersWith(way: "undo" | "redo", { past, sessions }: Looked): Promise<string> {
  const all = await looked(past, sessionsHere(past), past.filehand.roots);
  const targets = new Set(all.turns.undoTargets()[way]);
  const known = new Set(sessions.map(({ id }) => id));
  const able = new Set(
    all.turns.turns().flatMap(({ messageId, session }) => (targets.has(messageId) ? [session] : [])),
  );
  const others = all.sessions.filter(({ id }) => able.has(id) && !known.has(id));
  if (others.length > 0) return `; in this workspace there is something of ${namedSessions(others, past.nowMs)}`;
  if (all.sessions.some(({ turns }) => turns > 0)) return "";
  const elsewhere = past.history.sessions().filter(({ turns }) => turns > 0);
  const [newest] = elsewhere;
  if (newest === undefined) return "";
  const where = `the newest in ${escapeName(newest.roots.join(", "))}`;
  return `; nothing was changed in this workspace, in others there is something of ${namedSessions(elsewhere, past.nowMs)}, ${where}`;
}

/** Handles Ctrl-C where no other code does. */
export function stopIfInterrupted({ signal }: Host): void {
  if (signal.aborted) throw new FilehandError("CANCELLED", "Interrupted before the end");
}

function ambiguous(asked: string, among: readonly string[], ids: readonly string[]): FilehandError {
  const names = shortNames(ids);
  const some = among.slice(0, 5).map((id) => names.get(id) ?? id);
  const list = escapeName(some.join(", "));
  return noTurn(`Cannot tell which turn "${escapeName(asked)}" is: ${list} begin so, give more of its id`);
}

function countedTooFar(asked: string, { ids, sessions, past }: Looked): string {
  const whose = sessions.length === 1 ? " by this session" : "";
  const there = ids.length === 0 ? `nothing was changed${whose}` : `there are ${ids.length}, the newest is -1`;
  const others =
    ids.length > 0
      ? []
      : sessionsHere(past).filter(({ id, turns }) => turns > 0 && !sessions.some((one) => one.id === id));
  const hint = others.length === 0 ? "" : `; in this workspace are changes of ${namedSessions(others, past.nowMs)}`;
  return `Cannot find the turn "${escapeName(asked)}": ${there}${hint}; see filehand history`;
}

async function unknown(asked: string, { turns, ids }: Looked): Promise<FilehandError> {
  // Two sessions may use one id; then the list names both with their session.
  const alike = ids.filter((id) => id.endsWith(`/${asked}`)).slice(0, 5);
  if (alike.length > 0) {
    const list = alike.map((id) => `"${escapeName(id)}"`).join(" or ");
    return noTurn(`Cannot tell which turn "${escapeName(asked)}" is: ${list}`);
  }
  // Without files no file is read; the plan only describes the turn.
  const plan = await turns.plan(asked, { current: async () => ({ kind: "absent" }), files: [] });
  const why = plan.found === "pruned" ? "it is no longer kept" : "no turn begins so";
  return noTurn(`Cannot find the turn "${escapeName(asked)}": ${why}, see filehand history`);
}

/** The real path that a person means by a relative or absolute one, of those that were changed. */
export function pathAmong(asked: string, paths: readonly string[], past: Past, host: Host): string | undefined {
  const places = [host.cwd, ...past.filehand.roots].map((folder) => nodePath.resolve(folder, asked));
  return places.find((place) => paths.includes(place));
}

/** How people name turns: by the beginning of an id, or counted from the newest. Pure. */

export { shortNames } from "../../text/text.ts";

type NotFound =
  | { readonly why: "unknown" | "counted too far" }
  | { readonly why: "several"; readonly among: readonly string[] };

/** `ids`: oldest first. */
export function findTurn(asked: string, ids: readonly string[]): string | NotFound {
  if (ids.includes(asked)) return asked;
  if (/^-\d+$/.test(asked)) {
    const back = Number(asked);
    return (back === 0 ? undefined : ids.at(back)) ?? { why: "counted too far" };
  }
  const among = asked === "" ? [] : ids.filter((id) => id.startsWith(asked));
  const [only, second] = among;
  if (only === undefined) return { why: "unknown" };
  return second === undefined ? only : { why: "several", among };
}

/** `<turn>` or `<turn>..<turn>`. An id may hold dots itself, so what names a turn as a whole is one. */
export function rangeOf(asked: string, isTurn: (name: string) => boolean): readonly [string, string] {
  const at = asked.indexOf("..");
  if (at === -1 || isTurn(asked)) return [asked, asked];
  return [asked.slice(0, at), asked.slice(at + 2)];
}

// Versions of files: their content, and the difference between two of them.

/** Of one side of a diff; a longer one is useless on a screen. */
const diffBytesMax = 33_554_432;

const unavailable: Readonly<Record<NotKept | "missing" | "damaged", string>> = {
  secret: "it holds secrets and is never stored",
  "too large": "it was too large to be kept",
  failed: "it could not be kept",
  missing: "its content is no longer kept",
  damaged: "what was kept of it is damaged, see filehand history verify",
};

/** One side: the bytes, none if there was no file, or why they are unavailable. */
export type Side = Uint8Array | "absent" | Unavailable;
interface Unavailable {
  readonly why: string;
}

export type Kept = Exclude<Awaited<ReturnType<SessionHistory["open"]>>, string>;

export async function openVersion(
  { notKept, content }: Extract<FileVersion, { readonly kind: "file" }>,
  turns: SessionHistory,
): Promise<Kept | Unavailable> {
  const isKept = notKept === undefined && content !== undefined;
  return isKept ? openContent(content, turns) : { why: unavailable[notKept ?? "failed"] };
}

async function openContent(content: string, turns: SessionHistory): Promise<Kept | Unavailable> {
  const kept = await turns.open(content);
  return typeof kept === "string" ? { why: unavailable[kept] } : kept;
}

export async function sideOf(version: FileVersion, turns: SessionHistory): Promise<Side> {
  return version.kind === "absent" ? "absent" : wholeOf(await openVersion(version, turns));
}

export const sideOfContent = async (content: string, turns: SessionHistory): Promise<Side> =>
  wholeOf(await openContent(content, turns));

async function wholeOf(file: Kept | Unavailable): Promise<Side> {
  if ("why" in file) return file;
  using _file = file;
  if (file.sizeBytes > diffBytesMax) return { why: `it has ${file.sizeBytes} bytes, too many for a diff` };
  const bytes = Buffer.alloc(file.sizeBytes);
  await file.read(bytes, 0);
  return bytes;
}

export const sideOnDisk = (path: string): Side => readNamedFile(path, diffBytesMax);

export interface VersionDiff {
  /** What happened to the file as a whole; null if only its content changed. */
  readonly became: "new" | "deleted" | null;
  readonly additions: number;
  readonly deletions: number;
  readonly hunks: readonly Hunk[];
  readonly note: string | null;
}

/** `all`: also of a long diff all hunks. */
export function diffOfSides(before: Side, after: Side, all?: "all"): VersionDiff {
  const became = before === "absent" ? "new" : after === "absent" ? "deleted" : null;
  const noted = (note: string): VersionDiff => ({ became, additions: 0, deletions: 0, hunks: [], note });
  if (before === "absent" && after === "absent") return { ...noted("it was there only in between"), became: null };
  const [a, b] = [bytesOf(before), bytesOf(after)];
  if ("why" in a) return noted(`not shown: ${a.why}`);
  if ("why" in b) return noted(`not shown: ${b.why}`);
  if (Buffer.compare(a, b) === 0) return noted(became === null ? "no difference" : "empty");
  if (a.includes(0) || b.includes(0)) return noted(`not text: ${a.length} bytes before, ${b.length} after`);
  const encoding = diffEncoding(a, b);
  const decoded = (bytes: Uint8Array): string => Buffer.from(bytes).toString(encoding);
  const limits = all === undefined ? {} : { linesMax: Infinity, charsMax: Infinity };
  const { hunks, additions, deletions } = hunksOfTexts(decoded(a), decoded(b), limits);
  return { became, additions, deletions, hunks, note: null };
}

/** Bytes that are not UTF-8 are kept on both sides, or every line with one would differ. */
const diffEncoding = (a: Uint8Array, b: Uint8Array): "utf8" | "latin1" => (isUtf8(a) && isUtf8(b) ? "utf8" : "latin1");

/** One file of a patch: its bytes; undefined if nothing changed that a patch can say. `lacks`: why the content is not in it. */
export interface FilePatch {
  readonly bytes: Uint8Array | undefined;
  readonly lacks: string | undefined;
}

/** The file was `oldPath` before, if it is moved. Paths are relative to the root. */
export function patchOfSides(
  path: string,
  oldPath: string | undefined,
  [before, after]: readonly [Side, Side],
  modes: { readonly before: number; readonly after: number } | undefined,
): FilePatch {
  const kind = before === "absent" ? "create" : after === "absent" ? "delete" : "update";
  const options = { oldPath, modes };
  const [a, b] = [bytesOf(before), bytesOf(after)];
  const nothing = { bytes: undefined, lacks: undefined };
  if (before === "absent" && after === "absent") return nothing;
  if ("why" in a) return { ...nothing, lacks: a.why };
  if ("why" in b) return { ...nothing, lacks: b.why };
  const isSame = Buffer.compare(a, b) === 0;
  if (isSame && kind === "update" && oldPath === undefined && modes === undefined) return nothing;
  if (!isSame && (a.includes(0) || b.includes(0))) {
    return { bytes: Buffer.from(gitBinaryPatch(path, kind, options)), lacks: "it is not text" };
  }
  const { head, body } = gitPatch(path, diffOfSides(before, after, "all").hunks, kind, options);
  return { bytes: Buffer.concat([Buffer.from(head), Buffer.from(body, diffEncoding(a, b))]), lacks: undefined };
}

const bytesOf = (side: Side): Uint8Array | Unavailable => (side === "absent" ? new Uint8Array() : side);
