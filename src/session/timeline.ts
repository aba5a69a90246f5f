/**
 * The last calls of a toolkit, with arguments, reply and diff of as many as fit. A detail is stored as JSON, so that its size is
 * exact and a short reply does not keep the long text alive that it was sliced from.
 */

import { Buffer } from "node:buffer";
import { dropOldest } from "../contract/common.ts";
import {
  addToTally,
  type CallDetail,
  type CallEvent,
  type CallTally,
  emptyTally,
  type MutableTally,
  type SessionTally,
} from "../contract/event.ts";

export interface TimelineLimits {
  readonly callsMax?: number;
  /** Of all details together. */
  readonly bytesMax?: number;
  /** Files whose marks are kept, and sessions. */
  readonly filesMax?: number;
  readonly sessionsMax?: number;
}

export const timelineDefaults = {
  callsMax: 10_000,
  bytesMax: 67_108_864,
  filesMax: 20_000,
  sessionsMax: 1_000,
} as const satisfies Required<TimelineLimits>;

/** Whether a successful call read or changed a file. */
export interface FileMarks {
  readonly read: boolean;
  readonly changed: boolean;
}

/** Why a call has no detail. `hidden`: the recorder does not want it stored. */
export type Missing = "dropped" | "too large" | "hidden";

export interface Timeline {
  /** For `listen`. Without a detail: why. */
  readonly record: (event: CallEvent, detail: CallDetail | Missing) => void;
  /** The stored calls, oldest first. */
  calls(): Iterable<CallEvent>;
  /** The same from the newest on, or from the one before this id. */
  newestFirst(before?: number): Iterable<CallEvent>;
  call(id: number): CallEvent | undefined;
  /** The JSON of a detail, or why there is none. */
  detail(id: number): Buffer | Missing;
  has(id: number): boolean;
  /** Stored calls, and dropped ones. */
  readonly size: number;
  readonly dropped: number;
  /** Bytes of the details. */
  readonly bytes: number;
  /** Totals since the beginning. */
  ever(): CallTally;
  /** The session with the newest call first. */
  sessions(): readonly SessionTally[];
  /** By real path. */
  marks(): ReadonlyMap<string, FileMarks>;
}

export function createTimeline(given: TimelineLimits = {}): Timeline {
  const limits = { ...timelineDefaults, ...given };
  /** A ring: the call with the id `n` is at `n` modulo its length. Ids count up by one. */
  const ring: (CallEvent | undefined)[] = Array.from({ length: limits.callsMax });
  /** At the same positions. Not a map from which the oldest are deleted: V8 walks past all deleted keys to find the first. */
  const details: (Buffer | Missing | undefined)[] = Array.from({ length: limits.callsMax });
  const sessions = new Map<string, MutableTally & Omit<SessionTally, keyof CallTally> & { lastMs: number }>();
  const marks = new Map<string, FileMarks>();
  const ever = emptyTally();
  let [bytes, size, newest] = [0, 0, 0];
  /** No call before this id has a detail. */
  let detailed = 0;

  const dropDetail = (at: number): void => {
    const old = details[at];
    if (!(old instanceof Buffer)) return;
    bytes -= old.length;
    details[at] = "dropped";
  };

  const keepDetail = (id: number, detail: CallDetail | Missing): void => {
    const at = id % limits.callsMax;
    dropDetail(at);
    detailed = Math.max(detailed, id - limits.callsMax + 1);
    if (typeof detail === "string") return void (details[at] = detail);
    const json = Buffer.from(jsonOf(detail));
    details[at] = json.length > limits.bytesMax ? "too large" : json;
    if (json.length > limits.bytesMax) return;
    bytes += json.length;
    for (; bytes > limits.bytesMax; detailed += 1) dropDetail(detailed % limits.callsMax);
  };

  const detailAt = (id: number): Buffer | Missing =>
    (callAt(id) === undefined ? undefined : details[id % limits.callsMax]) ?? "dropped";

  const count = (event: CallEvent): void => {
    const { session: id, principal, client, dialect, startedMs, elapsedMs } = event;
    const lastMs = startedMs + elapsedMs;
    const known = sessions.get(id) ?? { id, principal, client, dialect, firstMs: startedMs, lastMs, ...emptyTally() };
    sessions.delete(id);
    sessions.set(id, known);
    dropOldest(sessions, limits.sessionsMax);
    known.lastMs = lastMs;
    addToTally(known, event);
    addToTally(ever, event);
  };

  const mark = (path: string, what: Partial<FileMarks>): void => {
    const before = marks.get(path);
    const read = what.read ?? before?.read ?? false;
    const changed = what.changed ?? before?.changed ?? false;
    marks.delete(path);
    marks.set(path, { read, changed });
    dropOldest(marks, limits.filesMax);
  };

  const callAt = (id: number): CallEvent | undefined => {
    const found = ring[id % limits.callsMax];
    return found?.id === id ? found : undefined;
  };

  return {
    record(event, detail) {
      const { id } = event;
      const at = id % limits.callsMax;
      if (ring[at] === undefined) size += 1;
      ring[at] = event;
      newest = id;
      count(event);
      keepDetail(id, detail);
      if (event.outcome !== "ok" || event.dryRun) return;
      const isContent = event.verb === "read" && event.reason !== "directory";
      if (isContent && event.real !== null) mark(event.real, { read: true });
      for (const { path } of event.changes) mark(path, { changed: true });
    },
    *calls() {
      for (let id = newest - size + 1; id <= newest; id += 1) {
        const found = callAt(id);
        if (found !== undefined) yield found;
      }
    },
    *newestFirst(before = Number.POSITIVE_INFINITY) {
      for (let id = Math.min(newest, before - 1); id > newest - size; id -= 1) {
        const found = callAt(id);
        if (found !== undefined) yield found;
      }
    },
    call: callAt,
    detail: detailAt,
    has: (id) => detailAt(id) instanceof Buffer,
    get size() {
      return size;
    },
    get dropped() {
      return ever.calls - size;
    },
    get bytes() {
      return bytes;
    },
    ever: () => ({ ...ever }),
    sessions: () => [...sessions.values()].toReversed(),
    marks: () => marks,
  };
}

/** The arguments come from the host and may be anything, also what JSON cannot express. */
function jsonOf({ input, reply, diffs }: CallDetail): string {
  const rest = { reply: reply ?? null, diffs };
  try {
    return JSON.stringify({ input: input ?? null, ...rest });
  } catch {
    return JSON.stringify({ input: null, ...rest });
  }
}
