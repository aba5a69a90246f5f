/**
 * Forms of a text in which things that look the same are the same. They are compared and never written; every fold also
 * does what the folds before it do, and none joins, splits or drops a line.
 */

export type Fold = "line ends" | "quotes" | "look-alikes" | "trailing blanks";

/** What a curly quote is compared as. */
const quotes = new Map<string, string>();
for (const quote of "\u201c\u201d\u201e\u201f") quotes.set(quote, '"');
for (const quote of "\u2018\u2019\u201a\u201b") quotes.set(quote, "'");
const quotePattern = /[\u2018-\u201f]/g;
/**
 * Spaces; hyphens, dashes and the minus sign, but not the soft hyphen; quotes; the ellipsis; and what has no width, but
 * not the joiners, which change how the letters beside them are read.
 */
const lookAlikePattern =
  /[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000\u2010-\u2015\u2212\u2018-\u201f\u2026\u200b\u2060\ufeff]/g;
/** Those of them whose folded form has another length. */
const resized = /[\u2026\u200b\u2060\ufeff]/;
// oxlint-disable-next-line no-control-regex
const beyondAscii = /[^\0-\x7f]/;
/** What is composed together: a character with its marks, or a run of Hangul letters. */
const segments = /[\u1100-\u11ff]+\p{M}*|\P{M}\p{M}*|\p{M}+/gsu;

export function foldText(text: string, fold: Fold, loneReturns: boolean): string {
  const withNewlines = foldLineEnds(text, loneReturns);
  if (fold === "line ends") return withNewlines;
  const characters = foldCharacters(withNewlines, fold);
  return fold === "trailing blanks" ? foldTrailingBlanks(characters) : characters;
}

export function foldQuotes(text: string): string {
  return text.replace(quotePattern, (quote) => quotes.get(quote) ?? quote);
}

/** Quotes and look-alikes, within a line. */
export function foldCharacters(text: string, fold: Fold): string {
  if (fold === "line ends" || !beyondAscii.test(text)) return text;
  return fold === "quotes" ? foldQuotes(text) : foldLookAlikes(text);
}

/** A part of a line in its folded form, with the way back. */
export interface FoldedLine {
  readonly text: string;
  /** The offset in the line at which the folded form's unit begins or, with the length, ends; undefined inside a character. */
  from(at: number): number | undefined;
  /** The offset in the line at which the folded form's units before this one end. */
  to(at: number): number | undefined;
  /** The offset in the folded form for one in the line; undefined inside a character. */
  fold(at: number): number | undefined;
}

export function foldLine(line: string, fold: Fold): FoldedLine {
  const text = foldCharacters(line, fold);
  const keepsOffsets = text === line || fold === "quotes" || (composed(line) === line && !resized.test(line));
  if (keepsOffsets) return { text, from: same, to: same, fold: same };
  const begins = new Int32Array(text.length + 1).fill(-1);
  const ends = new Int32Array(text.length + 1).fill(-1);
  const forward = new Int32Array(line.length + 1).fill(-1);
  forward[0] = 0;
  let at = 0;
  let foldedAt = 0;
  for (const [segment] of line.matchAll(segments)) {
    const length = foldLookAlikes(segment).length;
    if (length > 0) {
      begins[foldedAt] = at;
      ends[foldedAt + length] = at + segment.length;
    }
    at += segment.length;
    foldedAt += length;
    forward[at] = foldedAt;
  }
  // Where characters are composed across the segments, there is no way back.
  if (foldedAt !== text.length) return { text, from: nowhere, to: nowhere, fold: nowhere };
  begins[foldedAt] = at;
  ends[0] = 0;
  return { text, from: offsetsIn(begins), to: offsetsIn(ends), fold: offsetsIn(forward) };
}

const same = (at: number) => at;
const nowhere = () => undefined;

function offsetsIn(table: Int32Array): (at: number) => number | undefined {
  return (at) => {
    const offset = table[at];
    return offset === undefined || offset < 0 ? undefined : offset;
  };
}

function foldLineEnds(text: string, loneReturns: boolean): string {
  if (!text.includes("\r")) return text;
  const newlines = text.replaceAll("\r\n", "\n");
  return loneReturns ? newlines.replaceAll("\r", "\n") : newlines;
}

function foldLookAlikes(text: string): string {
  return composed(text).replace(lookAlikePattern, foldLookAlike);
}

/** No language has so many marks on one character; Unicode's own limit for streams is 30. */
const longMarks = /\p{M}{31,}/gu;

/** NFC, but for long runs of marks: their canonical order is found by insertion, which is quadratic in the length of a run. */
function composed(text: string): string {
  if (text.search(longMarks) < 0) return text.normalize("NFC");
  const parts: string[] = [];
  let from = 0;
  for (const { 0: marks, index } of text.matchAll(longMarks)) {
    parts.push(text.slice(from, index).normalize("NFC"), marks);
    from = index + marks.length;
  }
  return parts.join("") + text.slice(from).normalize("NFC");
}

function foldLookAlike(character: string): string {
  const quote = quotes.get(character);
  if (quote !== undefined) return quote;
  const unit = character.charCodeAt(0);
  if (unit === 0x2026) return "...";
  if (unit === 0x200b || unit === 0x2060 || unit === 0xfeff) return "";
  return (unit >= 0x2010 && unit <= 0x2015) || unit === 0x2212 ? "-" : " ";
}

/** A scan from each line's end: a pattern for blanks before a newline is quadratic on long runs of blanks. */
function foldTrailingBlanks(text: string): string {
  const kept: string[] = [];
  let from = 0;
  for (let lineStart = 0; lineStart <= text.length; ) {
    const newline = text.indexOf("\n", lineStart);
    const lineEnd = newline < 0 ? text.length : newline;
    let to = lineEnd;
    while (to > lineStart && (text.charCodeAt(to - 1) === 0x20 || text.charCodeAt(to - 1) === 0x09)) to -= 1;
    if (to < lineEnd) {
      kept.push(text.slice(from, to));
      from = lineEnd;
    }
    lineStart = lineEnd + 1;
  }
  return from === 0 && kept.length === 0 ? text : kept.join("") + text.slice(from);
}
