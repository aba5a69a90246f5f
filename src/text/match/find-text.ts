/**
 * Where a text stands in another, linear in both, whatever they repeat. The search of strings that the language has is
 * the quickest for nearly every text, but where a long one ends in repetition it begins anew at each of the repeats.
 */

import type { Buffer } from "node:buffer";

/** Asked with offsets that go forward, answers with the first place at or behind each; -1: there is none. */
export type NextPlace = (from: number) => number;

/**
 * Places that overlap are found up to this many, and from there on those that are apart, counted from the left: on long runs of
 * one character every step to the next is a long way.
 */
export const overlapsMax = 1_000;

export function placesIn(text: string, wanted: string): NextPlace {
  if (!isRepetitive(wanted)) return (from) => text.indexOf(wanted, from);
  return stepwise(
    { length: text.length, at: (index) => text.charCodeAt(index) },
    { length: wanted.length, at: (index) => wanted.charCodeAt(index) },
  );
}

/** The same of bytes. */
export function bytePlacesIn(bytes: Buffer, wanted: Buffer): NextPlace {
  if (!isRepetitive(wanted)) return nearFirst(bytes, wanted);
  return stepwise(
    { length: bytes.length, at: (index) => bytes[index] ?? 0 },
    { length: wanted.length, at: (index) => wanted[index] ?? 0 },
  );
}

/** So many places are tried before the search that the language has: a call of it costs more than they do. */
const nearMax = 8;

/** Quick where places stand close together, as those of a letter do. */
function nearFirst(bytes: Buffer, wanted: Buffer): NextPlace {
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

/** Only an end that stands in it before, too, can be met again before what was compared has been passed. */
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

/** After Knuth, Morris and Pratt. */
function stepwise(within: Elements, wanted: Elements): NextPlace {
  const fallback = borders(wanted.length, (one, other) => wanted.at(one) === wanted.at(other));
  let at = 0;
  let matched = 0;
  let found = -1;
  return (from) => {
    // What begins before is of no interest, if it did not begin yet.
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
 * For every beginning of a pattern, the length of its longest end that is a beginning too. `areEqual` compares the
 * pattern's elements at two places.
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
