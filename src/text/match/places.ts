/** The places of a text in another: exact, folded, or as lines that are indented otherwise. Below: how an indentation is shifted. */

import { partLength, type Steps } from "../steps.ts";
import { borders, type NextPlace, overlapsMax, placesIn } from "./find-text.ts";
import {
  contentLength,
  type Fold,
  foldingText,
  indentationOf,
  piecesOf,
  type Source,
  trimWhitespace,
} from "./source.ts";

export interface Place {
  /** UTF-16 units of the text. */
  readonly from: number;
  readonly to: number;
  /** The line it begins in; lines count from 0. */
  readonly line: number;
  readonly shift?: Shift;
}

function* occurrences(text: string, wanted: string): Steps<readonly number[]> {
  const found: number[] = [];
  if (wanted === "") return found;
  const next = placesIn(text, wanted);
  let apart = 0;
  for (let at = next(0); at >= 0; at = next(found.length < overlapsMax ? at + 1 : apart)) {
    found.push(at);
    if (at >= apart) apart = at + wanted.length;
    if (found.length % partLength === 0) yield;
  }
  return found;
}

export function* exactPlaces(source: Source, asked: string): Steps<readonly Place[]> {
  const places: Place[] = [];
  for (const [index, at] of (yield* occurrences(source.text, asked)).entries()) {
    if (index % partLength === 0) yield;
    // A place that would split a `\r\n` is left to the step for line ends.
    if (asked.charCodeAt(0) === 0x0a && at > 0 && source.text.charCodeAt(at - 1) === 0x0d) continue;
    places.push({ from: at, to: at + asked.length, line: source.lines().at(at) });
  }
  return places;
}

export function exactPlacesFrom(text: string, asked: string): NextPlace {
  const next = placesIn(text, asked);
  if (asked.charCodeAt(0) !== 0x0a) return next;
  return (from) => {
    let at = next(from);
    while (at > 0 && text.charCodeAt(at - 1) === 0x0d) at = next(at + 1);
    return at;
  };
}

export function* foldedPlaces(source: Source, asked: string, fold: Fold): Steps<readonly Place[]> {
  const wanted = yield* foldingText(asked, fold, source.loneReturns);
  if (!/\S/.test(wanted) && fold === "trailing whitespace") return [];
  const spaced = fold === "trailing whitespace" ? yield* foldingText(asked, "look-alikes", source.loneReturns) : "";
  const sought: Sought = { lines: wanted.split("\n"), withWhitespace: spaced.split("\n") };
  const { text } = yield* source.folding(fold);
  const places: Place[] = [];
  for (const [index, at] of (yield* occurrences(text, wanted)).entries()) {
    if (index % unfoldedPerStep === 0) yield;
    const place = yield* unfold(source, sought, fold, at);
    if (place !== undefined) places.push(place);
  }
  return places;
}

const unfoldedPerStep = 512;

/**
 * The lines (from 0) where the lines of a text occur, ignoring whitespace around each. The search skips ahead to the next
 * occurrence of the longest line, so no trimmed copy of the file is made. From there it goes line by line, after Knuth,
 * Morris and Pratt: a line is compared once, however often the lines repeat.
 */
function* trimmedLines(source: Source, asked: string): Steps<readonly number[]> {
  const wanted = yield* foldedLines(source, asked);
  // Brackets alone would match anywhere.
  if (!wanted.some((line) => /[\p{L}\p{N}]/u.test(line))) return [];
  const longest = wanted.reduce((best, line, at) => (line.length > (wanted[best]?.length ?? 0) ? at : best), 0);
  const { text, lines } = yield* source.folding("look-alikes");
  const nextLongest = placesIn(text, wanted[longest] ?? "");
  let fallback: Int32Array | undefined;
  const found: number[] = [];
  let matched = 0;
  let compared = 0;
  for (let line = 0; line < lines.count; line += 1) {
    compared += 1;
    if (compared % partLength === 0) yield;
    if (matched === 0) {
      if (line + wanted.length > lines.count) break;
      const at = nextLongest(lines.start(line + longest));
      if (at < 0) break;
      line = lines.at(at) - longest;
    }
    const trimmed = trimWhitespace(text.slice(lines.start(line), lines.end(line)));
    fallback ??= borders(wanted.length, (one, other) => wanted[one] === wanted[other]);
    while (matched > 0 && wanted[matched] !== trimmed) matched = fallback[matched - 1] ?? 0;
    if (wanted[matched] === trimmed) matched += 1;
    if (matched < wanted.length) continue;
    found.push(line - wanted.length + 1);
    matched = fallback[matched - 1] ?? 0;
  }
  return found;
}

/** The whole lines of a text, folded and without the whitespace around them. */
export function* foldedLines(source: Source, text: string): Steps<readonly string[]> {
  const folded = yield* foldingText(text, "look-alikes", source.loneReturns);
  // A line of characters without width counts as a line, although its folded form is empty.
  return wholeLinesOf(piecesOf(text, source), folded.split("\n")).map(trimWhitespace);
}

/** The pieces without the empty ones before a first and after a last line end, which are no lines; or their `forms`. */
export function wholeLinesOf(pieces: readonly string[], forms = pieces): readonly string[] {
  const from = pieces[0] === "" && pieces.length > 1 ? 1 : 0;
  return forms.slice(from, pieces.length - from > 1 && pieces.at(-1) === "" ? -1 : undefined);
}

export interface ShiftedPlaces {
  readonly places: readonly Place[];
  /** How many places have the lines with an indentation that differs unevenly. */
  readonly uneven: number;
  /** The end of the text, if its last lines match but for the final newline of the wanted text. */
  readonly unended?: Place | undefined;
}

/** Places of whole lines that are equal but for their indentation, and there differ by one `Shift`. */
export function* shiftedPlaces(source: Source, asked: string): Steps<ShiftedPlaces> {
  const pieces = piecesOf(asked, source);
  const all = yield* trimmedLines(source, asked);
  const compared = withFewOverlaps(all, pieces.length);
  const places: Place[] = [];
  const placesPerStep = Math.ceil(unfoldedPerStep / pieces.length);
  for (const [index, line] of compared.entries()) {
    if (index % placesPerStep === 0) yield;
    const place = shiftedPlace(source, pieces, line);
    if (place !== undefined) places.push(place);
  }
  const { count } = source.lines();
  const lastLine = all.at(-1) ?? -1;
  const isUnended = pieces.length > 1 && pieces.at(-1) === "" && lastLine === count - wholeLinesOf(pieces).length;
  if (isUnended && source.text.length > source.lines().start(count - 1)) {
    const { length } = source.text;
    return { places, uneven: 0, unended: { from: length, to: length, line: lastLine } };
  }
  // If some places were not compared, a single match may not be the only one.
  if (places.length === 1 && compared.length < all.length) return { places: [], uneven: all.length };
  return { places, uneven: compared.length - places.length };
}

/** Lines that are compared more than once because places overlap. */
const linesAgainMax = 100_000;

/** Drops places that overlap once overlaps have cost `linesAgainMax`. The first two stay: they decide what is ambiguous. */
function withFewOverlaps(starts: readonly number[], length: number): readonly number[] {
  let again = 0;
  let last = -length;
  return starts.filter((start, at) => {
    const shared = Math.max(0, last + length - start);
    if (at > 1 && again + shared > linesAgainMax) return false;
    again += shared;
    last = start;
    return true;
  });
}

/** Whether a place consists of whole lines; trailing whitespace of the last one may be outside. */
export function isWholeLines(source: Source, place: Place): boolean {
  const lines = source.lines();
  if (lines.start(lines.at(place.from)) !== place.from) return false;
  const last = lines.at(place.to);
  if (lines.start(last) === place.to) return true;
  return trimWhitespace(source.text.slice(place.to, lines.end(last))) === "";
}

interface Sought {
  readonly lines: readonly string[];
  readonly withWhitespace: readonly string[];
}

function* unfold(source: Source, sought: Sought, fold: Fold, foldedAt: number): Steps<Place | undefined> {
  const { lines: foldedLines } = source.folded(fold);
  const lines = source.lines();
  const line = foldedLines.at(foldedAt);
  const { lines: wantedLines, withWhitespace } = sought;
  const last = line + wantedLines.length - 1;
  const column = foldedAt - foldedLines.start(line);
  const lastLength = wantedLines.at(-1)?.length ?? 0;
  const lastColumn = line === last ? column + lastLength : lastLength;
  let from = column === 0 ? 0 : (yield* source.foldingLine(line, fold)).from(column);
  let to = (yield* source.foldingLine(last, fold)).to(lastColumn);
  if (fold === "trailing whitespace") {
    if (wantedLines.length > 1 && wantedLines[0] === "") {
      // Whitespace alone is a blank line. An empty first piece is the end of a line of any content, whose whitespace stays.
      if (withWhitespace[0] !== "" && column !== 0) return undefined;
      if (withWhitespace[0] === "") from = lines.end(line) - lines.start(line);
    }
    if (withWhitespace.at(-1)?.length !== lastLength) {
      if (lastColumn !== foldedLines.end(last) - foldedLines.start(last)) return undefined;
      to = lines.end(last) - lines.start(last);
    }
  }
  if (from === undefined || to === undefined) return undefined;
  return { from: lines.start(line) + from, to: lines.start(last) + to, line };
}

function shiftedPlace(source: Source, pieces: readonly string[], firstLine: number): Place | undefined {
  const lines = source.lines();
  const afterEnd = pieces[0] === "";
  // An empty first piece is the end of the line before.
  const line = afterEnd ? firstLine - 1 : firstLine;
  const last = line + pieces.length - 1;
  if (line < 0 || last >= lines.count) return undefined;
  const pairs: IndentationPair[] = [];
  for (const [at, piece] of pieces.entries()) {
    if (piece.trim() === "") continue;
    const actual = source.text.slice(lines.start(line + at), lines.end(line + at));
    pairs.push({ asked: indentationOf(piece), actual: indentationOf(actual) });
  }
  const shift = shiftOf(pairs);
  if (shift.way === "uneven") return undefined;
  const lastPiece = pieces.at(-1) ?? "";
  const content = source.text.slice(lines.start(last), lines.end(last));
  const to =
    pieces.length > 1 && lastPiece === ""
      ? 0
      : contentLength(lastPiece) < lastPiece.length
        ? content.length
        : contentLength(content);
  return {
    from: afterEnd ? lines.end(line) : lines.start(line),
    to: lines.start(last) + to,
    line,
    shift,
  };
}

// How the file's indentation of a block differs from the call's, and how a replacement is indented accordingly.

export type Shift =
  /** The file has `prefix` before the call's indentation. */
  | {
      readonly way: "add";
      readonly prefix: string;
      /** The call's spaces for one tab, where it must be guessed. */
      readonly tabWidth: number | undefined;
    }
  /** The call has `prefix` before the file's indentation. */
  | { readonly way: "remove"; readonly prefix: string }
  /** The file has tabs, the call `width` spaces for each. */
  | { readonly way: "to tabs"; readonly width: number }
  /** The call has tabs, the file `width` spaces for each. */
  | { readonly way: "to spaces"; readonly width: number };

export interface IndentationPair {
  readonly asked: string;
  readonly actual: string;
}

const widths = [2, 3, 4, 5, 6, 7, 8] as const;

/** The one shift that fits all lines, or the first line that does not fit the lines before it. Blank lines MUST NOT be among them. */
export function shiftOf(pairs: readonly IndentationPair[]): Shift | { readonly way: "uneven"; readonly at: number } {
  const first = pairs[0];
  if (first === undefined) return { way: "add", prefix: "", tabWidth: undefined };
  let possible: readonly Shift[] = shiftsOf(first);
  for (const [at, pair] of pairs.entries()) {
    possible = possible.filter((shift) => fits(shift, pair));
    if (possible.length === 0) return { way: "uneven", at };
  }
  return possible[0] ?? { way: "uneven", at: 0 };
}

/** The shift for a replacement. If the matched lines do not show how many spaces of the call are one tab, the replacement's do. */
export function shiftFor(shift: Shift, asked: readonly string[], replacement: readonly string[]): Shift {
  if (shift.way !== "add" || !/^\t+$/.test(shift.prefix) || asked.some((line) => indentationOf(line) !== ""))
    return shift;
  const depths = replacement.map((line) => (line.trim() === "" ? "" : indentationOf(line)));
  if (depths.some((depth) => depth.includes("\t"))) return shift;
  const unit = depths.reduce((known, depth) => commonDivisor(known, depth.length), 0);
  return { ...shift, tabWidth: unit };
}

/** The file's indentation for one in the call; undefined if the shift does not determine it. */
export function shifted(shift: Shift, indentation: string): string | undefined {
  switch (shift.way) {
    case "add":
      return addPrefix(shift.prefix, shift.tabWidth, indentation);
    case "remove":
      return indentation.startsWith(shift.prefix) ? indentation.slice(shift.prefix.length) : undefined;
    case "to tabs": {
      // Tabs in the replacement are the file's own style already.
      const spaces = indentation.replace(/^\t+/, "");
      if (spaces.includes("\t")) return undefined;
      const tabs = Math.floor(spaces.length / shift.width);
      const rest = spaces.length % shift.width;
      return indentation.slice(0, indentation.length - spaces.length) + "\t".repeat(tabs) + " ".repeat(rest);
    }
    case "to spaces": {
      const spaces = indentation.replace(/^\t+/, "");
      if (spaces.includes("\t")) return undefined;
      return " ".repeat((indentation.length - spaces.length) * shift.width) + spaces;
    }
  }
}

function addPrefix(prefix: string, tabWidth: number | undefined, indentation: string): string | undefined {
  if (tabWidth === undefined || indentation === "") return prefix + indentation;
  if (tabWidth < 2 || tabWidth > 8) return undefined;
  return prefix + "\t".repeat(indentation.length / tabWidth);
}

function shiftsOf({ asked, actual }: IndentationPair): readonly Shift[] {
  const shifts: Shift[] = [];
  if (actual.endsWith(asked)) {
    shifts.push({ way: "add", prefix: actual.slice(0, actual.length - asked.length), tabWidth: undefined });
  } else if (asked.endsWith(actual)) {
    shifts.push({ way: "remove", prefix: asked.slice(0, asked.length - actual.length) });
  }
  for (const width of widths) shifts.push({ way: "to tabs", width }, { way: "to spaces", width });
  return shifts;
}

function fits(shift: Shift, { asked, actual }: IndentationPair): boolean {
  switch (shift.way) {
    case "add":
      return actual === shift.prefix + asked;
    case "remove":
      return asked === shift.prefix + actual;
    case "to tabs":
      return areEquallyWide(actual, asked, shift.width);
    case "to spaces":
      return areEquallyWide(asked, actual, shift.width);
  }
}

function areEquallyWide(tabbed: string, spaced: string, width: number): boolean {
  const rest = tabbed.replace(/^\t+/, "");
  const tabs = tabbed.length - rest.length;
  if (!/^ *$/.test(rest) || !/^ *$/.test(spaced) || rest.length >= width) return false;
  return spaced.length === tabs * width + rest.length;
}

function commonDivisor(a: number, b: number): number {
  return b === 0 ? a : commonDivisor(b, a % b);
}
