/**
 * Numbers for the lines of two texts: equal lines have equal ones. Lines are told apart by their bytes, four at a time,
 * without a string for each of them.
 */

/** A text and where its lines start, and at the end its length. A line holds its line end. */
export interface Lines {
  readonly text: string;
  readonly starts: Int32Array;
  readonly count: number;
}

export function linesIn(text: string): Lines {
  let starts: Int32Array = new Int32Array(Math.max(64, text.length >> 5));
  let count = 0;
  let from = 0;
  while (from < text.length) {
    // One more than the lines so far, and the end.
    if (count + 2 > starts.length) starts = grown(starts);
    starts[count] = from;
    count += 1;
    from = text.indexOf("\n", from) + 1 || text.length;
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

/** So many places are looked at for a line; those that find no room are kept in a map, which nobody can make slow. */
const probesMax = 32;

export function numbered(a: Lines, b: Lines): Numbered {
  const numbers = new Numbers(a, b);
  const aIds = numbers.take(a, 0);
  const known = numbers.size;
  const bIds = numbers.take(b, a.text.length);
  return { a: aIds, b: bIds, known, size: numbers.size };
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

/** Most texts are small, and making room costs more than their lines do: theirs is kept. */
const small = { bytes: 65_536, lines: 2_048 };
let kept: Room | undefined;

class Numbers {
  size = 0;
  readonly #room: Room;
  /** How a count of characters becomes one of bytes. */
  readonly #shift: 0 | 1;
  readonly #mask: number;
  #rest: Map<string, number> | undefined;

  constructor(a: Lines, b: Lines) {
    const chars = a.text.length + b.text.length;
    const narrow = Buffer.byteLength(a.text) + Buffer.byteLength(b.text) === chars;
    this.#shift = narrow ? 0 : 1;
    const lines = a.count + b.count;
    const sizeBytes = chars << this.#shift;
    const room =
      sizeBytes > small.bytes || lines > small.lines
        ? roomFor(sizeBytes, lines)
        : (kept ??= roomFor(small.bytes, small.lines));
    const form = narrow ? "latin1" : "utf16le";
    room.bytes.write(b.text, room.bytes.write(a.text, form), form);
    room.places.fill(0, 0, placesFor(lines));
    this.#mask = placesFor(lines) - 1;
    this.#room = room;
  }

  /** The numbers of the lines of a text that starts after so many characters. */
  take({ text, starts, count }: Lines, after: number): Int32Array {
    const ids = new Int32Array(count);
    let start = after << this.#shift;
    for (let line = 0; line < count; line += 1) {
      const end = (after + (starts[line + 1] ?? 0)) << this.#shift;
      const id = this.#give(start, end - start);
      ids[line] = id >= 0 ? id : this.#giveRest(text.slice(starts[line], starts[line + 1]));
      start = end;
    }
    return ids;
  }

  /** -1 if there is no place for it. */
  #give(start: number, length: number): number {
    const { view, places, starts, lengths, mixes } = this.#room;
    const mix = mixOf(view, start, length);
    for (let probe = 0; probe < probesMax; probe += 1) {
      const place = (mix + probe) & this.#mask;
      const id = (places[place] ?? 0) - 1;
      if (id < 0) {
        const fresh = this.size;
        starts[fresh] = start;
        lengths[fresh] = length;
        mixes[fresh] = mix;
        places[place] = fresh + 1;
        this.size = fresh + 1;
        return fresh;
      }
      if (mixes[id] === mix && lengths[id] === length && areEqual(view, starts[id] ?? 0, start, length)) return id;
    }
    return -1;
  }

  #giveRest(line: string): number {
    this.#rest ??= new Map();
    const known = this.#rest.get(line);
    if (known !== undefined) return known;
    this.#rest.set(line, this.size);
    this.size += 1;
    return this.size - 1;
  }
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
