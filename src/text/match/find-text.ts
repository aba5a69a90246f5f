/**
 * Exact search in linear time, whatever the texts repeat. The built-in `indexOf` is the fastest for nearly every text, but for
 * a long one whose end repeats it starts again at each repeat, which is quadratic.
 */

import { Buffer } from "node:buffer";

/** Returns the first place at or after `from`, or -1. Calls MUST come with ascending offsets. */
export type NextPlace = (from: number) => number;

/** Up to this many places may overlap: a long run of one character has so many that finding all would be quadratic. */
export const overlapsMax = 1_000;

const partLength = 65_536;

export function placesIn(text: string, wanted: string): NextPlace {
  if (!isRepetitive(wanted)) return (from) => text.indexOf(wanted, from);
  const search = new LinearSearch(unitsOf(wanted));
  let fed = 0;
  return (from) => {
    for (;;) {
      const found = search.next(from);
      if (found >= 0 || fed >= text.length) return found;
      search.feed(unitsOf(text.slice(fed, (fed += partLength))));
    }
  };
}

export function unitsOf(text: string): Uint16Array<ArrayBuffer> {
  const units = new Uint16Array(text.length);
  Buffer.from(units.buffer).write(text, "utf16le");
  return units;
}

export function bytePlacesIn(bytes: Buffer, wanted: Buffer): NextPlace {
  if (!isRepetitive(wanted)) return tryNearbyFirst(bytes, wanted);
  const search = new LinearSearch(new Uint16Array(wanted));
  search.feed(new Uint16Array(bytes));
  return (from) => search.next(from);
}

/** Bytes that are tried before a call of `indexOf`, which costs more than they do. */
const nearMax = 8;

/** Fast where places are close together, as those of a single letter are. */
function tryNearbyFirst(bytes: Buffer, wanted: Buffer): NextPlace {
  const [first] = wanted;
  return (from) => {
    const end = Math.min(from + nearMax, bytes.length);
    for (let at = from; at < end; at += 1) {
      if (bytes[at] !== first) continue;
      let same = 1;
      while (same < wanted.length && bytes[at + same] === wanted[same]) same += 1;
      if (same === wanted.length) return at;
    }
    return bytes.indexOf(wanted, from);
  };
}

export const firstPlace = (text: string, wanted: string): number => placesIn(text, wanted)(0);

/** Shorter texts cost little at each repeat. */
const longMin = 256;
const endLength = 64;

/** Whether `indexOf` may be slow: only an end that also occurs earlier in the text can make it compare the same part again. */
export function isRepetitive(wanted: string | Buffer): boolean {
  if (wanted.length < longMin) return false;
  const before = wanted.length - endLength - 1;
  if (typeof wanted === "string") return wanted.lastIndexOf(wanted.slice(-endLength), before) >= 0;
  return wanted.lastIndexOf(wanted.subarray(-endLength), before) >= 0;
}

/** The search of Knuth, Morris and Pratt in units that come part by part: each is looked at once, and a place may span parts. */
export class LinearSearch {
  readonly #wanted: Uint16Array;
  readonly #fallback: Int32Array;
  #part = new Uint16Array();
  /** Where the part begins, and how far it was searched. */
  #start = 0;
  #at = 0;
  #matched = 0;
  #found = -1;

  constructor(wanted: Uint16Array) {
    this.#wanted = wanted;
    this.#fallback = borders(wanted.length, (one, other) => wanted[one] === wanted[other]);
  }

  /** The part before MUST have been searched to its end. */
  feed(part: Uint16Array<ArrayBuffer>): void {
    this.#start += this.#part.length;
    this.#part = part;
    this.#at = 0;
  }

  /** The first place at or after `from`, counted from the first unit of all; -1 if none ends in the parts so far. */
  next(from: number): number {
    if (this.#found >= from) return this.#found;
    const [wanted, fallback, part] = [this.#wanted, this.#fallback, this.#part];
    let [at, matched] = [this.#at, this.#matched];
    let found = -1;
    while (found < from && at < part.length) {
      const unit = part[at];
      while (matched > 0 && wanted[matched] !== unit) matched = fallback[matched - 1] ?? 0;
      if (wanted[matched] === unit) matched += 1;
      at += 1;
      if (matched < wanted.length) continue;
      found = this.#start + at - wanted.length;
      matched = fallback[matched - 1] ?? 0;
    }
    [this.#at, this.#matched, this.#found] = [at, matched, found];
    return found < from ? -1 : found;
  }
}

/** The failure function of Knuth, Morris and Pratt: for every prefix its longest proper suffix that is a prefix too. */
export function borders(length: number, areEqual: (one: number, other: number) => boolean): Int32Array {
  const lengths = new Int32Array(length);
  let matched = 0;
  for (let index = 1; index < length; index += 1) {
    while (matched > 0 && !areEqual(matched, index)) matched = lengths[matched - 1] ?? 0;
    if (areEqual(matched, index)) matched += 1;
    lengths[index] = matched;
  }
  return lengths;
}

/** The first index that passes a test, which all after it pass too, or `length` (binary search). */
export function firstIndex(length: number, passes: (index: number) => boolean): number {
  let low = 0;
  for (let high = length; low < high; ) {
    const middle = (low + high) >>> 1;
    if (passes(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** A copy with room for twice as many entries. */
export function doubled(full: Int32Array): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(2 * full.length);
  larger.set(full);
  return larger;
}
