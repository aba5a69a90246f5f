/**
 * Where an edit belongs in a text, and what it changes there. The steps go from the letter to looser comparisons. The
 * first that finds anything decides: two places at one step are never told apart by a looser one, and the places of one
 * call all come from one step. Nothing is guessed by likeness; that is for the help with a failure alone.
 */

import type { MatchedBy, NearestRegion, TextChange, TextEdit } from "../../contract/edit.ts";
import { diffLimits } from "../diff/hunks.ts";
import { finish, type Steps } from "../steps.ts";
import { alreadyAt } from "./already-applied.ts";
import { firstPlace } from "./find-text.ts";
import { nearestRegion, regionAt } from "./nearest.ts";
import { exactPlaces, exactPlacesFrom, foldedPlaces, isWholeLines, type Place, shiftedPlaces } from "./places.ts";
import { exactReplacement, lineEndAt, rewriting } from "./rewrite.ts";
import { type Fold, foldText, numberOf, piecesOf, type Source, sourceOf } from "./source.ts";

/** Escapes that were written twice: a backslash and an `n` where a newline is meant. */

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

interface Unescaped {
  readonly text: string;
  /** The characters that were written as escapes, and those of them that also stand there by themselves. */
  readonly escaped: ReadonlySet<string>;
  readonly plain: ReadonlySet<string>;
}

/**
 * Both texts as they were meant; undefined if nothing speaks for it. A character that stands both escaped and plain was
 * not escaped by mistake: `\n` beside a real newline belongs to a string literal. `\u00e9` is never taken for the letter.
 */
function withoutDoubleEscapes(
  oldText: string,
  newText: string,
): { readonly oldText: string; readonly newText: string } | undefined {
  const old = unescape(oldText);
  const added = unescape(newText);
  if (old === undefined || added === undefined || old.escaped.size === 0) return undefined;
  for (const character of old.escaped) if (old.plain.has(character)) return undefined;
  for (const character of added.escaped) {
    if (added.plain.has(character) || old.plain.has(character)) return undefined;
  }
  return { oldText: old.text, newText: added.text };
}

/** Undefined where a backslash begins something else. */
function unescape(text: string): Unescaped | undefined {
  const escaped = new Set<string>();
  const plain = new Set<string>();
  const parts: string[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character !== "\\") {
      plain.add(character);
      parts.push(character);
      continue;
    }
    at += 1;
    const meaning = meanings[text.charAt(at)];
    if (meaning === undefined) return undefined;
    escaped.add(meaning);
    parts.push(meaning);
  }
  return { text: parts.join(""), escaped, plain };
}

/** Line numbers that were copied along with the text from what Read or a search shows. */

export interface Unnumbered {
  readonly oldText: string;
  readonly newText: string;
  /** The number of the first line. */
  readonly first: number;
  readonly count: number;
}

/** What stands between number and text. An empty line may lack the blank after it. */
const dialects = [
  /^ *(\d+)\u2192/,
  /^ *(\d+) \|(?: |$)/,
  /^ *(\d+)\|(?: |$)/,
  /^ *(\d+)\|/,
  /^ *(\d+):(?: |$)/,
  /^ *(\d+):/,
  /^ *(\d+)\t/,
];

/**
 * Both texts without the numbers, for each way to read them: the blank behind a colon can be the line's own. Only if every
 * line of the old text has one and they are consecutive, and the new text has one on every line or on none. Numbers on
 * some lines could be the text's own, and must not get into the file.
 */
function withoutLineNumbers(oldText: string, newText: string): readonly Unnumbered[] {
  const readings: Unnumbered[] = [];
  for (const dialect of dialects) {
    const old = strip(oldText, dialect);
    const first = old?.numbers[0];
    if (old === undefined || first === undefined) continue;
    if (!old.numbers.every((number, at) => number === first + at)) continue;
    const stripped = strip(newText, dialect)?.text ?? (hasNumbers(newText) ? undefined : newText);
    if (stripped === undefined || readings.some((reading) => reading.oldText === old.text)) continue;
    readings.push({ oldText: old.text, newText: stripped, first, count: old.numbers.length });
  }
  return readings;
}

function hasNumbers(text: string): boolean {
  return text.split("\n").some((line) => dialects.some((dialect) => dialect.test(line)));
}

/** Undefined if a line has no number. What follows the last newline is no line if it is empty. */
function strip(
  text: string,
  dialect: RegExp,
): { readonly text: string; readonly numbers: readonly number[] } | undefined {
  const lines = text.split("\n");
  const numbers: number[] = [];
  const stripped: string[] = [];
  for (const [at, line] of lines.entries()) {
    if (line === "" && at === lines.length - 1 && at > 0) {
      stripped.push("");
      continue;
    }
    const match = dialect.exec(line.endsWith("\r") ? line.slice(0, -1) : line);
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
  /** The first line of each place, from 1, at most 50. */
  | {
      readonly found: "several";
      readonly matchedBy: MatchedBy;
      readonly lines: readonly number[];
      readonly total: number;
    }
  /** The new text stands in the file already and the old does not. */
  | { readonly found: "already"; readonly line: number }
  | { readonly found: "no"; readonly nearest: NearestRegion | undefined };

/** Lines that an error lists. */
const linesMax = 50;

/** As `matchIn`, in a text of which nothing is known yet. */
export const match = (text: string, edit: TextEdit): Match => finish(matchIn(sourceOf(text), edit));

/**
 * The text is without its BOM. Lone surrogates stand for bytes that could not be decoded: they are never found, and never
 * written. The old text must be neither empty nor equal to the new one. `many`: a great number of places may be told as
 * blocks, each of which has several of them, for callers who need not know every line.
 */
export function* matchIn(source: Source, edit: TextEdit, many: "each" | "in blocks" = "each"): Steps<Match> {
  if (hasLoneSurrogate(edit.oldText) || hasLoneSurrogate(edit.newText)) return { found: "no", nearest: undefined };
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

/** Whether an edit could be made, without the help that a failure gets. */
export function* fits(source: Source, edit: TextEdit): Steps<boolean> {
  if (hasLoneSurrogate(edit.oldText) || hasLoneSurrogate(edit.newText)) return false;
  const { oldText, newText, all } = withoutBom(source.text, edit);
  return oldText !== "" && (yield* decide(source, oldText, newText, all))?.found === "yes";
}

function* decide(source: Source, oldText: string, newText: string, all: boolean): Steps<Match | undefined> {
  return (
    (yield* climb({ source, oldText, newText, all, accept: () => true })) ??
    (yield* withoutNumbers(source, oldText, newText, all)) ??
    (yield* withoutEscapes(source, oldText, newText, all))
  );
}

interface Climb {
  readonly source: Source;
  readonly oldText: string;
  readonly newText: string;
  readonly all: boolean;
  readonly accept: (place: Place) => boolean;
}

/** Steps one to six. */
function* climb(call: Climb): Steps<Match | undefined> {
  return (yield* exact(call)) ?? (yield* folded(call)) ?? (yield* indented(call));
}

function* exact(call: Climb): Steps<Match | undefined> {
  const { source, oldText, newText } = call;
  const places = (yield* exactPlaces(source, oldText)).filter(call.accept);
  if (places.length === 0) return undefined;
  const textAt = exactReplacement(oldText, newText, source.loneReturns);
  let adapts = false;
  const settled = yield* settling(call, "exact", places, {
    changes: ({ from, to }) => {
      const text = textAt(() => lineEndAt(source, from));
      adapts ||= text !== newText;
      return newText === oldText ? [] : [{ from, to, text }];
    },
  });
  return adapts && settled?.found === "yes" ? { ...settled, matchedBy: "line ends" } : settled;
}

/** More places than this are changed in blocks of the text: what is known of them does not grow with their number. */
const placesMax = 20_000;
/** Characters of one such block. */
const blockLengthMax = 65_536;
/** The first places are changes of their own all the same: more than these are not shown in any diff. */
const singlesMax = diffLimits.linesMax + 1;

/** Places of the very letters, from the left and apart. Undefined where they are not that many. */
function* exactBlocks(source: Source, oldText: string, newText: string): Steps<Match | undefined> {
  const { text } = source;
  const next = exactPlacesFrom(text, oldText);
  let counted = 0;
  for (let at = next(0); at >= 0 && counted <= placesMax; at = next(at + oldText.length)) {
    counted += 1;
    if (counted % 1_000 === 0) yield;
  }
  if (counted <= placesMax) return undefined;

  const textAt = exactReplacement(oldText, newText, source.loneReturns);
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

const folds: readonly Fold[] = ["line ends", "quotes", "look-alikes", "trailing blanks"];

/** Steps two to five. */
function* folded(call: Climb): Steps<Match | undefined> {
  const { source, oldText, newText } = call;
  let beforeText = source.text;
  let beforeOld = oldText;
  const pieces = { old: piecesOf(oldText, source), new: piecesOf(newText, source) };
  for (const fold of folds) {
    yield;
    if (fold === "trailing blanks" && !mayStand(source, oldText)) return undefined;
    const view = yield* source.folding(fold);
    const oldForm = foldText(oldText, fold, source.loneReturns);
    // Where the first step was not allowed to tear a line end, the same letters are looked for again.
    if (fold !== "line ends" && view.text === beforeText && oldForm === beforeOld) continue;
    beforeText = view.text;
    beforeOld = oldForm;
    const places = (yield* foldedPlaces(source, oldText, fold)).filter(call.accept);
    const last = unendedPlace(source, oldForm, view.text);
    if (last !== undefined) return orUnended(call, fold, places, last);
    if (places.length === 0) continue;
    return yield* settling(call, fold, places, { changes: rewriting(source, pieces, fold) });
  }
  return undefined;
}

/**
 * The end of a text whose last line lacks the newline that the old text ends with. With the newline it would be found here, so
 * no other place may be taken for the one that is meant.
 */
function unendedPlace(source: Source, oldForm: string, form: string): Place | undefined {
  if (!oldForm.endsWith("\n") || oldForm === "\n" || form.endsWith("\n") || !form.endsWith(oldForm.slice(0, -1))) {
    return undefined;
  }
  const { length } = source.text;
  return { from: length, to: length, line: source.lines().count - (oldForm.split("\n").length - 1) };
}

/** Places at the same step beside one that lacks only its newline are too many; without any the ladder ends. */
function orUnended(call: Climb, step: MatchedBy, places: readonly Place[], unended: Place): Match {
  const several = call.all || places.length === 0 ? undefined : settle(call, step, [...places, unended], neverChanged);
  return several ?? { found: "no", nearest: regionAt(call.source, call.oldText, unended.line) };
}

const neverChanged: Settlement = { changes: () => undefined };

/** Step six. */
function* indented(call: Climb): Steps<Match | undefined> {
  const { source, oldText, newText } = call;
  yield;
  const found = yield* shiftedPlaces(source, oldText);
  const places = found.places.filter(call.accept);
  if (found.unended !== undefined) return orUnended(call, "indentation", places, found.unended);
  // All or none: lines that are only unevenly indented would be left out.
  if (places.length === 0 || (call.all && found.uneven > 0)) return undefined;
  const pieces = { old: piecesOf(oldText, source), new: piecesOf(newText, source) };
  return yield* settling(call, "indentation", places, { changes: rewriting(source, pieces, "trailing blanks") });
}

/**
 * Step seven. Numbers stand in front of whole lines; a single one proves little, so it must be the line's own. A reading of
 * them that fits as it is comes before one that leaves a blank to be shifted.
 */
function* withoutNumbers(source: Source, oldText: string, newText: string, all: boolean): Steps<Match | undefined> {
  const readings = withoutLineNumbers(oldText, newText).filter((plain) => /[\p{L}\p{N}]/u.test(plain.oldText));
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
    return found.length === 1 ? renamed(only, "line numbers") : bothReadings(source, found, all);
  }
  return undefined;
}

/** Two readings that fit are two places. Those of one call are never of both. */
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

/** Step eight, to the letter but for the line ends: looser comparisons on top of it would be chance. */
function* withoutEscapes(source: Source, oldText: string, newText: string, all: boolean): Steps<Match | undefined> {
  const plain = withoutDoubleEscapes(oldText, newText);
  if (plain === undefined || plain.oldText === "") return undefined;
  const call = { source, ...plain, all, accept: () => true };
  const found = (yield* exact(call)) ?? (yield* folded(call));
  const isClose = found?.found !== "yes" || found.matchedBy === "exact" || found.matchedBy === "line ends";
  return isClose ? renamed(found, "escapes") : undefined;
}

function renamed(found: Match | undefined, matchedBy: MatchedBy): Match | undefined {
  return found?.found === "yes" || found?.found === "several" ? { ...found, matchedBy } : found;
}

interface Settlement {
  readonly changes: (place: Place) => readonly TextChange[] | undefined;
}

const settle = (call: Climb, step: MatchedBy, places: readonly Place[], settlement: Settlement): Match | undefined =>
  finish(settling(call, step, places, settlement));

/** The same, in steps: what a loosely matched place becomes is some work for each. */
function* settling(
  call: Climb,
  matchedBy: MatchedBy,
  places: readonly Place[],
  settlement: Settlement,
): Steps<Match | undefined> {
  const chosen = call.all ? apart(places) : places;
  const first = chosen[0];
  if (first === undefined) return undefined;
  if (!call.all && chosen.length > 1) {
    const lines = chosen.slice(0, linesMax).map((place) => numberOf(place.line, call.source));
    return { found: "several", matchedBy, lines, total: chosen.length };
  }
  const changes: TextChange[] = [];
  for (const [index, place] of chosen.entries()) {
    if (index % rewrittenPerStep === 0) yield;
    const own = settlement.changes(place);
    if (own === undefined) return undefined;
    changes.push(...own);
  }
  if (changes.length === 0) return { found: "already", line: numberOf(first.line, call.source) };
  yield;
  return { found: "yes", matchedBy, places: chosen.map(({ from, to }) => ({ from, to })), changes };
}

const rewrittenPerStep = 200;

/** From the left, those that do not overlap one before. */
function apart(places: readonly Place[]): readonly Place[] {
  let end = 0;
  return places.filter((place) => {
    if (place.from < end) return false;
    end = place.to;
    return true;
  });
}

/** A quick no: the longest line of a text must stand in the file for any step that compares lines. */
function mayStand(source: Source, wanted: string): boolean {
  const lines = foldText(wanted, "look-alikes", source.loneReturns).split("\n");
  const longest = lines.reduce((known, line) => (line.trim().length > known.length ? line.trim() : known), "");
  return firstPlace(source.folded("look-alikes").text, longest) >= 0;
}

function withoutBom(text: string, edit: TextEdit): TextEdit {
  return !edit.oldText.startsWith("\ufeff") || text.includes(edit.oldText) ? edit : withoutMark(edit);
}

/** A BOM in front of the old text is the file's, which is kept apart from the text; for one that does not stand in the text. */
export function withoutMark({ oldText, newText, all }: TextEdit): TextEdit {
  const unmarked = (text: string): string => (text.startsWith("\ufeff") ? text.slice(1) : text);
  return { oldText: unmarked(oldText), newText: unmarked(newText), all };
}

function hasLoneSurrogate(text: string): boolean {
  return /\p{Cs}/u.test(text);
}
