/** Whether a change was already made, for the error message if the old text, perhaps with a typo in it, was not found. */

import type { Steps } from "../steps.ts";
import { firstPlace } from "./find-text.ts";
import { likenessOf, type Wanted, wantedLine } from "./nearest.ts";
import { exactPlaces, foldedLines, foldedPlaces, isWholeLines, type Place, shiftedPlaces } from "./places.ts";
import { sharedLines } from "./rewrite.ts";
import { foldCharacters, foldingText, numberOf, piecesOf, type Source, trimWhitespace } from "./source.ts";

/** Shorter words occur in most files. */
const wordCharsMin = 3;
/** A new text of fewer lines, with fewer visible characters, may be in the file by chance. */
const linesMin = 2;
/** For a text of one line: about half a line of code. */
const visibleCharsMin = 25;
/** For a text that replaces a similar one, which makes chance less likely. */
const shortCharsMin = 12;
/** From 0 to 1; the same as for the nearest text. */
const likenessMin = 0.45;
/** A text that occurs in more places proves nothing. */
const placesMax = 1_000;
/** Lines around the nearest text in which the old one is searched for. */
const rowsAround = 2;
/** Removed lines that are compared: a single one can be similar to another by chance. */
const comparedLinesMax = 2;
/** Compared characters of a line beside a place: a file can have many places beside one long line. */
const lineCharsMax = 1_000;
/** Blank lines that are skipped among the lines beside a place. */
const blankLinesMax = 2;

/** The line of the new text if the file has it and not the old one; undefined if in doubt. Lines count from 1. */
export function* alreadyAt(
  source: Source,
  oldText: string,
  newText: string,
  nearest: number | undefined,
): Steps<number | undefined> {
  const places = yield* hasSubstance(newText) ? placesOf(source, newText) : shortPlaces(source, newText, nearest);
  const [first] = places;
  if (first === undefined || places.length > placesMax) return undefined;
  if (yield* oldTextRemains(source, oldText, newText, nearest)) return undefined;
  const dropped = yield* droppedAround(source, oldText, newText);
  for (const place of places) {
    yield;
    if (hasRemovedBeside(source, place, dropped)) return undefined;
  }
  return numberOf(first.line, source);
}

function* placesOf(source: Source, newText: string): Steps<readonly Place[]> {
  const exact = yield* exactPlaces(source, newText);
  if (exact.length > 0) return exact;
  const folded = yield* foldedPlaces(source, newText, "trailing whitespace");
  // A single line that is indented otherwise is too often a different line.
  if (folded.length > 0 || !hasLines(newText, linesMin)) return folded;
  return (yield* shiftedPlaces(source, newText)).places;
}

/** A short text counts only at the nearest text, and as whole lines. */
function* shortPlaces(source: Source, newText: string, nearest: number | undefined): Steps<readonly Place[]> {
  if (nearest === undefined || !has(newText, /\S/g, shortCharsMin) || !hasLines(newText, 1)) return [];
  const places = yield* exactPlaces(source, newText);
  return places.filter((place) => place.line === nearest - 1 && isWholeLines(source, place));
}

const hasSubstance = (text: string): boolean =>
  hasLines(text, linesMin) || (hasLines(text, 1) && has(text, /\S/g, visibleCharsMin));

function hasLines(text: string, least: number): boolean {
  let count = 0;
  for (let from = 0, to = 0; to >= 0 && count < least; from = to + 1) {
    to = text.indexOf("\n", from);
    if (has(text.slice(from, to < 0 ? undefined : to), /[\p{L}\p{N}]/gu, wordCharsMin)) count += 1;
  }
  return count >= least;
}

function has(text: string, pattern: RegExp, least: number): boolean {
  let count = 0;
  for (const _ of text.matchAll(pattern)) if ((count += 1) === least) return true;
  return false;
}

/** Whether the lines around `nearest` have the old text outside of the new one, ignoring whitespace, look-alikes and case. */
function* oldTextRemains(
  source: Source,
  oldText: string,
  newText: string,
  nearest: number | undefined,
): Steps<boolean> {
  const old = yield* squeezed(oldText);
  if (nearest === undefined || old === "") return false;
  const added = yield* squeezed(newText);
  const lines = source.lines();
  const [oldRows, newRows] = [oldText, newText].map((text) => piecesOf(text, source).length);
  // The range has room for the new text around the old one, and for lines that are wrapped otherwise.
  const before = (newRows ?? 0) + rowsAround;
  const from = lines.start(Math.max(0, nearest - 1 - before));
  const to = lines.end(Math.min(lines.count - 1, nearest - 1 + 2 * (oldRows ?? 0) + before));
  const around = yield* squeezed(source.text.slice(from, to));
  yield;
  return firstPlace(firstPlace(added, old) < 0 ? around : around.split(added).join("\n"), old) >= 0;
}

function* squeezed(text: string): Steps<string> {
  const folded = yield* foldingText(text, "look-alikes", false);
  let kept = "";
  for (let at = 0; at < folded.length; at += squeezedPerStep) {
    kept += folded.slice(at, at + squeezedPerStep).replace(/\s+/g, "");
    yield;
  }
  return kept.toLowerCase();
}

const squeezedPerStep = 65_536;

/** What an edit removes before and after the text that it keeps: only its absence shows that the edit was made. */
interface Dropped {
  readonly before: readonly Wanted[];
  readonly after: readonly Wanted[];
  /** Whether the first kept line is the end of an old one, and the last kept line the beginning of one. */
  readonly isCutBefore: boolean;
  readonly isCutAfter: boolean;
}

function* droppedAround(source: Source, oldText: string, newText: string): Steps<Dropped> {
  const [old, added] = [yield* foldedLines(source, oldText), yield* foldedLines(source, newText)];
  const shared = yield* sharedLines(old, added);
  yield;
  const [first, last] = [shared[0], shared.at(-1)];
  const keepsFirst = first?.after === 0;
  const keepsLast = last?.after === added.length - 1;
  const above = old.slice(0, first?.before ?? old.length);
  const below = old.slice((last?.before ?? -1) + 1);
  const [firstLine, lastLine] = [added[0] ?? "", added.at(-1) ?? ""];
  const nearest = (lines: readonly string[]) =>
    lines
      .filter((line) => line !== "")
      .slice(0, comparedLinesMax)
      .map(wantedLine);
  return {
    before: keepsFirst ? nearest(above.toReversed()) : [],
    after: keepsLast ? nearest(below) : [],
    isCutBefore: old.some((line) => line.includes(firstLine) && !line.startsWith(firstLine)),
    isCutAfter: old.some((line) => line.includes(lastLine) && !line.endsWith(lastLine)),
  };
}

const comparedLine = (line: string): string => trimWhitespace(foldCharacters(line, "look-alikes"));

function hasRemovedBeside(source: Source, { from, to }: Place, dropped: Dropped): boolean {
  const { text } = source;
  const lines = source.lines();
  const [first, last] = [lines.at(from), lines.at(to)];
  const beginsWithEnd = from === lines.end(first);
  const endsLine = to === lines.start(last);
  if (dropped.isCutBefore && !beginsWithEnd && trimWhitespace(text.slice(lines.start(first), from)) !== "") return true;
  if (dropped.isCutAfter && !endsLine && trimWhitespace(text.slice(to, lines.end(last))) !== "") return true;
  const above = beginsWithEnd ? first : first - 1;
  const below = endsLine ? last : last + 1;
  return similarLinesFollow(source, dropped.before, above, -1) || similarLinesFollow(source, dropped.after, below, 1);
}

function similarLinesFollow(source: Source, wanted: readonly Wanted[], line: number, step: 1 | -1): boolean {
  if (wanted.length === 0) return false;
  const lines = source.lines();
  const found: string[] = [];
  const rowsMax = comparedLinesMax + blankLinesMax;
  for (let row = 0, at = line; row < rowsMax && at >= 0 && at < lines.count; row += 1, at += step) {
    const start = lines.start(at);
    const content = comparedLine(source.text.slice(start, Math.min(lines.end(at), start + lineCharsMax)));
    if (content !== "") found.push(content);
  }
  return wanted.every((one, at) => likenessOf(one, found[at] ?? "") >= likenessMin);
}
