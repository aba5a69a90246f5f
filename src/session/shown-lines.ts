/**
 * The lines that a session was shown or wrote, as hashes, file by file. They tell where these lines stand after somebody else
 * changed the file. What was shown is kept as it is at first, and hashed when it is needed or when much of it has come together.
 */

import { isRecord } from "../contract/common.ts";
import type { LineSpan } from "../contract/problem.ts";
import {
  type AlignedLines,
  alignLines,
  type OutsideChange,
  outsideChanges,
  hashLines,
  type LineHashes,
} from "../text/text.ts";

/** Lines joined by newlines, from line `from` on; or all bytes of the file. `total`: the lines of the file, if known. */
export interface ShownText {
  readonly from: number;
  readonly text: string | Uint8Array;
  readonly total?: number | undefined;
}

/** What became of the lines of a file that somebody else changed. */
export interface CarriedOver {
  /** The shown lines that still stand, as numbered now. */
  readonly shown: readonly LineSpan[];
  readonly aligned: readonly AlignedLines[];
  readonly changed: readonly OutsideChange[];
  /** The changed lines whose text the session was never shown in this file, as numbered now. */
  readonly foreign: readonly LineSpan[];
}

/** A file with more lines is not followed through changes by others. */
const linesMax = 50_000;
/** Parts of a file that were shown one by one. */
const partsMax = 200;
/** Parts of earlier states of a file: somebody may bring such a state back. */
const formerMax = 20;
/** Bytes and characters that wait to be hashed. */
const waitingMax = 1_048_576;
/** Hashes in memory, of all files; those of the files that were shown first go first. */
const hashesMax = 500_000;
/** Hashes in a stored state: it is written after each call. */
const storedHashesMax = 100_000;

interface Part {
  readonly from: number;
  /** All bytes of the file. */
  readonly isAll: boolean;
  waiting: string | Uint8Array | undefined;
  hashes: Float64Array | undefined;
}

interface OfFile {
  readonly parts: readonly Part[];
  readonly total: number | undefined;
  /** What was shown of earlier states. */
  readonly former: readonly FormerPart[];
}

interface FormerPart {
  readonly part: Part;
  /** The lines of it that were shown; undefined: all. */
  readonly spans: readonly LineSpan[] | undefined;
}

export type ShownLines = ReturnType<typeof createShownLines>;

export function createShownLines() {
  const files = new Map<string, OfFile>();
  /** Parts that are not hashed yet, the oldest first. */
  const waiting = new Set<Part>();
  let waitingSize = 0;
  let hashesCount = 0;

  const hashed = (part: Part): Float64Array => {
    if (part.waiting !== undefined) {
      part.hashes = hashLines(part.waiting, linesMax) ?? new Float64Array();
      hashesCount += part.hashes.length;
      unqueue(part);
    }
    return part.hashes ?? new Float64Array();
  };
  const unqueue = (part: Part): void => {
    waitingSize -= part.waiting?.length ?? 0;
    part.waiting = undefined;
    waiting.delete(part);
  };
  const release = (parts: readonly Part[]): void => {
    for (const part of parts) {
      unqueue(part);
      hashesCount -= part.hashes?.length ?? 0;
      part.hashes = undefined;
    }
  };
  const store = (path: string, file: OfFile): void => {
    files.delete(path);
    files.set(path, file);
    for (const part of waiting) {
      if (waitingSize <= waitingMax) break;
      hashed(part);
    }
    for (const oldest of files.keys()) {
      if (hashesCount <= hashesMax) break;
      drop(oldest);
    }
  };
  const drop = (path: string): void => {
    const { parts = [], former = [] } = files.get(path) ?? {};
    release([...parts, ...former.map(({ part }) => part)]);
    files.delete(path);
  };
  /** What was shown of the state that the file had until now joins the former parts. */
  const formerAfter = (path: string, spans: readonly LineSpan[] | undefined): readonly FormerPart[] => {
    const { parts = [], former = [] } = files.get(path) ?? {};
    const all = [...former, ...parts.map((part) => ({ part, spans: part.isAll ? spans : undefined }))];
    release(all.slice(0, -formerMax).map(({ part }) => part));
    return all.slice(-formerMax);
  };
  const partOf = ({ from, text }: ShownText): Part => {
    const part: Part = { from, isAll: typeof text !== "string", waiting: text, hashes: undefined };
    waiting.add(part);
    waitingSize += text.length;
    return part;
  };
  /** The hashes of these lines (undefined: of all), sorted, without overlaps. */
  const linesOf = ({ parts, total }: OfFile, spans: readonly LineSpan[] | undefined) => {
    const all = joined(parts.map((part) => ({ from: part.from, hashes: hashed(part) })));
    const isAll = parts.find((part) => part.isAll);
    const known = spans === undefined ? all : within(all, spans);
    return { known, total: total ?? isAll?.hashes?.length };
  };

  return {
    has: (path: string): boolean => files.has(path),
    /** More was shown of the same state of the file. */
    add(path: string, texts: readonly ShownText[]): void {
      if (texts.length === 0) return;
      const before = files.get(path);
      const parts = [...(before?.parts ?? []), ...texts.map(partOf)];
      release(parts.slice(0, -partsMax));
      const { former = [] } = before ?? {};
      store(path, { parts: parts.slice(-partsMax), total: totalOf(texts) ?? before?.total, former });
    },
    /** The file has another state, of which this is known; `spans` are the lines that were shown of the state before. */
    replace(path: string, texts: readonly ShownText[], spans: readonly LineSpan[] | undefined): void {
      if (texts.length === 0) drop(path);
      else store(path, { parts: texts.map(partOf), total: totalOf(texts), former: formerAfter(path, spans) });
    },
    /** Where the shown lines stand in the file as it is now; undefined if that cannot be said. */
    carryOver(path: string, spans: readonly LineSpan[] | undefined, content: Uint8Array): CarriedOver | undefined {
      const file = files.get(path);
      const now = file === undefined ? undefined : hashLines(content, linesMax);
      if (file === undefined || now === undefined) return undefined;
      const { known, total } = linesOf(file, spans);
      const aligned = alignLines(known, total, now);
      if (aligned.length === 0) return undefined;
      const changed = outsideChanges(known, total, aligned, now.length);
      const former = file.former.map(({ part, spans: of }) => {
        const lines = [{ from: part.from, hashes: hashed(part) }];
        return of === undefined ? lines : within(lines, of);
      });
      return {
        aligned,
        shown: aligned.map(({ now: from, count }) => ({ from, to: from + count - 1 })),
        changed,
        foreign: changed.length === 0 ? [] : foreignIn(now, changed, [known, ...former].flat()),
      };
    },
    /** The file has the state that `carryOver` looked at; only the lines that still stand are known of it. */
    renumber(path: string, spans: readonly LineSpan[] | undefined, { aligned }: CarriedOver): void {
      const file = files.get(path);
      if (file === undefined) return;
      const { known } = linesOf(file, undefined);
      const parts = aligned.flatMap(({ was, now, count }) =>
        within(known, [{ from: was, to: was + count - 1 }]).map(
          ({ from, hashes }): Part => ({ from: from - was + now, isAll: false, waiting: undefined, hashes }),
        ),
      );
      hashesCount += parts.reduce((sum, { hashes }) => sum + (hashes?.length ?? 0), 0);
      store(path, { parts, total: undefined, former: formerAfter(path, spans) });
    },
    drop,
    /** For a stored state: of the files that were shown last. */
    state(): ReadonlyMap<string, StoredLines> {
      const stored = new Map<string, StoredLines>();
      let left = storedHashesMax;
      for (const [path, file] of [...files].reverse()) {
        const { known, total } = linesOf(file, undefined);
        left -= known.reduce((sum, { hashes }) => sum + hashes.length, 0);
        if (left < 0) break;
        const lines = known.map(({ from, hashes }) => ({ from, hashes: toBase64(hashes) }));
        stored.set(path, { lines, ...(total === undefined ? {} : { total }) });
      }
      return stored;
    },
    restore(path: string, { lines, total }: StoredLines): void {
      const parts = lines.flatMap(({ from, hashes: text }): readonly Part[] => {
        const hashes = fromBase64(text);
        hashesCount += hashes.length;
        return [{ from, isAll: false, waiting: undefined, hashes }];
      });
      store(path, { parts, total, former: [] });
    },
  };
}

const totalOf = (texts: readonly ShownText[]): number | undefined =>
  texts.find(({ total }) => total !== undefined)?.total;

/** The lines of `changed` that are like none of `known`. */
function foreignIn(
  now: Float64Array,
  changed: readonly OutsideChange[],
  known: readonly LineHashes[],
): readonly LineSpan[] {
  const familiar = new Set(known.flatMap(({ hashes }) => [...hashes]));
  const foreign: { from: number; to: number }[] = [];
  for (const { from, to } of changed) {
    for (let line = from; line <= to; line += 1) {
      if (familiar.has(now[line - 1] ?? -1)) continue;
      const last = foreign.at(-1);
      if (last !== undefined && last.to === line - 1 && last.from >= from) last.to = line;
      else foreign.push({ from: line, to: line });
    }
  }
  return foreign;
}

/** Hashes as base64 of eight bytes each. */
export interface StoredLines {
  readonly lines: readonly { readonly from: number; readonly hashes: string }[];
  readonly total?: number;
}

export function isStoredLines(value: unknown): value is StoredLines {
  if (!isRecord(value) || !Array.isArray(value.lines) || value.lines.length > partsMax * 2) return false;
  const isLine = (line: unknown): boolean =>
    isRecord(line) && Number.isSafeInteger(line.from) && Number(line.from) >= 1 && typeof line.hashes === "string";
  return value.lines.every(isLine) && (value.total === undefined || Number.isSafeInteger(value.total));
}

const toBase64 = ({ buffer, byteOffset, byteLength }: Float64Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString("base64");

/** Copied, because the bytes of a buffer need not begin at a multiple of eight. */
function fromBase64(text: string): Float64Array {
  const bytes = Buffer.from(text, "base64");
  const hashes = new Float64Array(Math.min(linesMax, Math.floor(bytes.length / 8)));
  new Uint8Array(hashes.buffer).set(bytes.subarray(0, hashes.byteLength));
  return hashes;
}

/** The parts of the lines that are in these spans; both are sorted, without overlaps. */
function within(lines: readonly LineHashes[], spans: readonly LineSpan[]): readonly LineHashes[] {
  const result: LineHashes[] = [];
  let next = 0;
  for (const { from, hashes } of lines) {
    const end = from + hashes.length;
    while (next < spans.length && (spans[next]?.to ?? 0) < from) next += 1;
    for (let at = next; at < spans.length; at += 1) {
      const span = spans[at];
      if (span === undefined || span.from >= end) break;
      const [first, last] = [Math.max(from, span.from), Math.min(end, span.to + 1)];
      result.push({ from: first, hashes: hashes.subarray(first - from, last - from) });
    }
  }
  return result;
}

/** Sorted, each line once. */
function joined(lines: readonly LineHashes[]): readonly LineHashes[] {
  const result: LineHashes[] = [];
  let next = 1;
  for (const { from, hashes } of lines.toSorted((a, b) => a.from - b.from)) {
    const taken = hashes.subarray(Math.max(0, next - from));
    if (taken.length === 0) continue;
    const first = Math.max(from, next);
    result.push({ from: first, hashes: taken });
    next = first + taken.length;
  }
  return result;
}
