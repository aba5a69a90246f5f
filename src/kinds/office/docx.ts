/**
 * A Word document as Markdown: headings, lists, tables, links and notes; bold, colours and the like are left out.
 * Tracked insertions count as text and deletions as gone, as if all changes were accepted.
 */

import { checkText, type XmlReader } from "../xml.ts";
import { type Context, readInline } from "./docx-inline.ts";
import { type Properties, readLists, readStyles } from "./docx-lists.ts";
import { startLeftOut, tableLines } from "./markdown.ts";
import { openRelated, type Package, type Part } from "./package.ts";
import type { Made, Reading } from "./reading.ts";
import { checkHeld } from "./unreadable.ts";

/** Takes a block; an item of a list follows the one before without an empty line. */
type Sink = (text: string, kind: "block" | "item") => void;

export function readDocument({ main, office, markdown, leftOut }: Reading): Made {
  const relationships = office.relationships(main.name);
  const context: Context = {
    relationships,
    styles: readStyles(openRelated(office, relationships, "styles")),
    lists: readLists(openRelated(office, relationships, "numbering")),
    leftOut,
    markdown,
    footnotes: new Map(),
    endnotes: new Map(),
    boxes: [],
    tables: 0,
    inLink: false,
  };
  let before: "block" | "item" = "block";
  readBlocks(main, context, (text, kind) => {
    if (kind === "item" && before === "item") markdown.line(text);
    else markdown.block(text);
    before = kind;
  });

  const parts = ["document"];
  for (const [what, prefix, ids] of [
    ["footnotes", "", context.footnotes],
    ["endnotes", "end", context.endnotes],
  ] as const) {
    if (ids.size === 0) continue;
    parts.push(what);
    const texts = readNotes(openRelated(office, relationships, what), ids, context);
    for (const [id, number] of ids) markdown.block(`[^${prefix}${number}]: ${texts.get(id) ?? ""}`);
  }
  const margins = readMargins(office, context);
  if (margins.length > 0) parts.push("headers and footers");
  for (const margin of margins) markdown.block(margin);
  return { parts, notes: [] };
}

function readBlocks(part: Part, context: Context, sink: Sink, onSpan?: (columns: number) => void): void {
  const { xml } = part;
  const depth = xml.depth;
  for (let event = xml.nextIn(depth); event !== undefined; event = xml.nextIn(depth)) {
    if (event !== "open") continue;
    switch (xml.name) {
      case "p":
        readParagraph(xml, context, sink);
        break;
      case "tbl":
        readTable(part, context, sink);
        break;
      case "altChunk":
        context.leftOut.add("embedded document");
        break;
      case "gridSpan":
        onSpan?.(Number(xml.attribute("val")));
        break;
      case "sectPr":
      case "sdtPr":
      case "Fallback":
        xml.skip();
        break;
    }
  }
}

function readParagraph(xml: XmlReader, context: Context, sink: Sink): void {
  const own: Properties = {};
  const text = readInline(xml, context, own).trim();
  if (text !== "") {
    const { numId, level = 0, outline = 9 } = context.styles(own);
    const label = numId === undefined ? undefined : context.lists.nextLabel(numId, level);
    if (outline < 9) {
      const numbered = label === undefined || label === "-" ? "" : `${label} `;
      sink(`${"#".repeat(Math.min(6, outline + 1))} ${numbered}${text.replaceAll("\n", " ")}`, "block");
    } else if (label === undefined) sink(text, "block");
    else {
      const indent = "  ".repeat(level);
      sink(`${indent}${label} ${text.replaceAll("\n", `\n${indent}  `)}`, "item");
    }
  }
  for (const box of context.boxes.splice(0)) if (box.trim() !== "") sink(box.trim(), "block");
}

/** Tables in tables are told as lines; each level copies what is in it, so there are not many. */
const tablesMax = 5;
/** As many as Word can have. */
const columnsMax = 63;

function readTable(part: Part, context: Context, sink: Sink): void {
  const { xml } = part;
  if (context.tables >= tablesMax) return sink(readInline(xml, context).trim(), "block");
  context.tables += 1;
  const rows: string[][] = [];
  let cells = 0;
  let chars = 0;
  let row: string[] = [];
  let rowDepth = 0;
  const depth = xml.depth;
  for (let event = xml.nextIn(depth); event !== undefined; event = xml.nextIn(depth)) {
    if (event === "close" && xml.name === "tr" && row.length > 0) rows.push(withoutEmptyEnd(row));
    if (event !== "open") continue;
    if (xml.name === "tr") {
      row = [];
      rowDepth = xml.depth;
    } else if (xml.name === "tc") {
      const columns = readCell(part, context);
      cells += columns.length;
      chars += columns[0]?.length ?? 0;
      checkHeld(cells, "cells in one table");
      if (context.tables > 1) checkText(chars, "document");
      else context.markdown.reserve(chars);
      row.push(...columns);
    } else if (xml.name === "trPr" && isDeleted(xml)) {
      context.leftOut.add("tracked deletion");
      while (xml.nextIn(rowDepth) !== undefined);
    } else if (xml.name === "tblPr" || xml.name === "tblGrid") xml.skip();
  }
  context.tables -= 1;
  const [first] = rows;
  if (first === undefined || rows.every((cells) => cells.length === 0)) return;
  // A single cell is a frame around a text.
  if (rows.length === 1 && first.length === 1) sink(first[0] ?? "", "block");
  else if (context.tables === 0) {
    const [head = "", ...lines] = tableLines(rows);
    sink(head, "block");
    for (const line of lines) context.markdown.line(line);
  } else sink(rows.map((cells) => cells.filter((text) => text !== "").join(", ")).join("\n"), "block");
}

/** A cell and, where it is several columns wide, the empty ones that it covers. */
function readCell(part: Part, context: Context): readonly string[] {
  const texts: string[] = [];
  let columns = 1;
  let chars = 0;
  const take: Sink = (text) => {
    texts.push(text);
    chars += text.length + 1;
    checkText(chars, "document");
  };
  readBlocks(part, context, take, (span) => {
    columns = Math.min(columnsMax, Math.max(1, Math.trunc(span) || 1));
  });
  return [texts.join("\n"), ...Array.from({ length: columns - 1 }, () => "")];
}

/** Reads the `trPr` that was just opened. */
function isDeleted(xml: XmlReader): boolean {
  const depth = xml.depth;
  let deleted = false;
  for (let event = xml.nextIn(depth); event !== undefined; event = xml.nextIn(depth)) {
    deleted ||= event === "open" && xml.name === "del";
  }
  return deleted;
}

function withoutEmptyEnd(row: readonly string[]): string[] {
  return row.slice(0, row.findLastIndex((text) => text !== "") + 1);
}

/** The footnotes or endnotes that were referred to, by their ids, each on one line. */
function readNotes(
  part: Part | undefined,
  ids: ReadonlyMap<string, number>,
  context: Context,
): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  if (part === undefined) return texts;
  const { xml } = part;
  // Links in notes have relationships of their own; their text is enough.
  const inside: Context = { ...context, relationships: new Map() };
  for (let event = xml.next(); event !== "end"; event = xml.next()) {
    if (event !== "open" || (xml.name !== "footnote" && xml.name !== "endnote")) continue;
    const id = xml.attribute("id") ?? "";
    // A note that nothing refers to is shown nowhere.
    if (ids.has(id)) texts.set(id, onOneLine(readInline(xml, inside)));
    else xml.skip();
  }
  return texts;
}

/** Headers and footers, each text once: most pages and sections share them. */
function readMargins(office: Package, context: Context): readonly string[] {
  const texts = new Set<string>();
  for (const { type, target, external } of context.relationships.values()) {
    if (external || (type !== "header" && type !== "footer")) continue;
    const part = office.open(target);
    if (part === undefined) continue;
    const inside: Context = { ...context, relationships: new Map(), leftOut: startLeftOut() };
    while (part.xml.next() !== "open");
    const text = onOneLine(readInline(part.xml, inside));
    if (text !== "") texts.add(`${type === "header" ? "Header" : "Footer"}: ${text}`);
  }
  return [...texts];
}

const onOneLine = (text: string): string => text.trim().replace(/\s+/g, " ");
