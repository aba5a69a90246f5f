/**
 * The text that the ladder searches: its lines, and its folded forms, in which characters that one step ignores are made equal.
 * Each form is made once, when a step first needs it. Below: the folds themselves, and quotes in the style of the file.
 */

import { Buffer } from "node:buffer";
import type { TextChange } from "../../contract/edit.ts";
import { startsIn } from "../lines/newlines.ts";
import { apply } from "../pieces.ts";
import { finish, partLength, type Steps } from "../steps.ts";
import { firstIndex, unitsOf } from "./find-text.ts";

/** Where the lines of a text begin and end. Lines count from 0 here; a text that ends in a line end has a last, empty line. */
type MatchLines = ReturnType<typeof linesAt>;

export type Source = Pick<LinedSource, keyof LinedSource>;

export const sourceOf = (text: string): Source => LinedSource.of(text);

/** With more changes than this, building the source anew is cheaper. */
const changesMax = 8;

class LinedSource {
  readonly text: string;
  /** A lone `\r` ends lines only in a text without any `\n`; elsewhere it is content. */
  readonly loneReturns: boolean;
  readonly #own: LinedText;
  readonly #views: Map<Fold, LinedText>;
  #last: { readonly line: number; readonly fold: Fold; readonly form: FoldedLine } | undefined;
  #quotes: QuotesThere | undefined;

  constructor(text: string, loneReturns: boolean, own: LinedText, views: Map<Fold, LinedText>) {
    this.text = text;
    this.loneReturns = loneReturns;
    this.#own = own;
    this.#views = views;
  }

  static of(text: string): LinedSource {
    const loneReturns = !text.includes("\n") && text.includes("\r");
    return new LinedSource(text, loneReturns, new LinedText(text, loneReturns ? "\r" : "\n"), new Map());
  }

  lines(): MatchLines {
    return this.#own.lines;
  }

  folded(fold: Fold): LinedText {
    return this.#views.get(fold) ?? finish(this.folding(fold));
  }

  *folding(fold: Fold): Steps<LinedText> {
    const known = this.#views.get(fold);
    if (known !== undefined) return known;
    const text = yield* foldingText(this.text, fold, this.loneReturns);
    const view = text === this.text ? this.#own : new LinedText(text, "\n");
    this.#views.set(fold, view);
    return view;
  }

  /** A line in its folded form. The last one is cached: places in the same line follow each other. */
  *foldingLine(line: number, fold: Fold): Steps<FoldedLine> {
    if (this.#last?.line !== line || this.#last.fold !== fold) {
      const content = this.text.slice(this.lines().start(line), this.lines().end(line));
      this.#last = { line, fold, form: yield* foldingLine(content, fold) };
    }
    return this.#last.form;
  }

  quotes(): QuotesThere {
    this.#quotes ??= quotesIn(this.text);
    return this.#quotes;
  }

  /** The source after changes, in order and without overlaps. Lines that they do not touch are not folded again. */
  after(changes: readonly TextChange[]): Source {
    if (changes.length > changesMax) return sourceOf(apply(this.text, changes));
    // From the last to the first, so that no change moves another.
    return changes.reduceRight<LinedSource>((source, change) => source.#with(change), this);
  }

  /** No fold reaches from one line into another, so only the lines that a change touches are folded again. */
  #with(change: TextChange): LinedSource {
    // Later changes, which are made first, may have removed the last `\n`.
    if (this.loneReturns) return LinedSource.of(apply(this.text, [change]));
    const own = this.#own.with(change);
    if (!own.text.includes("\n") && own.text.includes("\r")) return LinedSource.of(own.text);
    const lines = this.lines();
    const [first, last] = [lines.at(change.from), lines.at(change.to)];
    const touched =
      this.text.slice(lines.start(first), change.from) + change.text + this.text.slice(change.to, lines.next(last));
    const views = new Map<Fold, LinedText>();
    for (const [fold, view] of this.#views) {
      const text = foldText(touched, fold, false);
      if (view === this.#own && text === touched) views.set(fold, own);
      else views.set(fold, view.with({ from: view.lines.start(first), to: view.lines.next(last), text }));
    }
    return new LinedSource(own.text, false, own, views);
  }
}

/** A line number as Read counts: from 1, and a lone `\r` ends no line. */
export const numberOf = (line: number, { loneReturns }: Source): number => (loneReturns ? 1 : line + 1);

/** The pieces between the line ends of a text that the caller sent. */
export function piecesOf(callText: string, source: Source): readonly string[] {
  return foldText(callText, "line ends", source.loneReturns).split("\n");
}

export function trimWhitespace(line: string): string {
  const from = indentationOf(line).length;
  return line.slice(from, Math.max(from, contentLength(line)));
}

export function indentationOf(line: string): string {
  let at = 0;
  while (at < line.length && isBlank(line.charCodeAt(at))) at += 1;
  return line.slice(0, at);
}

export function contentLength(line: string): number {
  let at = line.length;
  while (at > 0 && isBlank(line.charCodeAt(at - 1))) at -= 1;
  return at;
}

export function isBlank(unit: number): boolean {
  return unit === 0x20 || unit === 0x09;
}

/** A text and the offsets of its lines, which are found on first use. */
class LinedText {
  readonly text: string;
  readonly #end: "\n" | "\r";
  #starts: Int32Array | undefined;
  #lines: MatchLines | undefined;

  constructor(text: string, end: "\n" | "\r", starts?: Int32Array) {
    this.text = text;
    this.#end = end;
    this.#starts = starts;
  }

  get lines(): MatchLines {
    this.#starts ??= startsIn(this.text, this.#end);
    this.#lines ??= linesAt(this.text, this.#end, this.#starts);
    return this.#lines;
  }

  with({ from, to, text: put }: TextChange): LinedText {
    const text = this.text.slice(0, from) + put + this.text.slice(to);
    if (this.#starts === undefined) return new LinedText(text, this.#end);
    const head = this.lines.at(from) + 1;
    const tail = this.#starts.subarray(this.lines.at(to) + 1);
    const added = startsIn(put, this.#end).subarray(1);
    const starts = new Int32Array(head + added.length + tail.length);
    starts.set(this.#starts.subarray(0, head));
    for (const [index, start] of added.entries()) starts[head + index] = from + start;
    const moved = put.length - (to - from);
    const tailAt = head + added.length;
    for (let index = 0; index < tail.length; index += 1) starts[tailAt + index] = (tail[index] ?? 0) + moved;
    return new LinedText(text, this.#end, starts);
  }
}

function linesAt(text: string, end: "\n" | "\r", starts: Int32Array) {
  const next = (line: number): number => starts[line + 1] ?? text.length;
  return {
    count: starts.length,
    start: (line: number): number => starts[line] ?? text.length,
    end: (line: number): number => {
      if (line >= starts.length - 1) return text.length;
      const lineEnd = next(line) - 1;
      return end === "\n" && lineEnd > (starts[line] ?? 0) && text.charCodeAt(lineEnd - 1) === 0x0d
        ? lineEnd - 1
        : lineEnd;
    },
    /** Where the next line begins, or the end of the text. */
    next,
    at: (offset: number): number => firstIndex(starts.length, (line) => (starts[line] ?? 0) > offset) - 1,
  };
}

/** What a folded form, which is only compared, makes equal. A fold includes those before it and keeps the lines. */
export type Fold = "line ends" | "quotes" | "look-alikes" | "trailing whitespace";

/** For each UTF-16 unit up to U+3000 the one that it is compared as. */
export type UnitTable = Uint16Array;

export function unitTable(...same: readonly (readonly [unit: string, lookAlikes: string])[]): UnitTable {
  const table = new Uint16Array(0x3001);
  for (let unit = 0; unit < table.length; unit += 1) table[unit] = unit;
  for (const [unit, lookAlikes] of same) for (const one of lookAlikes) table[one.charCodeAt(0)] = unit.charCodeAt(0);
  return table;
}

/** Many times faster than a regular expression where every second character is replaced. */
export function mapUnits(text: string, table: UnitTable): string {
  const units = unitsOf(text);
  for (let at = 0; at < units.length; at += 1) {
    const unit = units[at] ?? 0;
    if (unit < table.length) units[at] = table[unit] ?? 0;
  }
  return Buffer.from(units.buffer).toString("utf16le");
}

const curly = [
  ['"', "\u201c\u201d\u201e\u201f"],
  ["'", "\u2018\u2019\u201a\u201b"],
] as const;
const quotes = unitTable(...curly);
const quotePattern = /[\u2018-\u201f]/;
/** Spaces; hyphens, dashes and the minus sign, but not the soft hyphen; quotes. */
const lookAlikes = unitTable(
  ...curly,
  [" ", "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"],
  ["-", "\u2010\u2011\u2012\u2013\u2014\u2015\u2212"],
);
/** The look-alikes whose folded form has another length: the ellipsis, and characters without width, but not the joiners, which
 * change how the letters beside them are read. */
const resized = /[\u2026\u200b\u2060\ufeff]/;
// oxlint-disable-next-line no-control-regex
const beyondAscii = /[^\0-\x7f]/;
const segment = /[\u1100-\u11ff]+\p{M}*|\P{M}\p{M}*|\p{M}+/suy;

export function foldText(text: string, fold: Fold, loneReturns: boolean): string {
  const withNewlines = foldLineEnds(text, loneReturns);
  if (fold === "line ends") return withNewlines;
  const characters = foldCharacters(withNewlines, fold);
  return fold === "trailing whitespace" ? foldTrailingWhitespace(characters) : characters;
}

const foldedPerStep = 65_536;

/** As `foldText`, in steps. The text is cut only where no fold reaches from one part into the next. */
export function* foldingText(text: string, fold: Fold, loneReturns: boolean): Steps<string> {
  if (text.length <= foldedPerStep) return foldText(text, fold, loneReturns);
  const parts: string[] = [];
  for (let from = 0; from < text.length; ) {
    let to = Math.min(from + foldedPerStep, text.length);
    while (to < text.length && !isSeam(text.charCodeAt(to - 1), text.charCodeAt(to))) to += 1;
    parts.push(foldText(text.slice(from, to), fold, loneReturns));
    from = to;
    yield;
  }
  return parts.join("");
}

/** After a newline, or between characters that neither combine nor are part of a line end or of trailing whitespace. */
const isSeam = (before: number, after: number): boolean =>
  before === 0x0a || (after < 0x300 && before > 0x20 && before !== 0xa0 && (before < 0x300 || isCurlyQuote(before)));

const isCurlyQuote = (unit: number): boolean => unit >= 0x2018 && unit <= 0x201f;

export const foldQuotes = (text: string): string => (quotePattern.test(text) ? mapUnits(text, quotes) : text);

export function foldCharacters(text: string, fold: Fold): string {
  if (fold === "line ends" || !beyondAscii.test(text)) return text;
  return fold === "quotes" ? foldQuotes(text) : foldLookAlikes(text);
}

/** A part of a line in its folded form, with the offsets of both. */
interface FoldedLine {
  readonly text: string;
  /** The offset in the line where the folded unit `at` begins (at the folded length: where the line ends); undefined inside a character. */
  from(at: number): number | undefined;
  /** The offset in the line where the folded units before `at` end. */
  to(at: number): number | undefined;
  /** The offset in the folded form for an offset in the line; undefined inside a character. */
  fold(at: number): number | undefined;
}

export function* foldingLine(line: string, fold: Fold): Steps<FoldedLine> {
  const text = yield* foldingText(line, fold === "trailing whitespace" ? "look-alikes" : fold, false);
  yield;
  const keepsOffsets = text === line || fold === "quotes" || (!resized.test(line) && composed(line) === line);
  if (keepsOffsets) return { text, from: same, to: same, fold: same };
  const begins = new Int32Array(text.length + 1).fill(-1);
  const ends = new Int32Array(text.length + 1).fill(-1);
  const forward = new Int32Array(line.length + 1).fill(-1);
  forward[0] = 0;
  let at = 0;
  let foldedAt = 0;
  for (let count = 1; at < line.length; count += 1) {
    if (count % partLength === 0) yield;
    const size = segmentAt(line, at);
    const length = size === 1 && line.charCodeAt(at) < 0x300 ? 1 : foldLookAlikes(line.slice(at, at + size)).length;
    if (length > 0) {
      begins[foldedAt] = at;
      ends[foldedAt + length] = at + size;
    }
    at += size;
    foldedAt += length;
    forward[at] = foldedAt;
  }
  // If characters were composed across segments, folded offsets cannot be mapped back.
  if (foldedAt !== text.length) return { text, from: nowhere, to: nowhere, fold: nowhere };
  begins[foldedAt] = at;
  ends[0] = 0;
  return { text, from: offsetsIn(begins), to: offsetsIn(ends), fold: offsetsIn(forward) };
}

/** The length of what NFC composes together: a character with its marks, or a run of Hangul letters. */
function segmentAt(line: string, at: number): number {
  // Neither a mark nor a Hangul letter is below U+0300.
  if (line.charCodeAt(at) < 0x300 && !(line.charCodeAt(at + 1) >= 0x300)) return 1;
  segment.lastIndex = at;
  return segment.exec(line)?.[0].length ?? 1;
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
  const whole = composed(text);
  const sized = resized.test(whole) ? whole.replaceAll("\u2026", "...").replace(/[\u200b\u2060\ufeff]/g, "") : whole;
  return mapUnits(sized, lookAlikes);
}

/** No language puts so many marks on one character; Unicode's limit for streams is 30. */
const longMarks = /\p{M}{31,}/gu;

/** NFC except for long runs of marks: normalizing sorts them by insertion, which is quadratic in the length of a run. */
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

/** Scans back from each line end: a regular expression for whitespace before a newline is quadratic on long runs of it. */
function foldTrailingWhitespace(text: string): string {
  const kept: string[] = [];
  let from = 0;
  for (let lineStart = 0; lineStart <= text.length; ) {
    const newline = text.indexOf("\n", lineStart);
    const lineEnd = newline < 0 ? text.length : newline;
    let to = lineEnd;
    while (to > lineStart && isBlank(text.charCodeAt(to - 1))) to -= 1;
    if (to < lineEnd) {
      kept.push(text.slice(from, to));
      from = lineEnd;
    }
    lineStart = lineEnd + 1;
  }
  return from === 0 && kept.length === 0 ? text : kept.join("") + text.slice(from);
}

// Quotes of a replacement, in the style of the lines that it replaces.

/** How to write the quotes of each kind; undefined: as the caller sent them. */
export interface QuoteStyle {
  readonly double: "straight" | Marks | undefined;
  readonly single: "straight" | Marks | undefined;
}

export interface Marks {
  readonly open: string;
  readonly close: string;
}

export interface LinePair {
  readonly asked: string;
  readonly actual: string;
}

const kinds = {
  double: { straight: '"', curly: /[\u201c-\u201f]/ },
  single: { straight: "'", curly: /[\u2018-\u201b]/ },
} as const;

/** The style of the file where the call uses the other one; undefined for a kind whose styles are mixed in the lines. */
export function quoteStyleOf(pairs: readonly LinePair[]): QuoteStyle {
  const actual = pairs.map((pair) => pair.actual).join("\n");
  const asked = quotesIn(pairs.map((pair) => pair.asked).join("\n"));
  const there = quotesIn(actual);
  const style = (kind: keyof QuoteStyle) => {
    const known = kindStyle(kind, asked, there);
    return known === "curly" ? marksOf(kind, actual) : known;
  };
  return { double: style("double"), single: style("single") };
}

type QuotesThere = Readonly<Record<keyof QuoteStyle, { readonly straight: boolean; readonly curly: boolean }>>;

function quotesIn(text: string): QuotesThere {
  const there = (kind: keyof QuoteStyle) => ({
    straight: text.includes(kinds[kind].straight),
    curly: kinds[kind].curly.test(text),
  });
  return { double: there("double"), single: there("single") };
}

/** The style for lines that replace none: that of the lines around them, unless the file also uses the other one. */
export function styleOfInserted(style: QuoteStyle, there: () => QuotesThere): QuoteStyle {
  const onlyOne = (kind: keyof QuoteStyle) => {
    if (style[kind] === undefined) return undefined;
    const hasOther = style[kind] === "straight" ? there()[kind].curly : there()[kind].straight;
    return hasOther ? undefined : style[kind];
  };
  return { double: onlyOne("double"), single: onlyOne("single") };
}

/** The style of a line; for kinds of quotes that the line does not contain, the style around it. */
export function firstKnown(own: LinePair, style: QuoteStyle, around: QuoteStyle): QuoteStyle {
  const both = own.asked + own.actual;
  const known = (kind: keyof QuoteStyle) =>
    both.includes(kinds[kind].straight) || kinds[kind].curly.test(both) ? style[kind] : around[kind];
  return { double: known("double"), single: known("single") };
}

/** `line` from `from` up to `to` with its quotes in the style; their neighbours decide which open and which close. */
export function styledPart(line: string, from: number, to: number, style: QuoteStyle): string {
  if (style.double === undefined && style.single === undefined) return line.slice(from, to);
  let styled = "";
  for (let at = from; at < to; at += 1) {
    const character = line.charAt(at);
    if (character === '"' && typeof style.double === "object") {
      styled += opens(line, at) ? style.double.open : style.double.close;
    } else if (character === "'" && typeof style.single === "object") {
      styled += opens(line, at) && !isElision(line, at) ? style.single.open : apostropheOr(style.single, line, at);
    } else if (style.double === "straight" && kinds.double.curly.test(character)) {
      styled += '"';
    } else if (style.single === "straight" && kinds.single.curly.test(character)) {
      styled += "'";
    } else {
      styled += character;
    }
  }
  return styled;
}

function kindStyle(kind: keyof QuoteStyle, asked: QuotesThere, actual: QuotesThere): "straight" | undefined | "curly" {
  const [call, file] = [asked[kind], actual[kind]];
  if (call.straight && !call.curly && file.curly && !file.straight) return "curly";
  if (call.curly && !call.straight && file.straight && !file.curly) return "straight";
  return undefined;
}

/** German and Polish open below the line; German closes with what opens in English. */
function marksOf(kind: keyof QuoteStyle, actual: string): Marks {
  const [low, left, right] = kind === "double" ? ["\u201e", "\u201c", "\u201d"] : ["\u201a", "\u2018", "\u2019"];
  if (!actual.includes(low)) return { open: left, close: right };
  return { open: low, close: actual.includes(left) ? left : right };
}

function opens(line: string, at: number): boolean {
  return (
    at === 0 ||
    (/[\s([{<=/\u2010-\u2015\u2018\u201a\u201c\u201e"'-]/.test(line.charAt(at - 1)) && !closesAfterQuote(line, at))
  );
}

/** A quote after another quote opens only if a word follows. */
function closesAfterQuote(line: string, at: number): boolean {
  return /["']/.test(line.charAt(at - 1)) && !/[\p{L}\p{N}]/u.test(line.charAt(at + 1));
}

/** `'90s`: letters or digits were left out in front. */
function isElision(line: string, at: number): boolean {
  return /^'\d\ds?\b/.test(line.slice(at, at + 5));
}

/** Between letters it is an apostrophe, which is the English closing mark in every style. */
function apostropheOr(marks: Marks, line: string, at: number): string {
  const insideWord = /[\p{L}\p{N}]/u.test(line.charAt(at - 1)) && /\p{L}/u.test(line.charAt(at + 1));
  return insideWord || isElision(line, at) ? "\u2019" : marks.close;
}
