/**
 * What a loosely matched place becomes. Lines that the old and the new text share keep the file's bytes, and so does what a
 * changed line shares with its old version at its beginning and end. New lines get indentation, quotes and line ends in the
 * style of the file.
 */

import type { TextChange } from "../../contract/edit.ts";
import { isInsidePair } from "../order.ts";
import { apply } from "../pieces.ts";
import type { Steps } from "../steps.ts";
import { type Place, type Shift, shifted, shiftFor } from "./places.ts";
import {
  contentLength,
  firstKnown,
  type Fold,
  foldingLine,
  foldQuotes,
  indentationOf,
  type LinePair,
  piecesOf,
  type QuoteStyle,
  quoteStyleOf,
  type Source,
  sourceOf,
  styledPart,
  styleOfInserted,
  trimWhitespace,
} from "./source.ts";

export interface CallPieces {
  readonly old: readonly string[];
  readonly new: readonly string[];
}

interface Region {
  readonly source: Source;
  readonly call: CallPieces;
  readonly fold: Fold;
  readonly shift: Shift | undefined;
  readonly spans: readonly { readonly from: number; readonly to: number }[];
  readonly inserted: QuoteStyle;
}

/** Lines `oldFrom` up to `oldTo` are replaced by lines `newFrom` up to `newTo`. */
interface Replaced {
  readonly oldFrom: number;
  readonly oldTo: number;
  readonly newFrom: number;
  readonly newTo: number;
}

/** The changes for each place of a call. Undefined if the shift of its indentation does not determine how to indent a new line. */
export function rewriting(
  source: Source,
  call: CallPieces,
  fold: Fold,
): (place: Place) => Steps<readonly TextChange[] | undefined> {
  let found: readonly Replaced[] | undefined;
  return function* (place) {
    found ??= gaps(yield* sharedLines(call.old, call.new), call);
    const region = regionOf(source, call, fold, place);
    const changes: TextChange[] = [];
    for (const replaced of found) {
      const change = yield* replace(region, replaced);
      if (change === undefined) return undefined;
      if (change.from < change.to || change.text !== "") changes.push(change);
    }
    return isNothing(source.text, changes) ? [] : changes;
  };
}

/** The new text for an exact match, given the line end around it. If only line ends differ, they are written as sent. */
export function* exactReplacement(
  oldText: string,
  newText: string,
  loneReturns: boolean,
): Steps<(endAround: () => string | undefined) => string> {
  const lineEnd = loneReturns ? /\r\n|\n|\r/g : /\r\n|\n/g;
  const [there, sent] = [new Set(oldText.match(lineEnd)), new Set(newText.match(lineEnd))];
  const asSent = (): string => newText;
  if (sent.size === 0) return asSent;
  if (there.size === 0) {
    const lines = newText.split(lineEnd);
    let last = { end: "", text: newText };
    return (endAround) => {
      const end = endAround();
      if (end === undefined) return newText;
      if (end !== last.end) last = { end, text: lines.join(end) };
      return last.text;
    };
  }
  const isSameKind = there.size === 1 && sent.size === 1 && there.has([...sent][0] ?? "");
  const source = sourceOf(oldText);
  if (isSameKind || piecesOf(oldText, source).join("\n") === piecesOf(newText, source).join("\n")) return asSent;
  const text = apply(oldText, yield* linesRewritten(oldText, newText));
  return () => text;
}

/** The changes that make a new text of a place with other line ends, which are kept. */
export function* linesRewritten(inFile: string, newText: string): Steps<readonly TextChange[]> {
  const source = sourceOf(inFile);
  const call = { old: piecesOf(inFile, source), new: piecesOf(newText, source) };
  return (yield* rewriting(source, call, "line ends")({ from: 0, to: inFile.length, line: 0 })) ?? [];
}

/** Whether changes cancel out: lines that differ in the call and are equal in the file can trade places. */
function isNothing(text: string, changes: readonly TextChange[]): boolean {
  const [from, to] = [changes[0]?.from ?? 0, changes.at(-1)?.to ?? 0];
  const inside = changes.map((change) => ({ ...change, from: change.from - from, to: change.to - from }));
  const before = text.slice(from, to);
  return apply(before, inside) === before;
}

function regionOf(source: Source, call: CallPieces, fold: Fold, place: Place): Region {
  const lines = source.lines();
  const last = call.old.length - 1;
  const spans = call.old.map((_, at) => ({
    from: at === 0 ? place.from : lines.start(place.line + at),
    to: at === last ? place.to : lines.end(place.line + at),
  }));
  const pairs = spans.map(({ from, to }, at) => ({ asked: call.old[at] ?? "", actual: source.text.slice(from, to) }));
  const shift = place.shift === undefined ? undefined : shiftFor(place.shift, call.old, call.new);
  return { source, call, fold, shift, spans, inserted: styleOfInserted(quoteStyleOf(pairs), () => source.quotes()) };
}

function gaps(shared: readonly SharedLine[], call: CallPieces): readonly Replaced[] {
  const found: Replaced[] = [];
  let before: SharedLine = { before: -1, after: -1 };
  for (const pair of [...shared, { before: call.old.length, after: call.new.length }]) {
    const gap = { oldFrom: before.before + 1, oldTo: pair.before, newFrom: before.after + 1, newTo: pair.after };
    if (gap.oldFrom < gap.oldTo || gap.newFrom < gap.newTo) found.push(gap);
    before = pair;
  }
  return found;
}

/** The change for one gap: from the end of the shared line before it to the start of the next shared line. */
function* replace(region: Region, gap: Replaced): Steps<TextChange | undefined> {
  const { source, spans, call } = region;
  const from = spans[gap.oldFrom - 1]?.to ?? spans[0]?.from ?? 0;
  const to = spans[gap.oldTo]?.from ?? spans.at(-1)?.to ?? 0;
  const partners = yield* partnersIn(gap, call);
  const style = quoteStyleOf(spans.slice(gap.oldFrom, gap.oldTo).map((_, at) => linePair(region, gap.oldFrom + at)));
  let text = "";
  // The old line whose line end the next inserted line gets.
  let beside = gap.oldFrom - 1;
  for (let at = gap.newFrom - 1; at < gap.newTo; at += 1) {
    if (at >= gap.newFrom) {
      const partner = partners[at - gap.newFrom];
      const line = yield* newLine(region, call.new[at] ?? "", partner, style);
      if (line === undefined) return undefined;
      text += line;
      beside = partner ?? beside;
    }
    if (at >= 0 && at < call.new.length - 1) text += lineEndOf(region, beside);
  }
  return trimmedChange(source.text, { from, to, text });
}

/** For every new line of a gap the old line that it replaces: an equal one but for whitespace around it, else the one in the same row. */
function* partnersIn(gap: Replaced, call: CallPieces): Steps<readonly (number | undefined)[]> {
  const old = call.old.slice(gap.oldFrom, gap.oldTo).map(trimWhitespace);
  const added = call.new.slice(gap.newFrom, gap.newTo).map(trimWhitespace);
  const partners: (number | undefined)[] = added.map(() => undefined);
  let before: SharedLine = { before: -1, after: -1 };
  for (const pair of [...(yield* sharedLines(old, added)), { before: old.length, after: added.length }]) {
    const rows = Math.min(pair.before - before.before, pair.after - before.after);
    for (let row = 1; row < rows; row += 1) partners[before.after + row] = gap.oldFrom + before.before + row;
    if (pair.after < added.length) partners[pair.after] = gap.oldFrom + pair.before;
    before = pair;
  }
  return partners;
}

function linePair(region: Region, at: number): LinePair {
  const span = region.spans[at];
  return {
    asked: region.call.old[at] ?? "",
    actual: span === undefined ? "" : region.source.text.slice(span.from, span.to),
  };
}

function* newLine(
  region: Region,
  line: string,
  partner: number | undefined,
  style: QuoteStyle,
): Steps<string | undefined> {
  const indentation = region.shift === undefined ? "" : indentationOf(line);
  // A blank line has no indentation to shift.
  if (region.shift !== undefined && indentation.length === line.length) return line;
  const pair = partner === undefined ? undefined : linePair(region, partner);
  if (pair === undefined) {
    const around = style.double === undefined && style.single === undefined ? region.inserted : style;
    const written = styled(region, line, indentation.length, line.length, around);
    const depth = region.shift === undefined ? "" : shifted(region.shift, indentation);
    return depth === undefined ? undefined : depth + written;
  }
  const askedDepth = region.shift === undefined ? "" : indentationOf(pair.asked);
  const actualDepth = region.shift === undefined ? "" : indentationOf(pair.actual);
  const isBlankPair = pair.asked.length === askedDepth.length;
  const depth =
    region.shift === undefined || (indentation === askedDepth && !isBlankPair)
      ? actualDepth
      : shifted(region.shift, indentation);
  if (depth === undefined) return undefined;
  const rest = { asked: pair.asked.slice(askedDepth.length), actual: pair.actual.slice(actualDepth.length) };
  const lineStyle = firstKnown(pair, quoteStyleOf([pair]), region.inserted);
  return depth + (yield* changedLine(region, line.slice(indentation.length), rest, lineStyle));
}

/** A line that replaces another: what both share at either end keeps the file's characters. */
function* changedLine(region: Region, line: string, pair: LinePair, style: QuoteStyle): Steps<string> {
  const trims = region.fold === "trailing whitespace";
  const [asked, askedWhitespace] = cut(pair.asked, trims);
  const [wanted, wantedWhitespace] = cut(line, trims);
  const [actual, actualWhitespace] = cut(pair.actual, trims);
  const onlyQuotes = foldQuotes(asked) === foldQuotes(wanted);
  const askedFold = yield* foldingLine(asked, region.fold);
  const actualFold = yield* foldingLine(actual, region.fold);
  if (askedFold.text !== actualFold.text) return line;

  const shared = sharedEnds(asked, wanted, actual);
  let { head, tail } = shared;
  let headTo = offsetInFile(head);
  while (headTo === undefined) headTo = offsetInFile((head -= 1));
  let tailFrom = offsetInFile(asked.length - tail);
  while (tailFrom === undefined || tailFrom < headTo) tailFrom = offsetInFile(asked.length - (tail -= 1));

  const middle = onlyQuotes
    ? wanted.slice(head, wanted.length - tail)
    : styled(region, wanted, head, wanted.length - tail, style);
  // A line that was only touched keeps its trailing whitespace, as after an exact match. Trailing whitespace that the call has
  // in both texts is not what the edit changes, however little is left of the line.
  const depth = indentationOf(asked).length;
  const kept = head + tail - depth;
  const isTouched =
    wantedWhitespace === askedWhitespace &&
    kept > 0 &&
    (askedWhitespace !== "" || 2 * kept >= asked.length - depth || sharesWord(asked, wanted, shared));
  return actual.slice(0, headTo) + middle + actual.slice(tailFrom) + (isTouched ? actualWhitespace : wantedWhitespace);

  /** The offset in the file's line for one in the call's line; undefined inside a character. */
  function offsetInFile(at: number): number | undefined {
    if (at <= 0) return 0;
    if (at >= asked.length) return actual.length;
    const folded = askedFold.fold(at);
    return folded === undefined || isInsidePair(asked, at) ? undefined : actualFold.to(folded);
  }
}

/** The characters that two lines share at both ends. A run that grows or shrinks changes as a whole, so look-alikes do not mix. */
export function sharedEnds(
  before: string,
  after: string,
  inFile: string,
): { readonly head: number; readonly tail: number } {
  const least = Math.min(before.length, after.length);
  const unit = (line: string, at: number): number => line.charCodeAt(at);
  const fromEnd = (line: string, at: number): number => line.charCodeAt(line.length - 1 - at);
  let head = 0;
  while (head < least && unit(before, head) === unit(after, head)) head += 1;
  let tail = 0;
  while (tail < least - head && fromEnd(before, tail) === fromEnd(after, tail)) tail += 1;
  if (before === inFile || before === after) return { head, tail };
  const last = unit(before, head - 1);
  if (unit(before, head) === last || unit(after, head) === last) {
    while (head > 0 && unit(before, head - 1) === last) head -= 1;
  }
  const first = fromEnd(before, tail - 1);
  if (fromEnd(before, tail) === first || fromEnd(after, tail) === first) {
    while (tail > 0 && fromEnd(before, tail - 1) === first) tail -= 1;
  }
  return { head, tail };
}

/** Whether the shared ends of two lines contain a word that is whole in both. One long name that changes can be most of a line. */
function sharesWord(before: string, after: string, { head, tail }: ReturnType<typeof sharedEnds>): boolean {
  const goesOn = (line: string, at: number): boolean => /^[\p{L}\p{N}_]{2}/u.test(line.slice(at - 1, at + 1));
  const words = (part: string): readonly string[] => part.match(/[\p{L}\p{N}_]+/gu) ?? [];
  const isCut = (at: number): boolean => goesOn(before, at) || goesOn(after, at + after.length - before.length);
  const isHeadCut = goesOn(before, head) || goesOn(after, head);
  return (
    words(before.slice(0, head)).length > (isHeadCut ? 1 : 0) ||
    words(before.slice(before.length - tail)).length > (isCut(before.length - tail) ? 1 : 0)
  );
}

/** A line and the whitespace at its end. */
export function cut(line: string, trims: boolean): readonly [string, string] {
  const length = trims ? contentLength(line) : line.length;
  return [line.slice(0, length), line.slice(length)];
}

/** Quotes are adapted only if the match folded them. */
function styled(region: Region, line: string, from: number, to: number, style: QuoteStyle): string {
  return region.fold === "line ends" ? line.slice(from, to) : styledPart(line, from, to, style);
}

/** The line end of an old line in the file; if it has none, that of the nearest line of the place, or of the line around it. */
function lineEndOf({ source, spans }: Region, at: number): string {
  const last = spans.length - 2;
  if (last < 0) return lineEndAt(source, spans[0]?.from ?? 0) ?? "\n";
  const line = Math.max(0, Math.min(at, last));
  return source.text.slice(spans[line]?.to, spans[line + 1]?.from);
}

/** The line end of the line at an offset, or of the line before if it is the last; undefined in a text of one line. */
export function lineEndAt(source: Source, offset: number): string | undefined {
  const lines = source.lines();
  if (lines.count === 1) return undefined;
  const line = Math.min(lines.at(offset), lines.count - 2);
  return source.text.slice(lines.end(line), lines.next(line));
}

/** The change without equal text at its ends; surrogate pairs and CRLF stay whole. */
function trimmedChange(text: string, { from, to, text: wanted }: TextChange): TextChange {
  const least = Math.min(to - from, wanted.length);
  let head = 0;
  while (head < least && text.charCodeAt(from + head) === wanted.charCodeAt(head)) head += 1;
  while (head > 0 && (isInside(text, from + head) || isInside(wanted, head))) head -= 1;
  let tail = 0;
  while (tail < least - head && text.charCodeAt(to - 1 - tail) === wanted.charCodeAt(wanted.length - 1 - tail))
    tail += 1;
  while (tail > 0 && (isInside(text, to - tail) || isInside(wanted, wanted.length - tail))) tail -= 1;
  return { from: from + head, to: to - tail, text: wanted.slice(head, wanted.length - tail) };
}

function isInside(text: string, at: number): boolean {
  return isInsidePair(text, at) || (text.charCodeAt(at) === 0x0a && text.charCodeAt(at - 1) === 0x0d);
}

/** Line `before` of the first text equals line `after` of the second. */
interface SharedLine {
  readonly before: number;
  readonly after: number;
}

/** Above this many pairs to compare, lines are paired by first fit instead of the longest common subsequence, which is quadratic. */
const cellsMax = 4_000_000;
const cellsPerStep = 100_000;

export function* sharedLines(before: readonly string[], after: readonly string[]): Steps<readonly SharedLine[]> {
  const least = Math.min(before.length, after.length);
  let head = 0;
  while (head < least && before[head] === after[head]) head += 1;
  let tail = 0;
  while (tail < least - head && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail += 1;
  const middle = yield* sharedInside(before.slice(head, before.length - tail), after.slice(head, after.length - tail));
  return [
    ...Array.from({ length: head }, (_, at) => ({ before: at, after: at })),
    ...middle.map((pair) => ({ before: pair.before + head, after: pair.after + head })),
    ...Array.from({ length: tail }, (_, at) => ({
      before: before.length - tail + at,
      after: after.length - tail + at,
    })),
  ];
}

function* sharedInside(before: readonly string[], after: readonly string[]): Steps<readonly SharedLine[]> {
  if (before.length === 0 || after.length === 0) return [];
  return before.length * after.length > cellsMax ? firstFits(before, after) : yield* longestCommon(before, after);
}

function* longestCommon(before: readonly string[], after: readonly string[]): Steps<readonly SharedLine[]> {
  const width = after.length + 1;
  const lengths = new Uint32Array((before.length + 1) * width);
  const at = (row: number, column: number) => lengths[row * width + column] ?? 0;
  const rowsPerStep = Math.ceil(cellsPerStep / width);
  for (let row = before.length - 1; row >= 0; row -= 1) {
    if (row % rowsPerStep === 0) yield;
    for (let column = after.length - 1; column >= 0; column -= 1) {
      lengths[row * width + column] =
        before[row] === after[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  const shared: SharedLine[] = [];
  for (let row = 0, column = 0; row < before.length && column < after.length; ) {
    if (before[row] === after[column]) shared.push({ before: row++, after: column++ });
    else if (at(row + 1, column) >= at(row, column + 1)) row += 1;
    else column += 1;
  }
  return shared;
}

function firstFits(before: readonly string[], after: readonly string[]): readonly SharedLine[] {
  const rows = new Map<string, number[]>();
  for (const [row, line] of before.entries()) {
    const known = rows.get(line);
    if (known === undefined) rows.set(line, [row]);
    else known.push(row);
  }
  const used = new Map<string, number>();
  const shared: SharedLine[] = [];
  let next = 0;
  for (const [column, line] of after.entries()) {
    const candidates = rows.get(line);
    if (candidates === undefined) continue;
    let candidate = used.get(line) ?? 0;
    while ((candidates[candidate] ?? next) < next) candidate += 1;
    used.set(line, candidate);
    const row = candidates[candidate];
    if (row === undefined) continue;
    shared.push({ before: row, after: column });
    next = row + 1;
  }
  return shared;
}
