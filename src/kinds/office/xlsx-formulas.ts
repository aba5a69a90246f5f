/** The formulas of a sheet, those that were filled down a column told once. */

import { cutChars } from "../../text/encoding.ts";

export interface Formulas {
  /** In the order of the file: row by row. */
  add(row: number, column: number, formula: string): void;
  /** One that the file tells once, at another cell, and that this one has with its references moved. */
  addShared(row: number, column: number, shared: SharedFormula): void;
  /** One that the file itself says to hold for a range. */
  addRange(range: string, formula: string): void;
  finish(): { readonly lines: readonly string[]; readonly leftOut: number };
}

/** A formula as the first cell that has it tells it. */
export interface SharedFormula {
  readonly row: number;
  readonly column: number;
  readonly formula: string;
  readonly relative: string;
}

export const sharedFormula = (row: number, column: number, formula: string): SharedFormula => ({
  row,
  column,
  formula,
  relative: relativeTo(row, column, formula),
});

interface Run {
  readonly column: number;
  readonly fromRow: number;
  toRow: number;
  readonly formula: string;
  /** The formula with its references relative to the cell. */
  readonly relative: string;
}

const runsMax = 200;
/** Of the formulas that the next row is compared with. */
const openCharsMax = 4_000_000;
/** Of all that are compared. */
const comparedTotalMax = 16_000_000;
const formulaCharsMax = 500;
/** As long as Excel lets a formula be. */
const comparedCharsMax = 8_192;

export function startFormulas(): Formulas {
  const open = new Map<number, Run>();
  let openChars = 0;
  let comparedChars = 0;
  const found: (Run | string)[] = [];
  let leftOut = 0;
  const keep = (run: Run | string): void => {
    if (found.length < runsMax) found.push(run);
    else leftOut += 1;
  };
  const add = (row: number, column: number, relative: string, formula: () => string): void => {
    const run = open.get(column);
    if (run !== undefined && run.toRow === row - 1 && run.relative === relative) {
      run.toRow = row;
      return;
    }
    // Moving one takes time, and a file can have millions: only for those that are told.
    const told = found.length < runsMax ? formula() : "";
    const next = { column, fromRow: row, toRow: row, formula: told, relative };
    // Only of so many columns: a formula can be as long as a page, and a sheet has 16,384 columns.
    openChars += relative.length - (run?.relative.length ?? 0);
    if (openChars > openCharsMax) {
      open.clear();
      openChars = relative.length;
    }
    open.set(column, next);
    keep(next);
  };
  return {
    add(row, column, formula) {
      comparedChars += formula.length;
      // Of a sheet that is nothing but formulas, those that are not told are only counted.
      if (comparedChars > comparedTotalMax && found.length >= runsMax) leftOut += 1;
      else add(row, column, relativeTo(row, column, formula), () => formula);
    },
    addShared: (row, column, shared) => add(row, column, shared.relative, () => movedTo(row, column, shared)),
    addRange: (range, formula) => keep(lineOf(range, formula)),
    finish: () => ({ lines: found.map((run) => (typeof run === "string" ? run : runLine(run))), leftOut }),
  };
}

function runLine({ column, fromRow, toRow, formula }: Run): string {
  const letters = columnLetters(column);
  return lineOf(fromRow === toRow ? `${letters}${fromRow}` : `${letters}${fromRow}:${letters}${toRow}`, formula);
}

function lineOf(range: string, formula: string): string {
  return `- ${cutChars(range, 40)}: =${cutChars(formula, formulaCharsMax).replace(/\s+/g, " ")}`;
}

/** Texts and sheet names, in which nothing is a reference, or a reference. */
const pieces = /"(?:[^"]|"")*"|'(?:[^']|'')*'|(?<![\w.$])(\$?)([A-Z]{1,3})(\$?)([0-9]{1,7})(?![\w(.])/g;

function relativeTo(row: number, column: number, formula: string): string {
  return formula
    .slice(0, comparedCharsMax)
    .replace(pieces, (whole, fixedColumn?: string, letters?: string, fixedRow?: string, digits?: string) => {
      if (letters === undefined || digits === undefined) return whole;
      const columnPart = fixedColumn === "$" ? letters : `[${columnNumber(letters) - column}]`;
      return `C${columnPart}R${fixedRow === "$" ? digits : `[${Number(digits) - row}]`}`;
    });
}

/** A shared formula as another of its cells has it. */
export function movedTo(row: number, column: number, shared: SharedFormula): string {
  return shared.formula
    .slice(0, comparedCharsMax)
    .replace(pieces, (whole, fixedColumn?: string, letters?: string, fixedRow?: string, digits?: string) => {
      if (letters === undefined || digits === undefined) return whole;
      const newColumn = columnNumber(letters) + (fixedColumn === "$" ? 0 : column - shared.column);
      const newRow = Number(digits) + (fixedRow === "$" ? 0 : row - shared.row);
      if (newColumn < 1 || newRow < 1) return "#REF!";
      return `${fixedColumn}${columnLetters(newColumn)}${fixedRow}${newRow}`;
    });
}

/** From 1: A is 1, XFD is 16384. */
export function columnNumber(letters: string): number {
  let number = 0;
  for (let at = 0; at < letters.length; at += 1) number = number * 26 + (letters.charCodeAt(at) & 0x1f);
  return number;
}

export function columnLetters(column: number): string {
  let letters = "";
  for (let left = column; left > 0; left = Math.floor((left - 1) / 26)) {
    letters = String.fromCharCode(0x41 + ((left - 1) % 26)) + letters;
  }
  return letters;
}
