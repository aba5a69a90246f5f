/** Numbers the lines of two texts, equal lines alike, by a hash table over their bytes: faster than a string for each line. */

import { doubled } from "../match/find-text.ts";
import { partLength, type Steps } from "../steps.ts";

/** A text and the offsets where its lines start, followed by its length. A line includes its line end. */
export interface NumberedLines {
  readonly text: string;
  readonly starts: Int32Array;
  readonly count: number;
}

export function* splitLines(text: string): Steps<NumberedLines> {
  let starts: Int32Array = new Int32Array(Math.max(64, text.length >> 5));
  let count = 0;
  let from = 0;
  while (from < text.length) {
    // Buffers for this line and the end.
    if (count + 2 > starts.length) starts = doubled(starts);
    starts[count] = from;
    count += 1;
    from = text.indexOf("\n", from) + 1 || text.length;
    if (count % partLength === 0) yield;
  }
  starts[count] = text.length;
  return { text, starts, count };
}

export interface Numbered {
  readonly a: Int32Array;
  readonly b: Int32Array;
  /** Lines that the first text has get the numbers below it. */
  readonly known: number;
  readonly size: number;
}

type Buffers = ReturnType<typeof buffersFor>;

function buffersFor(bytesMax: number, linesMax: number) {
  const bytes = Buffer.allocUnsafeSlow(bytesMax);
  return {
    bytes,
    view: new DataView(bytes.buffer),
    /** The hash table: one more than the number of a line, or 0 for a free slot. */
    slots: new Int32Array(slotsFor(linesMax)),
    /** Per number, for the first line that has it: its start and length in bytes, and its hash. */
    starts: new Int32Array(linesMax),
    lengths: new Int32Array(linesMax),
    hashes: new Int32Array(linesMax),
  };
}

/** At most half of the slots are taken. */
const slotsFor = (lines: number): number => 2 ** (33 - Math.clz32(lines));

/** Slots that are tried for a line. If all are taken, the line goes into a map, so that crafted collisions cannot make this slow. */
const probesMax = 32;

export function* numbered(a: NumberedLines, b: NumberedLines): Steps<Numbered> {
  const chars = a.text.length + b.text.length;
  const lines = a.count + b.count;
  const isNarrow = Buffer.byteLength(a.text) + Buffer.byteLength(b.text) === chars;
  const [shift, form] = isNarrow ? ([0, "latin1"] as const) : ([1, "utf16le"] as const);
  const buffers = buffersFor(chars << shift, lines);
  buffers.bytes.write(b.text, buffers.bytes.write(a.text, form), form);
  const task: Numbering = { buffers, shift, mask: buffers.slots.length - 1, size: 0, rest: undefined };
  const aIds = yield* numbersOf(a, 0, task);
  const known = task.size;
  const bIds = yield* numbersOf(b, a.text.length, task);
  return { a: aIds, b: bIds, known, size: task.size };
}

interface Numbering {
  readonly buffers: Buffers;
  /** Characters shifted left by it are bytes. */
  readonly shift: 0 | 1;
  readonly mask: number;
  size: number;
  rest: Map<string, number> | undefined;
}

/** The numbers of the lines of a text that starts after `after` characters of the buffer. */
function* numbersOf({ text, starts, count }: NumberedLines, after: number, task: Numbering): Steps<Int32Array> {
  const { buffers, shift, mask } = task;
  const { view, slots, starts: firstStarts, lengths, hashes } = buffers;
  const ids = new Int32Array(count);
  let { size } = task;
  let start = after << shift;
  for (let line = 0; line < count; line += 1) {
    const end = (after + (starts[line + 1] ?? 0)) << shift;
    const length = end - start;
    const hash = hashOf(view, start, length);
    let id = -1;
    for (let probe = 0; id < 0 && probe < probesMax; probe += 1) {
      const slot = (hash + probe) & mask;
      const other = (slots[slot] ?? 0) - 1;
      if (other < 0) {
        id = size;
        size += 1;
        firstStarts[id] = start;
        lengths[id] = length;
        hashes[id] = hash;
        slots[slot] = size;
      } else if (hashes[other] === hash && lengths[other] === length) {
        if (areEqual(view, firstStarts[other] ?? 0, start, length)) id = other;
      }
    }
    if (id < 0) {
      const content = text.slice(starts[line], starts[line + 1]);
      task.rest ??= new Map();
      id = task.rest.get(content) ?? size;
      if (id === size) {
        task.rest.set(content, id);
        size += 1;
      }
    }
    ids[line] = id;
    start = end;
    if ((line + 1) % partLength === 0) yield;
  }
  task.size = size;
  return ids;
}

const odd = 0x9e3779b1;

function hashOf(bytes: DataView, start: number, length: number): number {
  let hash = length;
  if (length < 4) {
    for (let at = start; at < start + length; at += 1) hash = Math.imul(hash ^ bytes.getUint8(at), odd);
  } else {
    const last = start + length - 4;
    for (let at = start; at < last; at += 4) hash = Math.imul(hash ^ bytes.getInt32(at, true), odd);
    hash = Math.imul(hash ^ bytes.getInt32(last, true), odd);
  }
  // A product moves bits only upwards, and the slot is chosen by the lower ones.
  return hash ^ (hash >>> 15);
}

function areEqual(bytes: DataView, one: number, other: number, length: number): boolean {
  if (length < 4) {
    for (let at = 0; at < length; at += 1) if (bytes.getUint8(one + at) !== bytes.getUint8(other + at)) return false;
    return true;
  }
  const last = length - 4;
  if (bytes.getInt32(one + last, true) !== bytes.getInt32(other + last, true)) return false;
  for (let at = 0; at < last; at += 4) {
    if (bytes.getInt32(one + at, true) !== bytes.getInt32(other + at, true)) return false;
  }
  return true;
}
