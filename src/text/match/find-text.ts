/**
 * Exact search in linear time, whatever the texts repeat. The built-in `indexOf` is the fastest for nearly every text, but for
 * a long one whose end repeats it starts again at each repeat, which is quadratic.
 */

import type { Buffer } from "node:buffer";

/** Returns the first place at or after `from`, or -1. Calls MUST come with ascending offsets. */
export type NextPlace = (from: number) => number;

/**
 * Up to this many places may overlap; after them only places without overlaps count. A long run of one character has so many
 * overlapping places that finding all would be quadratic.
 */
export const overlapsMax = 1_000;

export function placesIn(text: string, wanted: string): NextPlace {
  if (!isRepetitive(wanted)) return (from) => text.indexOf(wanted, from);
  return knuthMorrisPratt(
    { length: text.length, at: (index) => text.charCodeAt(index) },
    { length: wanted.length, at: (index) => wanted.charCodeAt(index) },
  );
}

/** As `placesIn`, for bytes. */
export function bytePlacesIn(bytes: Buffer, wanted: Buffer): NextPlace {
  if (!isRepetitive(wanted)) return tryNearbyFirst(bytes, wanted);
  return knuthMorrisPratt(
    { length: bytes.length, at: (index) => bytes[index] ?? 0 },
    { length: wanted.length, at: (index) => wanted[index] ?? 0 },
  );
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

/** The first place, or -1. */
export const firstPlace = (text: string, wanted: string): number => placesIn(text, wanted)(0);

/** Shorter texts cost little at each repeat. */
const longMin = 256;
const endLength = 64;

/** Whether `indexOf` may be slow: only an end that also occurs earlier in the text can make it compare the same part again. */
function isRepetitive(wanted: string | Buffer): boolean {
  if (wanted.length < longMin) return false;
  const before = wanted.length - endLength - 1;
  if (typeof wanted === "string") return wanted.lastIndexOf(wanted.slice(-endLength), before) >= 0;
  return wanted.lastIndexOf(wanted.subarray(-endLength), before) >= 0;
}

interface Elements {
  readonly length: number;
  readonly at: (index: number) => number;
}

/** The search of Knuth, Morris and Pratt. */
function knuthMorrisPratt(within: Elements, wanted: Elements): NextPlace {
  const fallback = borders(wanted.length, (one, other) => wanted.at(one) === wanted.at(other));
  let at = 0;
  let matched = 0;
  let found = -1;
  return (from) => {
    // Skips ahead: places before `from` are not wanted.
    if (from > at) [at, matched] = [from, 0];
    while ((found < from || found < 0) && at < within.length) {
      const element = within.at(at);
      while (matched > 0 && wanted.at(matched) !== element) matched = fallback[matched - 1] ?? 0;
      if (wanted.at(matched) === element) matched += 1;
      at += 1;
      if (matched < wanted.length) continue;
      found = at - wanted.length;
      matched = fallback[matched - 1] ?? 0;
    }
    return found < from ? -1 : found;
  };
}

/**
 * The failure function of Knuth, Morris and Pratt: for every prefix of a pattern the length of its longest proper suffix that
 * is a prefix too. `areEqual` compares the pattern's elements at two indices.
 */
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
