/** Finds the place in a text that a caller names by line and column, or by a symbol. Lines and columns count from 1. */

import type { AskedPlace, FoundPlace } from "../contract/lsp.ts";

export type PlaceFound =
  | { readonly found: "yes"; readonly place: FoundPlace }
  | { readonly found: "no"; readonly why: "nothing named" }
  | { readonly found: "no"; readonly why: "line"; readonly linesTotal: number }
  | { readonly found: "no"; readonly why: "column"; readonly columnsMax: number }
  /** The symbol is neither on the line nor near it; `lines`: the first lines that contain it. */
  | { readonly found: "no"; readonly why: "symbol"; readonly lines: readonly number[] };

/** Lines above and below the named line that are searched as well: an edit may have moved the symbol. */
const linesAround = 5;
/** Local: lines that the error lists. */
const linesListedMax = 10;

export function findCodePlace(text: string, { line, column, symbol }: AskedPlace): PlaceFound {
  const lines = text.split("\n");
  if (line !== undefined && line > lines.length) {
    // A final newline adds no line.
    return { found: "no", why: "line", linesTotal: lines.length - (text.endsWith("\n") ? 1 : 0) };
  }
  if (symbol !== undefined) return bySymbol(lines, symbol, line, column);
  if (line === undefined || column === undefined) return { found: "no", why: "nothing named" };
  const own = withoutReturn(lines[line - 1] ?? "");
  if (column > own.length + 1) return { found: "no", why: "column", columnsMax: own.length + 1 };
  return { found: "yes", place: { line, column, symbol: wordAt(own, column), elsewhere: false } };
}

function bySymbol(
  lines: readonly string[],
  symbol: string,
  line: number | undefined,
  column: number | undefined,
): PlaceFound {
  const at = (number: number): number[] => columnsOf(lines[number - 1] ?? "", symbol);
  const found = (number: number, columns: readonly number[]): PlaceFound => {
    const nearest = columns.toSorted((one, two) => Math.abs(one - (column ?? 0)) - Math.abs(two - (column ?? 0)));
    const place = { line: number, column: nearest[0] ?? 1, symbol, elsewhere: number !== line && line !== undefined };
    return { found: "yes", place };
  };
  for (const number of line === undefined ? [] : linesNear(line, lines.length)) {
    const columns = at(number);
    if (columns.length > 0) return found(number, columns);
  }
  const all = lines.flatMap((_, index) => (at(index + 1).length > 0 ? [index + 1] : []));
  const [first] = all;
  if (line === undefined && first !== undefined) return found(first, at(first));
  return { found: "no", why: "symbol", lines: all.slice(0, linesListedMax) };
}

function linesNear(line: number, total: number): readonly number[] {
  const near = [line];
  for (let away = 1; away <= linesAround; away += 1) near.push(line - away, line + away);
  return near.filter((number) => number >= 1 && number <= total);
}

function columnsOf(line: string, symbol: string): number[] {
  const columns: number[] = [];
  if (symbol === "") return columns;
  for (let at = line.indexOf(symbol); at !== -1; at = line.indexOf(symbol, at + 1)) {
    const [before, after] = [lastCharacter(line.slice(0, at)), firstCharacter(line.slice(at + symbol.length))];
    const joins =
      (isPart(before) && isPart(firstCharacter(symbol))) || (isPart(after) && isPart(lastCharacter(symbol)));
    if (!joins) columns.push(at + 1);
  }
  return columns;
}

/** The name that contains or ends at a column; empty between names. */
export function wordAt(line: string, column: number): string {
  let from = column - 1;
  let to = column - 1;
  for (let before = lastCharacter(line.slice(0, from)); isPart(before); before = lastCharacter(line.slice(0, from)))
    from -= before.length;
  for (let next = firstCharacter(line.slice(to)); isPart(next); next = firstCharacter(line.slice(to)))
    to += next.length;
  return line.slice(from, to);
}

const isPart = (character: string): boolean => /^[\p{ID_Continue}$_\u200c\u200d]$/u.test(character);
const firstCharacter = (text: string): string => (text === "" ? "" : String.fromCodePoint(text.codePointAt(0) ?? 0));
const lastCharacter = (text: string): string => {
  const unit = text.charCodeAt(text.length - 1);
  return text.slice(unit >= 0xdc00 && unit <= 0xdfff ? -2 : -1);
};
const withoutReturn = (line: string): string => (line.endsWith("\r") ? line.slice(0, -1) : line);
