/** Converts a workbook to Markdown: a table per sheet with cell addresses; formulas, merged cells and links below it. */

import { Buffer } from "node:buffer";
import { cutChars } from "../../text/text.ts";
import { countNoun, type Markdown, tableRow } from "./markdown.ts";
import { openRelated, type Part, type Relationships } from "./package.ts";
import { checkCount, type OfficeSummary, type OfficeReading } from "./unreadable.ts";
import { checkText, type XmlReader } from "./xml.ts";

export function readWorkbook({ main, office, markdown, leftOut, cellsMax }: OfficeReading): OfficeSummary {
  const { sheets, epoch } = readSheetList(main);
  const relationships = office.relationships(main.name);
  const workbook: Workbook = {
    strings: readStrings(openRelated(office, relationships, "sharedStrings")),
    dates: readDateStyles(openRelated(office, relationships, "styles")),
    epoch,
    cellsLeft: cellsMax,
    rowsLeft: cellsMax,
    cut: undefined,
    formulas: true,
    spend: (chars) => markdown.spend(chars),
  };
  const notes: string[] = [];
  const parts: string[] = [];
  for (const [index, sheet] of sheets.entries()) {
    const related = relationships.get(sheet.id);
    if (related?.type !== "worksheet") {
      leftOut.add("chart or macro sheet");
      continue;
    }
    const part = office.open(related.target);
    if (part === undefined) {
      leftOut.add("missing sheet");
      continue;
    }
    const extent = measureSheet(part.xml, workbook, markdown);
    const content = writeSheet(sheet, extent, part.again(), workbook, markdown);
    const links = content.links.length === 0 ? new Map() : office.relationships(part.name);
    writeLists(content, links, markdown);
    parts.push(sheet.name);
    if (content.hiddenRows > 0) notes.push(`"${sheet.name}": ${countNoun(content.hiddenRows, "hidden row")} shown`);
    if (workbook.cut !== undefined) {
      const unread = sheets.length - index - 1;
      notes.push(
        `only the first ${cellsMax} ${workbook.cut} are read: "${sheet.name}" is cut, ${countNoun(unread, "sheet")} left out`,
      );
      break;
    }
  }
  leftOut.add("chart", office.count("xl/charts/chart"));
  leftOut.add("image", office.count("xl/media/"));
  leftOut.add("comment list", office.count("xl/comments"));
  leftOut.add("pivot table definition", office.count("xl/pivottables/pivottable"));
  return { parts, notes };
}

interface SheetEntry {
  readonly name: string;
  readonly id: string;
  readonly hidden: boolean;
}

/** Excel allows 31 characters; hostile names are cut. */
const nameCharsMax = 200;

function readSheetList(part: Part): { readonly sheets: readonly SheetEntry[]; readonly epoch: 1900 | 1904 } {
  const { xml } = part;
  const sheets: SheetEntry[] = [];
  let epoch: 1900 | 1904 = 1900;
  for (const element of xml.opened()) {
    if (element === "workbookPr" && isTrue(xml.attribute("date1904"))) epoch = 1904;
    if (element !== "sheet") continue;
    const name = cutChars((xml.attribute("name") ?? "").replace(/\s+/g, " "), nameCharsMax);
    checkCount(sheets.length, "sheets");
    sheets.push({ name, id: xml.prefixed("id") ?? "", hidden: (xml.attribute("state") ?? "visible") !== "visible" });
  }
  return { sheets, epoch };
}

function readStrings(part: Part | undefined) {
  const strings = createStrings();
  if (part === undefined) return strings;
  for (const name of part.xml.opened()) if (name === "si") strings.add(readRichText(part.xml));
  return strings;
}

/** From the first to the last cell that has a value; the extent that a sheet declares is often wrong. */
interface Extent {
  readonly columns: readonly number[];
  readonly rows: number;
  readonly cells: number;
  readonly top: number;
  readonly bottom: number;
}

/** A first pass over the sheet, so that the second can write row by row and keep only one row in memory. */
function measureSheet(xml: XmlReader, workbook: Workbook, markdown: Markdown): Extent {
  const columns = new Set<number>();
  let [rows, cells, chars, top, bottom] = [0, 0, 0, rowsMax, 1];
  readSheet(xml, { ...workbook, formulas: false, spend: () => undefined }, (row) => {
    rows += 1;
    cells += row.columns.length;
    chars += row.chars;
    markdown.reserve(chars);
    top = Math.min(top, row.number);
    bottom = Math.max(bottom, row.number);
    for (const column of row.columns) columns.add(column);
  });
  return { columns: [...columns].sort((one, other) => one - other), rows, cells, top, bottom };
}

function writeSheet(entry: SheetEntry, extent: Extent, xml: XmlReader, workbook: Workbook, markdown: Markdown): Sheet {
  const { columns, rows, cells } = extent;
  markdown.block(`## Sheet "${entry.name}" (${rangeOf(extent)}${entry.hidden ? ", hidden" : ""})`);
  const sparse = rows * columns.length > Math.max(200, cells * 6);
  const slots = new Map(columns.map((column, slot) => [column, slot + 1]));
  if (rows > 0 && !sparse) {
    markdown.block(tableRow(["", ...columns.map(columnLetters)]));
    markdown.line(`|${" --- |".repeat(columns.length + 1)}`);
  }
  let isFirst = true;
  return readSheet(xml, workbook, (row) => {
    // Every cell can have the same long shared text: the size is checked before the row is built.
    markdown.reserve(row.chars);
    if (!sparse) markdown.line(filledRow(row, slots));
    else if (isFirst) markdown.block(listRow(row));
    else markdown.line(listRow(row));
    isFirst = false;
  });
}

function writeLists(sheet: Sheet, links: Relationships, markdown: Markdown): void {
  const { lines, leftOut } = sheet.formulas.finish();
  if (lines.length > 0) markdown.block("Formulas:");
  for (const line of lines) markdown.line(line);
  if (leftOut > 0) markdown.line(`- and ${countNoun(leftOut, "more formula")}`);
  writeList("Merged", sheet.merged, sheet.mergedCount, markdown);
  const addresses = sheet.links.flatMap(([cell, id]) => {
    const target = links.get(id);
    return target?.external === true ? [`${cell} ${target.target}`] : [];
  });
  writeList("Links", addresses, addresses.length + sheet.linksCount - sheet.links.length, markdown);
}

function writeList(title: string, items: readonly string[], total: number, markdown: Markdown): void {
  if (items.length === 0) return;
  const shown = items.slice(0, listedMax).map((item) => cutChars(item, 2_000));
  const more = total > shown.length ? ` and ${total - shown.length} more` : "";
  markdown.block(`${title}: ${shown.join(", ")}${more}`);
}

function rangeOf({ columns, top, bottom }: Extent): string {
  const [firstColumn] = columns;
  const lastColumn = columns.at(-1);
  if (firstColumn === undefined || lastColumn === undefined) return "empty";
  const from = `${columnLetters(firstColumn)}${top}`;
  const to = `${columnLetters(lastColumn)}${bottom}`;
  return from === to ? from : `${from}:${to}`;
}

function filledRow(row: Row, slots: ReadonlyMap<number, number>): string {
  const cells = [String(row.number)];
  for (const [index, column] of row.columns.entries()) {
    const slot = slots.get(column) ?? cells.length;
    while (cells.length < slot) cells.push("");
    cells[slot] = row.texts[index] ?? "";
  }
  return tableRow(cells);
}

function listRow(row: Row): string {
  return row.texts
    .map((text, index) => `${columnLetters(row.columns[index] ?? 0)}${row.number}: ${text.replace(/\s+/g, " ")}`)
    .join(" | ");
}

// Reads the cells of a sheet as the texts that they show.

interface Workbook {
  readonly strings: ReturnType<typeof createStrings>;
  readonly dates: DateStyles;
  readonly epoch: 1900 | 1904;
  cellsLeft: number;
  rowsLeft: number;
  cut: "cells" | "rows" | undefined;
  readonly formulas: boolean;
  /** Throws if so many more characters exceed the limit, for text that the file has once and uses often. */
  readonly spend: (chars: number) => void;
}

/** The runs of a text, without ruby text above East Asian characters. */
function readRichText(xml: XmlReader): string {
  let text = "";
  for (const name of xml.opened()) {
    if (name === "t") text += xml.textInside();
    else if (name === "rPh" || name === "rPr") xml.skip();
  }
  // Excel escapes characters that XML cannot contain.
  return text.includes("_x") ? text.replace(/_x000[dD]_/g, "").replace(/_x000[aA]_/g, "\n") : text;
}

interface Row {
  readonly number: number;
  /** From 1, in step with `texts`. Cells without text are left out. */
  readonly columns: number[];
  readonly texts: string[];
  chars: number;
}

interface Sheet {
  readonly formulas: ReturnType<typeof startFormulas>;
  readonly shared: Map<string, SharedFormula>;
  sharedChars: number;
  readonly merged: string[];
  mergedCount: number;
  readonly links: (readonly [cell: string, id: string])[];
  linksCount: number;
  hiddenRows: number;
}

/** Excel's own limits. */
const [rowsMax, columnsMax] = [1_048_576, 16_384];

/** Merged cells and links that are listed. */
const listedMax = 100;

function readSheet(xml: XmlReader, workbook: Workbook, onRow: (row: Row) => void): Sheet {
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
  for (const name of xml.opened()) {
    if (name === "row") {
      finishRow();
      if (workbook.rowsLeft === 0) {
        workbook.cut = "rows";
        return sheet;
      }
      workbook.rowsLeft -= 1;
      // The position is optional: without it, a row or cell follows the one before.
      const number = Number(xml.attribute("r"));
      const isGiven = Number.isInteger(number) && number > 0;
      row = { number: isGiven ? number : row.number + 1, columns: [], texts: [], chars: 0 };
      column = 0;
      if (isTrue(xml.attribute("hidden"))) sheet.hiddenRows += 1;
    } else if (name === "c") {
      if (workbook.cellsLeft === 0) {
        workbook.cut = "cells";
        break;
      }
      workbook.cellsLeft -= 1;
      column = columnOf(xml.attribute("r")) ?? column + 1;
      const text = readCell(xml, row.number, column, workbook, sheet);
      // No program writes a cell outside of the sheet, or more of them than a row has.
      if (text === "" || row.number > rowsMax || column > columnsMax || row.columns.length >= columnsMax) continue;
      row.columns.push(column);
      row.texts.push(text);
      row.chars += text.length;
      checkText(row.chars, `row ${row.number}`);
    } else if (name === "mergeCell") {
      sheet.mergedCount += 1;
      if (sheet.merged.length < listedMax) sheet.merged.push(xml.attribute("ref") ?? "");
    } else if (name === "hyperlink") {
      sheet.linksCount += 1;
      if (sheet.links.length < listedMax) sheet.links.push([xml.attribute("ref") ?? "", xml.prefixed("id") ?? ""]);
    }
  }
  finishRow();
  return sheet;
}

function columnOf(address: string | undefined): number | undefined {
  if (address === undefined) return undefined;
  let letters = 0;
  while (letters < 4 && address.charCodeAt(letters) >= 0x41) letters += 1;
  return letters === 0 ? undefined : columnNumber(address.slice(0, letters));
}

/** For the shared formulas in memory. */
const sharedCharsMax = 4_000_000;

function readCell(xml: XmlReader, row: number, column: number, workbook: Workbook, sheet: Sheet): string {
  const type = xml.attribute("t");
  const style = xml.attribute("s");
  let raw: string | undefined;
  let formula = "";
  let range: string | undefined;
  let sharedAs: string | undefined;
  for (const name of xml.opened()) {
    if (name === "v") raw = xml.textInside();
    else if (name === "is") raw = readRichText(xml);
    else if (name === "f") {
      range = xml.attribute("ref");
      sharedAs = xml.attribute("t") === "shared" ? xml.attribute("si") : undefined;
      formula = xml.textInside();
    }
  }
  const text = valueText(raw ?? "", type, style, workbook);
  // A program that does not calculate writes only the formula. A formula whose result is an empty text has a value.
  const isCalculated = text !== "" || (raw !== undefined && type === "str");
  if (sharedAs !== undefined) {
    // The range of a shared formula may contain cells with other formulas.
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

/** The precision of a double; more digits are noise of the conversion ("0.10000000000000001"). */
const digitsMax = 15;

function valueText(raw: string, type: string | undefined, style: string | undefined, workbook: Workbook): string {
  switch (type) {
    case "s":
      // Without a value the index would be 0, the first shared text.
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

/** Texts that cells share, by index. There can be millions: as bytes they take no more memory than the file. */
function createStrings() {
  let bytes = Buffer.allocUnsafeSlow(65_536);
  let ends = new Uint32Array(1_024);
  let count = 0;
  let used = 0;
  return {
    add(text: string): void {
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
    at: (index: number) =>
      index >= 0 && index < count ? bytes.toString("utf8", index === 0 ? 0 : ends[index - 1], ends[index]) : "",
  };
}

const isTrue = (value: string | undefined): boolean => value === "1" || value === "true";

// Dates in a workbook are numbers; only the number format of the cell shows that they are dates.

export type DateKind = "date" | "time" | "date and time" | "elapsed";

/** The kind of date that each cell style shows, by its index; undefined for other numbers. */
type DateStyles = readonly (DateKind | undefined)[];

/** The built-in formats below 164, which no file declares. 27 to 36 and 50 to 58 are those of East Asian languages. */
function builtInKind(id: number): DateKind | undefined {
  if (id === 22) return "date and time";
  if (id === 46) return "elapsed";
  if ((id >= 18 && id <= 21) || (id >= 32 && id <= 35) || id === 45 || id === 47 || id === 55 || id === 56)
    return "time";
  return (id >= 14 && id <= 17) || (id >= 27 && id <= 36) || (id >= 50 && id <= 58) ? "date" : undefined;
}

function readDateStyles(part: Part | undefined): DateStyles {
  const styles: (DateKind | undefined)[] = [];
  if (part === undefined) return styles;
  const { xml } = part;
  const own = new Map<number, DateKind | undefined>();
  let inCells = false;
  for (let event = xml.next(); event !== "end"; event = xml.next()) {
    checkCount(styles.length + own.size, "cell styles");
    if (event === "text") continue;
    if (xml.name === "cellXfs") inCells = event === "open";
    if (event === "close") continue;
    if (xml.name === "numFmt") {
      own.set(Number(xml.attribute("numFmtId")), kindOfFormat(xml.attribute("formatCode") ?? ""));
    } else if (xml.name === "xf" && inCells) {
      const id = Number(xml.attribute("numFmtId"));
      styles.push(own.has(id) ? own.get(id) : builtInKind(id));
    }
  }
  return styles;
}

/** Excel's own limit. */
const formatCharsMax = 255;

/** The first section decides; texts, escaped characters, colours and conditions do not matter. */
export function kindOfFormat(code: string): DateKind | undefined {
  const section = code
    .slice(0, formatCharsMax)
    .toLowerCase()
    .replace(/"[^"]*"|\\.|_.|\*./g, "")
    .split(";", 1)[0];
  if (section === undefined || section === "general") return undefined;
  if (/\[(?:h+|m+|s+)\]/.test(section)) return "elapsed";
  const letters = section.replace(/\[[^\]]*\]|am\/pm|a\/p/g, "");
  const time = /[hs]/.test(letters);
  const date = /[yd]/.test(letters) || (!time && letters.includes("m"));
  return date ? (time ? "date and time" : "date") : time ? "time" : undefined;
}

const daySeconds = 86_400;
const dayMs = 86_400_000; // a day
/** The last day of the year 9999. */
const daysMax = 2_958_465;

/** A stored number as an ISO 8601 date; undefined if it is out of range. `epoch` is the workbook's first year. */
function dateText(serial: number, kind: DateKind, epoch: 1900 | 1904): string | undefined {
  if (!(serial >= 0 && serial < daysMax + 1)) return undefined;
  const seconds = Math.round(serial * daySeconds);
  const days = Math.floor(seconds / daySeconds);
  const ofDay = seconds % daySeconds;
  if (kind === "elapsed") return clock(seconds);
  if (kind === "time" && days === 0) return clock(ofDay).padStart(8, "0");
  const date = dayText(days, epoch);
  return kind === "date" && ofDay === 0 ? date : `${date}T${clock(ofDay).padStart(8, "0")}`;
}

function dayText(days: number, epoch: 1900 | 1904): string {
  if (epoch === 1904) return isoDay(Date.UTC(1904, 0, 1) + days * dayMs);
  // Lotus 1-2-3 had a 29th of February 1900, which never existed, so Excel counts it.
  if (days === 60) return "1900-02-29";
  return isoDay(Date.UTC(1899, 11, days < 60 ? 31 : 30) + days * dayMs);
}

const isoDay = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

const twoDigits = (part: number): string => (part < 10 ? `0${part}` : String(part));

const clock = (seconds: number): string =>
  `${Math.floor(seconds / 3_600)}:${twoDigits(Math.floor(seconds / 60) % 60)}:${twoDigits(seconds % 60)}`;

// The formulas of a sheet; one that was filled down a column is listed once.

interface SharedFormula {
  readonly row: number;
  readonly column: number;
  readonly formula: string;
  readonly relative: string;
}

const sharedFormula = (row: number, column: number, formula: string): SharedFormula => ({
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
  readonly relative: string;
}

/** Formulas that are listed for one sheet; the rest is counted. */
const runsMax = 200;
/** For the formulas that the next row is compared with. */
const openCharsMax = 4_000_000;
/** For all comparisons of a sheet. */
const comparedTotalMax = 16_000_000;
/** Enough to recognise a formula; longer ones are cut. */
const formulaCharsMax = 500;
/** Excel's own limit for a formula. */
const comparedCharsMax = 8_192;

function startFormulas() {
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
    // Moving references takes time, and a file can have millions of formulas: only listed ones are moved.
    const listed = found.length < runsMax ? formula() : "";
    const next = { column, fromRow: row, toRow: row, formula: listed, relative };
    // Bounds memory: a formula can be as long as a page, and a sheet has 16,384 columns.
    openChars += relative.length - (run?.relative.length ?? 0);
    if (openChars > openCharsMax) {
      open.clear();
      openChars = relative.length;
    }
    open.set(column, next);
    keep(next);
  };
  return {
    add(row: number, column: number, formula: string): void {
      comparedChars += formula.length;
      // In a sheet of nothing but formulas, those that are not listed are only counted.
      if (comparedChars > comparedTotalMax && found.length >= runsMax) leftOut += 1;
      else add(row, column, relativeTo(row, column, formula), () => formula);
    },
    /** For a cell that shares the formula of another cell, with its references moved. */
    addShared: (row: number, column: number, shared: SharedFormula): void =>
      add(row, column, shared.relative, () => movedTo(row, column, shared)),
    addRange: (range: string, formula: string): void => keep(lineOf(range, formula)),
    finish: () => ({ lines: found.map((run) => (typeof run === "string" ? run : runLine(run))), leftOut }),
  };
}

function runLine({ column, fromRow, toRow, formula }: Run): string {
  const letters = columnLetters(column);
  return lineOf(fromRow === toRow ? `${letters}${fromRow}` : `${letters}${fromRow}:${letters}${toRow}`, formula);
}

const lineOf = (range: string, formula: string): string =>
  `- ${cutChars(range, 40)}: =${cutChars(formula, formulaCharsMax).replace(/\s+/g, " ")}`;

/** A text or sheet name, which contains no reference, or a reference. */
const pieces = /"(?:[^"]|"")*"|'(?:[^']|'')*'|(?<![\w.$])(\$?)([A-Z]{1,3})(\$?)([0-9]{1,7})(?![\w(.])/g;

type Reference = (fixedColumn: string, letters: string, fixedRow: string, digits: string) => string;

const withReferences = (formula: string, changed: Reference): string =>
  formula
    .slice(0, comparedCharsMax)
    .replace(pieces, (whole: string, fixedColumn = "", letters?: string, fixedRow = "", digits = "") =>
      letters === undefined ? whole : changed(fixedColumn, letters, fixedRow, digits),
    );

const relativeTo = (row: number, column: number, formula: string): string =>
  withReferences(formula, (fixedColumn, letters, fixedRow, digits) => {
    const columnPart = fixedColumn === "$" ? letters : `[${columnNumber(letters) - column}]`;
    return `C${columnPart}R${fixedRow === "$" ? digits : `[${Number(digits) - row}]`}`;
  });

const movedTo = (row: number, column: number, shared: SharedFormula): string =>
  withReferences(shared.formula, (fixedColumn, letters, fixedRow, digits) => {
    const newColumn = columnNumber(letters) + (fixedColumn === "$" ? 0 : column - shared.column);
    const newRow = Number(digits) + (fixedRow === "$" ? 0 : row - shared.row);
    if (newColumn < 1 || newRow < 1) return "#REF!";
    return `${fixedColumn}${columnLetters(newColumn)}${fixedRow}${newRow}`;
  });

function columnNumber(letters: string): number {
  let number = 0;
  for (let at = 0; at < letters.length; at += 1) number = number * 26 + (letters.charCodeAt(at) & 0x1f);
  return number;
}

function columnLetters(column: number): string {
  let letters = "";
  for (let left = column; left > 0; left = Math.floor((left - 1) / 26)) {
    letters = String.fromCharCode(0x41 + ((left - 1) % 26)) + letters;
  }
  return letters;
}
