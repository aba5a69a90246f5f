/** Reads the call log from its end: a page at a time, with memory for one chunk and the page. */

import * as fs from "node:fs";
import * as nodePath from "node:path";
import { lifeOf, noFollow } from "../../disk/disk.ts";
import type { LogFilter, LoggedCall, LoggedQuestion } from "../../contract/call-log.ts";
import { contains, dropOldest } from "../../contract/common.ts";
import { limits } from "../../contract/limits.ts";
import { logFolder, logNames } from "./call-log.ts";
import { backwardLines, type DecodedLine, decodeLine } from "./call-log-format.ts";
import { overlap } from "./inspector-registry.ts";

export interface LogPage {
  /** Newest first. */
  readonly calls: readonly LoggedCall[];
  /** For `before` of the next page; null at the end. A page with fewer than `max` calls was ended by `bytesMax`. */
  readonly next: string | null;
  /** For `after` of a later request; null without a log. */
  readonly end: string | null;
  /** Lines on the way that cannot be read, and calls that could not be written. */
  readonly damaged: number;
  readonly lost: number;
}

export interface LogAsked {
  readonly filter?: LogFilter;
  readonly max: number;
  /** Only what is older than this place, or newer. */
  readonly before?: string | undefined;
  readonly after?: string | undefined;
  /** Bytes to search at most. */
  readonly bytesMax?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A call is written when it ends, and records of several processes are not in the exact order of their times. */
const lateMsMax = 60_000;

/** Throws the reason of the signal. A missing or unreadable log is an empty one. */
export async function readCallLog(stateDir: string, asked: LogAsked): Promise<LogPage> {
  const { filter = {}, max, before, after, bytesMax, signal } = asked;
  const { sinceMs = 0 } = filter;
  const isWanted = matcherOf(filter);
  const calls: LoggedCall[] = [];
  let [damaged, lost] = [0, 0];
  /** Everything from here on is on this page. */
  let last: string | null = null;
  const walk = await openWalk(stateDir, { before, after, bytesMax, signal });
  const page = (next: string | null): LogPage => ({ calls, next, end: walk.end, damaged, lost });
  for await (const { place, line } of walk.lines()) {
    if (line === "damaged") damaged += 1;
    if (typeof line === "string") continue;
    if (line.type === "gap") lost += line.count;
    if (line.type !== "call") continue;
    if (line.startedMs + line.elapsedMs < sinceMs - lateMsMax) return page(null);
    if (line.startedMs < sinceMs || !isWanted(line)) continue;
    if (calls.length === max) return page(last);
    calls.push(line);
    last = place;
  }
  return page(walk.stoppedAt());
}

/** Questions that no record answers and whose processes still run, newest first. Looks at the end of the log only. */
export async function openQuestions(
  stateDir: string,
  roots: readonly string[] | undefined,
  nowMs: number = Date.now(),
): Promise<readonly LoggedQuestion[]> {
  const isWanted = matcherOf(roots === undefined ? {} : { roots });
  const closed = new Set<string>();
  const open: LoggedQuestion[] = [];
  const walk = await openWalk(stateDir, { bytesMax: limits.callLogOpenBytesMax });
  for await (const { line } of walk.lines()) {
    if (typeof line === "string") continue;
    if (line.type === "answer") closed.add(line.id);
    if (line.type !== "question" || closed.has(line.id)) continue;
    closed.add(line.id); // an older record of the same question
    if (!isWanted(line) || (line.untilMs !== null && line.untilMs < nowMs)) continue;
    const [owner = ""] = line.id.split(".");
    if (lifeOf(owner) !== "dead" && open.length < openMax) open.push(line);
  }
  return open;
}

/** No person answers more than this at once. */
const openMax = 200;

function matcherOf({ roots, session, client, tool, path, pathPart, failed }: LogFilter) {
  const isHere = here(roots);
  const [name, part] = [client?.toLowerCase(), pathPart?.toLowerCase()];
  return (record: LoggedCall | LoggedQuestion): boolean => {
    if (session !== undefined && !record.session.startsWith(session)) return false;
    if (name !== undefined && record.client?.toLowerCase().includes(name) !== true) return false;
    if (!isHere(record.roots)) return false;
    if (record.type === "question") return path === undefined && part === undefined;
    if (failed === true && record.outcome === "ok") return false;
    if (tool !== undefined && record.tool !== tool) return false;
    if (path === undefined && part === undefined) return true;
    const paths = pathsOf(record);
    if (path !== undefined && !paths.some((one) => contains(path, one))) return false;
    return part === undefined || paths.some((one) => one.toLowerCase().includes(part));
  };
}

const pathsOf = ({ path, changes }: LoggedCall): readonly string[] => [
  ...(path === null ? [] : [path]),
  ...changes.flatMap((change) => (change.movedFrom === null ? [change.path] : [change.path, change.movedFrom])),
];

/** Workspaces that are remembered while reading: few have more. */
const workspacesMax = 1_000;

function here(wanted: readonly string[] | undefined) {
  const known = new Map<string, boolean>();
  return (roots: readonly string[]): boolean => {
    if (wanted === undefined) return true;
    const key = roots.join("\n");
    const is = known.get(key) ?? overlap(roots, wanted);
    known.set(key, is);
    dropOldest(known, workspacesMax);
    return is;
  };
}

// Walking the files from the newest line to the oldest.

/** A place between two lines: a file's name and an offset. */
interface Place {
  readonly name: string;
  readonly offset: number;
}

const placePattern = /^(\d{4}-\d{2}-\d{2}\.\d{4,9}\.jsonl):(\d{1,15})$/;

/** The end of a file: fifteen digits, which the pattern accepts. */
const offsetMax = 999_999_999_999_999;

const textOf = ({ name, offset }: Place): string => `${name}:${offset}`;

export function isLogPlace(text: string): boolean {
  return placePattern.test(text);
}

/** A text of another form is the place before everything. */
function placeIn(text: string): Place {
  const [, name = "", offset = "0"] = placePattern.exec(text) ?? [];
  return { name, offset: Number(offset) };
}

interface Walk {
  /** The place after the last whole line; null without a log. */
  readonly end: string | null;
  lines(): AsyncGenerator<{ readonly place: string; readonly line: DecodedLine }>;
  /** Where `bytesMax` ended the walk; null if it came to the beginning. */
  stoppedAt(): string | null;
}

const chunkBytes = 65_536;

async function openWalk(
  stateDir: string,
  { before, after, bytesMax = Number.POSITIVE_INFINITY, signal }: Omit<LogAsked, "filter" | "max">,
): Promise<Walk> {
  const folder = logFolder(stateDir);
  const names = logNames(await fs.promises.readdir(folder).catch(() => []));
  const [from, to] = [before, after].map((text) => (text === undefined ? undefined : placeIn(text)));
  // A file that is gone had older lines than all that are left.
  const oldest = to === undefined ? 0 : Math.max(0, names.indexOf(to.name));
  const inReach = names.slice(oldest, from === undefined ? names.length : names.indexOf(from.name) + 1);
  const newest = names.at(-1);
  const end = newest === undefined ? null : textOf(await endOf(folder, newest));
  let left = bytesMax;
  let stopped: Place | null = null;

  async function* linesOf(name: string) {
    const start = to?.name === name ? to.offset : 0;
    const file = await openLog(nodePath.join(folder, name));
    if (file === undefined) return;
    try {
      const { size } = await file.stat();
      const stop = from?.name === name ? Math.min(from.offset, size) : size;
      const reader = backwardLines(stop, start);
      for (let at = stop; at > start && stopped === null; ) {
        signal?.throwIfAborted();
        const low = Math.max(start, at - chunkBytes);
        const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(at - low), 0, at - low, low);
        if (bytesRead < at - low) return; // the file was cut off
        for (const { from: offset, to: endByte, text, isLast } of reader.feed(buffer, low)) {
          const line = text === undefined ? "damaged" : decodeLine(text, endByte, isLast && stop === size);
          yield { place: textOf({ name, offset }), line };
        }
        left -= at - low;
        at = low;
        if (left <= 0 && at > start) stopped = { name, offset: reader.resumeAt(at) };
      }
    } finally {
      await file.close();
    }
  }

  return {
    end,
    async *lines() {
      for (const [at, name] of inReach.toReversed().entries()) {
        yield* linesOf(name);
        if (stopped !== null) return;
        if (left > 0) continue;
        const older = inReach[inReach.length - at - 2];
        if (older !== undefined) stopped = { name: older, offset: offsetMax };
        return;
      }
    },
    stoppedAt: () => (stopped === null ? null : textOf(stopped)),
  };
}

/** After its last newline: what follows is a line that is being written. */
async function endOf(folder: string, name: string): Promise<Place> {
  const file = await openLog(nodePath.join(folder, name));
  if (file === undefined) return { name, offset: 0 };
  try {
    const { size } = await file.stat();
    const low = Math.max(0, size - limits.callLogLineBytesMax - 1);
    const { bytesRead, buffer } = await file.read(Buffer.alloc(size - low), 0, size - low, low);
    return { name, offset: low + buffer.subarray(0, bytesRead).lastIndexOf(10) + 1 };
  } finally {
    await file.close();
  }
}

/** Undefined if it is gone, is no file or cannot be read. */
async function openLog(path: string): Promise<fs.promises.FileHandle | undefined> {
  const flags = fs.constants.O_RDONLY | (fs.constants.O_NONBLOCK ?? 0) | noFollow;
  const file = await fs.promises.open(path, flags).catch(() => undefined);
  if (file === undefined || (await file.stat()).isFile()) return file;
  await file.close();
  return undefined;
}
