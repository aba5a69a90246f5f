/** The cells of a sheet, each as the text that it shows. */

import type { XmlReader } from "../xml.ts";
import type { Part } from "./package.ts";
import { type DateStyles, dateText } from "./xlsx-dates.ts";
import {
  columnNumber,
  type Formulas,
  movedTo,
  type SharedFormula,
  sharedFormula,
  startFormulas,
} from "./xlsx-formulas.ts";

export interface Workbook {
  readonly strings: readonly string[];
  readonly dates: DateStyles;
  readonly epoch: 1900 | 1904;
  /** Cells that may still be read. */
  cellsLeft: number;
  /** Were there more? */
  isCut: boolean;
  /** Throws if there is no room for so many characters, which the file says once and means often. */
  readonly spend: (chars: number) => void;
}

/** The runs of a text, without the reading aid above East Asian characters. */
export function readRichText(xml: XmlReader): string {
  const depth = xml.depth;
  let text = "";
  for (let event = xml.nextIn(depth); event !== undefined; event = xml.nextIn(depth)) {
    if (event !== "open") continue;
    if (xml.name === "t") text += xml.textInside();
    else if (xml.name === "rPh" || xml.name === "rPr") xml.skip();
  }
  // Characters that XML cannot hold are written so.
  return text.includes("_x") ? text.replace(/_x000[dD]_/g, "").replace(/_x000[aA]_/g, "\n") : text;
}

export interface Row {
  readonly number: number;
  /** From 1, beside the texts. Cells without text are not kept. */
  readonly columns: number[];
  readonly texts: string[];
}

export interface Sheet {
  readonly rows: Row[];
  /** Every column that has a text. */
  readonly columns: Set<number>;
  readonly formulas: Formulas;
  /** By the number that the file gives them. */
  readonly shared: Map<string, SharedFormula>;
  readonly merged: string[];
  /** Cells to the ids of what they lead to. */
  readonly links: Map<string, string>;
  hiddenRows: number;
}

export const rowsMax = 1_048_576;
const columnsMax = 16_384;

export async function readSheet(part: Part, workbook: Workbook): Promise<Sheet> {
  const { xml } = part;
  const sheet: Sheet = {
    rows: [],
    columns: new Set(),
    formulas: startFormulas(),
    shared: new Map(),
    merged: [],
    links: new Map(),
    hiddenRows: 0,
  };
  let row: Row = { number: 0, columns: [], texts: [] };
  let column = 0;
  for (let event = xml.next(); event !== "end"; event = xml.next()) {
    const rest = part.rest();
    if (rest !== undefined) await rest;
    if (event !== "open") continue;
    switch (xml.name) {
      case "row": {
        // Places may be left out: then each is next to the one before.
        const number = Number(xml.attribute("r"));
        row = { number: Number.isInteger(number) && number > 0 ? number : row.number + 1, columns: [], texts: [] };
        column = 0;
        sheet.rows.push(row);
        if (isTrue(xml.attribute("hidden"))) sheet.hiddenRows += 1;
        break;
      }
      case "c": {
        if (workbook.cellsLeft === 0) {
          workbook.isCut = true;
          return sheet;
        }
        workbook.cellsLeft -= 1;
        column = columnOf(xml.attribute("r")) ?? column + 1;
        const text = readCell(xml, row.number, column, workbook, sheet);
        // Nobody could write a cell outside the sheet.
        if (text === "" || row.number > rowsMax || column > columnsMax) break;
        row.columns.push(column);
        row.texts.push(text);
        sheet.columns.add(column);
        break;
      }
      case "mergeCell":
        sheet.merged.push(xml.attribute("ref") ?? "");
        break;
      case "hyperlink":
        sheet.links.set(xml.attribute("ref") ?? "", xml.prefixed("id") ?? "");
        break;
    }
  }
  return sheet;
}

/** Of an address like "AB12"; undefined if it has no letters. */
function columnOf(address: string | undefined): number | undefined {
  if (address === undefined) return undefined;
  let letters = 0;
  while (letters < 4 && address.charCodeAt(letters) >= 0x41) letters += 1;
  return letters === 0 ? undefined : columnNumber(address.slice(0, letters));
}

function readCell(xml: XmlReader, row: number, column: number, workbook: Workbook, sheet: Sheet): string {
  const type = xml.attribute("t");
  const style = xml.attribute("s");
  let raw: string | undefined;
  let formula = "";
  let range: string | undefined;
  let sharedAs: string | undefined;
  const depth = xml.depth;
  for (let event = xml.nextIn(depth); event !== undefined; event = xml.nextIn(depth)) {
    if (event !== "open") continue;
    if (xml.name === "v") raw = xml.textInside();
    else if (xml.name === "is") raw = readRichText(xml);
    else if (xml.name === "f") {
      range = xml.attribute("ref");
      sharedAs = xml.attribute("t") === "shared" ? xml.attribute("si") : undefined;
      formula = xml.textInside();
    }
  }
  const text = valueText(raw ?? "", type, style, workbook);
  // Written by a program that does not calculate, a cell has only its formula. One that came to an empty text has a value.
  const isCalculated = text !== "" || (raw !== undefined && type === "str");
  if (sharedAs !== undefined) {
    // The range of a shared formula may hold cells that have another.
    if (formula !== "") sheet.shared.set(sharedAs, sharedFormula(row, column, formula));
    const shared = sheet.shared.get(sharedAs);
    if (shared === undefined) return text;
    if (!isCalculated) {
      const moved = `=${movedTo(row, column, shared)}`;
      workbook.spend(moved.length);
      return moved;
    }
    sheet.formulas.addShared(row, column, shared);
    return text;
  }
  if (formula === "") return text;
  if (!isCalculated) return `=${formula}`;
  if (range === undefined) sheet.formulas.add(row, column, formula);
  else sheet.formulas.addRange(range, formula);
  return text;
}

/** As many digits as a number can be told apart by; more are noise of the conversion ("0.10000000000000001"). */
const digitsMax = 15;

function valueText(raw: string, type: string | undefined, style: string | undefined, workbook: Workbook): string {
  switch (type) {
    case "s":
      // A cell without a value has none of the texts, not the first.
      return raw === "" ? "" : (workbook.strings[Number(raw)] ?? "");
    case "b":
      return raw === "" ? "" : isTrue(raw) ? "TRUE" : "FALSE";
    case undefined:
    case "n": {
      const kind = style === undefined ? undefined : workbook.dates[Number(style)];
      const date = kind === undefined || raw === "" ? undefined : dateText(Number(raw), kind, workbook.epoch);
      if (date !== undefined) return date;
      return raw.length > digitsMax && Number.isFinite(Number(raw)) ? String(Number(raw)) : raw;
    }
    default:
      return raw;
  }
}

export const isTrue = (value: string | undefined): boolean => value === "1" || value === "true";
