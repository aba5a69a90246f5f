/** The cells of a sheet, each as the text that it shows. */

import { Buffer } from "node:buffer";
import { checkText, type XmlReader } from "../xml.ts";
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
  readonly strings: Pick<Strings, "at">;
  readonly dates: DateStyles;
  readonly epoch: 1900 | 1904;
  /** Cells and rows that may still be read. */
  cellsLeft: number;
  rowsLeft: number;
  /** Of which were there more? */
  cut: "cells" | "rows" | undefined;
  /** Are formulas to be listed? Not at the first look. */
  readonly formulas: boolean;
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
  chars: number;
}

/** What is known of a sheet when all of it was read; its rows are handed on one by one, and not kept. */
export interface Sheet {
  readonly formulas: Formulas;
  /** By the number that the file gives them. */
  readonly shared: Map<string, SharedFormula>;
  sharedChars: number;
  /** The first ones, and how many there are. */
  readonly merged: string[];
  mergedCount: number;
  /** Cells and the ids of what they lead to. */
  readonly links: (readonly [cell: string, id: string])[];
  linksCount: number;
  hiddenRows: number;
}

/** As many as a sheet can have. */
export const rowsMax = 1_048_576;
const columnsMax = 16_384;

/** Merged cells and links that are listed. */
export const listedMax = 100;

/** `onRow` gets every row that has a text, when it is complete. */
export function readSheet(xml: XmlReader, workbook: Workbook, onRow: (row: Row) => void): Sheet {
  const sheet: Sheet = {
    formulas: startFormulas(),
    shared: new Map(),
    sharedChars: 0,
    merged: [],
    mergedCount: 0,
    links: [],
    linksCount: 0,
    hiddenRows: 0,
  };
  let row: Row = { number: 0, columns: [], texts: [], chars: 0 };
  let column = 0;
  const finishRow = (): void => {
    if (row.columns.length > 0) onRow(row);
  };
  for (let event = xml.next(); event !== "end"; event = xml.next()) {
    if (event !== "open") continue;
    switch (xml.name) {
      case "row": {
        // Places may be left out: then each is next to the one before.
        const number = Number(xml.attribute("r"));
        finishRow();
        if (workbook.rowsLeft === 0) {
          workbook.cut = "rows";
          return sheet;
        }
        workbook.rowsLeft -= 1;
        row = {
          number: Number.isInteger(number) && number > 0 ? number : row.number + 1,
          columns: [],
          texts: [],
          chars: 0,
        };
        column = 0;
        if (isTrue(xml.attribute("hidden"))) sheet.hiddenRows += 1;
        break;
      }
      case "c": {
        if (workbook.cellsLeft === 0) {
          workbook.cut = "cells";
          finishRow();
          return sheet;
        }
        workbook.cellsLeft -= 1;
        column = columnOf(xml.attribute("r")) ?? column + 1;
        const text = readCell(xml, row.number, column, workbook, sheet);
        // No program could write a cell outside the sheet, or more of them than a row has.
        if (text === "" || row.number > rowsMax || column > columnsMax || row.columns.length >= columnsMax) break;
        row.columns.push(column);
        row.texts.push(text);
        row.chars += text.length;
        checkText(row.chars, `row ${row.number}`);
        break;
      }
      case "mergeCell":
        sheet.mergedCount += 1;
        if (sheet.merged.length < listedMax) sheet.merged.push(xml.attribute("ref") ?? "");
        break;
      case "hyperlink":
        sheet.linksCount += 1;
        if (sheet.links.length < listedMax) sheet.links.push([xml.attribute("ref") ?? "", xml.prefixed("id") ?? ""]);
        break;
    }
  }
  finishRow();
  return sheet;
}

/** Of an address like "AB12"; undefined if it has no letters. */
function columnOf(address: string | undefined): number | undefined {
  if (address === undefined) return undefined;
  let letters = 0;
  while (letters < 4 && address.charCodeAt(letters) >= 0x41) letters += 1;
  return letters === 0 ? undefined : columnNumber(address.slice(0, letters));
}

/** Of the shared formulas that are held. */
const sharedCharsMax = 4_000_000;

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
    if (formula !== "" && sheet.sharedChars < sharedCharsMax) {
      const shared = sharedFormula(row, column, formula);
      sheet.sharedChars += shared.formula.length + shared.relative.length;
      sheet.shared.set(sharedAs, shared);
    }
    const shared = sheet.shared.get(sharedAs);
    if (shared === undefined) return text;
    if (!isCalculated) {
      const moved = `=${movedTo(row, column, shared)}`;
      workbook.spend(moved.length);
      return moved;
    }
    if (workbook.formulas) sheet.formulas.addShared(row, column, shared);
    return text;
  }
  if (formula === "") return text;
  if (!isCalculated) return `=${formula}`;
  if (!workbook.formulas) return text;
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
      return raw === "" ? "" : workbook.strings.at(Number(raw));
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

/** The texts that cells share, by number. There can be millions: as bytes they take no more memory than the file. */
export interface Strings {
  add(text: string): void;
  /** Empty if there is none of that number. */
  at(index: number): string;
}

export function startStrings(): Strings {
  let bytes = Buffer.allocUnsafeSlow(65_536);
  let ends = new Uint32Array(1_024);
  let count = 0;
  let used = 0;
  return {
    add(text) {
      const size = Buffer.byteLength(text);
      if (used + size > bytes.length) {
        const larger = Buffer.allocUnsafeSlow(Math.max(used + size, bytes.length * 2));
        larger.set(bytes.subarray(0, used));
        bytes = larger;
      }
      if (count === ends.length) {
        const longer = new Uint32Array(count * 2);
        longer.set(ends);
        ends = longer;
      }
      used += bytes.write(text, used);
      ends[count] = used;
      count += 1;
    },
    at: (index) =>
      index >= 0 && index < count ? bytes.toString("utf8", index === 0 ? 0 : ends[index - 1], ends[index]) : "",
  };
}

export const isTrue = (value: string | undefined): boolean => value === "1" || value === "true";
