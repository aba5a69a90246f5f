/**
 * A workbook as Markdown: a table per sheet, whose head is the column letters and whose first column the row numbers, so
 * that every cell keeps its address. Cells show their values; formulas, merged cells and links are listed below.
 */

import { cutChars } from "../../text/encoding.ts";
import { counted, type Markdown, tableRow } from "./markdown.ts";
import { openRelated, type Part, type Relationships } from "./package.ts";
import type { Made, Reading } from "./reading.ts";
import { readDateStyles } from "./xlsx-dates.ts";
import { columnLetters } from "./xlsx-formulas.ts";
import { isTrue, type Row, readRichText, readSheet, rowsMax, type Sheet, type Workbook } from "./xlsx-sheet.ts";

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
    isCut: false,
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
    if (workbook.isCut) {
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
