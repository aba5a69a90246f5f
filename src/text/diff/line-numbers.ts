/**
 * Numbers for the lines of two texts: equal lines have equal ones. Lines are told apart by their bytes, four at a time,
 * without a string for each of them.
 */

import { partLength, type Steps } from "../steps.ts";

/** A text and where its lines start, and at the end its length. A line holds its line end. */
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
    // One more than the lines so far, and the end.
    if (count + 2 > starts.length) starts = grown(starts);
    starts[count] = from;
    count += 1;
    from = text.indexOf("\n", from) + 1 || text.length;
    if (count % partLength === 0) yield;
  }
  starts[count] = text.length;
  return { text, starts, count };
}

function grown(full: Int32Array): Int32Array {
  const more = new Int32Array(full.length * 2);
  more.set(full);
  return more;
}

export interface Numbered {
  readonly a: Int32Array;
  readonly b: Int32Array;
  /** Numbers below it are of lines that the first text has. */
  readonly known: number;
  /** All numbers are below it. */
  readonly size: number;
}

/** What numbering works with. */
interface Room {
  readonly bytes: Buffer;
  readonly view: DataView;
  /** Per place the number of a line, one more than it, or 0. */
  readonly places: Int32Array;
  /** Per number, of the first line that has it: where it starts, in bytes, how long it is, and what it was mixed to. */
  readonly starts: Int32Array;
  readonly lengths: Int32Array;
  readonly mixes: Int32Array;
}

function roomFor(bytesMax: number, linesMax: number): Room {
  const bytes = Buffer.allocUnsafeSlow(bytesMax);
  return {
    bytes,
    view: new DataView(bytes.buffer),
    places: new Int32Array(placesFor(linesMax)),
    starts: new Int32Array(linesMax),
    lengths: new Int32Array(linesMax),
    mixes: new Int32Array(linesMax),
  };
}

/** At most half of them are taken. */
const placesFor = (lines: number): number => 2 ** (33 - Math.clz32(lines));

/** Most texts are small, and making room costs more than their lines do: theirs is kept. Their lines MUST be fewer than make a yield. */
const small = { bytes: 65_536, lines: partLength / 2 };
let kept: Room | undefined;

/** So many places are looked at for a line; those that find none are kept in a map, which nobody can make slow. */
const probesMax = 32;

export function* numbered(a: NumberedLines, b: NumberedLines): Steps<Numbered> {
  const chars = a.text.length + b.text.length;
  const lines = a.count + b.count;
  const isNarrow = Buffer.byteLength(a.text) + Buffer.byteLength(b.text) === chars;
  const [shift, form] = isNarrow ? ([0, "latin1"] as const) : ([1, "utf16le"] as const);
  const isSmall = chars << shift <= small.bytes && lines <= small.lines;
  const room = isSmall ? (kept ??= roomFor(small.bytes, small.lines)) : roomFor(chars << shift, lines);
  room.bytes.write(b.text, room.bytes.write(a.text, form), form);
  const placesMax = placesFor(lines);
  room.places.fill(0, 0, placesMax);
  const task: Numbering = { room, shift, mask: placesMax - 1, size: 0, rest: undefined };
  const aIds = yield* numbersOf(a, 0, task);
  const known = task.size;
  const bIds = yield* numbersOf(b, a.text.length, task);
  return { a: aIds, b: bIds, known, size: task.size };
}

interface Numbering {
  readonly room: Room;
  /** How a count of characters becomes one of bytes. */
  readonly shift: 0 | 1;
  readonly mask: number;
  /** Numbers given so far. */
  size: number;
  rest: Map<string, number> | undefined;
}

/** The numbers of the lines of a text that starts after so many characters. */
function* numbersOf({ text, starts, count }: NumberedLines, after: number, task: Numbering): Steps<Int32Array> {
  const { room, shift, mask } = task;
  const { view, places, starts: firstStarts, lengths, mixes } = room;
  const ids = new Int32Array(count);
  let { size } = task;
  let start = after << shift;
  for (let line = 0; line < count; line += 1) {
    const end = (after + (starts[line + 1] ?? 0)) << shift;
    const length = end - start;
    const mix = mixOf(view, start, length);
    let id = -1;
    for (let probe = 0; id < 0 && probe < probesMax; probe += 1) {
      const place = (mix + probe) & mask;
      const other = (places[place] ?? 0) - 1;
      if (other < 0) {
        id = size;
        size += 1;
        firstStarts[id] = start;
        lengths[id] = length;
        mixes[id] = mix;
        places[place] = size;
      } else if (mixes[other] === mix && lengths[other] === length) {
        if (areEqual(view, firstStarts[other] ?? 0, start, length)) id = other;
      }
    }
    if (id < 0) {
      const words = text.slice(starts[line], starts[line + 1]);
      task.rest ??= new Map();
      id = task.rest.get(words) ?? size;
      if (id === size) {
        task.rest.set(words, id);
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

function mixOf(bytes: DataView, start: number, length: number): number {
  let mix = length;
  if (length < 4) {
    for (let at = start; at < start + length; at += 1) mix = Math.imul(mix ^ bytes.getUint8(at), odd);
  } else {
    const last = start + length - 4;
    for (let at = start; at < last; at += 4) mix = Math.imul(mix ^ bytes.getInt32(at, true), odd);
    mix = Math.imul(mix ^ bytes.getInt32(last, true), odd);
  }
  // A product moves bits upwards only, and places are taken by the lower ones.
  return mix ^ (mix >>> 15);
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
