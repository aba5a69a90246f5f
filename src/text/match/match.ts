/**
 * The ladder: where the old text of an edit occurs in a text, and what changes there. Its steps, from strict to loose:
 *
 * 1. exact
 * 2. to 5. ignoring `\n` or `\r\n`, then also curly or straight quotes, then also look-alikes, then also trailing whitespace
 * 6. whole lines, indented otherwise
 * 7. steps 1 to 6 without line numbers that the caller copied along
 * 8. steps 1 and 2 without doubled escapes
 *
 * The first step that finds anything decides, and all places of a call come from that step. If it finds several and the caller
 * wants one, that is an error. Similarity never decides a match; it only helps to explain a failure.
 */

import type { MatchedBy, NearestRegion, TextChange, TextEdit } from "../../contract/edit.ts";
import { diffLimits } from "../diff/hunks.ts";
import { isWellFormed } from "../encoding/escape.ts";
import { finish, partLength, type Steps } from "../steps.ts";
import { alreadyAt } from "./already-applied.ts";
import { firstPlace } from "./find-text.ts";
import { nearestRegion, regionAt } from "./nearest.ts";
import { exactPlaces, exactPlacesFrom, foldedPlaces, isWholeLines, type Place, shiftedPlaces } from "./places.ts";
import { exactReplacement, lineEndAt, rewriting } from "./rewrite.ts";
import { type Fold, foldingText, numberOf, piecesOf, type Source, sourceOf } from "./source.ts";

// Step 8: escapes that were written twice, as a backslash and an `n` where a newline is meant.

const meanings: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  '"': '"',
  "'": "'",
  "`": "`",
  $: "$",
  "\\": "\\",
};

/** Undefined if a character is both escaped and plain: `\n` beside a real newline belongs to a string literal. */
function* withoutDoubleEscapes(
  oldText: string,
  newText: string,
): Steps<{ readonly oldText: string; readonly newText: string } | undefined> {
  if (!oldText.includes("\\")) return undefined;
  const old = yield* unescaping(oldText);
  const added = yield* unescaping(newText);
  if (old === undefined || added === undefined) return undefined;
  const isPlain = (character: string): boolean => old.plain.some((part) => part.includes(character));
  for (const character of old.escaped) if (isPlain(character)) return undefined;
  for (const character of added.escaped) {
    if (isPlain(character) || added.plain.some((part) => part.includes(character))) return undefined;
  }
  return { oldText: old.text, newText: added.text };
}

interface Unescaped {
  readonly text: string;
  readonly escaped: ReadonlySet<string>;
  readonly plain: readonly string[];
}

/** Undefined if a backslash begins another escape. */
function* unescaping(text: string): Steps<Unescaped | undefined> {
  const escaped = new Set<string>();
  const plain: string[] = [];
  const parts: string[] = [];
  let from = 0;
  for (let at = text.indexOf("\\"); at >= 0; at = text.indexOf("\\", from)) {
    const meaning = meanings[text.charAt(at + 1)];
    if (meaning === undefined) return undefined;
    escaped.add(meaning);
    if (at > from) plain.push(text.slice(from, at));
    parts.push(text.slice(from, at), meaning);
    from = at + 2;
    if (parts.length % partLength === 0) yield;
  }
  plain.push(text.slice(from));
  return { text: parts.join("") + text.slice(from), escaped, plain };
}

// Step 7: line numbers that the caller copied together with the text from the output of Read or of a search.

export interface Unnumbered {
  readonly oldText: string;
  readonly newText: string;
  readonly first: number;
  readonly count: number;
}

/** Number and separator in each pattern. On an empty line the space after the separator may be missing. */
const numberPatterns = [
  /^ *(\d+)\u2192/,
  /^ *(\d+) \|(?: |$)/,
  /^ *(\d+)\|(?: |$)/,
  /^ *(\d+)\|/,
  /^ *(\d+):(?: |$)/,
  /^ *(\d+):/,
  /^ *(\d+)\t/,
];

/**
 * Both texts without the numbers, for each way to read them: the space after a colon may be part of the line. Every line of the
 * old text must have a number, in sequence, and the new text one on every line or on none: numbers on only some lines may be
 * content, unless Read shows a page like that, and a pasted number must not get into the file.
 */
function* withoutLineNumbers(oldText: string, newText: string): Steps<readonly Unnumbered[]> {
  const readings: Unnumbered[] = [];
  for (const pattern of numberPatterns) {
    yield;
    const old = strip(oldText, pattern);
    const first = old?.numbers[0];
    if (old === undefined || first === undefined) continue;
    if (!old.numbers.every((number, at) => number === first + at)) continue;
    const stripped = strip(newText, pattern)?.text ?? (hasNumberedLine(newText) ? undefined : newText);
    if (stripped === undefined || readings.some((reading) => reading.oldText === old.text)) continue;
    readings.push({ oldText: old.text, newText: stripped, first, count: old.numbers.length });
  }
  const sparse = readings.length === 0 ? yield* withoutSparseNumbers(oldText, newText) : undefined;
  return sparse === undefined ? readings : [sparse];
}

/** How far apart numbers are where Read shows few of them. */
const sparseSteps = [5, 10];

/**
 * Both texts without numbers that only some lines have: those that a step divides, and maybe the first and the last line.
 * Every line of the old text must have a number or none, as in such a page. The new text may have the same numbers, or go on
 * counting from the first line; any other number in it may be content.
 */
function* withoutSparseNumbers(oldText: string, newText: string): Steps<Unnumbered | undefined> {
  const old = yield* sparseNumbersIn(oldText);
  const firstNumbered = old.numbers.findIndex((number) => !Number.isNaN(number));
  if (firstNumbered < 0) return undefined;
  const first = (old.numbers[firstNumbered] ?? 0) - firstNumbered;
  const last = old.lines.length - (old.lines.length > 1 && old.lines.at(-1) === "" ? 2 : 1);
  const isNumbered = (at: number): boolean => old.numbers[at] === first + at;
  const isPage = (step: number): boolean =>
    old.lines.every((_, at) => {
      const isDue = (first + at) % step === 0;
      return at > last || isNumbered(at) === isDue || (!isDue && (at === 0 || at === last));
    });
  if (first < 1 || !sparseSteps.some(isPage)) return undefined;
  yield;
  const pasted = new Set(old.numbers.filter((_, at) => isNumbered(at)));
  const added = yield* sparseNumbersIn(newText);
  const isPasted = (at: number): boolean => {
    const number = added.numbers[at] ?? Number.NaN;
    return pasted.has(number) || (number === first + at && sparseSteps.some((step) => number % step === 0));
  };
  for (const [at, line] of added.lines.entries()) {
    if (at % partLength === 0) yield;
    if (!isPasted(at) && hasNumberedLine(line)) return undefined;
  }
  const textOf = ({ lines }: SparseNumbers, hasNumber: (at: number) => boolean): string =>
    lines.map((line, at) => (hasNumber(at) ? line.slice(line.indexOf("\t") + 1) : line)).join("\n");
  return { oldText: textOf(old, isNumbered), newText: textOf(added, isPasted), first, count: pasted.size };
}

interface SparseNumbers {
  readonly lines: readonly string[];
  /** Of each line; NaN, which equals nothing, for a line without one. */
  readonly numbers: readonly number[];
}

function* sparseNumbersIn(text: string): Steps<SparseNumbers> {
  const lines = text.split("\n");
  const numbers: number[] = [];
  for (const line of lines) {
    if (numbers.length % partLength === 0) yield;
    numbers.push(Number(/^ *(\d+)\t/.exec(line)?.[1]));
  }
  return { lines, numbers };
}

function hasNumberedLine(text: string): boolean {
  return text.split("\n").some((line) => numberPatterns.some((pattern) => pattern.test(line)));
}

/** Undefined if a line has no number. An empty rest after the last newline is no line. */
function strip(
  text: string,
  pattern: RegExp,
): { readonly text: string; readonly numbers: readonly number[] } | undefined {
  const lines = text.split("\n");
  const numbers: number[] = [];
  const stripped: string[] = [];
  for (const [at, line] of lines.entries()) {
    if (line === "" && at === lines.length - 1 && at > 0) {
      stripped.push("");
      continue;
    }
    const match = pattern.exec(line.endsWith("\r") ? line.slice(0, -1) : line);
    if (match === null) return undefined;
    numbers.push(Number(match[1]));
    stripped.push(line.slice(match[0].length));
  }
  return { text: stripped.join("\n"), numbers };
}

export type Match =
  | {
      readonly found: "yes";
      readonly matchedBy: MatchedBy;
      /** The places in the text as it was, in order. */
      readonly places: readonly { readonly from: number; readonly to: number }[];
      /** In order, without overlaps. Beyond the exact step they touch only what the old and new text differ in. */
      readonly changes: readonly TextChange[];
      /** How many places there are, where several of them are one in `places` and in `changes`. */
      readonly total?: number;
    }
  /** `lines` has the first line of each place, from 1, at most 50 of them. */
  | {
      readonly found: "several";
      readonly matchedBy: MatchedBy;
      readonly lines: readonly number[];
      readonly total: number;
    }
  | { readonly found: "already"; readonly line: number }
  | { readonly found: "no"; readonly nearest: NearestRegion | undefined };

/** Lines that an error lists. */
const linesMax = 50;

/** As `matchIn`, all at once and for a plain string. */
export const match = (text: string, edit: TextEdit): Match => finish(matchIn(sourceOf(text), edit));

/**
 * The source's text MUST be without its BOM. Lone surrogates stand for bytes that could not be decoded: they are never found
 * and never written. The old text MUST be neither empty nor equal to the new one. With `in blocks`, very many places may be
 * returned as blocks of several places, for callers who need not know every line.
 */
export function* matchIn(source: Source, edit: TextEdit, many: "each" | "in blocks" = "each"): Steps<Match> {
  if (!isWellFormed(edit.oldText) || !isWellFormed(edit.newText)) return { found: "no", nearest: undefined };
  const { oldText, newText, all } = withoutBom(source.text, edit);
  if (oldText === "") return { found: "no", nearest: undefined };
  if (all && many === "in blocks" && oldText !== newText) {
    const blocks = yield* exactBlocks(source, oldText, newText);
    if (blocks !== undefined) return blocks;
  }
  const decided = yield* decide(source, oldText, newText, all);
  if (decided !== undefined && decided.found !== "no") return decided;
  yield;
  const nearest = decided?.nearest ?? (yield* nearestRegion(source, oldText));
  yield;
  const line = yield* alreadyAt(source, oldText, newText, nearest?.from);
  return line === undefined ? { found: "no", nearest } : { found: "already", line };
}

/** Whether an edit could be made. Cheaper than `matchIn`, which also explains a failure. */
export function* fits(source: Source, edit: TextEdit): Steps<boolean> {
  if (!isWellFormed(edit.oldText) || !isWellFormed(edit.newText)) return false;
  const { oldText, newText, all } = withoutBom(source.text, edit);
  return oldText !== "" && (yield* decide(source, oldText, newText, all))?.found === "yes";
}

function* decide(source: Source, oldText: string, newText: string, all: boolean): Steps<Match | undefined> {
  return (
    (yield* stepsOneToSix({ source, oldText, newText, all, accept: () => true })) ??
    (yield* withoutNumbers(source, oldText, newText, all)) ??
    (yield* withoutEscapes(source, oldText, newText, all))
  );
}

interface LadderCall {
  readonly source: Source;
  readonly oldText: string;
  readonly newText: string;
  readonly all: boolean;
  readonly accept: (place: Place) => boolean;
}

function* stepsOneToSix(call: LadderCall): Steps<Match | undefined> {
  return (yield* exact(call)) ?? (yield* folded(call)) ?? (yield* indented(call));
}

function* exact(call: LadderCall): Steps<Match | undefined> {
  const { source, oldText, newText } = call;
  const places = (yield* exactPlaces(source, oldText)).filter(call.accept);
  if (places.length === 0) return undefined;
  const textAt = yield* exactReplacement(oldText, newText, source.loneReturns);
  let adapts = false;
  const settled = yield* settling(call, "exact", places, function* ({ from, to }) {
    yield;
    const text = textAt(() => lineEndAt(source, from));
    adapts ||= text !== newText;
    return newText === oldText ? [] : [{ from, to, text }];
  });
  return adapts && settled?.found === "yes" ? { ...settled, matchedBy: "line ends" } : settled;
}

/** More places than this are changed in blocks, so that memory does not grow with their number. */
const placesMax = 20_000;
/** Characters of one such block. */
const blockLengthMax = 65_536;
/** The first places still are changes of their own: as many as a diff can show. */
const singlesMax = diffLimits.linesMax + 1;

/** Exact places from the left, without overlaps, in blocks. Undefined if there are at most `placesMax`. */
function* exactBlocks(source: Source, oldText: string, newText: string): Steps<Match | undefined> {
  const { text } = source;
  const next = exactPlacesFrom(text, oldText);
  let counted = 0;
  for (let at = next(0); at >= 0 && counted <= placesMax; at = next(at + oldText.length)) {
    counted += 1;
    if (counted % 1_000 === 0) yield;
  }
  if (counted <= placesMax) return undefined;

  const textAt = yield* exactReplacement(oldText, newText, source.loneReturns);
  const again = exactPlacesFrom(text, oldText);
  const changes: TextChange[] = [];
  let adapts = false;
  let total = 0;
  for (let first = again(0); first >= 0; ) {
    yield;
    const parts: string[] = [];
    let to = first;
    let made = 0;
    let at = first;
    // Both sides of a block are short, however much longer the new text is.
    const isSingle = changes.length < singlesMax;
    for (; at >= 0 && at - first < blockLengthMax && made < blockLengthMax; at = again(to)) {
      if (isSingle && at > first) break;
      const put = textAt(() => lineEndAt(source, at));
      adapts ||= put !== newText;
      parts.push(text.slice(to, at), put);
      made += at - to + put.length;
      to = at + oldText.length;
      total += 1;
    }
    changes.push({ from: first, to, text: parts.join("") });
    first = at;
  }
  const places = changes.map(({ from, to }) => ({ from, to }));
  return { found: "yes", matchedBy: adapts ? "line ends" : "exact", places, changes, total };
}

const folds: readonly Fold[] = ["line ends", "quotes", "look-alikes", "trailing whitespace"];

function* folded(call: LadderCall): Steps<Match | undefined> {
  const { source, oldText, newText } = call;
  let beforeText = source.text;
  let beforeOld = oldText;
  const pieces = { old: piecesOf(oldText, source), new: piecesOf(newText, source) };
  for (const fold of folds) {
    yield;
    if (fold === "trailing whitespace" && !(yield* mayOccur(source, oldText))) return undefined;
    const view = yield* source.folding(fold);
    const oldForm = yield* foldingText(oldText, fold, source.loneReturns);
    // `line ends` is tried even if it folds nothing: the exact step skips places that would split a `\r\n`.
    if (fold !== "line ends" && view.text === beforeText && oldForm === beforeOld) continue;
    beforeText = view.text;
    beforeOld = oldForm;
    const places = (yield* foldedPlaces(source, oldText, fold)).filter(call.accept);
    const last = placeWithoutNewline(source, oldForm, view.text);
    // Line ends aside, a place with its newline is as certain as an exact one is: the last line does not compete with it.
    if (last !== undefined && (fold !== "line ends" || places.length === 0))
      return yield* severalOrNone(call, fold, places, last);
    if (places.length === 0) continue;
    return yield* settling(call, fold, places, rewriting(source, pieces, fold));
  }
  return undefined;
}

/** The end of the text, if only the final newline of the old text is missing there: the caller may mean this place. */
function placeWithoutNewline(source: Source, oldForm: string, form: string): Place | undefined {
  if (!oldForm.endsWith("\n") || oldForm === "\n" || form.endsWith("\n") || !form.endsWith(oldForm.slice(0, -1))) {
    return undefined;
  }
  const { length } = source.text;
  return { from: length, to: length, line: source.lines().count - (oldForm.split("\n").length - 1) };
}

/** Other places at the same step make the match ambiguous. With `all`, or without other places, the ladder ends without a match. */
function* severalOrNone(call: LadderCall, step: MatchedBy, places: readonly Place[], unended: Place): Steps<Match> {
  const several = call.all || places.length === 0 ? undefined : severalOf(call, step, [...places, unended]);
  return several ?? { found: "no", nearest: yield* regionAt(call.source, call.oldText, unended.line) };
}

function* indented(call: LadderCall): Steps<Match | undefined> {
  const { source, oldText, newText } = call;
  yield;
  const found = yield* shiftedPlaces(source, oldText);
  const places = found.places.filter(call.accept);
  if (found.unended !== undefined) return yield* severalOrNone(call, "indentation", places, found.unended);
  // With `all`, every place or none: places whose lines are shifted unevenly would be left out.
  if (places.length === 0 || (call.all && found.uneven > 0)) return undefined;
  const pieces = { old: piecesOf(oldText, source), new: piecesOf(newText, source) };
  return yield* settling(call, "indentation", places, rewriting(source, pieces, "trailing whitespace"));
}

/** Step seven, for whole lines. A single number must be that of the line. An exact reading comes before one that leaves a space. */
function* withoutNumbers(source: Source, oldText: string, newText: string, all: boolean): Steps<Match | undefined> {
  const readings = (yield* withoutLineNumbers(oldText, newText)).filter((plain) => /[\p{L}\p{N}]/u.test(plain.oldText));
  for (const step of [exact, folded, indented]) {
    const found: Match[] = [];
    for (const { first, count, ...plain } of readings) {
      const accept = (place: Place) =>
        isWholeLines(source, place) && (count > 1 || source.lines().at(place.from) + 1 === first);
      const matched = yield* step({ source, ...plain, all, accept });
      if (matched !== undefined) found.push(matched);
    }
    const [only] = found;
    if (only === undefined) continue;
    return found.length === 1 ? withStep(only, "line numbers") : bothReadings(source, found, all);
  }
  return undefined;
}

/** Two readings that match are ambiguous; with `all` they are no match, since all places must come from one reading. */
function bothReadings(source: Source, found: readonly Match[], all: boolean): Match | undefined {
  if (all) return undefined;
  const lines = found.flatMap((match) => linesOf(source, match)).sort((one, other) => one - other);
  const total = found.reduce((sum, match) => sum + (match.found === "several" ? match.total : 1), 0);
  return { found: "several", matchedBy: "line numbers", lines: lines.slice(0, linesMax), total };
}

function linesOf(source: Source, match: Match): readonly number[] {
  switch (match.found) {
    case "yes":
      return match.places.map((place) => numberOf(source.lines().at(place.from), source));
    case "several":
      return match.lines;
    case "already":
      return [match.line];
    case "no":
      return [];
  }
}

/** Step eight, exact but for line ends: looser matches on top of it would be chance. */
function* withoutEscapes(source: Source, oldText: string, newText: string, all: boolean): Steps<Match | undefined> {
  const plain = yield* withoutDoubleEscapes(oldText, newText);
  if (plain === undefined || plain.oldText === "") return undefined;
  const call = { source, ...plain, all, accept: () => true };
  const found = (yield* exact(call)) ?? (yield* folded(call));
  const isClose = found?.found !== "yes" || found.matchedBy === "exact" || found.matchedBy === "line ends";
  return isClose ? withStep(found, "escapes") : undefined;
}

function withStep(found: Match | undefined, matchedBy: MatchedBy): Match | undefined {
  return found?.found === "yes" || found?.found === "several" ? { ...found, matchedBy } : found;
}

function severalOf({ source }: LadderCall, matchedBy: MatchedBy, places: readonly Place[]): Match {
  const lines = places.slice(0, linesMax).map((place) => numberOf(place.line, source));
  return { found: "several", matchedBy, lines, total: places.length };
}

/** Turns the places of a step into the result of the match: their changes, or `several`, or `already` if nothing would change. */
function* settling(
  call: LadderCall,
  matchedBy: MatchedBy,
  places: readonly Place[],
  changesAt: (place: Place) => Steps<readonly TextChange[] | undefined>,
): Steps<Match | undefined> {
  const chosen = call.all ? withoutOverlaps(places) : places;
  const first = chosen[0];
  if (first === undefined) return undefined;
  if (!call.all && chosen.length > 1) return severalOf(call, matchedBy, chosen);
  const changes: TextChange[] = [];
  for (const [index, place] of chosen.entries()) {
    if (index % rewrittenPerStep === 0) yield;
    const own = yield* changesAt(place);
    if (own === undefined) return undefined;
    changes.push(...own);
  }
  if (changes.length === 0) return { found: "already", line: numberOf(first.line, call.source) };
  yield;
  return { found: "yes", matchedBy, places: chosen.map(({ from, to }) => ({ from, to })), changes };
}

const rewrittenPerStep = 200;

function withoutOverlaps(places: readonly Place[]): readonly Place[] {
  let end = 0;
  return places.filter((place) => {
    if (place.from < end) return false;
    end = place.to;
    return true;
  });
}

/** A cheap test before step five, which can only match if the file contains the longest line of the old text. */
function* mayOccur(source: Source, wanted: string): Steps<boolean> {
  const lines = (yield* foldingText(wanted, "look-alikes", source.loneReturns)).split("\n");
  const longest = lines.reduce((known, line) => (line.trim().length > known.length ? line.trim() : known), "");
  return firstPlace((yield* source.folding("look-alikes")).text, longest) >= 0;
}

function withoutBom(text: string, edit: TextEdit): TextEdit {
  return !edit.oldText.startsWith("\ufeff") || text.includes(edit.oldText) ? edit : withoutMark(edit);
}

/** Without the BOM in front of both texts: if the text does not contain it, it is the file's own BOM, which is no part of the text. */
export function withoutMark({ oldText, newText, all }: TextEdit): TextEdit {
  const unmarked = (text: string): string => (text.startsWith("\ufeff") ? text.slice(1) : text);
  return { oldText: unmarked(oldText), newText: unmarked(newText), all };
}
