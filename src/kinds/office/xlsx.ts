/**
 * A workbook as Markdown: a table per sheet, whose head is the column letters and whose first column the row numbers, so
 * that every cell keeps its address. Cells show their values; formulas, merged cells and links are listed below.
 */

import { cutChars } from "../../text/encoding.ts";
import type { XmlReader } from "../xml.ts";
import { counted, type Markdown, tableRow } from "./markdown.ts";
import { openRelated, type Part, type Relationships } from "./package.ts";
import type { Made, Reading } from "./reading.ts";
import { readDateStyles } from "./xlsx-dates.ts";
import { columnLetters } from "./xlsx-formulas.ts";
import {
  isTrue,
  listedMax,
  type Row,
  readRichText,
  readSheet,
  rowsMax,
  type Sheet,
  type Strings,
  startStrings,
  type Workbook,
} from "./xlsx-sheet.ts";
import { checkHeld } from "./unreadable.ts";

interface SheetEntry {
  readonly name: string;
  readonly id: string;
  readonly hidden: boolean;
}

export function readWorkbook({ main, office, markdown, leftOut, cellsMax }: Reading): Made {
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
    const content = writeSheet(sheet, extent, { xml: part.again(), workbook, markdown });
    const links = content.links.length === 0 ? new Map() : office.relationships(part.name);
    writeLists(content, links, markdown);
    parts.push(sheet.name);
    if (content.hiddenRows > 0) notes.push(`"${sheet.name}": ${counted(content.hiddenRows, "hidden row")} shown`);
    if (workbook.cut !== undefined) {
      const unread = sheets.length - index - 1;
      notes.push(
        `only the first ${cellsMax} ${workbook.cut} are read: "${sheet.name}" is cut, ${counted(unread, "sheet")} left out`,
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

function readSheetList(part: Part): { readonly sheets: readonly SheetEntry[]; readonly epoch: 1900 | 1904 } {
  const { xml } = part;
  const sheets: SheetEntry[] = [];
  let epoch: 1900 | 1904 = 1900;
  for (let event = xml.next(); event !== "end"; event = xml.next()) {
    if (event !== "open") continue;
    if (xml.name === "workbookPr" && isTrue(xml.attribute("date1904"))) epoch = 1904;
    if (xml.name !== "sheet") continue;
    const name = cutChars((xml.attribute("name") ?? "").replace(/\s+/g, " "), nameCharsMax);
    checkHeld(sheets.length, "sheets");
    sheets.push({ name, id: xml.prefixed("id") ?? "", hidden: (xml.attribute("state") ?? "visible") !== "visible" });
  }
  return { sheets, epoch };
}

function readStrings(part: Part | undefined): Strings {
  const strings = startStrings();
  if (part === undefined) return strings;
  const { xml } = part;
  for (let event = xml.next(); event !== "end"; event = xml.next()) {
    if (event === "open" && xml.name === "si") strings.add(readRichText(xml));
  }
  return strings;
}

/** How far a sheet goes: from the first to the last cell that has a value; what it says of its own extent is often wrong. */
interface Extent {
  readonly columns: readonly number[];
  readonly rows: number;
  readonly cells: number;
  readonly top: number;
  readonly bottom: number;
}

/** A first look, so that the second can write row by row: no row is held longer than it takes to write it. */
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

interface Writing extends Pick<Reading, "markdown"> {
  readonly xml: XmlReader;
  readonly workbook: Workbook;
}

function writeSheet(entry: SheetEntry, extent: Extent, { xml, workbook, markdown }: Writing): Sheet {
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
    // One shared text can stand in every cell: the row must not be put together before it is known to fit.
    markdown.reserve(row.chars);
    if (!sparse) markdown.line(filledRow(row, slots));
    else if (isFirst) markdown.block(listRow(row));
    else markdown.line(listRow(row));
    isFirst = false;
  });
}

/** What stands below the cells. */
function writeLists(sheet: Sheet, links: Relationships, markdown: Markdown): void {
  const { lines, leftOut } = sheet.formulas.finish();
  if (lines.length > 0) markdown.block("Formulas:");
  for (const line of lines) markdown.line(line);
  if (leftOut > 0) markdown.line(`- and ${counted(leftOut, "more formula")}`);
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

/** Where cells are few and far between, each with its address. */
function listRow(row: Row): string {
  return row.texts
    .map((text, index) => `${columnLetters(row.columns[index] ?? 0)}${row.number}: ${text.replace(/\s+/g, " ")}`)
    .join(" | ");
}
