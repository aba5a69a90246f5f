/** The part of a text that is most similar to a wanted text that was not found, and how they differ: it only explains the error. */

import type { Difference, DifferenceKind, NearestRegion } from "../../contract/edit.ts";
import { wellFormed } from "../encoding/escape.ts";
import type { Steps } from "../steps.ts";
import { placesIn } from "./find-text.ts";
import { type IndentationPair, shiftOf, wholeLinesOf } from "./places.ts";
import {
  contentLength,
  foldingText,
  foldQuotes,
  indentationOf,
  piecesOf,
  type Source,
  trimWhitespace,
} from "./source.ts";

/** Lines of the nearest text that an error shows. */
const shownLinesMax = 8;
/** Lines of the wanted text that are searched for: the longest ones, which are the rarest. */
const soughtLinesMax = 12;
/** Words that are searched for if no whole line is found. */
const soughtWordsMax = 8;
/** A line or word that occurs more often proves nothing. */
const hitsMax = 200;
/** Regions that are compared line by line. */
const candidatesMax = 12;
/** Lines of a region that are compared with the wanted ones. */
const comparedLinesMax = 60;
/** From 0 to 1; below it a region does not help the reader. */
const likenessMin = 0.45;

export function* nearestRegion(source: Source, wanted: string): Steps<NearestRegion | undefined> {
  const asked = askedLines(source, wanted);
  let best: Likeness | undefined;
  const wantedLines = asked.slice(0, comparedLinesMax).map(wantedLine);
  for (const candidate of yield* candidates(source, asked)) {
    yield;
    const voted = likenessAt(source, wantedLines, candidate);
    // Lines that only one side has, between the first line and those that voted, move the start of the region.
    const moved = candidate + voted.firstDrift;
    for (const region of voted.firstDrift === 0 ? [voted] : [voted, likenessAt(source, wantedLines, moved)]) {
      if (region.likeness >= likenessMin && region.likeness > (best?.likeness ?? 0)) best = region;
    }
  }
  return best === undefined ? undefined : yield* regionAt(source, wanted, best.start);
}

/** The region that begins at line `start` (from 0), with as many lines as the wanted text has, but at least `linesMin`. */
export function* regionAt(source: Source, wanted: string, start: number, linesMin = 0): Steps<NearestRegion> {
  const asked = askedLines(source, wanted);
  const from = Math.max(0, start);
  const difference = yield* firstDifference(source, wanted, asked, start);
  const linesTotal = Math.min(Math.max(asked.length, linesMin), linesOf(source) - from);
  const lines = Array.from({ length: Math.min(shownLinesMax, linesTotal) }, (_, at) => lineOf(source, from + at) ?? "");
  // Read counts a text whose lines end in `\r` alone as one line.
  if (source.loneReturns) {
    return { from: 1, lines: [lines.join("\r")], linesTotal: 1, difference: { ...difference, line: 1 } };
  }
  return { from: from + 1, lines, linesTotal, difference };
}

const askedLines = (source: Source, wanted: string): readonly string[] => wholeLinesOf(piecesOf(wanted, source));

/** Lines where the wanted text may begin. Each of its lines that occurs in the file votes for one; if none occurs, its words vote. */
function* candidates(source: Source, asked: readonly string[]): Steps<readonly number[]> {
  const votes = new Map<number, number>();
  const { text, lines } = yield* source.folding("look-alikes");
  const folded = (yield* foldingText(asked.join("\n"), "look-alikes", false)).split("\n");
  const sought = folded
    .map((line, at) => ({ at, sought: trimWhitespace(withoutNumber(line)) }))
    .filter((line) => line.sought !== "")
    .sort((one, other) => other.sought.length - one.sought.length);
  const vote = (piece: string, at: number, weight: number) => {
    const hits: number[] = [];
    const next = placesIn(text, piece);
    for (let hit = next(0); hit >= 0 && hits.length <= hitsMax; hit = next(hit + piece.length)) hits.push(hit);
    if (hits.length > hitsMax) return;
    for (const hit of hits) {
      const start = lines.at(hit) - at;
      votes.set(start, (votes.get(start) ?? 0) + weight / hits.length);
    }
  };
  for (const line of sought.slice(0, soughtLinesMax)) {
    yield;
    vote(line.sought, line.at, line.sought.length);
  }
  if (votes.size === 0) {
    for (const { word, at } of rareWords(sought)) {
      yield;
      vote(word, at, word.length / 4);
    }
  }
  return [...votes]
    .sort((one, other) => other[1] - one[1] || one[0] - other[0])
    .slice(0, candidatesMax)
    .map(([start]) => start);
}

function rareWords(
  sought: readonly { readonly at: number; readonly sought: string }[],
): readonly { readonly word: string; readonly at: number }[] {
  const known = new Map<string, number>();
  for (const line of sought.slice(0, soughtLinesMax)) {
    for (const [word] of line.sought.slice(0, 2_000).matchAll(/[\p{L}\p{N}_]{2,80}/gu)) {
      if (!known.has(word)) known.set(word, line.at);
    }
  }
  return [...known]
    .map(([word, at]) => ({ word, at }))
    .sort((one, other) => other.word.length - one.word.length)
    .slice(0, soughtWordsMax);
}

interface Likeness {
  readonly start: number;
  /** From 0 to 1: how much of the wanted lines the region has, each compared with the lines around its row. */
  readonly likeness: number;
  readonly firstDrift: number;
}

function likenessAt(source: Source, wanted: readonly Wanted[], start: number): Likeness {
  let sum = 0;
  let weight = 0;
  let drift = 0;
  let firstDrift: number | undefined;
  for (const [at, line] of wanted.entries()) {
    if (line.text === "") continue;
    let best = 0;
    let bestDrift = drift;
    for (const step of [0, 1, -1, 2, -2]) {
      const actual = lineOf(source, start + at + drift + step);
      if (actual === undefined) continue;
      // A first line in another row counts less: the region should begin at its first line.
      const likeness =
        likenessOf(line, trimWhitespace(actual)) * (step === 0 ? 1 : firstDrift === undefined ? 0.8 : 0.99);
      if (likeness > best) [best, bestDrift] = [likeness, drift + step];
      if (best > 0.8) break;
    }
    if (best > 0.6) drift = bestDrift;
    firstDrift ??= drift;
    sum += best * line.text.length;
    weight += line.text.length;
  }
  return { start, likeness: weight === 0 ? 0 : sum / weight, firstDrift: firstDrift ?? 0 };
}

/** The first line with a difference that no step of the ladder ignores; if there is none, the first line that differs at all. */
function* firstDifference(source: Source, wanted: string, asked: readonly string[], start: number): Steps<Difference> {
  const pairs: (IndentationPair & { readonly at: number })[] = [];
  for (const [at, line] of asked.entries()) {
    const actual = lineOf(source, start + at);
    if (actual === undefined || !(yield* isSameLine(line, actual)))
      return yield* textDifference(source, asked, at, start + at);
    if (line.trim() !== "") pairs.push({ asked: indentationOf(line), actual: indentationOf(actual), at });
  }
  const shift = shiftOf(pairs);
  const odd = shift.way === "uneven" ? pairs[shift.at] : undefined;
  // A line that does not fit the shift of the lines before it may be the correct one.
  const uneven = odd?.asked === odd?.actual ? odd && pairs.find(({ asked: one, actual }) => one !== actual) : odd;
  if (uneven !== undefined) {
    const mixed = `${uneven.asked}${uneven.actual}`;
    const kind = mixed.includes("\t") && mixed.includes(" ") ? "tab or space" : "indentation";
    return { kind, ...both(source, asked, uneven.at, start + uneven.at) };
  }
  const last = asked.length - 1;
  if (piecesOf(wanted, source).at(-1) === "" && start + last === linesOf(source) - 1 && !endsLine(source)) {
    return { kind: "final newline", ...both(source, asked, last, start + last) };
  }
  const differs = asked.findIndex((line, row) => line !== lineOf(source, start + row));
  if (differs < 0 && start === 0 && piecesOf(wanted, source)[0] === "") {
    return { kind: "newline in front", ...both(source, asked, 0, start) };
  }
  const at = Math.max(0, differs);
  const pair = both(source, asked, at, start + at);
  return { kind: yield* differenceOf(pair.asked ?? "", pair.actual ?? ""), ...pair };
}

function* textDifference(source: Source, asked: readonly string[], at: number, line: number): Steps<Difference> {
  const pair = both(source, asked, at, line);
  if (pair.asked === undefined || pair.actual === undefined) return { ...pair, kind: "missing line" };
  const kind = yield* differenceOf(pair.asked, pair.actual);
  if (kind !== "text") return { kind, ...pair };
  // If only one side has this line, the next lines match without it and do not match beside it.
  const changed = yield* fitting(source, asked, at + 1, line + 1);
  const extra = yield* fitting(source, asked, at, line + 1);
  const missing = yield* fitting(source, asked, at + 1, line);
  if (extra > changed && extra >= missing) {
    return { kind: "extra line", line: pair.line, asked: undefined, actual: pair.actual };
  }
  if (missing > changed) return { kind: "missing line", line: pair.line, asked: pair.asked, actual: undefined };
  return { kind, ...pair };
}

/** Enough lines in a row to tell a missing line from a changed one. */
const fittingLinesMax = 3;

/** How many of the next wanted lines match the file from `line` on. Blank lines do not count; the end of the wanted lines counts as one. */
function* fitting(source: Source, asked: readonly string[], from: number, line: number): Steps<number> {
  let count = 0;
  for (let row = 0; count < fittingLinesMax; row += 1) {
    const [wanted, actual] = [asked[from + row], lineOf(source, line + row)];
    if (wanted === undefined) return count + 1;
    if (actual === undefined || !(yield* isSameLine(wanted, actual))) return count;
    if (trimWhitespace(wanted) !== "") count += 1;
  }
  return count;
}

function both(source: Source, asked: readonly string[], at: number, line: number): Omit<Difference, "kind"> {
  return { line: Math.max(1, line + 1), asked: asked[at], actual: lineOf(source, line) };
}

function lineOf(source: Source, line: number): string | undefined {
  const lines = source.lines();
  if (line < 0 || line >= linesOf(source)) return undefined;
  return source.text.slice(lines.start(line), lines.end(line));
}

/** The number of lines as Read counts them: an empty rest after the last line end is no line. */
function linesOf(source: Source): number {
  const { count } = source.lines();
  return endsLine(source) ? count - 1 : count;
}

function endsLine({ text, loneReturns }: Source): boolean {
  return text.endsWith(loneReturns ? "\r" : "\n");
}

// How similar two lines are.

/** A longer line is compared by its beginning. */
const comparedCharsMax = 400;
/** The highest likeness of a line that is not exactly the wanted one. */
const almostSame = 0.999;

export interface Wanted {
  readonly text: string;
  readonly even: string;
  readonly pairs: ReadonlyMap<number, number>;
}

/** The share of common pairs of neighbouring characters (Dice coefficient), from 0 to 1. */
export function likenessOf(wanted: Wanted, line: string): number {
  if (wanted.text === line) return 1;
  const actual = evenWhitespace(line.slice(0, comparedCharsMax));
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
  // A wanted line that is only part of a long line counts in full.
  const whole = actual.includes(wanted.even) ? wanted.even.length - 1 : (wanted.even.length + actual.length - 2) / 2;
  return Math.min(almostSame, shared / whole);
}

export function wantedLine(line: string): Wanted {
  const text = trimWhitespace(withoutNumber(line)).slice(0, comparedCharsMax);
  const even = evenWhitespace(text);
  const pairs = new Map<number, number>();
  for (let at = 1; at < even.length; at += 1) {
    const pair = pairAt(even, at);
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
  }
  return { text, even, pairs };
}

/** Callers get whitespace wrong most often: a line that differs in nothing else is the one that they mean. */
const evenWhitespace = (line: string): string => line.replace(/[ \t]+/g, " ");

function pairAt(text: string, at: number): number {
  return text.charCodeAt(at - 1) * 0x10000 + text.charCodeAt(at);
}

// How a wanted line and the file's line differ: the first test that explains the difference decides.

/** Whether two lines are equal but for what the ladder ignores. Indentation is left to `shiftOf`, which compares all lines. */
function* isSameLine(asked: string, actual: string): Steps<boolean> {
  return asked === actual || (yield* folding(asked)) === (yield* folding(actual));
}

function* folding(line: string): Steps<string> {
  return trimWhitespace(yield* foldingText(line, "look-alikes", false));
}

/** Each test makes several passes over lines that may be very long. */
function* differenceOf(asked: string, actual: string): Steps<DifferenceKind> {
  for (const [kind, form, also] of differenceTests) {
    if ((yield* form(asked)) === (yield* form(actual)) && also?.(asked, actual) !== false) return kind;
  }
  return "text";
}

/** A difference is explained if both lines have the same form. */
type Form = (line: string) => Steps<string>;

const plain = (form: (line: string) => string): Form =>
  function* (line) {
    yield;
    return form(line);
  };

const trimmed = plain(trimWhitespace);

const differenceTests: readonly (readonly [DifferenceKind, Form, also?: (asked: string, actual: string) => boolean])[] =
  [
    ["undecoded byte", plain(wellFormed), (asked, actual) => asked !== actual],
    ["trailing whitespace", plain((line) => line.slice(0, contentLength(line)))],
    ["line end", plain((line) => line.replaceAll("\r", ""))],
    ["tab or space", trimmed, mixesWhitespace],
    ["indentation", trimmed],
    ["quote", plain((line) => foldQuotes(trimWhitespace(line)))],
    ["look-alike", folding],
    ["escape", plain(unescaped)],
    ["tab or space", plain((line) => trimWhitespace(line).replaceAll("\t", " "))],
    ["whitespace inside the line", plain((line) => line.replace(/\s+/g, ""))],
    [
      "case",
      function* (line) {
        return (yield* folding(line)).toLowerCase();
      },
    ],
    [
      "number",
      // Without a pasted line number, and with every number made equal.
      function* (line) {
        return (yield* folding(withoutNumber(yield* folding(line)))).replace(/\d+/g, "0");
      },
    ],
  ];

/** Whether one side has tabs where the other has spaces, rather than more or fewer of the same. */
function mixesWhitespace(asked: string, actual: string): boolean {
  const [one, other] = [indentationOf(asked), indentationOf(actual)];
  return (one + other).includes(" ") && (one + other).includes("\t") && !one.endsWith(other) && !other.endsWith(one);
}

const escapes: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r" };

function unescaped(line: string): string {
  return trimWhitespace(line)
    .replace(/\\u\{?([0-9a-fA-F]{4,6})\}?|\\x([0-9a-fA-F]{2})/g, (whole, long?: string, short?: string) => {
      const point = Number.parseInt(long ?? short ?? "", 16);
      return point <= 0x10ffff ? String.fromCodePoint(point) : whole;
    })
    .replace(/\\(.)/g, (_, character: string) => escapes[character] ?? character)
    .replace(/&(lt|gt|quot|#39|apos|amp);/g, (_, name: string) => entities[name] ?? "");
}

const entities: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', "#39": "'", apos: "'", amp: "&" };

function withoutNumber(line: string): string {
  return line.replace(/^ *\d+(?:\u2192|[:|\t]| \|) ?/, "");
}
