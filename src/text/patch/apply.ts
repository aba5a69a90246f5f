/**
 * Applies the hunks of a patch to a text. The result is a list of changes, so other lines keep their bytes; a hunk that
 * could mean more than one place is refused. The file decides the line endings: a line that replaces another takes its
 * ending, an added line that of its neighbour. A file without a final line ending stays so: a new last line gets none,
 * and the old last line gets one when lines are added after it. If the last lines are only removed, the line before
 * them keeps its ending.
 */

import type { MatchedBy, TextChange } from "../../contract/edit.ts";
import { sharedEnds } from "../match/rewrite.ts";
import { finish, type Steps } from "../steps.ts";
import type { PatchHunk, PatchLine } from "./patch.ts";

// Finding lines. Whole lines are compared, without their endings; every step returns all places, so that no caller can
// take the first of several. Linear in the text, whatever it repeats.

/** A text as lines. A final line ending adds no line; in a text without `\n`, lines end with `\r`. */
interface TextLines {
  readonly text: string;
  readonly count: number;
  /** The start of a line, in UTF-16 units; from `count` on, the end of the text. */
  start(index: number): number;
  /** Without its line ending. */
  line(index: number): string;
  /** `\n`, `\r\n`, `\r`, or empty at the end of the text. */
  lineEnd(index: number): string;
  /** The index of a step; undefined for the first searches, which are too few to pay for one. */
  index(step: Step): LineIndex | undefined;
  /** The places of each line without the whitespace around it. */
  trimmed(): ReadonlyMap<string, readonly number[]>;
}

/** Lines by what a step compares: equal lines have equal ids. */
interface LineIndex {
  readonly ids: Int32Array;
  /** The id of a line, as the step compares it; undefined if the text has no such line. */
  id(line: string): number | undefined;
  /** The places of the lines with an id, ascending. */
  places(id: number): Int32Array;
}

/** Searches of a step that scan the lines themselves, before an index is built. */
const searchesUnindexedMax = 8;

export function textLines(text: string): TextLines {
  const separator = text.includes("\n") || !text.includes("\r") ? "\n" : "\r";
  let starts = new Int32Array(64);
  let count = 0;
  for (let at = 0; at < text.length; count += 1) {
    if (count === starts.length) {
      const grown = new Int32Array(2 * count);
      grown.set(starts);
      starts = grown;
    }
    starts[count] = at;
    const end = text.indexOf(separator, at);
    at = end === -1 ? text.length : end + 1;
  }
  starts = starts.subarray(0, count);
  const start = (index: number): number => starts[index] ?? text.length;
  const contentEnd = (index: number): number => {
    const next = start(index + 1);
    if (next === start(index) || text[next - 1] !== separator) return next;
    return separator === "\n" && next - 2 >= start(index) && text[next - 2] === "\r" ? next - 2 : next - 1;
  };
  const line = (index: number): string => text.slice(start(index), contentEnd(index));
  const indexes = new Map<Step, LineIndex>();
  const searches = new Map<Step, number>();
  let trimmed: ReadonlyMap<string, readonly number[]> | undefined;
  return {
    text,
    count,
    start,
    line,
    lineEnd: (index) => text.slice(contentEnd(index), start(index + 1)),
    index: (step) => {
      const made = indexes.get(step);
      if (made !== undefined) return made;
      const asked = (searches.get(step) ?? 0) + 1;
      searches.set(step, asked);
      if (asked <= searchesUnindexedMax) return undefined;
      const index = indexOf(count, (at) => keys[step](line(at)));
      indexes.set(step, index);
      return index;
    },
    trimmed: () => (trimmed ??= linesBy(count, (at) => line(at).trim())),
  };
}

function linesBy(count: number, keyAt: (line: number) => string): ReadonlyMap<string, readonly number[]> {
  const lines = new Map<string, number[]>();
  for (let at = 0; at < count; at += 1) {
    const key = keyAt(at);
    const known = lines.get(key);
    if (known === undefined) lines.set(key, [at]);
    else known.push(at);
  }
  return lines;
}

function indexOf(count: number, keyAt: (line: number) => string): LineIndex {
  const known = new Map<string, number>();
  const ids = new Int32Array(count);
  for (let at = 0; at < count; at += 1) {
    const key = keyAt(at);
    const id = known.get(key) ?? known.size;
    if (id === known.size) known.set(key, id);
    ids[at] = id;
  }
  // Counting sort: all places of the first id, then of the next.
  const ends = new Int32Array(known.size + 1);
  for (const id of ids) ends[id + 1] = (ends[id + 1] ?? 0) + 1;
  for (let id = 1; id <= known.size; id += 1) ends[id] = (ends[id] ?? 0) + (ends[id - 1] ?? 0);
  const next = ends.slice();
  const sorted = new Int32Array(count);
  for (let at = 0; at < count; at += 1) {
    const id = ids[at] ?? 0;
    sorted[next[id] ?? 0] = at;
    next[id] = (next[id] ?? 0) + 1;
  }
  return { ids, id: (key) => known.get(key), places: (id) => sorted.subarray(ends[id], ends[id + 1]) };
}

type Step = Extract<MatchedBy, "exact" | "trailing blanks" | "look-alikes">;

/** From the narrowest to the widest; each finds all that the one before it finds. */
export const steps: readonly [Step, ...Step[]] = ["exact", "trailing blanks", "look-alikes"];

const keys: { readonly [S in Step]: (line: string) => string } = {
  exact: (line) => line,
  "trailing blanks": withoutTrailingWhitespace,
  "look-alikes": (line) => withoutTrailingWhitespace(fold(line)),
};

/** A byte that could not be decoded, which no patch can mean; the `u` flag excludes halves of surrogate pairs. */
const undecoded = /[\udc80-\udcff]/u;

/**
 * The lines from `from` on at which `wanted` begins, overlapping places included. Knuth-Morris-Pratt with lines as
 * letters: a long run of equal lines costs no more than any other text.
 */
export function findPlaces(lines: TextLines, wanted: readonly string[], from: number, step: Step): readonly number[] {
  if (wanted.length === 0 || wanted.some((line) => undecoded.test(line))) return [];
  const key = keys[step];
  const pattern = wanted.map(key);
  const index = lines.index(step);
  if (index !== undefined) return lookUp(index, pattern, from);
  return kmp(pattern, from, lines.count, (at) => key(lines.line(at)));
}

/** Searches around the rarest of the lines; if that is frequent, all ids are scanned. */
function lookUp(index: LineIndex, pattern: readonly string[], from: number): readonly number[] {
  const wanted: number[] = [];
  let rarest: { readonly offset: number; readonly places: Int32Array } | undefined;
  for (const [offset, line] of pattern.entries()) {
    const id = index.id(line);
    if (id === undefined) return [];
    wanted.push(id);
    const places = index.places(id);
    if (rarest === undefined || places.length < rarest.places.length) rarest = { offset, places };
  }
  const { ids } = index;
  if (rarest === undefined) return [];
  if (rarest.places.length * pattern.length > ids.length) return kmp(wanted, from, ids.length, (at) => ids[at] ?? -1);
  const found: number[] = [];
  for (let next = firstFrom(rarest.places, from + rarest.offset); next < rarest.places.length; next += 1) {
    const at = (rarest.places[next] ?? 0) - rarest.offset;
    if (wanted.every((id, offset) => ids[at + offset] === id)) found.push(at);
  }
  return found;
}

/** The index of the first number that is not below `least` (binary search). */
function firstFrom(ascending: Int32Array, least: number): number {
  let low = 0;
  for (let high = ascending.length; low < high; ) {
    const middle = (low + high) >>> 1;
    if ((ascending[middle] ?? 0) < least) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The places where a pattern begins among the elements `from` to `to`. */
function kmp<Element>(
  pattern: readonly Element[],
  from: number,
  to: number,
  elementAt: (at: number) => Element,
): readonly number[] {
  const fallback = fallbacks(pattern);
  const found: number[] = [];
  let matched = 0;
  for (let at = from; at < to; at += 1) {
    const element = elementAt(at);
    while (matched > 0 && pattern[matched] !== element) matched = fallback[matched - 1] ?? 0;
    if (pattern[matched] === element) matched += 1;
    if (matched < pattern.length) continue;
    found.push(at - pattern.length + 1);
    matched = fallback[matched - 1] ?? 0;
  }
  return found;
}

/** The same between two lines, without an index. */
function findWithin(
  lines: TextLines,
  wanted: readonly string[],
  { from, to }: { readonly from: number; readonly to: number },
  step: Step,
): readonly number[] {
  if (wanted.length === 0 || wanted.some((line) => undecoded.test(line))) return [];
  const key = keys[step];
  return kmp(wanted.map(key), from, to, (at) => key(lines.line(at)));
}

function matchesAt(lines: TextLines, wanted: readonly string[], at: number, step: Step): boolean {
  if (at < 0 || at + wanted.length > lines.count) return false;
  const key = keys[step];
  return wanted.every((line, offset) => !undecoded.test(line) && key(lines.line(at + offset)) === key(line));
}

/** The failure function of KMP: of every prefix, the length of its longest proper suffix that is also a prefix. */
function fallbacks(pattern: readonly unknown[]): readonly number[] {
  const lengths = [0];
  let matched = 0;
  for (let index = 1; index < pattern.length; index += 1) {
    while (matched > 0 && pattern[matched] !== pattern[index]) matched = lengths[matched - 1] ?? 0;
    if (pattern[matched] === pattern[index]) matched += 1;
    lengths.push(matched);
  }
  return lengths;
}

/**
 * The lines that a chain of `@@` headers names: each below the one before it, and inside its section if it occurs
 * there. Or the first header that matches no line.
 */
function findHeaders(lines: TextLines, headers: readonly string[]): readonly number[] | { missing: string } {
  let named: readonly number[] = [];
  for (const header of headers) {
    const outermost = named[0] ?? -1;
    const below = linesNamed(lines, header).filter((index) => index > outermost);
    const inside = below.filter(sectionsOf(lines, named));
    named = inside.length > 0 ? inside : below;
    if (named.length === 0) return { missing: header };
  }
  return named;
}

/** A header is mostly written without its indentation, and sometimes without what follows the name. */
function linesNamed(lines: TextLines, header: string): readonly number[] {
  // A header with indentation may be exact. Without, a line at the margin is no better match than an indented one.
  if (/^\s/.test(header)) {
    const exact = findPlaces(lines, [header], 0, "trailing blanks");
    if (exact.length > 0) return exact;
  }
  const wanted = header.trim();
  const trimmed = lines.trimmed();
  const equal = trimmed.get(wanted);
  if (equal !== undefined) return equal;
  const begun: number[] = [];
  for (const [line, places] of trimmed) {
    if (!line.startsWith(wanted) || /^[\p{L}\p{N}_]/u.test(line.slice(wanted.length, wanted.length + 2))) continue;
    for (const at of places) begun.push(at);
  }
  return begun.sort((one, other) => one - other);
}

/**
 * Is a line inside the section that one of the headers opens: are all lines from the header on blank or indented
 * deeper? Text without indentation has no sections.
 */
function sectionsOf(lines: TextLines, headers: readonly number[]): (index: number) => boolean {
  const inside = new Uint8Array(lines.count);
  const opens = new Set(headers);
  /** The depths of open sections, ascending. */
  const open: number[] = [];
  for (let at = headers[0] ?? lines.count; at < lines.count; at += 1) {
    const line = lines.line(at);
    const depth = line.trim() === "" ? Infinity : indentation(line);
    while ((open.at(-1) ?? -1) >= depth) open.pop();
    if (open.length > 0) inside[at] = 1;
    if (opens.has(at)) open.push(depth);
  }
  return (index) => inside[index] === 1;
}

const indentation = (line: string): number => line.length - line.trimStart().length;

/** Unlike `trimEnd`, keeps form feeds and no-break spaces. */
function withoutTrailingWhitespace(line: string): string {
  let end = line.length;
  while (end > 0 && (line[end - 1] === " " || line[end - 1] === "\t")) end -= 1;
  return end === line.length ? line : line.slice(0, end);
}

/** Keeps the length, so that an offset in the folded line is an offset in the line. */
function fold(line: string): string {
  if (!/[^\0-\x7f]/.test(line)) return line;
  return line
    .replace(/[\u2018-\u201b\u2032]/g, "'")
    .replace(/[\u201c-\u201f\u2033]/g, '"')
    .replace(/[\u2010-\u2015\u2212]/g, "-")
    .replace(/[\u00a0\u2000-\u200a\u202f\u205f\u3000]/g, " ");
}

export type Applied =
  | {
      readonly applied: "yes";
      /** In the original text, in order, without overlaps. Empty if old and new lines are equal, as in `-a +a`. */
      readonly changes: readonly TextChange[];
      /** The loosest step that any hunk needed. */
      readonly matchedBy: Step;
    }
  | Refused;

/** `hunk` counts from 0, lines count from 1. */
export type Refused = { readonly applied: "no"; readonly hunk: number } & Reason;

type Reason =
  | { readonly why: "not found"; readonly oldLines: readonly string[] }
  /** `lines`: the first few. */
  | { readonly why: "several"; readonly lines: readonly number[]; readonly total: number }
  /** No line matches the header, or none at or above a place where the hunk fits. */
  | { readonly why: "header not found"; readonly header: string }
  /** The place is above the last change of the hunk before, or contains lines that it changes. */
  | { readonly why: "out of order"; readonly line: number }
  /** The result of the hunk is in the file already. */
  | { readonly why: "already"; readonly line: number };

export const applyHunks = (text: string, hunks: readonly PatchHunk[]): Applied => finish(applyingHunks(text, hunks));

/** The same, in steps that yield to the event loop. */
export function* applyingHunks(text: string, hunks: readonly PatchHunk[]): Steps<Applied> {
  const lines = textLines(text);
  const runs: Run[] = [];
  /** Lines without context: they go to the end of the file, whatever their order in the patch. */
  const atEnd: Run[] = [];
  const headersOf = headerCache(lines);
  let cursor = 0;
  let loosest = 0;
  for (const [index, given] of hunks.entries()) {
    yield;
    const { hunk, place } = yield* locateAtEnd(lines, given, headersOf, cursor);
    if ("why" in place) return { applied: "no", hunk: index, ...place };
    const changed = runsOf(lines, hunk, place);
    yield;
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

/** Does each hunk have exactly one exact match, so that neither order nor headers are needed? */
export function matchOnce(text: string, hunks: readonly PatchHunk[]): boolean {
  const lines = textLines(text);
  return hunks.every((hunk) => findPlaces(lines, sideOf(hunk, "-"), 0, "exact").length === 1);
}

interface Place {
  /** Index of the first old line, or of the line before which lines are added. */
  readonly at: number;
  readonly step: Step;
  /** The hunk has no context: its lines go to the end of the file. */
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
 * A hunk whose last line of context is empty may mean the end of the file: what follows the last newline looks like an
 * empty line. If the hunk is not found with that line, it is searched there without it.
 */
function* locateAtEnd(
  lines: TextLines,
  hunk: PatchHunk,
  headersOf: HeadersOf,
  cursor: number,
): Steps<{ readonly hunk: PatchHunk; readonly place: Place | Reason }> {
  const place = yield* locate(lines, hunk, headersOf, cursor);
  yield;
  const last = hunk.lines.at(-1);
  const isOpen = "why" in place && place.why === "not found" && last?.mark === " " && last.text === "";
  const [first, ...others] = hunk.lines.slice(0, -1);
  if (!isOpen || first === undefined) return { hunk, place };
  const shorter: PatchHunk = { ...hunk, lines: [first, ...others], endOfFile: true };
  const found = yield* locate(lines, shorter, headersOf, cursor);
  return "why" in found && found.why === "not found" ? { hunk, place } : { hunk: shorter, place: found };
}

function* locate(lines: TextLines, hunk: PatchHunk, headersOf: HeadersOf, cursor: number): Steps<Place | Reason> {
  const named = headersOf(hunk.headers);
  if ("missing" in named) return { why: "header not found", header: named.missing };
  const oldLines = sideOf(hunk, "-");
  const place =
    oldLines.length === 0 ? placeToAdd(lines, hunk, named, cursor) : yield* find(lines, hunk, named, cursor);
  if ("why" in place) return place;
  yield;
  const repeated = repeatedAt(lines, hunk, place);
  return repeated === undefined ? place : { why: "already", line: repeated + 1 };
}

/** Where lines without context go: below a header, else to the end of the file, as in Codex. */
function placeToAdd(lines: TextLines, hunk: PatchHunk, named: readonly number[], cursor: number): Place | Reason {
  if (lines.count === 0 || hunk.endOfFile) return { at: lines.count, step: "exact" };
  const header = hunk.headers.at(-1);
  if (header === undefined) return { at: lines.count, step: "exact", free: true };
  const below = named.map((index) => index + 1).filter((at) => at >= cursor);
  const [at] = below;
  if (at === undefined) return { why: "out of order", line: (named[0] ?? 0) + 1 };
  return below.length > 1 ? ambiguous(below.map((next) => next - 1)) : { at, step: "exact" };
}

function* find(lines: TextLines, hunk: PatchHunk, named: readonly number[], cursor: number): Steps<Place | Reason> {
  const oldLines = sideOf(hunk, "-");
  const header = hunk.headers.at(-1);
  let strays = false;
  for (const step of steps) {
    yield;
    const found = placesFor(lines, hunk, oldLines, cursor, step);
    // A header may be repeated as the first line of context, so it need not be above the place.
    const below = found.filter((at) => named.length === 0 || (named[0] ?? 0) < at + oldLines.length);
    strays ||= below.length < found.length;
    const fitting = step === "exact" && below.length > 1 && named.length > 0 ? inSection(lines, below, named) : below;
    const [at] = fitting;
    if (at !== undefined) return fitting.length > 1 ? ambiguous(fitting) : { at, step };
  }
  if (strays && header !== undefined) return { why: "header not found", header };
  yield;
  const [above] = placesFor(lines, hunk, oldLines, 0, "exact");
  if (above !== undefined) return { why: "out of order", line: above + 1 };
  yield;
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
  return at >= from && matchesAt(lines, oldLines, at, step) ? [at] : [];
}

/** `@@` names the function or class of a hunk; a match after its end is a copy elsewhere. */
function inSection(lines: TextLines, places: readonly number[], named: readonly number[]): readonly number[] {
  const inside = places.filter(sectionsOf(lines, named));
  return inside.length > 0 ? inside : places;
}

/** Local: enough lines for a model to choose from; `total` has the rest. */
const placesShownMax = 20;

function ambiguous(places: readonly number[]): Reason {
  return { why: "several", lines: places.slice(0, placesShownMax).map((at) => at + 1), total: places.length };
}

/**
 * The place of the new lines, if the hunk only adds lines around its old ones and has been applied before. The old
 * lines are part of the new ones then, so a patch that is sent twice would match and add them again.
 */
function repeatedAt(lines: TextLines, hunk: PatchHunk, { at, step }: Place): number | undefined {
  const oldLines = sideOf(hunk, "-");
  const newLines = sideOf(hunk, "+");
  if (newLines.length <= oldLines.length || !isRecognisable(hunk)) return undefined;
  // Without old lines, lines are added only below a header or at the end of the file.
  const offsets =
    oldLines.length === 0 ? [0, newLines.length] : kmp(oldLines, 0, newLines.length, (index) => newLines[index]);
  const around = { from: Math.max(0, at - newLines.length), to: Math.min(lines.count, at + newLines.length) };
  const places = new Set(findWithin(lines, newLines, around, step));
  const offset = offsets.find((one) => places.has(at - one));
  return offset === undefined ? undefined : at - offset;
}

/** The place of the new lines of a hunk whose old lines are not found. */
function appliedAt(lines: TextLines, hunk: PatchHunk): number | undefined {
  return isRecognisable(hunk) ? findPlaces(lines, sideOf(hunk, "+"), 0, "trailing blanks")[0] : undefined;
}

/** Local: fewer letters occur somewhere by chance. */
const lettersMin = 10;

/** Can the result of a hunk be recognised? It needs enough letters, and a removal needs a line of context on both sides. */
function isRecognisable({ lines }: PatchHunk): boolean {
  const adds = lines.some(({ mark }) => mark === "+");
  if (!adds && (lines[0].mark !== " " || lines.at(-1)?.mark !== " ")) return false;
  const telling = lines.filter(({ mark }) => mark === (adds ? "+" : " "));
  const letters = telling.reduce((sum, { text }) => sum + (text.match(/[\p{L}\p{N}]/gu)?.length ?? 0), 0);
  return letters >= lettersMin;
}

/** The lines before (`-`) or after (`+`) the hunk. */
function sideOf({ lines }: PatchHunk, side: "-" | "+"): readonly string[] {
  return lines.filter(({ mark }) => mark === " " || mark === side).map(({ text }) => text);
}

/**
 * The next hunk may share the context after the last change of this one: no line is changed twice by that, and a copy
 * further down cannot be taken for the intended place.
 */
function cursorAfter({ lines }: PatchHunk, at: number): number {
  const lastChanged = lines.findLastIndex(({ mark }) => mark !== " ");
  const reached = lastChanged === -1 ? lines : lines.slice(0, lastChanged + 1);
  return at + reached.filter(({ mark }) => mark !== "+").length;
}

/** Adjacent lines that change: `removed` lines from `at` on are replaced by `added`. */
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

/** Lines that a hunk removes and adds unchanged, at either end, stay as they are in the file. */
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
 * For a line found by a looser step: where new and old line of the patch agree, the file's own characters stay, such as
 * its curly quotes. The lines are compared unit by unit, because folding a line keeps its length.
 */
function asInFile(inFile: string, oldText: string, newText: string): string {
  const [fileBody, fileWhitespace] = partWhitespace(inFile);
  const [oldBody, oldWhitespace] = partWhitespace(oldText);
  const [newBody, newWhitespace] = partWhitespace(newText);
  const { head, tail } = sharedEnds(oldBody, newBody, fileBody);
  if (head + tail === 0) return newText;

  const middle = newBody.slice(head, newBody.length - tail);
  const kept = fileBody.slice(0, head) + middle + fileBody.slice(fileBody.length - tail);
  return kept + (oldWhitespace === newWhitespace ? fileWhitespace : newWhitespace);
}

function partWhitespace(line: string): readonly [string, string] {
  const body = withoutTrailingWhitespace(line);
  return [body, line.slice(body.length)];
}

/** The ending of the nearest line that has one: the last replaced line, the one above, the one below. */
function lineEndNear(lines: TextLines, index: number): string {
  for (const near of [index - 1, index - 2, index]) {
    const end = near >= 0 && near < lines.count ? lines.lineEnd(near) : "";
    if (end !== "") return end;
  }
  return "\n";
}

/** Merges adjacent hunks: the ending of the last line depends on both. */
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
  // The old last line has no ending, so the new lines need one in front.
  const before = removed === 0 ? lineEndNear(lines, end) : "";
  return { ...span, text: before + text.slice(0, text.length - last.lineEnd.length) };
}
