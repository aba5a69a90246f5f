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
}

export function textLines(text: string): TextLines {
  const separator = text.includes("\n") || !text.includes("\r") ? "\n" : "\r";
  const starts: number[] = [];
  for (let at = 0; at < text.length; ) {
    starts.push(at);
    const end = text.indexOf(separator, at);
    at = end === -1 ? text.length : end + 1;
  }
  const start = (index: number): number => starts[index] ?? text.length;
  const contentEnd = (index: number): number => {
    const next = start(index + 1);
    if (next === start(index) || text[next - 1] !== separator) return next;
    return separator === "\n" && next - 2 >= start(index) && text[next - 2] === "\r" ? next - 2 : next - 1;
  };
  return {
    text,
    count: starts.length,
    start,
    line: (index) => text.slice(start(index), contentEnd(index)),
    lineEnd: (index) => text.slice(contentEnd(index), start(index + 1)),
  };
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
  const fallback = fallbacks(pattern);
  const found: number[] = [];
  let matched = 0;
  for (let index = from; index < lines.count; index += 1) {
    const line = key(lines.line(index));
    while (matched > 0 && pattern[matched] !== line) matched = fallback[matched - 1] ?? 0;
    if (pattern[matched] === line) matched += 1;
    if (matched < pattern.length) continue;
    found.push(index - pattern.length + 1);
    matched = fallback[matched - 1] ?? 0;
  }
  return found;
}

/** Whether `wanted` stands at one place. */
export function standsAt(lines: TextLines, wanted: readonly string[], at: number, step: Step): boolean {
  if (at < 0 || at + wanted.length > lines.count) return false;
  const key = keys[step];
  return wanted.every((line, offset) => !undecoded.test(line) && key(lines.line(at + offset)) === key(line));
}

/** For every beginning of the pattern, the length of its longest end that is a beginning too. */
function fallbacks(pattern: readonly string[]): readonly number[] {
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
  const equal: number[] = [];
  const begun: number[] = [];
  for (let index = 0; index < lines.count; index += 1) {
    const line = lines.line(index).trim();
    if (line === wanted) equal.push(index);
    else if (line.startsWith(wanted) && !/^[\p{L}\p{N}_]/u.test(line.slice(wanted.length))) begun.push(index);
  }
  return equal.length > 0 ? equal : begun;
}

/**
 * Whether a line belongs to what one of the headers opens: all lines from the header on are blank or indented deeper
 * than it is. Text without indentation has no sections.
 */
export function sectionsOf(lines: TextLines, headers: readonly number[]): (index: number) => boolean {
  const inside = new Uint8Array(lines.count);
  for (const header of headers) {
    const depth = indentation(lines.line(header));
    for (let at = header + 1; at < lines.count; at += 1) {
      const line = lines.line(at);
      if (line.trim() !== "" && indentation(line) <= depth) break;
      inside[at] = 1;
    }
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
