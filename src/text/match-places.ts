/** Where a text stands in another: letter by letter, folded, or with another indentation. */

import { type Fold, foldText } from "./match-fold.ts";
import { contentLength, indentationOf, piecesOf, type Source, trimBlanks } from "./match-source.ts";
import { type IndentationPair, type Shift, shiftOf } from "./match-shift.ts";

export interface Place {
  /** UTF-16 units of the text. */
  readonly from: number;
  readonly to: number;
  /** The line it begins in; lines count from 0. */
  readonly line: number;
  readonly shift?: Shift;
}

/** Occurrences that overlap are counted up to this many: on long runs of one character every step to the next is a long way. */
const overlapsMax = 1_000;

/** Where `wanted` begins in `text`, overlapping occurrences included. */
export function occurrences(text: string, wanted: string): readonly number[] {
  const found: number[] = [];
  if (wanted === "") return found;
  for (let at = text.indexOf(wanted); at >= 0; ) {
    found.push(at);
    at = text.indexOf(wanted, at + (found.length < overlapsMax ? 1 : wanted.length));
  }
  return found;
}

export function exactPlaces(source: Source, asked: string): readonly Place[] {
  return (
    occurrences(source.text, asked)
      // A newline is not torn from the `\r` before it: that is for the step that knows line ends.
      .filter((at) => asked.charCodeAt(0) !== 0x0a || at === 0 || source.text.charCodeAt(at - 1) !== 0x0d)
      .map((at) => ({ from: at, to: at + asked.length, line: source.lines().at(at) }))
  );
}

export function foldedPlaces(source: Source, asked: string, fold: Fold): readonly Place[] {
  const wanted = foldText(asked, fold, source.loneReturns);
  if (!/\S/.test(wanted) && fold === "trailing blanks") return [];
  const view = source.folded(fold);
  return occurrences(view.text, wanted).flatMap((seenAt) => unfold(source, asked, fold, wanted, seenAt) ?? []);
}

/**
 * The lines (from 0) where the lines of a text stand but for the blanks around each. The longest line is looked for, and
 * the others around every place where it stands, so no trimmed copy of the file is made.
 */
function trimmedLines(source: Source, asked: string): readonly number[] {
  const wanted = wholeLinesOf(foldText(asked, "look-alikes", source.loneReturns).split("\n")).map(trimBlanks);
  // Brackets alone fit anywhere.
  if (!wanted.some((line) => /[\p{L}\p{N}]/u.test(line))) return [];
  const anchor = wanted.reduce((best, line, at) => (line.length > (wanted[best]?.length ?? 0) ? at : best), 0);
  const { text, lines } = source.folded("look-alikes");
  const found: number[] = [];
  const sought = wanted[anchor] ?? "";
  for (let at = text.indexOf(sought); at >= 0; ) {
    const line = lines.at(at);
    const start = line - anchor;
    const fits = (piece: string, row: number) =>
      trimBlanks(text.slice(lines.start(start + row), lines.end(start + row))) === piece;
    if (start >= 0 && start + wanted.length <= lines.count && wanted.every(fits)) found.push(start);
    at = line + 1 < lines.count ? text.indexOf(sought, lines.next(line)) : -1;
  }
  return found;
}

/** Without the empty pieces before a first and after a last line end, which are no lines. */
function wholeLinesOf(pieces: readonly string[]): readonly string[] {
  const from = pieces[0] === "" && pieces.length > 1 ? 1 : 0;
  return pieces.slice(from, pieces.length - from > 1 && pieces.at(-1) === "" ? -1 : undefined);
}

export interface ShiftedPlaces {
  readonly places: readonly Place[];
  /** How often the lines stand there with an indentation that differs unevenly. */
  readonly uneven: number;
}

/** Whole lines that are equal but for one and the same shift of their indentation. */
export function shiftedPlaces(source: Source, asked: string): ShiftedPlaces {
  const pieces = piecesOf(asked, source);
  const seen = trimmedLines(source, asked);
  const places = seen.flatMap((line) => shiftedPlace(source, pieces, line) ?? []);
  return { places, uneven: seen.length - places.length };
}

/** Whether a place consists of whole lines; blanks at the end of the last one may stay outside. */
export function isWholeLines(source: Source, place: Place): boolean {
  const lines = source.lines();
  if (lines.start(lines.at(place.from)) !== place.from) return false;
  const last = lines.at(place.to);
  if (lines.start(last) === place.to) return true;
  return trimBlanks(source.text.slice(place.to, lines.end(last))) === "";
}

function unfold(source: Source, asked: string, fold: Fold, wanted: string, seenAt: number): Place | undefined {
  const { lines: seenLines } = source.folded(fold);
  const lines = source.lines();
  const line = seenLines.at(seenAt);
  const wantedLines = wanted.split("\n");
  const last = line + wantedLines.length - 1;
  const column = seenAt - seenLines.start(line);
  const lastLength = wantedLines.at(-1)?.length ?? 0;
  const lastColumn = line === last ? column + lastLength : lastLength;
  let from = column === 0 ? 0 : source.foldedLine(line, fold).from(column);
  let to = source.foldedLine(last, fold).to(lastColumn);
  if (fold === "trailing blanks") {
    const withBlanks = foldText(asked, "look-alikes", source.loneReturns).split("\n");
    if (wantedLines.length > 1 && wantedLines[0] === "") {
      // Blanks alone are a blank line. Without them the line before may have any content, and its blanks stay.
      if (withBlanks[0] !== "" && column !== 0) return undefined;
      if (withBlanks[0] === "") from = lines.end(line) - lines.start(line);
    }
    if (withBlanks.at(-1)?.length !== lastLength) {
      if (lastColumn !== seenLines.end(last) - seenLines.start(last)) return undefined;
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
