/**
 * A workbook as Markdown: a table per sheet, whose head is the column letters and whose first column the row numbers, so
 * that every cell keeps its address. Cells show their values; formulas, merged cells and links are listed below.
 */

import { cutChars } from "../../text/encoding.ts";
import type { XmlReader } from "../xml.ts";
import { counted, type Markdown, tableRow } from "./markdown.ts";
import { openRelated, type Part, type Relationships } from "./package.ts";
import type { Made, Reading } from "./reading.ts";
import { type DateStyles, dateText, readDateStyles } from "./xlsx-dates.ts";
import { columnLetters, columnNumber, type Formulas, startFormulas } from "./xlsx-formulas.ts";

interface Workbook {
  readonly strings: readonly string[];
  readonly dates: DateStyles;
  readonly epoch: 1900 | 1904;
  /** Cells that may still be read. */
  cellsLeft: number;
}

interface SheetEntry {
  readonly name: string;
  readonly id: string;
  readonly hidden: boolean;
}

export async function readWorkbook({ main, office, markdown, leftOut, cellsMax }: Reading): Promise<Made> {
  const { sheets, epoch } = await readSheetList(main);
  const relationships = await office.relationships(main.name);
  const workbook: Workbook = {
    strings: await readStrings(await openRelated(office, relationships, "sharedStrings")),
    dates: await readDateStyles(await openRelated(office, relationships, "styles")),
    epoch,
    cellsLeft: cellsMax,
  };
  const notes: string[] = [];
  const parts: string[] = [];
  for (const [index, sheet] of sheets.entries()) {
    const related = relationships.get(sheet.id);
    if (related?.type !== "worksheet") {
      leftOut.add("chart or macro sheet");
      continue;
    }
    const part = await office.open(related.target);
    if (part === undefined) {
      leftOut.add("missing sheet");
      continue;
    }
    const content = await readSheet(part, workbook);
    const links = content.links.size === 0 ? new Map() : await office.relationships(part.name);
    await writeSheet(sheet, content, links, { office, markdown });
    parts.push(sheet.name);
    if (content.hiddenRows > 0) notes.push(`"${sheet.name}": ${counted(content.hiddenRows, "hidden row")} shown`);
    if (workbook.cellsLeft === 0) {
      const unread = sheets.length - index - 1;
      notes.push(
        `only the first ${cellsMax} cells are read: "${sheet.name}" is cut, ${counted(unread, "sheet")} left out`,
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

const nameCharsMax = 200;

async function readSheetList(
  part: Part,
): Promise<{ readonly sheets: readonly SheetEntry[]; readonly epoch: 1900 | 1904 }> {
  const { xml } = part;
  const sheets: SheetEntry[] = [];
  let epoch: 1900 | 1904 = 1900;
  for (let event = xml.next(); event !== "end"; event = xml.next()) {
    const rest = part.rest();
    if (rest !== undefined) await rest;
    if (event !== "open") continue;
    if (xml.name === "workbookPr" && isTrue(xml.attribute("date1904"))) epoch = 1904;
    if (xml.name !== "sheet") continue;
    const name = cutChars((xml.attribute("name") ?? "").replace(/\s+/g, " "), nameCharsMax);
    sheets.push({ name, id: xml.prefixed("id") ?? "", hidden: (xml.attribute("state") ?? "visible") !== "visible" });
  }
  return { sheets, epoch };
}

const isTrue = (value: string | undefined): boolean => value === "1" || value === "true";

async function readStrings(part: Part | undefined): Promise<readonly string[]> {
  const strings: string[] = [];
  if (part === undefined) return strings;
  const { xml } = part;
  for (let event = xml.next(); event !== "end"; event = xml.next()) {
    const rest = part.rest();
    if (rest !== undefined) await rest;
    if (event === "open" && xml.name === "si") strings.push(readRichText(xml));
  }
  return strings;
}

/** The runs of a text, without the reading aid above East Asian characters. */
function readRichText(xml: XmlReader): string {
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

interface Row {
  readonly number: number;
  /** From 1, beside the texts. Cells without text are not kept. */
  readonly columns: number[];
  readonly texts: string[];
}

interface Sheet {
  readonly rows: Row[];
  /** Every column that has a text. */
  readonly columns: Set<number>;
  readonly formulas: Formulas;
  readonly merged: string[];
  /** Cells to the ids of what they lead to. */
  readonly links: Map<string, string>;
  hiddenRows: number;
}

const rowsMax = 1_048_576;
const columnsMax = 16_384;

async function readSheet(part: Part, workbook: Workbook): Promise<Sheet> {
  const { xml } = part;
  const sheet: Sheet = {
    rows: [],
    columns: new Set(),
    formulas: startFormulas(),
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
        if (workbook.cellsLeft === 0) return sheet;
        workbook.cellsLeft -= 1;
        column = columnOf(xml.attribute("r")) ?? column + 1;
        const text = readCell(xml, row.number, column, workbook, sheet.formulas);
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

function readCell(xml: XmlReader, row: number, column: number, workbook: Workbook, formulas: Formulas): string {
  const type = xml.attribute("t");
  const style = xml.attribute("s");
  let raw = "";
  let formula = "";
  let range: string | undefined;
  const depth = xml.depth;
  for (let event = xml.nextIn(depth); event !== undefined; event = xml.nextIn(depth)) {
    if (event !== "open") continue;
    if (xml.name === "v") raw = xml.textInside();
    else if (xml.name === "is") raw = readRichText(xml);
    else if (xml.name === "f") {
      range = xml.attribute("ref");
      formula = xml.textInside();
    }
  }
  const text = valueText(raw, type, style, workbook);
  if (formula === "") return text;
  // Written by a program that does not calculate, a cell has only its formula.
  if (text === "") return `=${formula}`;
  if (range === undefined) formulas.add(row, column, formula);
  else formulas.addRange(range, formula);
  return text;
}

/** As many digits as a number can be told apart by; more are noise of the conversion ("0.10000000000000001"). */
const digitsMax = 15;

function valueText(raw: string, type: string | undefined, style: string | undefined, workbook: Workbook): string {
  switch (type) {
    case "s":
      return workbook.strings[Number(raw)] ?? "";
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

const listedMax = 100;

/** Rows that are written before others may work. */
const rowsBetweenRests = 1_000;

async function writeSheet(
  entry: SheetEntry,
  sheet: Sheet,
  links: Relationships,
  { office, markdown }: Pick<Reading, "office" | "markdown">,
): Promise<void> {
  const rows = sheet.rows.filter((row) => row.columns.length > 0);
  const columns = [...sheet.columns].sort((one, other) => one - other);
  const range = rangeOf(rows, columns);
  markdown.block(`## Sheet "${entry.name}" (${range}${entry.hidden ? ", hidden" : ""})`);

  const cells = rows.reduce((sum, row) => sum + row.columns.length, 0);
  const sparse = rows.length * columns.length > Math.max(200, cells * 6);
  const slots = new Map(columns.map((column, slot) => [column, slot + 1]));
  if (rows.length > 0 && !sparse) {
    markdown.block(tableRow(["", ...columns.map(columnLetters)]));
    markdown.line(`|${" --- |".repeat(columns.length + 1)}`);
  }
  for (const [index, row] of rows.entries()) {
    if (index % rowsBetweenRests === rowsBetweenRests - 1) await office.rest();
    // One shared text can stand in every cell: the row must not be put together before it is known to fit.
    markdown.reserve(row.texts.reduce((sum, text) => sum + text.length, 0));
    if (!sparse) markdown.line(filledRow(row, slots));
    else if (index === 0) markdown.block(listRow(row));
    else markdown.line(listRow(row));
  }

  const { lines, leftOut } = sheet.formulas.finish();
  if (lines.length > 0) markdown.block("Formulas:");
  for (const line of lines) markdown.line(line);
  if (leftOut > 0) markdown.line(`- and ${counted(leftOut, "more formula")}`);
  writeList("Merged", sheet.merged, markdown);
  writeList(
    "Links",
    [...sheet.links].flatMap(([ref, id]) => {
      const target = links.get(id);
      return target?.external === true ? [`${ref} ${target.target}`] : [];
    }),
    markdown,
  );
}

function writeList(title: string, items: readonly string[], markdown: Markdown): void {
  if (items.length === 0) return;
  const shown = items.slice(0, listedMax).map((item) => cutChars(item, 2_000));
  const more = items.length > listedMax ? ` and ${items.length - listedMax} more` : "";
  markdown.block(`${title}: ${shown.join(", ")}${more}`);
}

/** From the first to the last cell that has a value; what a sheet says of its own extent is often wrong. */
function rangeOf(rows: readonly Row[], columns: readonly number[]): string {
  const [firstColumn] = columns;
  const lastColumn = columns.at(-1);
  if (firstColumn === undefined || lastColumn === undefined) return "empty";
  let top = rowsMax;
  let bottom = 1;
  for (const { number } of rows) {
    top = Math.min(top, number);
    bottom = Math.max(bottom, number);
  }
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

/** Where cells are few and far between, each with its address. */
function listRow(row: Row): string {
  return row.texts
    .map((text, index) => `${columnLetters(row.columns[index] ?? 0)}${row.number}: ${text.replace(/\s+/g, " ")}`)
    .join(" | ");
}
