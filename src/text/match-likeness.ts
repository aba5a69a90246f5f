/** How like one line is to another: for what is told about a file, never for where it is written. */

import { withoutNumber } from "./match-difference.ts";
import { trimBlanks } from "./match-source.ts";

/** A longer line is compared by its beginning. */
const comparedCharsMax = 400;
/** Of a line that is not the wanted one to the letter. */
const almostSame = 0.999;

/** A wanted line with the pairs of neighbouring characters in it, every run of blanks counted as one. */
export interface Wanted {
  readonly text: string;
  readonly even: string;
  readonly pairs: ReadonlyMap<number, number>;
}

/** Shared pairs of neighbouring characters, as Dice counts them. */
export function likenessOf(wanted: Wanted, line: string): number {
  if (wanted.text === line) return 1;
  const actual = evenBlanks(line.slice(0, comparedCharsMax));
  if (wanted.even.length < 2 || actual.length < 2) return 0;
  let shared = 0;
  const counted = new Map<number, number>();
  for (let at = 1; at < actual.length; at += 1) {
    const pair = pairAt(actual, at);
    const wantedTimes = wanted.pairs.get(pair);
    if (wantedTimes === undefined) continue;
    const times = counted.get(pair) ?? 0;
    if (times < wantedTimes) shared += 1;
    counted.set(pair, times + 1);
  }
  // Part of a long line is as good as the whole of a short one.
  const whole = actual.includes(wanted.even) ? wanted.even.length - 1 : (wanted.even.length + actual.length - 2) / 2;
  return Math.min(almostSame, shared / whole);
}

export function wantedLine(line: string): Wanted {
  const text = trimBlanks(withoutNumber(line)).slice(0, comparedCharsMax);
  const even = evenBlanks(text);
  const pairs = new Map<number, number>();
  for (let at = 1; at < even.length; at += 1) {
    const pair = pairAt(even, at);
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
  }
  return { text, even, pairs };
}

/** Blanks are what calls get wrong most often: a line that differs in nothing else is the one that was meant. */
const evenBlanks = (line: string): string => line.replace(/[ \t]+/g, " ");

function pairAt(text: string, at: number): number {
  return text.charCodeAt(at - 1) * 0x10000 + text.charCodeAt(at);
}
