/** A text to search in: its lines, and its folded forms, each made once and only when a step asks for it. */

import type { TextChange } from "../contract/edit.ts";
import { type Fold, type FoldedLine, foldLine, foldText } from "./match-fold.ts";
import { quotesIn, type QuotesThere } from "./match-quotes.ts";
import { apply } from "./pieces.ts";

/** Where the lines of a text begin and end. Lines count from 0 here; a text that ends in a line end has a last, empty line. */
export interface Lines {
  readonly count: number;
  start(line: number): number;
  /** Where the line's content ends and its line end begins. */
  end(line: number): number;
  /** Where the next line begins, or the end of the text. */
  next(line: number): number;
  /** The line an offset lies in. */
  at(offset: number): number;
}

export interface Source {
  readonly text: string;
  /** A lone `\r` ends lines only in a text without any `\n`; elsewhere it is content. */
  readonly loneReturns: boolean;
  lines(): Lines;
  folded(fold: Fold): { readonly text: string; readonly lines: Lines };
  /** A line in its folded form. The last one is kept: the places of one line come after each other. */
  foldedLine(line: number, fold: Fold): FoldedLine;
  /** Which quotes the text has anywhere. */
  quotes(): QuotesThere;
  /** The text with changes, in order and without overlaps. What is known of other lines is not made anew. */
  after(changes: readonly TextChange[]): Source;
}

export const sourceOf = (text: string): Source => LinedSource.of(text);

/** More changes at once are a new text. */
const changesMax = 8;

class LinedSource implements Source {
  readonly text: string;
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

  lines(): Lines {
    return this.#own.lines;
  }

  folded(fold: Fold): LinedText {
    const known = this.#views.get(fold);
    if (known !== undefined) return known;
    const text = foldText(this.text, fold, this.loneReturns);
    const view = text === this.text ? this.#own : new LinedText(text, "\n");
    this.#views.set(fold, view);
    return view;
  }

  foldedLine(line: number, fold: Fold): FoldedLine {
    if (this.#last === undefined || this.#last.line !== line || this.#last.fold !== fold) {
      const { start, end } = { start: this.lines().start(line), end: this.lines().end(line) };
      this.#last = { line, fold, form: foldLine(this.text.slice(start, end), fold) };
    }
    return this.#last.form;
  }

  quotes(): QuotesThere {
    this.#quotes ??= quotesIn(this.text);
    return this.#quotes;
  }

  after(changes: readonly TextChange[]): Source {
    if (changes.length > changesMax) return sourceOf(apply(this.text, changes));
    // From the last on, so that none moves another.
    return changes.reduceRight<LinedSource>((source, change) => source.#with(change), this);
  }

  /** No fold reaches from one line into another: lines that a change does not touch stay folded as they are. */
  #with(change: TextChange): LinedSource {
    // Before this one, changes behind it may have taken the last `\n` away.
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

/** A line's number as Read counts: from 1, and a lone `\r` ends no line. */
export const numberOf = (line: number, { loneReturns }: Source): number => (loneReturns ? 1 : line + 1);

/** The pieces of a call's text between its line ends. */
export function piecesOf(callText: string, source: Source): readonly string[] {
  return foldText(callText, "line ends", source.loneReturns).split("\n");
}

/** A line without the blanks around it. */
export function trimBlanks(line: string): string {
  const from = indentationOf(line).length;
  return line.slice(from, Math.max(from, contentLength(line)));
}

/** The blanks a line begins with. */
export function indentationOf(line: string): string {
  let at = 0;
  while (at < line.length && isBlank(line.charCodeAt(at))) at += 1;
  return line.slice(0, at);
}

/** How long a line is without the blanks at its end. */
export function contentLength(line: string): number {
  let at = line.length;
  while (at > 0 && isBlank(line.charCodeAt(at - 1))) at -= 1;
  return at;
}

export function isBlank(unit: number): boolean {
  return unit === 0x20 || unit === 0x09;
}

/** A text and where its lines are, which is found out when it is first asked for. */
class LinedText {
  readonly text: string;
  readonly #end: "\n" | "\r";
  #starts: Int32Array | undefined;
  #lines: Lines | undefined;

  constructor(text: string, end: "\n" | "\r", starts?: Int32Array) {
    this.text = text;
    this.#end = end;
    this.#starts = starts;
  }

  get lines(): Lines {
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
    const behind = head + added.length;
    for (let index = 0; index < tail.length; index += 1) starts[behind + index] = (tail[index] ?? 0) + moved;
    return new LinedText(text, this.#end, starts);
  }
}

function startsIn(text: string, end: "\n" | "\r"): Int32Array {
  let count = 1;
  for (let at = text.indexOf(end); at >= 0; at = text.indexOf(end, at + 1)) count += 1;
  const starts = new Int32Array(count);
  for (let at = text.indexOf(end), line = 1; at >= 0; at = text.indexOf(end, at + 1), line += 1) starts[line] = at + 1;
  return starts;
}

function linesAt(text: string, end: "\n" | "\r", starts: Int32Array): Lines {
  const next = (line: number) => starts[line + 1] ?? text.length;
  return {
    count: starts.length,
    start: (line) => starts[line] ?? text.length,
    end: (line) => {
      if (line >= starts.length - 1) return text.length;
      const lineEnd = next(line) - 1;
      return end === "\n" && lineEnd > (starts[line] ?? 0) && text.charCodeAt(lineEnd - 1) === 0x0d
        ? lineEnd - 1
        : lineEnd;
    },
    next,
    at: (offset) => {
      let low = 0;
      let high = starts.length - 1;
      while (low < high) {
        const middle = (low + high + 1) >> 1;
        if ((starts[middle] ?? 0) <= offset) low = middle;
        else high = middle - 1;
      }
      return low;
    },
  };
}
