/**
 * Whether a change is in the file already. Only asked where the old text was not found: an old text that stands inside
 * the new one, as where lines are inserted beside it, can be meant a second time. Not found is not gone: an old text with a
 * slip in it stands there as it always did, and what was to be kept of it does so too.
 */

import type { Steps } from "../steps.ts";
import { firstPlace } from "./find-text.ts";
import { likenessOf, type Wanted, wantedLine } from "./nearest.ts";
import { exactPlaces, foldedPlaces, isWholeLines, type Place, shiftedPlaces, wholeLinesOf } from "./places.ts";
import { sharedLines } from "./rewrite.ts";
import { foldCharacters, numberOf, piecesOf, type Source, trimWhitespace } from "./source.ts";

/** Shorter words are in most files. */
const wordCharsMin = 3;
/** A new text of fewer lines, with fewer visible characters, may be in the file by chance. */
const linesMin = 2;
/** For a text of one line: about half a line of code. */
const visibleCharsMin = 25;
/** For a text that replaces a similar one, which makes chance less likely. */
const shortCharsMin = 12;
/** From 0 to 1; the same as for the nearest text. */
const likenessMin = 0.45;
/** A text that stands in more places tells nothing. */
const placesMax = 1_000;
/** Lines around the nearest text in which the old one is looked for. */
const rowsAround = 2;
/** One line can be like another by chance. */
const comparedLinesMax = 2;
/** Of a line beside a place: a file can have many places beside one long line. */
const lineCharsMax = 1_000;
/** Among the lines beside a place that are compared. */
const blankLinesMax = 2;

/**
 * The line (from 1) where the new text stands although the old one does not; undefined if it does not, or is too short to
 * tell. `nearest` is the line, from 1, where the text most like the old one begins.
 */
export function* alreadyAt(
  source: Source,
  oldText: string,
  newText: string,
  nearest: number | undefined,
): Steps<number | undefined> {
  const places = yield* hasSubstance(newText) ? placesOf(source, newText) : shortPlaces(source, newText, nearest);
  const [first] = places;
  if (first === undefined || places.length > placesMax || standsOtherwise(source, oldText, newText, nearest))
    return undefined;
  const dropped = droppedAround(source, oldText, newText);
  if (places.some((place) => isBeside(source, place, dropped))) return undefined;
  return numberOf(first.line, source);
}

function* placesOf(source: Source, newText: string): Steps<readonly Place[]> {
  const exact = yield* exactPlaces(source, newText);
  if (exact.length > 0) return exact;
  const folded = yield* foldedPlaces(source, newText, "trailing blanks");
  // A single line at another depth is too often another line.
  if (folded.length > 0 || substantialLines(newText) < linesMin) return folded;
  return (yield* shiftedPlaces(source, newText)).places;
}

/** A short text tells only where the old one would be looked for, and as whole lines. */
function* shortPlaces(source: Source, newText: string, nearest: number | undefined): Steps<readonly Place[]> {
  if (nearest === undefined || visibleChars(newText) < shortCharsMin || substantialLines(newText) === 0) return [];
  const places = yield* exactPlaces(source, newText);
  return places.filter((place) => place.line === nearest - 1 && isWholeLines(source, place));
}

/** Short texts stand somewhere by chance. */
function hasSubstance(text: string): boolean {
  const lines = substantialLines(text);
  return lines >= linesMin || (lines > 0 && visibleChars(text) >= visibleCharsMin);
}

const visibleChars = (text: string): number => text.replace(/\s/g, "").length;

function substantialLines(text: string): number {
  return text.split("\n").filter((line) => (line.match(/[\p{L}\p{N}]/gu)?.length ?? 0) >= wordCharsMin).length;
}

/** Whether the old text stands in the file, and not as part of the new one, but for blanks, line ends and case. */
function standsOtherwise(source: Source, oldText: string, newText: string, nearest: number | undefined): boolean {
  const [old, added] = [oldText, newText].map((text) => squeezed(text));
  if (nearest === undefined || old === undefined || added === undefined || old === "") return false;
  const lines = source.lines();
  const [oldRows, newRows] = [oldText, newText].map((text) => piecesOf(text, source).length);
  // Around it as much as a new text needs that it is part of; lines may be wrapped otherwise.
  const before = (newRows ?? 0) + rowsAround;
  const from = lines.start(Math.max(0, nearest - 1 - before));
  const to = lines.end(Math.min(lines.count - 1, nearest - 1 + 2 * (oldRows ?? 0) + before));
  const around = squeezed(source.text.slice(from, to));
  return firstPlace(firstPlace(added, old) < 0 ? around : around.split(added).join("\n"), old) >= 0;
}

const squeezed = (text: string): string => foldCharacters(text, "look-alikes").replace(/\s+/g, "").toLowerCase();

/** What an edit takes away in front of the text that it leaves, and behind it: where nothing new shows that it was made. */
interface Dropped {
  /** The lines next to what is left, from there on. */
  readonly before: readonly Wanted[];
  readonly after: readonly Wanted[];
  /** Whether the first line left is the end of an old one, and the last line left the beginning of one. */
  readonly isCutBefore: boolean;
  readonly isCutAfter: boolean;
}

function droppedAround(source: Source, oldText: string, newText: string): Dropped {
  const [old, added] = [comparedLines(source, oldText), comparedLines(source, newText)];
  const shared = sharedLines(old, added);
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

function comparedLines(source: Source, text: string): readonly string[] {
  return wholeLinesOf(piecesOf(text, source)).map(comparedLine);
}

const comparedLine = (line: string): string => trimWhitespace(foldCharacters(line, "look-alikes"));

/** Whether something like what was to be taken away stands beside a place of the new text. */
function isBeside(source: Source, { from, to }: Place, dropped: Dropped): boolean {
  const { text } = source;
  const lines = source.lines();
  const [first, last] = [lines.at(from), lines.at(to)];
  const beginsWithEnd = from === lines.end(first);
  const endsLine = to === lines.start(last);
  if (dropped.isCutBefore && !beginsWithEnd && trimWhitespace(text.slice(lines.start(first), from)) !== "") return true;
  if (dropped.isCutAfter && !endsLine && trimWhitespace(text.slice(to, lines.end(last))) !== "") return true;
  const above = beginsWithEnd ? first : first - 1;
  const below = endsLine ? last : last + 1;
  return standsFrom(source, dropped.before, above, -1) || standsFrom(source, dropped.after, below, 1);
}

/** Whether lines like the wanted ones are the first from here on that are not blank. */
function standsFrom(source: Source, wanted: readonly Wanted[], line: number, step: 1 | -1): boolean {
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
