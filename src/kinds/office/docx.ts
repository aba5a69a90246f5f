/**
 * Converts a Word document to Markdown: headings, lists, tables, links and notes, without bold, colours and the like.
 * Tracked changes count as accepted: insertions are text, deletions are gone.
 */

import { cutChars } from "../../text/text.ts";
import { altCharsMax, type LeftOut, markdownLink, type Markdown, startLeftOut, tableLines } from "./markdown.ts";
import { openRelated, type Package, type Part, type Relationships } from "./package.ts";
import { checkCount, type OfficeSummary, type OfficeReading } from "./unreadable.ts";
import { checkText, type XmlReader } from "./xml.ts";

/** Receives a block; consecutive list items are not separated by an empty line. */
type Sink = (text: string, kind: "block" | "item") => void;

export function readDocument({ main, office, markdown, leftOut }: OfficeReading): OfficeSummary {
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
  let previousKind: "block" | "item" = "block";
  readBlocks(main, context, (text, kind) => {
    if (kind === "item" && previousKind === "item") markdown.line(text);
    else markdown.block(text);
    previousKind = kind;
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

/** Deeper nested tables become lines: each level copies its content, so their number is limited. */
const tablesMax = 5;
/** Word's own limit. */
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
      checkCount(cells, "cells in one table");
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
  // A table of one cell is a frame around a text.
  if (rows.length === 1 && first.length === 1) sink(first[0] ?? "", "block");
  else if (context.tables === 0) {
    const [head = "", ...lines] = tableLines(rows);
    sink(head, "block");
    for (const line of lines) context.markdown.line(line);
  } else sink(rows.map((cells) => cells.filter((text) => text !== "").join(", ")).join("\n"), "block");
}

/** A cell and the empty cells that it spans. */
function readCell(part: Part, context: Context): readonly string[] {
  const texts: string[] = [];
  let columns = 1;
  let chars = 0;
  const addText: Sink = (text) => {
    texts.push(text);
    chars += text.length + 1;
    checkText(chars, "document");
  };
  readBlocks(part, context, addText, (span) => {
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

/** The referenced footnotes or endnotes, by id, each on one line. */
function readNotes(
  part: Part | undefined,
  ids: ReadonlyMap<string, number>,
  context: Context,
): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  if (part === undefined) return texts;
  const { xml } = part;
  // Links in notes have their own relationships; their text is enough.
  const inside: Context = { ...context, relationships: new Map() };
  for (let event = xml.next(); event !== "end"; event = xml.next()) {
    if (event !== "open" || (xml.name !== "footnote" && xml.name !== "endnote")) continue;
    const id = xml.attribute("id") ?? "";
    // An unreferenced note is not shown.
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

// The content of a paragraph: text, links, notes, and a placeholder for each image.

interface Context {
  readonly relationships: Relationships;
  readonly styles: Styles;
  readonly lists: Lists;
  readonly leftOut: LeftOut;
  readonly markdown: Markdown;
  /** Ids of the referenced notes, numbered in the order of reference. */
  readonly footnotes: Map<string, number>;
  readonly endnotes: Map<string, number>;
  /** Texts of boxes that are anchored in the current paragraph; they follow it. */
  readonly boxes: string[];
  /** Nesting depth of tables. */
  tables: number;
  inLink: boolean;
}

/**
 * The text of the element that was just opened, with paragraphs inside it as lines. Leaves the reader after the element.
 * If `own` is given, the element is a paragraph, and its properties are put there.
 */
function readInline(xml: XmlReader, context: Context, own?: Properties): string {
  const depth = xml.depth;
  let text = "";
  let alt = "";
  for (let event = xml.nextIn(depth); event !== undefined; event = xml.nextIn(depth)) {
    if (event === "close") {
      if (xml.name === "p" || xml.name === "tr") text += "\n";
      continue;
    }
    if (event === "text") continue;
    checkText(text.length, "document");
    switch (xml.name) {
      case "t":
        text += xml.textInside();
        break;
      case "tab":
        text += "\t";
        break;
      case "br":
      case "cr":
        text += "\n";
        break;
      case "noBreakHyphen":
        text += "-";
        break;
      case "sym":
        text += symbol(xml.attribute("char"));
        break;
      case "pPr":
        if (own !== undefined && xml.depth === depth + 1) Object.assign(own, readProperties(xml));
        else xml.skip();
        break;
      case "hyperlink":
        text += readHyperlink(xml, context);
        break;
      case "footnoteReference":
        text += `[^${numberOf(xml.attribute("id"), context.footnotes)}]`;
        break;
      case "endnoteReference":
        text += `[^end${numberOf(xml.attribute("id"), context.endnotes)}]`;
        break;
      case "commentReference":
        context.leftOut.add("comment");
        break;
      case "txbxContent":
        context.boxes.push(readInline(xml, context));
        checkCount(context.boxes.length, "text boxes in one paragraph");
        break;
      case "docPr":
        alt = cutChars(xml.attribute("descr") ?? "", altCharsMax);
        break;
      case "pic":
      case "imagedata":
      case "chart":
      case "OLEObject":
        text += readObject(xml, alt, context.leftOut);
        break;
      case "del":
      case "moveFrom":
        context.leftOut.add("tracked deletion");
        xml.skip();
        break;
      // Formatting, the alternative to what was just read, and ruby text above East Asian characters.
      case "rPr":
      case "Fallback":
      case "rt":
        xml.skip();
        break;
    }
  }
  return text;
}

/** Symbol fonts have their signs in the private use area, where other fonts have none. */
function symbol(char: string | undefined): string {
  const unit = Number.parseInt(char ?? "", 16);
  return unit > 0x20 && unit < 0xd800 ? String.fromCharCode(unit) : "▪";
}

function readHyperlink(xml: XmlReader, context: Context): string {
  const target = context.relationships.get(xml.prefixed("id") ?? "");
  // Word has no nested links, and each level would copy the text once more.
  if (context.inLink) return readInline(xml, context);
  context.inLink = true;
  const text = readInline(xml, context);
  context.inLink = false;
  return target?.external === true ? markdownLink(text, target.target, context.markdown) : text;
}

function numberOf(id: string | undefined, ids: Map<string, number>): number {
  const number = ids.get(id ?? "") ?? ids.size + 1;
  ids.set(id ?? "", number);
  checkCount(ids.size, "notes");
  return number;
}

function readObject(xml: XmlReader, alt: string, leftOut: LeftOut): string {
  const what = xml.name === "chart" ? "chart" : xml.name === "OLEObject" ? "embedded object" : "image";
  leftOut.add(what);
  xml.skip();
  return alt === "" ? `[${what}]` : `[${what}: ${alt.replace(/\s+/g, " ").trim()}]`;
}

// What a paragraph is by its style and numbering: a heading, a list item, plain text.

/** The properties of a paragraph or a style. */
interface Properties {
  style?: string;
  numId?: string;
  level?: number;
  /** 0 is the highest heading, 9 is plain text. */
  outline?: number;
}

/** Reads the `pPr` that was just opened. */
function readProperties(xml: XmlReader): Properties {
  const properties: Properties = {};
  const depth = xml.depth;
  for (let event = xml.nextIn(depth); event !== undefined; event = xml.nextIn(depth)) {
    if (event !== "open") continue;
    const value = xml.attribute("val");
    switch (xml.name) {
      case "pStyle":
        if (value !== undefined) properties.style = value;
        break;
      case "numId":
        if (value !== undefined) properties.numId = value;
        break;
      case "ilvl":
        properties.level = levelOf(value);
        break;
      case "outlineLvl":
        properties.outline = levelOf(value);
        break;
      // The state before a tracked change, and the properties of the paragraph mark.
      case "pPrChange":
      case "rPr":
      case "sectPr":
        xml.skip();
        break;
    }
  }
  return properties;
}

function levelOf(value: string | undefined): number {
  const level = Number(value);
  return Number.isInteger(level) && level >= 0 && level <= 9 ? level : 0;
}

interface Style extends Properties {
  readonly name: string;
  readonly basedOn: string | undefined;
}

/** Completes a paragraph's own properties with those of its style. */
type Styles = (own: Properties) => Properties;

/** Real styles inherit a few levels; a hostile chain may be a cycle. */
const basedOnMax = 12;

function readStyles(part: Part | undefined): Styles {
  const styles = new Map<string, Style>();
  if (part !== undefined) readStyleList(part, styles);
  const known = new Map<string, Properties>();
  const resolve = (id: string): Properties => {
    const previousKind = known.get(id);
    if (previousKind !== undefined) return previousKind;
    const found: Properties = {};
    let style = styles.get(id);
    for (let steps = 0; style !== undefined && steps < basedOnMax; steps += 1) {
      const outline = outlineByName(style.name) ?? style.outline;
      if (outline !== undefined) found.outline ??= outline;
      if (style.numId !== undefined) found.numId ??= style.numId;
      if (style.level !== undefined) found.level ??= style.level;
      style = styles.get(style.basedOn ?? "");
    }
    known.set(id, found);
    return found;
  };
  return (own) => (own.style === undefined ? own : { ...resolve(own.style), ...own });
}

/** Style names stay English in every language of Word; ids do not ("berschrift1"). */
function outlineByName(name: string): number | undefined {
  if (name === "title") return 0;
  const heading = /^heading ([1-9])$/.exec(name)?.[1];
  return heading === undefined ? undefined : Number(heading) - 1;
}

function readStyleList(part: Part, styles: Map<string, Style>): void {
  const { xml } = part;
  for (let event = xml.next(); event !== "end"; event = xml.next()) {
    if (event === "open" && xml.name === "style") styles.set(xml.attribute("styleId") ?? "", readStyle(xml));
    checkCount(styles.size, "styles");
  }
}

function readStyle(xml: XmlReader): Style {
  let name = "";
  let basedOn: string | undefined;
  let properties: Properties = {};
  const depth = xml.depth;
  for (let event = xml.nextIn(depth); event !== undefined; event = xml.nextIn(depth)) {
    if (event !== "open") continue;
    if (xml.name === "name") name = (xml.attribute("val") ?? "").toLowerCase();
    else if (xml.name === "basedOn") basedOn = xml.attribute("val");
    else if (xml.name === "pPr") properties = readProperties(xml);
  }
  return { ...properties, name, basedOn };
}

interface Level {
  readonly format: string;
  /** "%1.%2)": the numbers of the levels in it. */
  readonly text: string;
  readonly start: number;
}

interface List {
  readonly levels: readonly (Level | undefined)[];
  /** The current number of each level; lists that share a definition count together. */
  readonly counts: (number | undefined)[];
}

interface NumberedList {
  readonly definition: string;
  readonly restarts: Map<number, number>;
}

interface Lists {
  /** The label of the next item, "-" or "2.1."; undefined if it has none. Advances the count. */
  nextLabel(numId: string, level: number): string | undefined;
}

function readLists(part: Part | undefined): Lists {
  const definitions = new Map<string, List>();
  const lists = new Map<string, NumberedList>();
  if (part !== undefined) readNumbering(part, definitions, lists);
  return {
    nextLabel(numId, level) {
      const list = lists.get(numId);
      const definition = definitions.get(list?.definition ?? "");
      const shape = definition?.levels[level];
      // An undefined list is still a list.
      if (list === undefined || definition === undefined || shape === undefined) return numId === "0" ? undefined : "-";
      const restart = list.restarts.get(level);
      list.restarts.delete(level);
      const { counts } = definition;
      counts[level] = restart ?? (counts[level] ?? shape.start - 1) + 1;
      counts.length = level + 1;
      return labelOf(shape, definition);
    },
  };
}

function readNumbering(part: Part, definitions: Map<string, List>, lists: Map<string, NumberedList>): void {
  const { xml } = part;
  for (let event = xml.next(); event !== "end"; event = xml.next()) {
    checkCount(definitions.size + lists.size, "numberings");
    if (event !== "open") continue;
    if (xml.name === "abstractNum") {
      definitions.set(xml.attribute("abstractNumId") ?? "", { levels: readLevels(xml), counts: [] });
    } else if (xml.name === "num") lists.set(xml.attribute("numId") ?? "", readList(xml));
  }
}

/** The text of a label with all nine levels fits easily; hostile ones are cut. */
const labelCharsMax = 40;

function readLevels(xml: XmlReader): readonly (Level | undefined)[] {
  const levels: (Level | undefined)[] = [];
  let at = 0;
  const depth = xml.depth;
  for (let event = xml.nextIn(depth); event !== undefined; event = xml.nextIn(depth)) {
    if (event !== "open") continue;
    const value = xml.attribute("val") ?? "";
    if (xml.name === "lvl") {
      at = levelOf(xml.attribute("ilvl"));
      levels[at] = { format: "decimal", text: `%${at + 1}.`, start: 1 };
    }
    const level = levels[at];
    if (level === undefined) continue;
    if (xml.name === "numFmt") levels[at] = { ...level, format: value };
    else if (xml.name === "lvlText") levels[at] = { ...level, text: value.slice(0, labelCharsMax) };
    else if (xml.name === "start") levels[at] = { ...level, start: Math.trunc(Number(value)) || 0 };
  }
  return levels;
}

function readList(xml: XmlReader): NumberedList {
  const restarts = new Map<number, number>();
  let definition = "";
  let level = 0;
  const depth = xml.depth;
  for (let event = xml.nextIn(depth); event !== undefined; event = xml.nextIn(depth)) {
    if (event !== "open") continue;
    if (xml.name === "abstractNumId") definition = xml.attribute("val") ?? "";
    else if (xml.name === "lvlOverride") level = levelOf(xml.attribute("ilvl"));
    else if (xml.name === "startOverride") restarts.set(level, Math.trunc(Number(xml.attribute("val"))) || 0);
  }
  return { definition, restarts };
}

function labelOf(shape: Level, list: List): string | undefined {
  if (shape.format === "bullet") return "-";
  if (shape.format === "none" || shape.text.trim() === "") return undefined;
  return shape.text.replace(/%([1-9])/g, (_, digit: string) => {
    const level = list.levels[Number(digit) - 1];
    return numeral(list.counts[Number(digit) - 1] ?? level?.start ?? 1, level?.format ?? "decimal");
  });
}

const romans = [
  ["m", 1000],
  ["cm", 900],
  ["d", 500],
  ["cd", 400],
  ["c", 100],
  ["xc", 90],
  ["l", 50],
  ["xl", 40],
  ["x", 10],
  ["ix", 9],
  ["v", 5],
  ["iv", 4],
  ["i", 1],
] as const;

/** Numbers of other scripts become decimal. */
function numeral(count: number, format: string): string {
  switch (format) {
    case "lowerLetter":
      return letters(count);
    case "upperLetter":
      return letters(count).toUpperCase();
    case "lowerRoman":
      return roman(count);
    case "upperRoman":
      return roman(count).toUpperCase();
    case "decimalZero":
      return String(count).padStart(2, "0");
    default:
      return String(count);
  }
}

/** a … z, aa, bb …, like Word. */
function letters(count: number): string {
  if (count < 1 || count > 260) return String(count);
  return String.fromCharCode(0x61 + ((count - 1) % 26)).repeat(Math.ceil(count / 26));
}

function roman(count: number): string {
  if (count < 1 || count > 3_999) return String(count);
  let left = count;
  let text = "";
  for (const [sign, value] of romans) {
    for (; left >= value; left -= value) text += sign;
  }
  return text;
}
