/**
 * The hunks of a change, as `diff -u` has them: from two whole texts, or from the places that are known to differ.
 *
 * Lines end at `\n` and are compared with their line ends, so that a changed line end is a change. If all lines of a hunk end in
 * `\r\n`, and old lines are among them or the file is new, the hunk's lines are without `\r` and its `lineEnd` says so. Elsewhere
 * a `\r` stays at the end of the shown line, where it may be the difference: `-text\r`, `+text`. So the old text and its hunks
 * always determine the new text.
 */

import type { Hunk, TextChange } from "../../contract/edit.ts";
import { wellFormed } from "../encoding/escape.ts";
import { countNewlines } from "../lines/newlines.ts";
import { finish, partLength, type Steps } from "../steps.ts";
import { type ChangedLines, diffOfNumbers, type LineDiff } from "./line-diff.ts";
import { type NumberedLines, splitLines, numbered } from "./line-numbers.ts";
import { noNewlineRow } from "./unified.ts";

export interface TextDiff {
  readonly hunks: readonly Hunk[];
  /** Lines added and deleted, including those of hunks that were left out. */
  readonly additions: number;
  readonly deletions: number;
  /** False if hunks were left out at the end, or if equal lines may be shown as changed because the search gave up. */
  readonly complete: boolean;
}

export interface HunkOptions {
  readonly context?: number;
  /** Lines and characters of all hunks together. The first hunk that exceeds them and all hunks after it are left out. */
  readonly linesMax?: number;
  readonly charsMax?: number;
}

export interface ChangedPlace {
  /** The number of the first line of `before`, in the text before; lines count from 1. */
  readonly firstLine: number;
  readonly before: string;
  readonly after: string;
  /** Both reach the end of the file. Only then can the last line lack its line end. */
  readonly atEnd: boolean;
  /** By how many lines earlier changes that no place shows made the text longer. */
  readonly grown?: number;
}

const contextDefault = 3;

export interface DiffLimits {
  readonly linesMax: number;
  /** Characters of changed lines and context, before and after together. */
  readonly charsMax: number;
  /** Bytes of changed lines beside the changes in them, and of the context on each side. */
  readonly reachBytes: number;
}

export const diffLimits: DiffLimits = { linesMax: 5_000, charsMax: 1_000_000, reachBytes: 262_144 };

const newline = 10;
const carriageReturn = 13;

/** Equal beginnings and ends are skipped as text, so that only the part in between costs. */
export const hunksOfTexts = (before: string, after: string, options: HunkOptions = {}): TextDiff =>
  finish(hunksBetween(before, after, options));

export function* hunksBetween(before: string, after: string, options: HunkOptions = {}): Steps<TextDiff> {
  if (before === after) return yield* hunksOf([], options);
  const head = lineStart(before, equalHead(before, after));
  const tail = equalTail(before.slice(head), after.slice(head));
  const context = options.context ?? contextDefault;
  const from = linesUp(before, head, context);
  const firstLine = 1 + countNewlines(before.slice(0, from));
  yield;
  for (let below = context; ; below = 4 * below + 4) {
    const to = linesDown(before, before.length - tail, below);
    const place: ChangedPlace = {
      firstLine,
      before: before.slice(from, to),
      after: after.slice(from, after.length - (before.length - to)),
      atEnd: to === before.length,
    };
    const diff = yield* hunksOf([place], options);
    // Among equal lines a change can appear further down. With too few lines below it, a hunk would mean the end of the file.
    if (place.atEnd || linesKeptAtEnd(diff.hunks.at(-1)) >= context || !diff.complete) return diff;
  }
}

function linesKeptAtEnd(hunk: Hunk | undefined): number {
  if (hunk === undefined) return Infinity;
  return hunk.lines.length - 1 - hunk.lines.findLastIndex((line) => !line.startsWith(" "));
}

/** Places MUST be in file order and not overlap; those that touch are joined. They may have more context than the hunks show. */
export function* hunksOf(places: readonly ChangedPlace[], options: HunkOptions = {}): Steps<TextDiff> {
  const { context = contextDefault, linesMax = diffLimits.linesMax, charsMax = diffLimits.charsMax } = options;
  const hunks: Hunk[] = [];
  let [additions, deletions, lines, chars, shift] = [0, 0, 0, 0, 0];
  let [complete, full] = [true, false];
  for (const place of joined(places)) {
    yield;
    const sides: Sides = { old: yield* linesOf(place, "before"), new: yield* linesOf(place, "after") };
    const isNew = place.atEnd && place.firstLine === 1 && sides.old.count === 0;
    const diff = yield* diffOf(sides);
    if (diff.coarse) complete = false;
    for (const [index, group] of (yield* grouped(diff.changed, 2 * context)).entries()) {
      if (index % partLength === 0) yield;
      const span = spanOf(group, context, sides.old);
      const added = sum(group, ({ bFrom, bTo }) => bTo - bFrom);
      additions += added;
      deletions += sum(group, ({ aFrom, aTo }) => aTo - aFrom);
      lines += span.aTo - span.aFrom + added;
      chars +=
        charsOf(sides.old, span.aFrom, span.aTo) + sum(group, ({ bFrom, bTo }) => charsOf(sides.new, bFrom, bTo));
      full ||= lines > linesMax || chars > charsMax;
      const firstLine = { old: place.firstLine, new: place.firstLine + shift + (place.grown ?? 0) };
      if (!full) hunks.push(hunkOf(sides, group, span, firstLine, isNew));
    }
    shift += sides.new.count - sides.old.count;
  }
  return { hunks, additions, deletions, complete: complete && !full };
}

/** The lines that a change replaces and brings, starting at `line`; lines count from 1. */
export interface LinesTouched {
  readonly line: number;
  readonly linesBefore: number;
  readonly linesAfter: number;
  readonly unchanged?: number;
}

/** Changes that touch the same lines: a diff shows all of them or none. */
export interface ChangedRun {
  readonly first: number;
  readonly next: number;
  readonly line: number;
  /** How many lines above and below no other change touches, up to the context that is needed. */
  readonly above: number;
  readonly below: number;
}

/** The first runs that fit, by their line numbers alone: the file need not be read. Changes MUST be in order and not overlap. */
export function shownRuns(changes: readonly LinesTouched[], { linesMax }: DiffLimits): readonly ChangedRun[] {
  const runs: ChangedRun[] = [];
  let lines = 0;
  let endLine = 0;
  for (let first = 0; first < changes.length; ) {
    const line = changes[first]?.line ?? 1;
    let lastLine = line - 1;
    let next = first;
    for (let change = changes[next]; change !== undefined && lines <= linesMax; change = changes[next]) {
      if (next > first && change.line > lastLine) break;
      lines += change.linesBefore + change.linesAfter;
      lastLine = Math.max(lastLine, change.line + change.linesBefore - 1);
      next += 1;
    }
    if (lines > linesMax) break;
    const above = Math.min(contextDefault, line - endLine - 1);
    const gap = (changes[next]?.line ?? Number.POSITIVE_INFINITY) - lastLine - 1;
    lines += above + Math.min(contextDefault, gap);
    if (lines > linesMax) break;
    // One line more than is shown: among equal lines a change can appear one line further down.
    runs.push({ first, next, line, above, below: Math.min(contextDefault + 1, gap) });
    [first, endLine] = [next, lastLine];
  }
  return runs;
}

/** The text around a run of changes. Offsets are characters of a text or bytes of a file. */
export interface LinesAround {
  readonly start: number;
  readonly end: number;
  /** The last newline before an offset, or -1 if there is none within reach. */
  newlineBefore(at: number, reachBytes: number): number;
  /** The first newline at or after an offset, or -1 if there is none within reach. */
  newlineFrom(at: number, reachBytes: number): number;
  bytesBetween(from: number, to: number): number;
  slice(from: number, to: number): string;
}

/** The lines of a whole text. `byteAt` returns the byte offset of a character in the file. */
function linesAroundIn(text: string, byteAt: (at: number) => number): LinesAround {
  return {
    start: 0,
    end: text.length,
    // Every UTF-16 unit takes at least one byte, so this many units are enough.
    newlineBefore: (at, reachBytes) => {
      const from = Math.max(0, at - reachBytes - 1);
      const found = text.slice(from, at).lastIndexOf("\n");
      return found === -1 ? -1 : from + found;
    },
    newlineFrom: (at, reachBytes) => {
      const found = text.slice(at, at + reachBytes + 1).indexOf("\n");
      return found === -1 ? -1 : at + found;
    },
    bytesBetween: (from, to) => (from === to ? 0 : byteAt(to) - byteAt(from)),
    slice: (from, to) => text.slice(from, to),
  };
}

export type DiffOfChanges = ReturnType<typeof startDiff>;

/** Makes the diff of changes run by run, in order. The result is the same for a text in memory and for a file. */
export function startDiff({ charsMax, reachBytes }: DiffLimits) {
  const places: ChangedPlace[] = [];
  const hidden = lineTally();
  const rest = lineTally();
  let chars = 0;
  let open: { firstLine: number; before: string; after: string; to: number; end: number } | undefined;
  const close = (): void => {
    if (open === undefined) return;
    const { firstLine, before, after, to, end } = open;
    const { before: deleted, after: added } = hidden.lines();
    const shown = { before: wellFormed(before), after: wellFormed(after) };
    places.push({ firstLine, ...shown, atEnd: to === end, grown: added - deleted });
    open = undefined;
  };
  const isFull = (): boolean => chars > charsMax;
  const hide = (touched: readonly LinesTouched[]): void => {
    close();
    for (const one of touched) hidden.add(one);
  };
  return {
    /** Whether the maximum of characters is reached: further runs are only counted. */
    isFull,
    /** `changes` and `touched` MUST be those of the run alone. Without `around` the run is only counted. */
    add(
      run: ChangedRun,
      changes: readonly TextChange[],
      touched: readonly LinesTouched[],
      around: LinesAround | undefined,
    ): void {
      const last = touched.at(-1);
      if (isFull() || around === undefined || last === undefined) return hide(touched);
      const lines = linesOfRun(run, changes, last, around, { charsMax, reachBytes });
      if (lines === undefined) return hide(touched);
      const isNear = open !== undefined && open.to >= lines.from;
      let at = isNear ? (open?.to ?? 0) : lines.from;
      let before = "";
      let after = "";
      for (const { from, to, text } of changes) {
        const kept = around.slice(at, from);
        before += kept + around.slice(from, to);
        after += kept + text;
        at = to;
      }
      const kept = around.slice(at, lines.to);
      chars += before.length + after.length + 2 * kept.length;
      if (isFull()) return hide(touched);
      if (!isNear) close();
      open = {
        firstLine: open?.firstLine ?? run.line - lines.above,
        before: (open?.before ?? "") + before + kept,
        after: (open?.after ?? "") + after + kept,
        to: lines.to,
        end: around.end,
      };
    },
    /** Counts a change after all runs, which is not shown. */
    count: (touched: LinesTouched): void => rest.add(touched),
    *finish(): Steps<TextDiff> {
      close();
      yield;
      const diff = yield* hunksOf(places);
      const [own, later] = [hidden.lines(), rest.lines()];
      const additions = own.after + later.after;
      const deletions = own.before + later.before;
      return {
        hunks: diff.hunks,
        additions: diff.additions + additions,
        deletions: diff.deletions + deletions,
        complete: diff.complete && additions + deletions === 0,
      };
    },
  };
}

/** The whole lines of a run with their context, which is shorter where lines are long; undefined if the changed lines are too long. */
function linesOfRun(
  run: ChangedRun,
  changes: readonly TextChange[],
  last: LinesTouched,
  around: LinesAround,
  { charsMax, reachBytes }: Pick<DiffLimits, "charsMax" | "reachBytes">,
): { readonly from: number; readonly to: number; readonly above: number } | undefined {
  const [first, end] = [changes[0], changes.at(-1)];
  if (first === undefined || end === undefined) return undefined;
  if (around.bytesBetween(first.from, end.to) > charsMax) return undefined;
  // A change of whole lines does not touch the line after it.
  const endsLine = last.linesAfter === countNewlines(end.text);
  let from = lineStartIn(around, first.from, reachBytes);
  let to = endsLine ? end.to : lineEndIn(around, end.to, reachBytes);
  if (from === undefined || to === undefined) return undefined;
  let beside = around.bytesBetween(from, first.from) + around.bytesBetween(end.to, to);
  for (let at = 1; at < changes.length; at += 1) {
    beside += around.bytesBetween(changes[at - 1]?.to ?? 0, changes[at]?.from ?? 0);
  }
  if (beside > reachBytes) return undefined;
  const [start, finish] = [from, to];
  let above = 0;
  for (; above < run.above; above += 1) {
    const line = lineStartIn(around, from - 1, reachBytes);
    if (line === undefined || around.bytesBetween(line, start) > reachBytes) break;
    from = line;
  }
  for (let below = 0; below < run.below && to < around.end; below += 1) {
    const line = lineEndIn(around, to, reachBytes);
    if (line === undefined || around.bytesBetween(finish, line) > reachBytes) break;
    to = line;
  }
  return { from, to, above };
}

/** Where the line at an offset begins; undefined if that is too far away. */
function lineStartIn(around: LinesAround, at: number, reachBytes: number): number | undefined {
  const found = around.newlineBefore(at, reachBytes);
  if (found !== -1) return found + 1;
  return around.bytesBetween(around.start, at) > reachBytes ? undefined : around.start;
}

/** Where the line at an offset ends, after its newline; undefined if that is too far away. */
function lineEndIn(around: LinesAround, at: number, reachBytes: number): number | undefined {
  const found = around.newlineFrom(at, reachBytes);
  if (found !== -1) return found + 1;
  return around.bytesBetween(at, around.end) > reachBytes ? undefined : around.end;
}

/** Counts the lines of changes, before and after. A line that several changes touch counts once. */
function lineTally() {
  let [before, grown, end] = [0, 0, 0];
  return {
    add({ line, linesBefore, linesAfter, unchanged = 0 }: LinesTouched): void {
      const last = line + linesBefore - 1;
      before += Math.max(0, last - Math.max(end, line - 1) - unchanged);
      grown += linesAfter - linesBefore;
      end = Math.max(end, last);
    },
    lines: () => ({ before, after: before + grown }),
  };
}

/** A change with more lines than this may be a block of many places, with unchanged lines between them. */
const blockLinesMin = 64;

/** For a change that is only counted: finds how many of its lines stay as they are. */
function* withKept(lines: LinesTouched, old: () => string, put: string): Steps<LinesTouched> {
  if (lines.linesBefore <= blockLinesMin) return lines;
  const before = old();
  const { deletions } = yield* hunksOf([{ firstLine: 1, before, after: put, atEnd: true }], { linesMax: 0 });
  return { ...lines, unchanged: (yield* splitLines(before)).count - deletions };
}

/** The diff of changes in a whole text; `touched` MUST have the lines of each change. */
export function* diffOfChanges(
  { text, byteAt }: { readonly text: string; readonly byteAt: (at: number) => number },
  changes: readonly TextChange[],
  touched: readonly LinesTouched[],
  shows: DiffLimits = diffLimits,
): Steps<TextDiff> {
  const around = linesAroundIn(text, byteAt);
  const diff = startDiff(shows);
  const runs = shownRuns(touched, shows);
  for (const run of runs) {
    yield;
    diff.add(run, changes.slice(run.first, run.next), touched.slice(run.first, run.next), around);
  }
  return yield* finishDiff(diff, runs, changes, touched, ({ from, to }) => text.slice(from, to));
}

/** Counts the changes after the shown runs, and finishes the diff. */
export function* finishDiff(
  diff: DiffOfChanges,
  runs: readonly ChangedRun[],
  changes: readonly TextChange[],
  touched: readonly LinesTouched[],
  oldTextOf: (change: TextChange) => string,
): Steps<TextDiff> {
  for (let at = runs.at(-1)?.next ?? 0; at < changes.length; at += 1) {
    const [change, lines] = [changes[at], touched[at]];
    if (change === undefined || lines === undefined) break;
    if (at % partLength === 0) yield;
    diff.count(yield* withKept(lines, () => oldTextOf(change), change.text));
  }
  return yield* diff.finish();
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

function* diffOf({ old, new: after }: Sides): Steps<LineDiff> {
  if (old.count > 0 && after.count > 0) {
    const numbers = yield* numbered(old, after);
    return yield* diffOfNumbers(numbers);
  }
  // All lines were added, or all deleted: there is nothing to compare.
  const all = { aFrom: 0, aTo: old.count, bFrom: 0, bTo: after.count };
  return { changed: old.count === after.count ? [] : [all], coarse: false };
}

function joined(places: readonly ChangedPlace[]): readonly ChangedPlace[] {
  if (places.length < 2) return places;
  const runs: ChangedPlace[][] = [];
  let endLine = 0;
  for (const place of places) {
    const run = runs.at(-1);
    if (place.firstLine === endLine && place.grown === run?.[0]?.grown) run?.push(place);
    else runs.push([place]);
    endLine = place.firstLine + countNewlines(place.before);
  }
  return runs.map((run) => ({
    firstLine: run[0]?.firstLine ?? 1,
    before: run.map((place) => place.before).join(""),
    after: run.map((place) => place.after).join(""),
    atEnd: run.at(-1)?.atEnd ?? false,
    grown: run[0]?.grown ?? 0,
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

function spanOf(group: readonly ChangedLines[], context: number, old: NumberedLines): ChangedLines {
  const first = group[0] ?? { aFrom: 0, bFrom: 0 };
  const last = group.at(-1) ?? { aTo: 0, bTo: 0 };
  let above = Math.min(context, first.aFrom);
  let below = Math.min(context, old.count - last.aTo);
  while (charsOf(old, first.aFrom - above, first.aFrom) > diffLimits.reachBytes) above -= 1;
  while (charsOf(old, last.aTo, last.aTo + below) > diffLimits.reachBytes) below -= 1;
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
    // As in `diff -u`, a side without lines starts at the line before.
    oldStart: firstLine.old + span.aFrom - (oldLines === 0 ? 1 : 0),
    oldLines,
    newStart: firstLine.new + span.bFrom - (newLines === 0 ? 1 : 0),
    newLines,
    lines,
    ...(endLength === 2 && { lineEnd: "\r\n" }),
  };
}

/** How many characters of the line end the shown lines leave out: 2 for `\r\n`. */
function endLengthOf(sides: Sides, span: ChangedLines, isNew: boolean): 1 | 2 {
  let known = false;
  const fits = ({ text, starts }: NumberedLines, from: number, to: number, isEvidence: boolean): boolean => {
    for (let at = from; at < to; at += 1) {
      const end = starts[at + 1] ?? text.length;
      if (text.charCodeAt(end - 1) !== newline) continue;
      if (end - 2 < (starts[at] ?? 0) || text.charCodeAt(end - 2) !== carriageReturn) return false;
      known ||= isEvidence;
    }
    return true;
  };
  const all = fits(sides.old, span.aFrom, span.aTo, true) && fits(sides.new, span.bFrom, span.bTo, isNew);
  return all && known ? 2 : 1;
}

const charsOf = ({ starts }: NumberedLines, from: number, to: number): number =>
  (starts[to] ?? 0) - (starts[from] ?? 0);

function sum(group: readonly ChangedLines[], count: (change: ChangedLines) => number): number {
  return group.reduce((total, change) => total + count(change), 0);
}

/** Long slices first: comparing them is fast, and each shorter length is needed a few times at most. */
const steps = [65_536, 4_096, 256, 16, 1] as const;

function equalHead(a: string, b: string): number {
  const end = Math.min(a.length, b.length);
  let at = 0;
  for (const step of steps) {
    while (at + step <= end && a.slice(at, at + step) === b.slice(at, at + step)) at += step;
  }
  return at;
}

/** How many characters at the end are equal and whole lines in both. Both texts MUST start at a line start. */
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

function lineStart(text: string, at: number): number {
  return at === 0 ? 0 : text.lastIndexOf("\n", at - 1) + 1;
}

function linesUp(text: string, at: number, count: number): number {
  let from = at;
  for (let line = 0; line < count && from > 0; line += 1) from = lineStart(text, from - 1);
  return from;
}

function linesDown(text: string, at: number, count: number): number {
  let to = at;
  for (let line = 0; line < count && to < text.length; line += 1) to = text.indexOf("\n", to) + 1 || text.length;
  return to;
}
