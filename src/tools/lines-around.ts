/** Whole lines around a place in bytes, for a diff; the bytes may be a file of any size. */

import type { OpenFile } from "../disk/open-file.ts";
import { FileCut } from "../disk/scan.ts";

export interface Bytes {
  readonly sizeBytes: number;
  /** At once from memory. */
  read(from: number, to: number): Uint8Array | Promise<Uint8Array>;
}

export const bytesInMemory = (bytes: Buffer): Bytes => ({
  sizeBytes: bytes.length,
  read: (from, to) => bytes.subarray(from, to),
});

export const bytesInFile = (file: OpenFile): Bytes => ({
  sizeBytes: file.sizeBytes,
  read: async (from, to) => {
    const bytes = Buffer.allocUnsafe(to - from);
    if ((await file.read(bytes, from)) < bytes.length) throw new FileCut();
    return bytes;
  },
});

const contextLines = 3;
/** Lines longer than this are not shown around a change. */
const reachBytes = 65_536;
const newline = 10;
const carriageReturn = 13;

/**
 * From the beginning of a line to the end of one; undefined if the lines there are too long. `behind`: is the line that goes on
 * or begins at `to` a part of the change, or context, of which there may be less?
 */
export async function linesAround(
  source: Bytes,
  { from, to, behind }: { readonly from: number; readonly to: number; readonly behind: "changed" | "context" },
  firstByte: number,
): Promise<{ readonly from: number; readonly to: number } | undefined> {
  const above = Math.max(firstByte, from - reachBytes);
  const head = await source.read(above, from);
  let start = head.lastIndexOf(newline) + 1;
  for (let lines = 0; lines < contextLines; lines += 1) start = lineAbove(head, start);
  if (start === 0 && above > firstByte) {
    start = head.indexOf(newline) + 1;
    if (start === 0) return undefined;
  }

  const below = Math.min(source.sizeBytes, to + reachBytes);
  const tail = await source.read(to, below);
  let end = behind === "context" ? 0 : endOfLine(tail, 0);
  for (let lines = 0; lines < contextLines; lines += 1) end = endOfLine(tail, end);
  const isCut = below < source.sizeBytes && end === tail.length && tail[end - 1] !== newline;
  if (isCut) end = tail.lastIndexOf(newline) + 1;
  return isCut && end === 0 && behind === "changed" ? undefined : { from: above + start, to: to + end };
}

/** Where the line that holds a place begins; undefined if that is too far. */
export async function lineStart(source: Bytes, at: number, firstByte: number): Promise<number | undefined> {
  const from = Math.max(firstByte, at - reachBytes);
  const start = (await source.read(from, at)).lastIndexOf(newline) + 1;
  return start === 0 && from > firstByte ? undefined : from + start;
}

/**
 * Tells the end of the line that holds a place, or of the line before it where the file ends without one; undefined in a file
 * of one line. Places MUST come in order: what lies between two of them is passed once.
 */
export function lineEndsIn(source: Bytes): (at: number) => Promise<"\n" | "\r\n" | undefined> {
  let known: { readonly until: number; readonly end: "\n" | "\r\n" | undefined } | undefined;
  return async (at) => {
    if (known === undefined || at > known.until) {
      const next = (await newlineFrom(source, at)) ?? (await newlineBefore(source, at));
      const isLast = next === undefined || next < at;
      known = {
        until: isLast ? source.sizeBytes : next,
        end: next === undefined ? undefined : await endAt(source, next),
      };
    }
    return known.end;
  };
}

const endAt = async (source: Bytes, at: number): Promise<"\n" | "\r\n"> =>
  at > 0 && (await source.read(at - 1, at))[0] === carriageReturn ? "\r\n" : "\n";

async function newlineFrom(source: Bytes, at: number): Promise<number | undefined> {
  for (let from = at, bytesMax = 512; from < source.sizeBytes; bytesMax = Math.min(bytesMax * 4, reachBytes)) {
    const bytes = await source.read(from, Math.min(source.sizeBytes, from + bytesMax));
    const found = bytes.indexOf(newline);
    if (found !== -1) return from + found;
    from += bytes.length;
  }
  return undefined;
}

async function newlineBefore(source: Bytes, at: number): Promise<number | undefined> {
  for (let to = at; to > 0; to -= reachBytes) {
    const from = Math.max(0, to - reachBytes);
    const found = (await source.read(from, to)).lastIndexOf(newline);
    if (found !== -1) return from + found;
  }
  return undefined;
}

/** Where the line above the one that begins at `start` begins. */
const lineAbove = (bytes: Uint8Array, start: number): number =>
  start < 2 ? 0 : bytes.lastIndexOf(newline, start - 2) + 1;

/** Byte behind the line that goes on at `at`. */
function endOfLine(bytes: Uint8Array, at: number): number {
  const found = bytes.indexOf(newline, at);
  return found === -1 ? bytes.length : found + 1;
}
