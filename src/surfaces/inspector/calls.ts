/** The timeline: sessions, calls and one call. */

import type { Reply } from "../../contract/call.ts";
import type { CallDiff, CallEvent } from "../../contract/event.ts";
import { verdictWords } from "../../dialects/dialects.ts";
import { type Inspected, inspectedSession } from "./inspected.ts";
import { bad, type Fields, integer, isFailure, maybeText, numberIn, RequestRefused, text } from "./input.ts";
import type {
  CallDetailView,
  CallInfo,
  CallPage,
  CallView,
  Explained,
  ExplanationView,
  FileEntry,
  FolderView,
  ProcessInfo,
  SessionList,
} from "./wire.ts";

/** The part of a call that the timeline keeps as JSON; see `session/timeline.ts`. */
export interface KeptDetail {
  readonly input: unknown;
  readonly reply: Reply | null;
  readonly diffs: readonly CallDiff[];
}

export const infoOf = (event: CallEvent, { workspace, timeline, origins }: Inspected): CallInfo => ({
  ...event,
  workspace: workspace.name,
  process: origins.get(event) ?? null,
  kept: timeline.has(event.id),
});

export function sessionList({ workspace, timeline, origins }: Inspected): SessionList {
  const newest = new Map<string, CallEvent>();
  for (const event of timeline.newestFirst()) if (!newest.has(event.session)) newest.set(event.session, event);
  const processOf = (id: string): ProcessInfo | null => {
    const event = newest.get(id);
    return (event === undefined ? undefined : origins.get(event)) ?? null;
  };
  return {
    sessions: timeline
      .sessions()
      .map((session) => ({ workspace: workspace.name, ...session, process: processOf(session.id) })),
  };
}

const filterCharsMax = 4_096; // the longest path
const choicesMax = 100; // sessions and tools in one filter: each is compared with every call

export function callPage(query: URLSearchParams, inspected: Inspected): CallPage {
  const { timeline } = inspected;
  const matches = filterOf(query);
  const max = numberIn(query, "max", 1, 500) ?? 100;
  const before = numberIn(query, "before", 1, Number.MAX_SAFE_INTEGER);
  const calls: CallInfo[] = [];
  let next: number | null = null;
  for (const event of timeline.newestFirst(before)) {
    if (!matches(event)) continue;
    if (calls.length === max) {
      next = calls.at(-1)?.id ?? null;
      break;
    }
    calls.push(infoOf(event, inspected));
  }
  return { calls, next, total: timeline.size, dropped: timeline.dropped };
}

function filterOf(query: URLSearchParams): (event: CallEvent) => boolean {
  const choices = (name: string): ReadonlySet<string> | undefined => {
    const values = query.getAll(name);
    if (values.length > choicesMax) throw bad(`"${name}" may be given ${choicesMax} times at most`);
    if (values.some((value) => value.length > filterCharsMax)) throw tooLong(name);
    return values.length === 0 ? undefined : new Set(values);
  };
  const [sessions, tools] = [choices("session"), choices("tool")];
  const path = query.get("path") ?? "";
  if (path.length > filterCharsMax) throw tooLong("path");
  const part = path.toLowerCase();
  const errorsOnly = query.get("errors") === "1";
  return (event) =>
    (sessions === undefined || sessions.has(event.session)) &&
    (tools === undefined || tools.has(event.tool)) &&
    (!errorsOnly || event.outcome !== "ok") &&
    (part === "" ||
      [event.path, event.real, ...event.changes.map((change) => change.relative)].some(
        (name) => name?.toLowerCase().includes(part) === true,
      ));
}

const tooLong = (name: string): RequestRefused => bad(`"${name}" must have at most ${filterCharsMax} characters`);

export function callNamed(id: string, { timeline }: Inspected): CallEvent {
  const event = /^\d{1,15}$/.test(id) ? timeline.call(Number(id)) : undefined;
  if (event !== undefined) return event;
  throw new RequestRefused(404, "NO_SUCH_CALL", "There is no such call, or it is no longer kept");
}

export function callView(id: string, inspected: Inspected): CallView {
  const event = callNamed(id, inspected);
  const kept = detailOf(event.id, inspected);
  const call = infoOf(event, inspected);
  return typeof kept === "string"
    ? { call, detail: null, missing: kept }
    : { call, detail: viewOf(kept), missing: null };
}

export function detailOf(id: number, { timeline }: Inspected): KeptDetail | NonNullable<CallView["missing"]> {
  const json = timeline.detail(id);
  return typeof json === "string" ? json : (JSON.parse(json.toString("utf8")) as KeptDetail); // the timeline's own JSON
}

const viewOf = ({ input, reply }: KeptDetail): CallDetailView => ({
  input,
  content: reply?.content ?? [],
  structured: reply?.structured ?? null,
  isError: reply?.isError ?? true,
  error:
    reply?.error ?? (reply === null ? { code: "INTERNAL", message: "A bug in Filehand, see the server's log" } : null),
});

// The tree of the workspace, folder by folder, with marks; and why a path may, or may not, be read and edited.

export async function folderView(body: Fields, inspected: Inspected): Promise<FolderView> {
  const asked = text(body, "path");
  const from = integer(body, "from", 0, Number.MAX_SAFE_INTEGER, 0);
  const max = integer(body, "max", 1, 1_000, 200);
  const page = await inspected.own.workspace.entries(asked, { from, max }).catch((error: unknown) => {
    if (!isFailure(error)) throw error;
    if (error.code === "NOT_FOUND") throw new RequestRefused(404, "NO_SUCH_PATH", error.message);
    throw new RequestRefused(422, "REFUSED", error.message);
  });
  const { path, relative, total } = page;
  const marksOf = markCounter(path, inspected);
  const entries = page.entries.map(
    ({ sizeBytes, ...entry }): FileEntry => ({ ...entry, sizeBytes: sizeBytes ?? null, ...marksOf(entry.name) }),
  );
  const end = from + entries.length;
  return { path, relative, entries, total, next: end < total && entries.length > 0 ? end : null };
}

/** One pass over all marks, however many entries the folder has: by the name of the entry that is, or contains, the marked file. */
function markCounter(folder: string, { timeline }: Inspected) {
  const counts = new Map<string, { wasRead: number; wasChanged: number }>();
  const start = /[\\/]$/.test(folder) ? folder : `${folder}${folder.includes("\\") ? "\\" : "/"}`;
  for (const [path, { read, changed }] of timeline.marks()) {
    if (!path.startsWith(start)) continue;
    const [name = ""] = path.slice(start.length).split(/[\\/]/, 1);
    const count = counts.get(name) ?? { wasRead: 0, wasChanged: 0 };
    counts.set(name, count);
    if (read) count.wasRead += 1;
    if (changed) count.wasChanged += 1;
  }
  return (name: string) => counts.get(name) ?? { wasRead: 0, wasChanged: 0 };
}

export function explained(body: Fields, inspected: Inspected): Explained {
  const path = text(body, "path");
  const session = maybeText(body, "session");
  const { permissions } = session === undefined ? inspected.workspace.filehand : inspectedSession(inspected, session);
  const view = (tool: "Read" | "Edit"): ExplanationView => {
    const explanation = permissions.explain(tool, path);
    return { explanation, lines: verdictWords(explanation) };
  };
  return { read: view("Read"), edit: view("Edit") };
}
