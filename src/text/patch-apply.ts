/**
 * Puts the hunks of a patch into a text. It answers with changes of that text, so that lines nobody named keep their
 * bytes, and refuses wherever a hunk could mean more than one place.
 *
 * Line ends are the file's affair: a line that replaces another takes its end, an added line that of its neighbour. A
 * file whose last line has no end stays so: the line that is last afterwards, if the patch wrote it, has none, and the
 * old last line gets one when lines are put behind it. Where the last lines are only taken away, the line before them
 * keeps the end it has.
 */

import type { TextChange } from "../contract/edit.ts";
import { sharedEnds } from "./match-rewrite.ts";
import type { PatchHunk, PatchLine } from "./patch.ts";
import { finish, type Steps } from "./steps.ts";
import {
  findHeaders,
  findPlaces,
  findWithin,
  kmp,
  type Step,
  sectionsOf,
  standsAt,
  steps,
  type TextLines,
  textLines,
  withoutTrailingBlanks,
} from "./patch-place.ts";

export type Applied =
  | {
      readonly applied: "yes";
      /** Of the original text, in order, not overlapping. None if old and new lines are the same, as in `-a +a`. */
      readonly changes: readonly TextChange[];
      /** The loosest step that any hunk needed. */
      readonly matchedBy: Step;
    }
  | Refused;

/** `hunk` counts from 0, lines count from 1. */
export type Refused = { readonly applied: "no"; readonly hunk: number } & Reason;

type Reason =
  | { readonly why: "not found"; readonly oldLines: readonly string[] }
  /** At most a few of the lines. */
  | { readonly why: "several"; readonly lines: readonly number[]; readonly total: number }
  /** No line fits the header, or none at or above a place where the hunk would go. */
  | { readonly why: "header not found"; readonly header: string }
  /** The place lies above the last change of the hunk before, or holds lines that it changes. */
  | { readonly why: "out of order"; readonly line: number }
  /** What the hunk is to bring about is there. */
  | { readonly why: "already"; readonly line: number };

export const applyHunks = (text: string, hunks: readonly PatchHunk[]): Applied => finish(applyingHunks(text, hunks));

/** The same, in steps. */
export function* applyingHunks(text: string, hunks: readonly PatchHunk[]): Steps<Applied> {
  const lines = textLines(text);
  const runs: Run[] = [];
  /** Lines that say nothing about where they belong: they come last, whatever the order. */
  const atEnd: Run[] = [];
  const headersOf = headerCache(lines);
  let cursor = 0;
  let loosest = 0;
  for (const [index, given] of hunks.entries()) {
    yield;
    const { hunk, place } = locateAtEnd(lines, given, headersOf, cursor);
    if ("why" in place) return { applied: "no", hunk: index, ...place };
    const changed = runsOf(lines, hunk, place);
    if (place.free === true) {
      for (const run of changed) append(atEnd, run);
      continue;
    }
    const asksForChange = hunk.lines.some(({ mark }) => mark !== " ");
    if (changed.length === 0 && asksForChange && place.step !== "exact") {
      return { applied: "no", hunk: index, why: "already", line: place.at + 1 };
    }
    for (const run of changed) append(runs, run);
    loosest = Math.max(loosest, steps.indexOf(place.step));
    cursor = cursorAfter(hunk, place.at);
  }
  for (const run of atEnd) append(runs, run);
  return { applied: "yes", changes: runs.map((run) => changeOf(lines, run)), matchedBy: steps[loosest] ?? "exact" };
}

/** Do the old lines of every hunk stand in the text to the letter and once, so that neither order nor header is needed? */
export function standOnce(text: string, hunks: readonly PatchHunk[]): boolean {
  const lines = textLines(text);
  return hunks.every((hunk) => findPlaces(lines, textsOf(hunk, "-"), 0, "exact").length === 1);
}

interface Place {
  /** Index of the first old line, or of the line before which lines are added. */
  readonly at: number;
  readonly step: Step;
  /** Nothing says that it is here: lines without context go to the end of the file. */
  readonly free?: true;
}

type HeadersOf = (headers: readonly string[]) => ReturnType<typeof findHeaders>;

/** Hunks of one function have the same headers. */
function headerCache(lines: TextLines): HeadersOf {
  const known = new Map<string, ReturnType<typeof findHeaders>>();
  return (headers) => {
    if (headers.length === 0) return [];
    const key = headers.join("\n");
    const found = known.get(key) ?? findHeaders(lines, headers);
    known.set(key, found);
    return found;
  };
}

/**
 * A hunk whose last line of context is empty may mean the end of the file: what follows the last newline looks like an empty
 * line. So it is looked for there without that line, if it is nowhere with it.
 */
function locateAtEnd(
  lines: TextLines,
  hunk: PatchHunk,
  headersOf: HeadersOf,
  cursor: number,
): { readonly hunk: PatchHunk; readonly place: Place | Reason } {
  const place = locate(lines, hunk, headersOf, cursor);
  const last = hunk.lines.at(-1);
  const isOpen = "why" in place && place.why === "not found" && last?.mark === " " && last.text === "";
  const [first, ...others] = hunk.lines.slice(0, -1);
  if (!isOpen || first === undefined) return { hunk, place };
  const shorter: PatchHunk = { ...hunk, lines: [first, ...others], endOfFile: true };
  const found = locate(lines, shorter, headersOf, cursor);
  return "why" in found && found.why === "not found" ? { hunk, place } : { hunk: shorter, place: found };
}

function locate(lines: TextLines, hunk: PatchHunk, headersOf: HeadersOf, cursor: number): Place | Reason {
  const named = headersOf(hunk.headers);
  if ("missing" in named) return { why: "header not found", header: named.missing };
  const oldLines = textsOf(hunk, "-");
  const place = oldLines.length === 0 ? placeToAdd(lines, hunk, named, cursor) : find(lines, hunk, named, cursor);
  if ("why" in place) return place;
  const repeated = repeatedAt(lines, hunk, place);
  return repeated === undefined ? place : { why: "already", line: repeated + 1 };
}

/** Where lines without any context go: right below a header, else to the end of the file, as Codex puts them. */
function placeToAdd(lines: TextLines, hunk: PatchHunk, named: readonly number[], cursor: number): Place | Reason {
  if (lines.count === 0 || hunk.endOfFile) return { at: lines.count, step: "exact" };
  const header = hunk.headers.at(-1);
  if (header === undefined) return { at: lines.count, step: "exact", free: true };
  const below = named.map((index) => index + 1).filter((at) => at >= cursor);
  const [at] = below;
  if (at === undefined) return { why: "out of order", line: (named[0] ?? 0) + 1 };
  return below.length > 1 ? several(below.map((next) => next - 1)) : { at, step: "exact" };
}

function find(lines: TextLines, hunk: PatchHunk, named: readonly number[], cursor: number): Place | Reason {
  const oldLines = textsOf(hunk, "-");
  const header = hunk.headers.at(-1);
  let strays = false;
  for (const step of steps) {
    const found = placesFor(lines, hunk, oldLines, cursor, step);
    // A header may be repeated as the first line of context, so it need not stand above the place.
    const below = found.filter((at) => named.length === 0 || (named[0] ?? 0) < at + oldLines.length);
    strays ||= below.length < found.length;
    const fitting = step === "exact" && below.length > 1 && named.length > 0 ? inSection(lines, below, named) : below;
    const [at] = fitting;
    if (at !== undefined) return fitting.length > 1 ? several(fitting) : { at, step };
  }
  if (strays && header !== undefined) return { why: "header not found", header };
  const [above] = placesFor(lines, hunk, oldLines, 0, "exact");
  if (above !== undefined) return { why: "out of order", line: above + 1 };
  const done = appliedAt(lines, hunk);
  return done === undefined ? { why: "not found", oldLines } : { why: "already", line: done + 1 };
}

function placesFor(
  lines: TextLines,
  { endOfFile }: PatchHunk,
  oldLines: readonly string[],
  from: number,
  step: Step,
): readonly number[] {
  if (!endOfFile) return findPlaces(lines, oldLines, from, step);
  const at = lines.count - oldLines.length;
  return at >= from && standsAt(lines, oldLines, at, step) ? [at] : [];
}

/** `@@` names the function or class a hunk belongs to. What lies behind its end is a copy elsewhere. */
function inSection(lines: TextLines, places: readonly number[], named: readonly number[]): readonly number[] {
  const inside = places.filter(sectionsOf(lines, named));
  return inside.length > 0 ? inside : places;
}

const placesShownMax = 20;

function several(places: readonly number[]): Reason {
  return { why: "several", lines: places.slice(0, placesShownMax).map((at) => at + 1), total: places.length };
}

/**
 * Where the lines that a hunk adds around its old ones stand already. The old lines are part of the new ones then, so a
 * patch that comes a second time would find its place again and add them again.
 */
function repeatedAt(lines: TextLines, hunk: PatchHunk, { at, step }: Place): number | undefined {
  const oldLines = textsOf(hunk, "-");
  const newLines = textsOf(hunk, "+");
  if (newLines.length <= oldLines.length || !hasSubstance(hunk)) return undefined;
  // Without old lines every offset is as good, but only below a header or at the end of the file are lines added so.
  const offsets =
    oldLines.length === 0 ? [0, newLines.length] : kmp(oldLines, 0, newLines.length, (index) => newLines[index]);
  const around = { from: Math.max(0, at - newLines.length), to: Math.min(lines.count, at + newLines.length) };
  const standing = new Set(findWithin(lines, newLines, around, step));
  const offset = offsets.find((one) => standing.has(at - one));
  return offset === undefined ? undefined : at - offset;
}

/** Where the outcome of a hunk stands whose old lines do not. */
function appliedAt(lines: TextLines, hunk: PatchHunk): number | undefined {
  return hasSubstance(hunk) ? findPlaces(lines, textsOf(hunk, "+"), 0, "trailing blanks")[0] : undefined;
}

const lettersMin = 10;

/** A few letters stand somewhere by chance; and a removal shows only between two lines that were kept. */
function hasSubstance({ lines }: PatchHunk): boolean {
  const adds = lines.some(({ mark }) => mark === "+");
  if (!adds && (lines[0].mark !== " " || lines.at(-1)?.mark !== " ")) return false;
  const telling = lines.filter(({ mark }) => mark === (adds ? "+" : " "));
  const letters = telling.reduce((sum, { text }) => sum + (text.match(/[\p{L}\p{N}]/gu)?.length ?? 0), 0);
  return letters >= lettersMin;
}

/** The lines before (`-`) or after (`+`) the hunk. */
function textsOf({ lines }: PatchHunk, side: "-" | "+"): readonly string[] {
  return lines.filter(({ mark }) => mark === " " || mark === side).map(({ text }) => text);
}

/**
 * The next hunk may share the context behind this one's last change. A line of context is never changed twice by that,
 * and a copy further down cannot pass for the place that is meant.
 */
function cursorAfter({ lines }: PatchHunk, at: number): number {
  const lastChanged = lines.findLastIndex(({ mark }) => mark !== " ");
  const reached = lastChanged === -1 ? lines : lines.slice(0, lastChanged + 1);
  return at + reached.filter(({ mark }) => mark !== "+").length;
}

/** Neighbouring lines that change: `removed` lines from `at` on give way to `added`. */
interface Run {
  readonly at: number;
  removed: number;
  readonly added: { readonly text: string; readonly lineEnd: string }[];
}

function runsOf(lines: TextLines, hunk: PatchHunk, { at, step }: Place): readonly Run[] {
  const runs: Run[] = [];
  let index = at;
  let pending: PatchLine[] = [];
  const close = (): void => {
    const removed = pending.filter(({ mark }) => mark === "-").map(({ text }) => text);
    const added = pending.filter(({ mark }) => mark === "+").map(({ text }) => text);
    const run = runFrom(lines, index, removed, added, step);
    if (run.removed > 0 || run.added.length > 0) runs.push(run);
    index += removed.length;
    pending = [];
  };
  for (const line of hunk.lines) {
    if (line.mark !== " ") {
      pending.push(line);
      continue;
    }
    close();
    index += 1;
  }
  close();
  return runs;
}

/** Lines that are taken out and put back the same, at either end, are kept as the file has them. */
function runFrom(lines: TextLines, at: number, old: readonly string[], added: readonly string[], step: Step): Run {
  const shorter = Math.min(old.length, added.length);
  let head = 0;
  while (head < shorter && old[head] === added[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && old[old.length - 1 - tail] === added[added.length - 1 - tail]) tail += 1;

  const removed = old.length - head - tail;
  const texts = added.slice(head, added.length - tail).map((text, offset) => {
    const replaced = offset < removed ? old[head + offset] : undefined;
    return replaced === undefined || step === "exact" ? text : asInFile(lines.line(at + head + offset), replaced, text);
  });
  const unchanged = texts.length === removed && texts.every((text, offset) => text === lines.line(at + head + offset));
  if (unchanged) return { at, removed: 0, added: [] };
  const neighbour = lineEndNear(lines, at + head + removed);
  const lineEndOf = (offset: number): string =>
    (offset < removed ? lines.lineEnd(at + head + offset) : "") || neighbour;
  return { at: at + head, removed, added: texts.map((text, offset) => ({ text, lineEnd: lineEndOf(offset) })) };
}

/**
 * A line found by a looser step: where the new line says the same as the old one, the file's own letters stay, such as
 * its curly quotes. All three lines are compared unit for unit, because folding a line keeps its length.
 */
function asInFile(inFile: string, oldText: string, newText: string): string {
  const [fileBody, fileBlanks] = partBlanks(inFile);
  const [oldBody, oldBlanks] = partBlanks(oldText);
  const [newBody, newBlanks] = partBlanks(newText);
  const { head, tail } = sharedEnds(oldBody, newBody, fileBody);
  if (head + tail === 0) return newText;

  const middle = newBody.slice(head, newBody.length - tail);
  const kept = fileBody.slice(0, head) + middle + fileBody.slice(fileBody.length - tail);
  return kept + (oldBlanks === newBlanks ? fileBlanks : newBlanks);
}

function partBlanks(line: string): readonly [string, string] {
  const body = withoutTrailingBlanks(line);
  return [body, line.slice(body.length)];
}

/** The end of the nearest line that has one, the last replaced line or the one above first. */
function lineEndNear(lines: TextLines, index: number): string {
  for (const near of [index - 1, index - 2, index]) {
    const end = near >= 0 && near < lines.count ? lines.lineEnd(near) : "";
    if (end !== "") return end;
  }
  return "\n";
}

/** Two hunks may meet. Together they know what becomes of the last line; each for itself would not. */
function append(runs: Run[], run: Run): void {
  const last = runs.at(-1);
  if (last === undefined || last.at + last.removed !== run.at) runs.push(run);
  else {
    last.removed += run.removed;
    for (const line of run.added) last.added.push(line);
  }
}

function changeOf(lines: TextLines, { at, removed, added }: Run): TextChange {
  const end = at + removed;
  const span = { from: lines.start(at), to: lines.start(end) };
  const text = added.map((line) => line.text + line.lineEnd).join("");
  const last = added.at(-1);
  const openEnded = end === lines.count && lines.count > 0 && lines.lineEnd(lines.count - 1) === "";
  if (!openEnded || last === undefined) return { ...span, text };
  // Behind a last line without an end no new line has begun.
  const before = removed === 0 ? lineEndNear(lines, end) : "";
  return { ...span, text: before + text.slice(0, text.length - last.lineEnd.length) };
}
