/**
 * The hunks of a change, as `diff -u` has them: from two whole texts, or from the places that are known to differ.
 *
 * Lines end at `\n`. The whole line is compared, so that a changed line end is a change. A `\r` before the `\n` belongs
 * to the line end and is left out where all lines of a hunk have one, old ones among them, and in a new file: the hunk says
 * so (`lineEnd`). Elsewhere it stays at the end of the shown line, for there it may be what differs: `-text\r`, `+text`.
 * So a hunk and the text before tell the text after.
 */

import type { Hunk, TextChange } from "../../contract/edit.ts";
import { finish, partLength, type Steps } from "../steps.ts";
import { type ChangedLines, diffOfNumbers, type LineDiff } from "./line-diff.ts";
import { type NumberedLines, splitLines, numbered } from "./line-numbers.ts";
import { noNewlineRow } from "./unified.ts";

export interface TextDiff {
  readonly hunks: readonly Hunk[];
  /** Lines that came and lines that went, also those of hunks left out. */
  readonly additions: number;
  readonly deletions: number;
  /** False if hunks were left out at the end, or if lines are told as changed that are not because the search was given up. */
  readonly complete: boolean;
}

export interface HunkOptions {
  /** Unchanged lines around a change. */
  readonly context?: number;
  /** Lines of all hunks together. The first hunk that goes beyond it and all that follow are left out. */
  readonly linesMax?: number;
}

/** Whole lines around and of a change, before and after. */
export interface ChangedPlace {
  /** The number of the first line of `before`, in the text before; lines count from 1. */
  readonly firstLine: number;
  readonly before: string;
  readonly after: string;
  /** Both reach the end of the file. Only then can the last line lack its line end. */
  readonly atEnd: boolean;
}

const contextDefault = 3;
const hunkLinesMax = 5_000;
const newline = 10;
const carriageReturn = 13;

/** Equal heads and tails are skipped as text, so that the cost is that of the part in between. */
export const hunksOfTexts = (before: string, after: string, options: HunkOptions = {}): TextDiff =>
  finish(hunksBetween(before, after, options));

/** The same, in steps. */
export function* hunksBetween(before: string, after: string, options: HunkOptions = {}): Steps<TextDiff> {
  if (before === after) return yield* hunksOf([], options);
  const head = lineStart(before, equalHead(before, after));
  const tail = equalTail(before.slice(head), after.slice(head));
  const context = options.context ?? contextDefault;
  const from = linesUp(before, head, context);
  const to = linesDown(before, before.length - tail, context);
  const place: ChangedPlace = {
    firstLine: 1 + newlinesIn(before, 0, from),
    before: before.slice(from, to),
    after: after.slice(from, after.length - (before.length - to)),
    atEnd: to === before.length,
  };
  yield;
  return yield* hunksOf([place], options);
}

/**
 * Hunks without a look at the rest of the file. Places are in file order and do not overlap; those that touch are taken
 * as one, so that a hunk may span them. A place may hold more lines of context than the hunks will show.
 */
export const hunksOfPlaces = (places: readonly ChangedPlace[], options: HunkOptions = {}): TextDiff =>
  finish(hunksOf(places, options));

/** The same, in steps. */
export function* hunksOf(places: readonly ChangedPlace[], options: HunkOptions = {}): Steps<TextDiff> {
  const { context = contextDefault, linesMax = hunkLinesMax } = options;
  const hunks: Hunk[] = [];
  let [additions, deletions, lines, shift] = [0, 0, 0, 0];
  let [complete, full] = [true, false];
  for (const place of joined(places)) {
    yield;
    const sides: Sides = { old: yield* linesOf(place, "before"), new: yield* linesOf(place, "after") };
    const isNew = place.atEnd && place.firstLine === 1 && sides.old.count === 0;
    const diff = yield* diffOf(sides);
    if (diff.coarse) complete = false;
    for (const [index, group] of (yield* grouped(diff.changed, 2 * context)).entries()) {
      if (index % partLength === 0) yield;
      const span = spanOf(group, context, sides.old.count);
      const added = sum(group, ({ bFrom, bTo }) => bTo - bFrom);
      additions += added;
      deletions += sum(group, ({ aFrom, aTo }) => aTo - aFrom);
      lines += span.aTo - span.aFrom + added;
      full ||= lines > linesMax;
      const firstLine = { old: place.firstLine, new: place.firstLine + shift };
      if (!full) hunks.push(hunkOf(sides, group, span, firstLine, isNew));
    }
    shift += sides.new.count - sides.old.count;
  }
  return { hunks, additions, deletions, complete: complete && !full };
}

/** Lines around a change are shown if they begin or end within so many characters of it. */
export const reachMax = 65_536;

export interface ShownPlaces {
  readonly places: readonly ChangedPlace[];
  /** Changes that no place shows, because their lines are too long: lines that went and that came. */
  readonly hidden: { readonly deletions: number; readonly additions: number };
}

/**
 * The places of changes in a text: the lines that each of them touches and `contextLines` around, as one place where
 * these meet. Changes are in order and do not overlap. Where lines are longer than `reach`, there is less context or none, and a
 * change within such a line is only counted: a question and an answer do not grow with the lines of a file.
 */
export function* placesOf(
  text: string,
  changes: readonly TextChange[],
  contextLines: number = contextDefault,
  reach: number = reachMax,
): Steps<ShownPlaces> {
  const places: ChangedPlace[] = [];
  const hidden = { deletions: 0, additions: 0 };
  const above = linesAbove(text, contextLines);
  // One line more than needed if a change ends with a line, but never one too few if it took a line end away.
  const below = linesBelow(text, contextLines + 1);
  let hiddenTo = 0;
  for (let next = 0; next < changes.length; ) {
    const start = above(changes[next]?.from ?? 0, reach);
    const parts: string[] = [];
    const { from, line } = start;
    let isShown = start.isNear;
    let to = from;
    let copied = from;
    const first = next;
    for (let change = changes[next]; change !== undefined; change = changes[next]) {
      if (parts.length > 0 && above(change.from, reach).from > to) break;
      parts.push(text.slice(copied, change.from), change.text);
      copied = change.to;
      const end = below(change.to, reach);
      isShown &&= end.isNear;
      to = end.to;
      next += 1;
      if (next % partLength === 0) yield;
    }
    if (isShown) {
      const after = parts.join("") + text.slice(copied, to);
      places.push({ firstLine: line, before: text.slice(from, to), after, atEnd: to === text.length });
      continue;
    }
    for (const [index, change] of changes.slice(first, next).entries()) {
      if (index % partLength === 0) yield;
      const [went, came] = [text.slice(change.from, change.to), change.text].map((part) =>
        newlinesIn(part, 0, part.length),
      );
      // Several changes may be of one line.
      const own = change.from < hiddenTo ? 0 : 1;
      hidden.deletions += (went ?? 0) + own;
      hidden.additions += (came ?? 0) + own;
      if (change.to >= hiddenTo) hiddenTo = linesDown(text, change.to, 1);
    }
  }
  return { places, hidden };
}

/**
 * Where the line begins that is `count` lines above an offset, or as many as are within reach, and its number. Offsets go
 * forward: a line is walked once, however many of them lie in it.
 */
function linesAbove(
  text: string,
  count: number,
): (at: number, reach: number) => { readonly from: number; readonly line: number; readonly isNear: boolean } {
  /** Of the line that was reached and of those above it. */
  const starts = [0];
  let line = 1;
  let end = text.indexOf("\n");
  return (at, reach) => {
    for (; end !== -1 && end < at; end = text.indexOf("\n", end + 1)) {
      line += 1;
      starts.push(end + 1);
      if (starts.length > count + 1) starts.shift();
    }
    const own = starts.length - 1;
    let first = own;
    while (first > 0 && at - (starts[first - 1] ?? 0) <= reach) first -= 1;
    return { from: starts[first] ?? 0, line: line - own + first, isNear: at - (starts[own] ?? 0) <= reach };
  };
}

/** As `linesDown`, for offsets that go forward, and only as far as lines end within reach. */
function linesBelow(text: string, count: number): (at: number, reach: number) => { to: number; isNear: boolean } {
  /** Where the line of the last offset and those below it end. */
  let ends: readonly number[] = [0];
  return (at, reach) => {
    if (at > (ends[0] ?? 0) - 1) ends = Array.from({ length: count }, (_, lines) => linesDown(text, at, lines + 1));
    const [own = text.length] = ends;
    return { to: ends.findLast((end) => end - at <= reach) ?? own, isNear: own - at <= reach };
  };
}

interface Sides {
  readonly old: NumberedLines;
  readonly new: NumberedLines;
}

function linesOf(place: ChangedPlace, side: "before" | "after"): Steps<NumberedLines> {
  const text = place[side];
  const isCut = !place.atEnd && text !== "" && !text.endsWith("\n");
  return splitLines(isCut ? `${text}\n` : text);
}

function* diffOf({ old, new: fresh }: Sides): Steps<LineDiff> {
  if (old.count > 0 && fresh.count > 0) {
    const numbers = yield* numbered(old, fresh);
    return yield* diffOfNumbers(numbers);
  }
  // All lines came, or all went: there are none to be told apart.
  const all = { aFrom: 0, aTo: old.count, bFrom: 0, bTo: fresh.count };
  return { changed: old.count === fresh.count ? [] : [all], coarse: false };
}

function joined(places: readonly ChangedPlace[]): readonly ChangedPlace[] {
  if (places.length < 2) return places;
  const runs: ChangedPlace[][] = [];
  let endLine = 0;
  for (const place of places) {
    if (place.firstLine === endLine) runs.at(-1)?.push(place);
    else runs.push([place]);
    endLine = place.firstLine + newlinesIn(place.before, 0, place.before.length);
  }
  return runs.map((run) => ({
    firstLine: run[0]?.firstLine ?? 1,
    before: run.map((place) => place.before).join(""),
    after: run.map((place) => place.after).join(""),
    atEnd: run.at(-1)?.atEnd ?? false,
  }));
}

/** Changes with at most `gapMax` equal lines between them share a hunk. */
function* grouped(changed: readonly ChangedLines[], gapMax: number): Steps<readonly (readonly ChangedLines[])[]> {
  const groups: ChangedLines[][] = [];
  for (const [index, change] of changed.entries()) {
    if (index % partLength === 0) yield;
    const group = groups.at(-1);
    const last = group?.at(-1);
    if (group !== undefined && last !== undefined && change.aFrom - last.aTo <= gapMax) group.push(change);
    else groups.push([change]);
  }
  return groups;
}

function spanOf(group: readonly ChangedLines[], context: number, oldLines: number): ChangedLines {
  const first = group[0] ?? { aFrom: 0, bFrom: 0 };
  const last = group.at(-1) ?? { aTo: 0, bTo: 0 };
  const above = Math.min(context, first.aFrom);
  const below = Math.min(context, oldLines - last.aTo);
  return {
    aFrom: first.aFrom - above,
    aTo: last.aTo + below,
    bFrom: first.bFrom - above,
    bTo: last.bTo + below,
  };
}

function hunkOf(
  sides: Sides,
  group: readonly ChangedLines[],
  span: ChangedLines,
  firstLine: { readonly old: number; readonly new: number },
  isNew: boolean,
): Hunk {
  const endLength = endLengthOf(sides, span, isNew);
  const lines: string[] = [];
  const show = (sign: " " | "-" | "+", { text, starts }: NumberedLines, from: number, to: number): void => {
    for (let at = from; at < to; at += 1) {
      const end = starts[at + 1] ?? text.length;
      if (text.charCodeAt(end - 1) === newline) lines.push(sign + text.slice(starts[at], end - endLength));
      else lines.push(sign + text.slice(starts[at], end), noNewlineRow);
    }
  };
  let at = span.aFrom;
  for (const { aFrom, aTo, bFrom, bTo } of group) {
    show(" ", sides.old, at, aFrom);
    show("-", sides.old, aFrom, aTo);
    show("+", sides.new, bFrom, bTo);
    at = aTo;
  }
  show(" ", sides.old, at, span.aTo);
  const oldLines = span.aTo - span.aFrom;
  const newLines = span.bTo - span.bFrom;
  return {
    // As `diff -u` has it, a side without lines starts at the line before.
    oldStart: firstLine.old + span.aFrom - (oldLines === 0 ? 1 : 0),
    oldLines,
    newStart: firstLine.new + span.bFrom - (newLines === 0 ? 1 : 0),
    newLines,
    lines,
    ...(endLength === 2 && { lineEnd: "\r\n" }),
  };
}

/** How much is left out at the end of shown lines. */
function endLengthOf(sides: Sides, span: ChangedLines, isNew: boolean): 1 | 2 {
  let known = false;
  const fits = ({ text, starts }: NumberedLines, from: number, to: number, tells: boolean): boolean => {
    for (let at = from; at < to; at += 1) {
      const end = starts[at + 1] ?? text.length;
      if (text.charCodeAt(end - 1) !== newline) continue;
      if (end - 2 < (starts[at] ?? 0) || text.charCodeAt(end - 2) !== carriageReturn) return false;
      known ||= tells;
    }
    return true;
  };
  const all = fits(sides.old, span.aFrom, span.aTo, true) && fits(sides.new, span.bFrom, span.bTo, isNew);
  return all && known ? 2 : 1;
}

function sum(group: readonly ChangedLines[], count: (change: ChangedLines) => number): number {
  return group.reduce((total, change) => total + count(change), 0);
}

/** Big steps first: equal slices are compared as memory, and each smaller step is taken a few times at most. */
const steps = [65_536, 4_096, 256, 16, 1] as const;

function equalHead(a: string, b: string): number {
  const end = Math.min(a.length, b.length);
  let at = 0;
  for (const step of steps) {
    while (at + step <= end && a.slice(at, at + step) === b.slice(at, at + step)) at += step;
  }
  return at;
}

/** How many characters at the end are equal and whole lines in both. Both texts start with a line. */
function equalTail(a: string, b: string): number {
  const end = Math.min(a.length, b.length);
  let chars = 0;
  const same = (more: number) =>
    a.slice(a.length - chars - more, a.length - chars) === b.slice(b.length - chars - more, b.length - chars);
  for (const step of steps) while (chars + step <= end && same(step)) chars += step;
  const startsLine = (text: string) => lineStart(text, text.length - chars) === text.length - chars;
  if (startsLine(a) && startsLine(b)) return chars;
  return a.length - linesDown(a, a.length - chars, 1);
}

/** The start of the line that holds `at`. */
function lineStart(text: string, at: number): number {
  return at === 0 ? 0 : text.lastIndexOf("\n", at - 1) + 1;
}

/** The start of the line `count` lines above the one that starts at `at`. */
function linesUp(text: string, at: number, count: number): number {
  let from = at;
  for (let line = 0; line < count && from > 0; line += 1) from = lineStart(text, from - 1);
  return from;
}

/** The end of the line `count - 1` lines below the one that holds `at`. */
function linesDown(text: string, at: number, count: number): number {
  let to = at;
  for (let line = 0; line < count && to < text.length; line += 1) to = text.indexOf("\n", to) + 1 || text.length;
  return to;
}

function newlinesIn(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = text.indexOf("\n", from); at >= 0 && at < to; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}
