/** A text to search in: its lines, and its folded forms, each made once and only when a step asks for it. */

import { type Fold, type FoldedLine, foldLine, foldText } from "./match-fold.ts";
import { quotesIn, type QuotesThere } from "./match-quotes.ts";

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
}

class FoldedText {
  readonly text: string;
  readonly #table: () => Lines;

  constructor(text: string, table: () => Lines) {
    this.text = text;
    this.#table = once(table);
  }

  /** Made when they are first asked for. */
  get lines(): Lines {
    return this.#table();
  }
}

export function sourceOf(text: string): Source {
  const loneReturns = !text.includes("\n") && text.includes("\r");
  const lines = once(() => linesOf(text, loneReturns ? "\r" : "\n"));
  const views = new Map<Fold, { readonly text: string; readonly lines: Lines }>();
  const folded = (fold: Fold) => {
    const known = views.get(fold);
    if (known !== undefined) return known;
    const foldedText = foldText(text, fold, loneReturns);
    const view = new FoldedText(foldedText, () => (foldedText === text ? lines() : linesOf(foldedText, "\n")));
    views.set(fold, view);
    return view;
  };
  let last: { readonly line: number; readonly fold: Fold; readonly form: FoldedLine } | undefined;
  const foldedLine = (line: number, fold: Fold) => {
    if (last === undefined || last.line !== line || last.fold !== fold) {
      last = { line, fold, form: foldLine(text.slice(lines().start(line), lines().end(line)), fold) };
    }
    return last.form;
  };
  return { text, loneReturns, lines, folded, foldedLine, quotes: once(() => quotesIn(text)) };
}

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

function linesOf(text: string, end: "\n" | "\r"): Lines {
  const starts = [0];
  for (let at = text.indexOf(end); at >= 0; at = text.indexOf(end, at + 1)) starts.push(at + 1);
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

function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
