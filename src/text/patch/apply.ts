/**
 * Applies the hunks of a patch to a text. The result is a list of changes, so other lines keep their bytes; a hunk that
 * could mean more than one place is refused. The file decides the line endings: a line that replaces another takes its
 * ending, an added line that of its neighbour. A file without a final line ending stays so: a new last line gets none,
 * and the old last line gets one when lines are added after it. If the last lines are only removed, the line before
 * them keeps its ending.
 *
 * A unified diff states line endings. Where its old lines have the endings of the file, the new lines are written with
 * theirs; elsewhere the file decides as above, and only `\ No newline at end of file` on one side changes its end. Its
 * line numbers choose between several places.
 */

import type { MatchedBy, TextChange } from "../../contract/edit.ts";
import { borders, firstIndex } from "../match/find-text.ts";
import { cut, sharedEnds } from "../match/rewrite.ts";
import { contentLength, mapUnits, sourceOf, unitTable } from "../match/source.ts";
import { inParts, partLength, type Steps } from "../steps.ts";
import type { PatchHunk, PatchLine } from "./patch.ts";

// Finding lines. Whole lines are compared, without their endings; every step returns all places, so that no caller can
// take the first of several. Linear in the text, whatever it repeats.

interface LineIndex {
  readonly ids: Int32Array;
  readonly known: ReadonlyMap<string, number>;
  places(id: number): Int32Array;
}

/** Searches of a step that scan the lines themselves, before an index is built. */
const searchesUnindexedMax = 8;

type TextLines = ReturnType<typeof textLines>;

/** A text as lines. A final line ending adds no line; in a text without `\n`, lines end with `\r`. */
export function textLines(text: string, lineEnds: "of the text" | "newlines" = "of the text") {
  const isOneLine = lineEnds === "newlines" && !text.includes("\n");
  const { count: all, start, end, next } = isOneLine ? oneLine(text) : sourceOf(text).lines();
  // What follows a final line ending is no line.
  const count = start(all - 1) === text.length ? all - 1 : all;
  const line = (index: number): string => text.slice(start(index), end(index));
  const indexes = new Map<Step, LineIndex>();
  const searches = new Map<Step, number>();
  let trimmed: LineIndex | undefined;
  return {
    text,
    count,
    /** In UTF-16 units; from `count` on, the end of the text. */
    start,
    line,
    /** `\n`, `\r\n`, `\r`, or empty at the end of the text. */
    lineEnd: (index: number): string => text.slice(end(index), next(index)),
    /** The index of a step; undefined for the first searches, which are too few to pay for one. */
    *index(step: Step): Steps<LineIndex | undefined> {
      const made = indexes.get(step);
      if (made !== undefined) return made;
      const asked = (searches.get(step) ?? 0) + 1;
      searches.set(step, asked);
      if (asked <= searchesUnindexedMax) return undefined;
      const index = yield* indexOf(count, (at) => keys[step](line(at)));
      indexes.set(step, index);
      return index;
    },
    *trimmed(): Steps<LineIndex> {
      trimmed ??= yield* indexOf(count, (at) => line(at).trim());
      return trimmed;
    },
  };
}

const oneLine = (text: string) => ({
  count: 1,
  start: (line: number): number => (line === 0 ? 0 : text.length),
  end: (): number => text.length,
  next: (): number => text.length,
});

function* indexOf(count: number, keyAt: (line: number) => string): Steps<LineIndex> {
  const known = new Map<string, number>();
  const ids = new Int32Array(count);
  yield* inParts(count, (from, to) => {
    for (let at = from; at < to; at += 1) {
      const key = keyAt(at);
      const id = known.get(key) ?? known.size;
      if (id === known.size) known.set(key, id);
      ids[at] = id;
    }
  });
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
  yield;
  return { ids, known, places: (id) => sorted.subarray(ends[id], ends[id + 1]) };
}

type Step = Extract<MatchedBy, "exact" | "trailing whitespace" | "look-alikes">;

/** From the narrowest to the widest; each finds all that the one before it finds. */
export const steps: readonly [Step, ...Step[]] = ["exact", "trailing whitespace", "look-alikes"];

const keys: { readonly [S in Step]: (line: string) => string } = {
  exact: (line) => line,
  "trailing whitespace": withoutTrailingWhitespace,
  "look-alikes": (line) => withoutTrailingWhitespace(fold(line)),
};

/** A byte that could not be decoded, which no patch can mean; the `u` flag excludes halves of surrogate pairs. */
const undecoded = /[\udc80-\udcff]/u;

/** The lines between `from` and `to` at which `wanted` begins, overlapping places included, in linear time. */
export function* findPlaces(
  lines: TextLines,
  wanted: readonly string[],
  from: number,
  step: Step,
  to?: number,
): Steps<readonly number[]> {
  if (wanted.length === 0 || wanted.some((line) => undecoded.test(line))) return [];
  const key = keys[step];
  const pattern = wanted.map(key);
  const index = to === undefined ? yield* lines.index(step) : undefined;
  if (index !== undefined) return yield* lookUp(index, pattern, from);
  return yield* kmp(pattern, from, to ?? lines.count, (at) => key(lines.line(at)));
}

/** Searches around the rarest of the lines; if that is frequent, all ids are scanned. */
function* lookUp(index: LineIndex, pattern: readonly string[], from: number): Steps<readonly number[]> {
  const wanted: number[] = [];
  let rarest: { readonly offset: number; readonly places: Int32Array } | undefined;
  for (const [offset, line] of pattern.entries()) {
    const id = index.known.get(line);
    if (id === undefined) return [];
    wanted.push(id);
    const places = index.places(id);
    if (rarest === undefined || places.length < rarest.places.length) rarest = { offset, places };
  }
  const { ids } = index;
  if (rarest === undefined) return [];
  if (rarest.places.length * pattern.length > ids.length)
    return yield* kmp(wanted, from, ids.length, (at) => ids[at] ?? -1);
  const found: number[] = [];
  for (
    let next = firstIndex(rarest.places.length, (at) => (rarest.places[at] ?? 0) >= from + rarest.offset);
    next < rarest.places.length;
    next += 1
  ) {
    const at = (rarest.places[next] ?? 0) - rarest.offset;
    if (wanted.every((id, offset) => ids[at + offset] === id)) found.push(at);
  }
  return found;
}

function* kmp<Element>(
  pattern: readonly Element[],
  from: number,
  to: number,
  elementAt: (at: number) => Element,
): Steps<readonly number[]> {
  const fallback = borders(pattern.length, (one, other) => pattern[one] === pattern[other]);
  const found: number[] = [];
  let matched = 0;
  for (let at = from; at < to; at += 1) {
    if (at % partLength === 0) yield;
    const element = elementAt(at);
    while (matched > 0 && pattern[matched] !== element) matched = fallback[matched - 1] ?? 0;
    if (pattern[matched] === element) matched += 1;
    if (matched < pattern.length) continue;
    found.push(at - pattern.length + 1);
    matched = fallback[matched - 1] ?? 0;
  }
  return found;
}

function matchesAt(lines: TextLines, wanted: readonly string[], at: number, step: Step): boolean {
  if (at < 0 || at + wanted.length > lines.count) return false;
  const key = keys[step];
  return wanted.every((line, offset) => !undecoded.test(line) && key(lines.line(at + offset)) === key(line));
}

type Named = readonly number[] | { readonly missing: string };

/** The lines that a chain of `@@` headers names, each below and if possible inside the one before; or the header without one. */
function* findHeaders(lines: TextLines, headers: readonly string[]): Steps<Named> {
  let named: readonly number[] = [];
  for (const header of headers) {
    const outermost = named[0] ?? -1;
    const below = (yield* linesNamed(lines, header)).filter((index) => index > outermost);
    const inside = below.filter(yield* sectionsOf(lines, named));
    named = inside.length > 0 ? inside : below;
    if (named.length === 0) return { missing: header };
  }
  return named;
}

/** A header is mostly written without its indentation, and sometimes without what follows the name. */
function* linesNamed(lines: TextLines, header: string): Steps<readonly number[]> {
  // A header with indentation may be exact. Without, a line at the margin is no better match than an indented one.
  if (/^\s/.test(header)) {
    const exact = yield* findPlaces(lines, [header], 0, "trailing whitespace");
    if (exact.length > 0) return exact;
  }
  const wanted = header.trim();
  const trimmed = yield* lines.trimmed();
  const equal = trimmed.known.get(wanted);
  if (equal !== undefined) return [...trimmed.places(equal)];
  const begun: number[] = [];
  for (const [line, id] of trimmed.known) {
    if (id % partLength === 0) yield;
    if (!line.startsWith(wanted) || /^[\p{L}\p{N}_]/u.test(line.slice(wanted.length, wanted.length + 2))) continue;
    for (const at of trimmed.places(id)) begun.push(at);
  }
  return begun.sort((one, other) => one - other);
}

/** Is a line inside the section of a header: are all lines between them blank or indented deeper? */
function* sectionsOf(lines: TextLines, headers: readonly number[]): Steps<(index: number) => boolean> {
  const inside = new Uint8Array(lines.count);
  const opens = new Set(headers);
  const open: number[] = [];
  for (let at = headers[0] ?? lines.count; at < lines.count; at += 1) {
    if (at % partLength === 0) yield;
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
  return line.slice(0, contentLength(line));
}

const lookAlikes = unitTable(
  ["'", "\u2018\u2019\u201a\u201b\u2032"],
  ['"', "\u201c\u201d\u201e\u201f\u2033"],
  ["-", "\u2010\u2011\u2012\u2013\u2014\u2015\u2212"],
  [" ", "\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"],
);

/** Keeps the length, so that an offset in the folded line is an offset in the line. */
const fold = (line: string): string => (/[^\0-\x7f]/.test(line) ? mapUnits(line, lookAlikes) : line);

export type Applied =
  | {
      readonly applied: "yes";
      /** In the original text, in order, without overlaps. Empty if old and new lines are equal, as in `-a +a`. */
      readonly changes: readonly TextChange[];
      readonly matchedBy: Step;
    }
  | Refused;

/** `hunk` counts from 0, lines count from 1. */
export type Refused = { readonly applied: "no"; readonly hunk: number } & Reason;

type Reason =
  | { readonly why: "not found"; readonly oldLines: readonly string[] }
  | { readonly why: "several"; readonly lines: readonly number[]; readonly total: number }
  /** No line matches the header, or none at or above a place where the hunk fits. */
  | { readonly why: "header not found"; readonly header: string }
  /** The place is above the last change of the hunk before, or contains lines that it changes. */
  | { readonly why: "out of order"; readonly line: number }
  | { readonly why: "no context" }
  | { readonly why: "already"; readonly line: number };

/** `isOriginal`: the text is the one that the patch was made from, so its line numbers are right. */
export function* applyingHunks(text: string, hunks: readonly PatchHunk[], isOriginal = false): Steps<Applied> {
  const hasReturns = hunks.some(
    (hunk) => hunk.expected !== undefined && hunk.lines.some((line) => line.text.includes("\r")),
  );
  const lines = textLines(text, hasReturns ? "newlines" : "of the text");
  yield;
  const runs: Run[] = [];
  /** Lines without context: they go to the end of the file, whatever their order in the patch. */
  const atEnd: Run[] = [];
  const headersOf = headerCache(lines);
  const numbering: Numbering = { isRight: isOriginal, isOriginal, shift: 0 };
  if (!isOriginal) numbering.isRight = yield* areNumbersRight(lines, hunks);
  let cursor = 0;
  let loosest = 0;
  for (const [index, given] of hunks.entries()) {
    yield;
    const { hunk, place } = yield* locateAtEnd(lines, given, headersOf, cursor, numbering);
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
    if (typeof hunk.expected === "number") numbering.shift = place.at - hunk.expected;
  }
  for (const run of atEnd) append(runs, run);
  return { applied: "yes", changes: runs.map((run) => changeOf(lines, run)), matchedBy: steps[loosest] ?? "exact" };
}

/** What is known of the line numbers of a unified diff. */
interface Numbering {
  /** Hunks without any old line go by their numbers. */
  isRight: boolean;
  readonly isOriginal: boolean;
  /** How much further down than expected the hunk before was found. */
  shift: number;
}

/** Are all hunks that have old lines where their numbers say, and is there one? */
function* areNumbersRight(lines: TextLines, hunks: readonly PatchHunk[]): Steps<boolean> {
  if (hunks.every((hunk) => hunk.lines.some(({ mark }) => mark !== "+"))) return false; // nothing depends on it
  let found = 0;
  for (const hunk of hunks) {
    yield;
    const old = sideOf(hunk, "-");
    if (old.length === 0) continue;
    if (typeof hunk.expected !== "number" || !matchesAt(lines, old, hunk.expected, "exact")) return false;
    found += 1;
  }
  return found > 0;
}

/** Does each hunk have exactly one exact match, so that neither order nor headers are needed? */
export function* matchOnce(text: string, hunks: readonly PatchHunk[]): Steps<boolean> {
  const lines = textLines(text);
  for (const hunk of hunks) {
    yield;
    if ((yield* findPlaces(lines, sideOf(hunk, "-"), 0, "exact")).length !== 1) return false;
  }
  return true;
}

interface Place {
  /** Index of the first old line, or of the line before which lines are added. */
  readonly at: number;
  readonly step: Step;
  /** The hunk has no context: its lines go to the end of the file. */
  readonly free?: true;
}

type HeadersOf = (headers: readonly string[]) => Steps<Named>;

/** Hunks of one function have the same headers. */
function headerCache(lines: TextLines): HeadersOf {
  const known = new Map<string, Named>();
  return function* (headers) {
    if (headers.length === 0) return [];
    const key = headers.join("\n");
    const found = known.get(key) ?? (yield* findHeaders(lines, headers));
    known.set(key, found);
    return found;
  };
}

/** What follows the last newline looks like an empty line: an empty last line of context may mean the end of the file. */
function* locateAtEnd(
  lines: TextLines,
  hunk: PatchHunk,
  headersOf: HeadersOf,
  cursor: number,
  numbering: Numbering,
): Steps<{ readonly hunk: PatchHunk; readonly place: Place | Reason }> {
  const place = yield* locate(lines, hunk, headersOf, cursor, numbering);
  yield;
  const last = hunk.lines.at(-1);
  const isOpen = "why" in place && place.why === "not found" && last?.mark === " " && last.text === "";
  const [first, ...others] = hunk.lines.slice(0, -1);
  if (!isOpen || first === undefined) return { hunk, place };
  const shorter: PatchHunk = { ...hunk, lines: [first, ...others], endOfFile: true };
  const found = yield* locate(lines, shorter, headersOf, cursor, numbering);
  return "why" in found && found.why === "not found" ? { hunk, place } : { hunk: shorter, place: found };
}

function* locate(
  lines: TextLines,
  hunk: PatchHunk,
  headersOf: HeadersOf,
  cursor: number,
  numbering: Numbering,
): Steps<Place | Reason> {
  const named = yield* headersOf(hunk.headers);
  if ("missing" in named) return { why: "header not found", header: named.missing };
  const oldLines = sideOf(hunk, "-");
  const expected = expectedPlace(lines, hunk, oldLines, cursor, numbering);
  if (expected !== undefined && numbering.isOriginal) return expected;
  const place =
    expected ??
    (oldLines.length === 0
      ? placeToAdd(lines, hunk, named, cursor)
      : yield* find(lines, hunk, named, cursor, numbering.shift));
  if ("why" in place) return place;
  yield;
  const repeated = yield* repeatedAt(lines, hunk, place);
  return repeated === undefined ? place : { why: "already", line: repeated + 1 };
}

/** The place where the line numbers of a hunk lead, if its old lines are there, or if it has none and the numbers are right. */
function expectedPlace(
  lines: TextLines,
  hunk: PatchHunk,
  oldLines: readonly string[],
  cursor: number,
  { isRight, shift }: Numbering,
): Place | undefined {
  if (typeof hunk.expected !== "number" || (oldLines.length === 0 && !isRight)) return undefined;
  const at = hunk.expected + shift;
  if (at < cursor || !matchesAt(lines, oldLines, at, "exact")) return undefined;
  return { at, step: "exact" };
}

/** Where lines without context go: below a header, else to the end of the file, as in Codex. */
function placeToAdd(lines: TextLines, hunk: PatchHunk, named: readonly number[], cursor: number): Place | Reason {
  if (lines.count === 0 || hunk.endOfFile) return { at: lines.count, step: "exact" };
  const header = hunk.headers.at(-1);
  if (header === undefined && hunk.expected !== undefined) return { why: "no context" };
  if (header === undefined) return { at: lines.count, step: "exact", free: true };
  const below = named.map((index) => index + 1).filter((at) => at >= cursor);
  const [at] = below;
  if (at === undefined) return { why: "out of order", line: (named[0] ?? 0) + 1 };
  return below.length > 1 ? ambiguous(below.map((next) => next - 1)) : { at, step: "exact" };
}

function* find(
  lines: TextLines,
  hunk: PatchHunk,
  named: readonly number[],
  cursor: number,
  shift: number,
): Steps<Place | Reason> {
  const oldLines = sideOf(hunk, "-");
  const header = hunk.headers.at(-1);
  let strays = false;
  for (const step of steps) {
    yield;
    const found = yield* placesFor(lines, hunk, oldLines, cursor, step);
    // A header may be repeated as the first line of context, so it need not be above the place.
    const below = found.filter((at) => named.length === 0 || (named[0] ?? 0) < at + oldLines.length);
    strays ||= below.length < found.length;
    const fitting =
      step === "exact" && below.length > 1 && named.length > 0 ? yield* inSection(lines, below, named) : below;
    if (fitting.length === 0) continue;
    const at =
      step === "exact" ? nearestPlace(lines, hunk, fitting, shift) : fitting.length === 1 ? fitting[0] : undefined;
    return at === undefined ? ambiguous(fitting) : { at, step };
  }
  if (strays && header !== undefined) return { why: "header not found", header };
  yield;
  const [above] = yield* placesFor(lines, hunk, oldLines, 0, "exact");
  if (above !== undefined) return { why: "out of order", line: above + 1 };
  yield;
  const done = yield* appliedAt(lines, hunk);
  return done === undefined ? { why: "not found", oldLines } : { why: "already", line: done + 1 };
}

function* placesFor(
  lines: TextLines,
  { endOfFile }: PatchHunk,
  oldLines: readonly string[],
  from: number,
  step: Step,
): Steps<readonly number[]> {
  if (!endOfFile) return yield* findPlaces(lines, oldLines, from, step);
  const at = lines.count - oldLines.length;
  return at >= from && matchesAt(lines, oldLines, at, step) ? [at] : [];
}

/**
 * The only place; or of several the one with the stated line endings; or the one nearest to the expected line, if every
 * other is at least twice as far away.
 */
function nearestPlace(lines: TextLines, hunk: PatchHunk, places: readonly number[], shift: number): number | undefined {
  if (places.length === 1) return places[0];
  const stated = hunk.expected === undefined ? [] : places.filter((at) => hasStatedEnds(lines, hunk, at));
  const [only, ...others] = stated.length > 0 ? stated : places;
  if (others.length === 0) return only;
  if (typeof hunk.expected !== "number") return undefined;
  const wanted = hunk.expected + shift;
  let [nearest, distance, next] = [only, Infinity, Infinity];
  for (const at of stated.length > 0 ? stated : places) {
    const away = Math.abs(at - wanted);
    if (away < distance) [nearest, distance, next] = [at, away, distance];
    else next = Math.min(next, away);
  }
  return distance * 2 <= next && distance < next ? nearest : undefined;
}

/** Does the file have the line endings there that the hunk states for its old lines? */
function hasStatedEnds(lines: TextLines, hunk: PatchHunk, at: number): boolean {
  let index = at;
  for (const { mark, end } of hunk.lines) {
    if (end === undefined) return false;
    if (mark === "+") continue;
    if (lines.lineEnd(index) !== end) return false;
    index += 1;
  }
  return true;
}

/** `@@` names the function or class of a hunk; a match after its end is a copy elsewhere. */
function* inSection(lines: TextLines, places: readonly number[], named: readonly number[]): Steps<readonly number[]> {
  const inside = places.filter(yield* sectionsOf(lines, named));
  return inside.length > 0 ? inside : places;
}

/** Local: enough lines for a model to choose from; `total` has the rest. */
const placesShownMax = 20;

function ambiguous(places: readonly number[]): Reason {
  return { why: "several", lines: places.slice(0, placesShownMax).map((at) => at + 1), total: places.length };
}

/** Where the new lines of a hunk are already: it only adds lines, so its old ones would match a second time. */
function* repeatedAt(lines: TextLines, hunk: PatchHunk, { at, step }: Place): Steps<number | undefined> {
  const oldLines = sideOf(hunk, "-");
  const newLines = sideOf(hunk, "+");
  if (newLines.length <= oldLines.length || !isRecognisable(hunk)) return undefined;
  // Without old lines, lines are added only below a header or at the end of the file.
  const offsets =
    oldLines.length === 0 ? [0, newLines.length] : yield* kmp(oldLines, 0, newLines.length, (index) => newLines[index]);
  const [from, to] = [Math.max(0, at - newLines.length), Math.min(lines.count, at + newLines.length)];
  const places = new Set(yield* findPlaces(lines, newLines, from, step, to));
  const offset = offsets.find((one) => places.has(at - one));
  return offset === undefined ? undefined : at - offset;
}

/** The place of the new lines of a hunk whose old lines are not found. */
function* appliedAt(lines: TextLines, hunk: PatchHunk): Steps<number | undefined> {
  return isRecognisable(hunk) ? (yield* findPlaces(lines, sideOf(hunk, "+"), 0, "trailing whitespace"))[0] : undefined;
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

function sideOf({ lines }: PatchHunk, side: "-" | "+"): readonly string[] {
  return lines.filter(({ mark }) => mark === " " || mark === side).map(({ text }) => text);
}

/** The next hunk may share the context after the last change of this one: no line is changed twice by that. */
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
  /** `as written`: the lines have the endings that they shall have. `with`, `without`: the file's last line shall have one, or none. */
  end: "as written" | "with" | "without" | "as before";
}

function runsOf(lines: TextLines, hunk: PatchHunk, place: Place): readonly Run[] {
  const runs: Run[] = [];
  const isStated = place.step === "exact" && areEndsStated(lines, hunk, place.at);
  let index = place.at;
  let pending: PatchLine[] = [];
  const close = (): void => {
    const removed = pending.filter(({ mark }) => mark === "-");
    const added = pending.filter(({ mark }) => mark === "+");
    const run = runFrom(lines, index, removed, added, place.step, isStated);
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

/** Can the new lines be written with the endings that the hunk states? A line without one must be the last of the file. */
function areEndsStated(lines: TextLines, hunk: PatchHunk, at: number): boolean {
  if (hunk.expected === undefined || !hasStatedEnds(lines, hunk, at)) return false;
  const newLines = hunk.lines.filter(({ mark }) => mark !== "-");
  const open = newLines.findIndex(({ end }) => end === "");
  const next = at + hunk.lines.filter(({ mark }) => mark !== "+").length;
  if (open !== -1 && (open < newLines.length - 1 || next < lines.count)) return false;
  // Lines after the last one need its ending.
  return at < lines.count || at === 0 || lines.lineEnd(at - 1) !== "";
}

/** Lines that a hunk removes and adds unchanged, at either end, stay as they are in the file. */
function runFrom(
  lines: TextLines,
  at: number,
  old: readonly PatchLine[],
  added: readonly PatchLine[],
  step: Step,
  isStated: boolean,
): Run {
  const isSame = (one: PatchLine | undefined, other: PatchLine | undefined): boolean =>
    one?.text === other?.text && (isStated ? one?.end === other?.end : (one?.end === "") === (other?.end === ""));
  const shorter = Math.min(old.length, added.length);
  let head = 0;
  while (head < shorter && isSame(old[head], added[head])) head += 1;
  let tail = 0;
  while (tail < shorter - head && isSame(old[old.length - 1 - tail], added[added.length - 1 - tail])) tail += 1;

  const removed = old.length - head - tail;
  const put = added.slice(head, added.length - tail);
  if (isStated) {
    return {
      at: at + head,
      removed,
      added: put.map(({ text, end = "\n" }) => ({ text, lineEnd: end })),
      end: "as written",
    };
  }
  const texts = put.map(({ text }, offset) => {
    const replaced = offset < removed ? old[head + offset]?.text : undefined;
    return replaced === undefined || step === "exact" ? text : asInFile(lines.line(at + head + offset), replaced, text);
  });
  const [wasOpen, isOpen] = [old.at(-1)?.end === "", added.at(-1)?.end === ""];
  const isAtEnd = at + old.length === lines.count;
  const end = wasOpen === isOpen || !isAtEnd ? "as before" : isOpen ? "without" : "with";
  const isEndKept = end === "as before" || (lines.lineEnd(lines.count - 1) === "") === (end === "without");
  const unchanged = texts.length === removed && texts.every((text, offset) => text === lines.line(at + head + offset));
  if (unchanged && isEndKept) return { at, removed: 0, added: [], end };
  const neighbour = lineEndNear(lines, at + head + removed);
  const lineEndOf = (offset: number): string =>
    (offset < removed ? lines.lineEnd(at + head + offset) : "") || neighbour;
  return { at: at + head, removed, added: texts.map((text, offset) => ({ text, lineEnd: lineEndOf(offset) })), end };
}

/** Where new and old line of the patch agree, the file's own characters stay, such as its curly quotes. */
function asInFile(inFile: string, oldText: string, newText: string): string {
  const [fileBody, fileWhitespace] = cut(inFile, true);
  const [oldBody, oldWhitespace] = cut(oldText, true);
  const [newBody, newWhitespace] = cut(newText, true);
  const { head, tail } = sharedEnds(oldBody, newBody, fileBody);
  if (head + tail === 0) return newText;

  const middle = newBody.slice(head, newBody.length - tail);
  const kept = fileBody.slice(0, head) + middle + fileBody.slice(fileBody.length - tail);
  return kept + (oldWhitespace === newWhitespace ? fileWhitespace : newWhitespace);
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
    last.end = run.end;
    for (const line of run.added) last.added.push(line);
  }
}

function changeOf(lines: TextLines, { at, removed, added, end: newEnd }: Run): TextChange {
  const end = at + removed;
  const span = { from: lines.start(at), to: lines.start(end) };
  const text = added.map((line) => line.text + line.lineEnd).join("");
  const last = added.at(-1);
  if (newEnd === "as written" || end < lines.count || lines.count === 0 || last === undefined) return { ...span, text };
  const wasOpen = lines.lineEnd(lines.count - 1) === "";
  const isOpen = newEnd === "as before" ? wasOpen : newEnd === "without";
  // If the old last line has no ending, lines after it need one in front.
  const before = wasOpen && removed === 0 ? lineEndNear(lines, end) : "";
  return { ...span, text: before + (isOpen ? text.slice(0, text.length - last.lineEnd.length) : text) };
}
