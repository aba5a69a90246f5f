/**
 * Where the lines of a hunk stand in a text. Whole lines are compared, their ends are not; every step answers with all
 * places, so that nobody can take the first of several. Linear in the text, whatever it repeats.
 */

import type { MatchedBy } from "../contract/edit.ts";

/** A text as lines. A final line end adds no line; a text without `\n` has lines that end in `\r`. */
export interface TextLines {
  readonly text: string;
  readonly count: number;
  /** Where a line begins, in UTF-16 units; `count` and beyond give the end of the text. */
  start(index: number): number;
  /** Without its line end. */
  line(index: number): string;
  /** `\n`, `\r\n`, `\r`, or nothing at the end of the text. */
  lineEnd(index: number): string;
  /** Where each line stands; undefined as long as few searches make it not worth while. */
  index(step: Step): LineIndex | undefined;
  /** Where each line stands without the blanks around it. */
  trimmed(): ReadonlyMap<string, readonly number[]>;
}

/** Lines by what a step compares of them: equal lines have equal numbers. */
interface LineIndex {
  readonly ids: Int32Array;
  /** The number of a line, as the step compares it; undefined for one that is not in the text. */
  id(line: string): number | undefined;
  /** Where the lines of a number stand, ascending. */
  places(id: number): Int32Array;
}

/** The first so many searches at a step go through the lines themselves. */
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
  // All places of the first number, then of the next.
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

export type Step = Extract<MatchedBy, "exact" | "trailing blanks" | "look-alikes">;

/** From the narrowest to the widest; each finds all that the one before it finds. */
export const steps: readonly [Step, ...Step[]] = ["exact", "trailing blanks", "look-alikes"];

/** What a step compares of a line. */
const keys: { readonly [S in Step]: (line: string) => string } = {
  exact: (line) => line,
  "trailing blanks": withoutTrailingBlanks,
  "look-alikes": (line) => withoutTrailingBlanks(fold(line)),
};

/** A byte that could not be decoded, which nobody can have meant; the `u` flag leaves halves of pairs alone. */
const undecoded = /[\udc80-\udcff]/u;

/**
 * The lines from `from` on at which `wanted` begins, overlapping places included. After Knuth, Morris and Pratt, with
 * lines for letters: a long run of equal lines costs no more than any other text.
 */
export function findPlaces(lines: TextLines, wanted: readonly string[], from: number, step: Step): readonly number[] {
  if (wanted.length === 0 || wanted.some((line) => undecoded.test(line))) return [];
  const key = keys[step];
  const pattern = wanted.map(key);
  const index = lines.index(step);
  if (index !== undefined) return lookUp(index, pattern, from);
  return kmp(pattern, from, lines.count, (at) => key(lines.line(at)));
}

/** Around the rarest of the lines; where that stands often, all lines are gone through, as numbers. */
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

/** The first of ascending numbers that is not below one. */
function firstFrom(ascending: Int32Array, least: number): number {
  let low = 0;
  for (let high = ascending.length; low < high; ) {
    const middle = (low + high) >>> 1;
    if ((ascending[middle] ?? 0) < least) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Where a pattern begins among elements `from` up to `to`. */
export function kmp<Element>(
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

/** The same, of places that lie between two lines. */
export function findWithin(
  lines: TextLines,
  wanted: readonly string[],
  { from, to }: { readonly from: number; readonly to: number },
  step: Step,
): readonly number[] {
  if (wanted.length === 0 || wanted.some((line) => undecoded.test(line))) return [];
  const key = keys[step];
  return kmp(wanted.map(key), from, to, (at) => key(lines.line(at)));
}

/** Whether `wanted` stands at one place. */
export function standsAt(lines: TextLines, wanted: readonly string[], at: number, step: Step): boolean {
  if (at < 0 || at + wanted.length > lines.count) return false;
  const key = keys[step];
  return wanted.every((line, offset) => !undecoded.test(line) && key(lines.line(at + offset)) === key(line));
}

/** For every beginning of the pattern, the length of its longest end that is a beginning too. */
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
 * The lines that a chain of `@@` headers names: each below the one before it, and in the section of that one if it
 * stands there at all. Or the first header that no line fits.
 */
export function findHeaders(lines: TextLines, headers: readonly string[]): readonly number[] | { missing: string } {
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

/** A header is mostly written without its indentation, and sometimes without what follows the name it gives. */
function linesNamed(lines: TextLines, header: string): readonly number[] {
  // With indentation it can be meant to the letter. Without, a line at the margin is no better than an indented one.
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
 * Whether a line belongs to what one of the headers opens: all lines from the header on are blank or indented deeper
 * than it is. Text without indentation has no sections.
 */
export function sectionsOf(lines: TextLines, headers: readonly number[]): (index: number) => boolean {
  const inside = new Uint8Array(lines.count);
  const opens = new Set(headers);
  /** The depths of headers whose sections are open, ascending. */
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

/** `trimEnd` would also take a form feed or a no-break space. */
export function withoutTrailingBlanks(line: string): string {
  let end = line.length;
  while (end > 0 && (line[end - 1] === " " || line[end - 1] === "\t")) end -= 1;
  return end === line.length ? line : line.slice(0, end);
}

/** Unit for unit, so that a place in the folded line is a place in the line. */
function fold(line: string): string {
  if (!/[^\0-\x7f]/.test(line)) return line;
  return line
    .replace(/[\u2018-\u201b\u2032]/g, "'")
    .replace(/[\u201c-\u201f\u2033]/g, '"')
    .replace(/[\u2010-\u2015\u2212]/g, "-")
    .replace(/[\u00a0\u2000-\u200a\u202f\u205f\u3000]/g, " ");
}
