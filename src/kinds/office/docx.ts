/** Converts a Word document to Markdown, without bold, colours and the like. Tracked changes count as accepted. */

import { cutChars } from "../../text/text.ts";
import { altCharsMax, type LeftOut, markdownLink, type Markdown, startLeftOut, tableLines } from "./markdown.ts";
import { openRelated, type Package, type Part, type Relationships } from "./package.ts";
import { checkCount, type OfficeSummary, type OfficeReading } from "./unreadable.ts";
import { checkText, type XmlReader } from "./xml.ts";

/** Consecutive list items are not separated by an empty line. */
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
  for (const name of xml.opened()) {
    if (name === "p") readParagraph(xml, context, sink);
    else if (name === "tbl") readTable(part, context, sink);
    else if (name === "altChunk") context.leftOut.add("embedded document");
    else if (name === "gridSpan") onSpan?.(Number(xml.attribute("val")));
    else if (name === "sectPr" || name === "sdtPr" || name === "Fallback") xml.skip();
  }
}

function readParagraph(xml: XmlReader, context: Context, sink: Sink): void {
  const own: Properties = {};
  const text = readInline(xml, context, own).trim();
  if (text !== "") {
    const { numId, level = 0, outline = 9 } = context.styles(own);
    const label = numId === undefined ? undefined : context.lists(numId, level);
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
  let [cells, chars, rowDepth] = [0, 0, 0];
  let row: string[] = [];
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

function isDeleted(xml: XmlReader): boolean {
  let deleted = false;
  for (const name of xml.opened()) deleted ||= name === "del";
  return deleted;
}

const withoutEmptyEnd = (row: readonly string[]): string[] =>
  row.slice(0, row.findLastIndex((text) => text !== "") + 1);

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
  for (const name of xml.opened()) {
    if (name !== "footnote" && name !== "endnote") continue;
    const id = xml.attribute("id") ?? "";
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
  tables: number;
  inLink: boolean;
}

/** The text of the element that was just opened, paragraphs as lines. `own` gets the properties of a paragraph. */
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
    const { name } = xml;
    if (name === "t") text += xml.textInside();
    else if (name === "tab") text += "\t";
    else if (name === "br" || name === "cr") text += "\n";
    else if (name === "noBreakHyphen") text += "-";
    else if (name === "sym") text += symbol(xml.attribute("char"));
    else if (name === "pPr" && own !== undefined && xml.depth === depth + 1) Object.assign(own, readProperties(xml));
    else if (name === "hyperlink") text += readHyperlink(xml, context);
    else if (name === "footnoteReference") text += `[^${numberOf(xml.attribute("id"), context.footnotes)}]`;
    else if (name === "endnoteReference") text += `[^end${numberOf(xml.attribute("id"), context.endnotes)}]`;
    else if (name === "commentReference") context.leftOut.add("comment");
    else if (name === "txbxContent") {
      context.boxes.push(readInline(xml, context));
      checkCount(context.boxes.length, "text boxes in one paragraph");
    } else if (name === "docPr") alt = cutChars(xml.attribute("descr") ?? "", altCharsMax);
    else if (Object.hasOwn(objects, name)) text += readObject(xml, alt, context.leftOut);
    else if (name === "del" || name === "moveFrom") {
      context.leftOut.add("tracked deletion");
      xml.skip();
    } else if (unshown.has(name)) xml.skip();
  }
  return text;
}

/** Formatting, the alternative to what was just read, and ruby text above East Asian characters. */
const unshown = new Set(["pPr", "rPr", "Fallback", "rt"]);

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

const objects: Readonly<Record<string, string>> = {
  pic: "image",
  imagedata: "image",
  chart: "chart",
  OLEObject: "embedded object",
};

function readObject(xml: XmlReader, alt: string, leftOut: LeftOut): string {
  const what = objects[xml.name] ?? "";
  leftOut.add(what);
  xml.skip();
  return alt === "" ? `[${what}]` : `[${what}: ${alt.replace(/\s+/g, " ").trim()}]`;
}

// What a paragraph is by its style and numbering: a heading, a list item, plain text.

interface Properties {
  style?: string;
  numId?: string;
  level?: number;
  /** 0 is the highest heading, 9 is plain text. */
  outline?: number;
}

function readProperties(xml: XmlReader): Properties {
  const properties: Properties = {};
  for (const name of xml.opened()) {
    const value = xml.attribute("val");
    if (name === "pStyle" && value !== undefined) properties.style = value;
    else if (name === "numId" && value !== undefined) properties.numId = value;
    else if (name === "ilvl") properties.level = levelOf(value);
    else if (name === "outlineLvl") properties.outline = levelOf(value);
    // The state before a tracked change, and the properties of the paragraph mark.
    else if (name === "pPrChange" || name === "rPr" || name === "sectPr") xml.skip();
  }
  return properties;
}

function levelOf(value: string | undefined): number {
  const level = Number(value);
  return Number.isInteger(level) && level >= 0 && level <= 9 ? level : 0;
}

interface Style extends Properties {
  name: string;
  basedOn?: string;
}

type Styles = (own: Properties) => Properties;

/** Real styles inherit a few levels; a hostile chain may be a cycle. */
const basedOnMax = 12;

function readStyles(part: Part | undefined): Styles {
  const styles = new Map<string, Style>();
  if (part !== undefined) {
    const { xml } = part;
    for (const name of xml.opened()) {
      if (name === "style") styles.set(xml.attribute("styleId") ?? "", readStyle(xml));
      checkCount(styles.size, "styles");
    }
  }
  const known = new Map<string, Properties>();
  const resolve = (id: string): Properties => {
    const resolved = known.get(id);
    if (resolved !== undefined) return resolved;
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

function readStyle(xml: XmlReader): Style {
  const style: Style = { name: "" };
  for (const name of xml.opened()) {
    if (name === "name") style.name = (xml.attribute("val") ?? "").toLowerCase();
    else if (name === "basedOn") style.basedOn = xml.attribute("val") ?? "";
    else if (name === "pPr") Object.assign(style, readProperties(xml));
  }
  return style;
}

interface Level {
  format: string;
  /** "%1.%2)": the numbers of the levels in it. */
  text: string;
  start: number;
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

/** The label of the next item, "-" or "2.1."; undefined if it has none. Advances the count. */
type Lists = (numId: string, level: number) => string | undefined;

function readLists(part: Part | undefined): Lists {
  const definitions = new Map<string, List>();
  const lists = new Map<string, NumberedList>();
  if (part !== undefined) {
    const { xml } = part;
    for (const name of xml.opened()) {
      checkCount(definitions.size + lists.size, "numberings");
      if (name === "abstractNum") {
        definitions.set(xml.attribute("abstractNumId") ?? "", { levels: readLevels(xml), counts: [] });
      } else if (name === "num") lists.set(xml.attribute("numId") ?? "", readList(xml));
    }
  }
  return (numId, level) => {
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
  };
}

/** The text of a label with all nine levels fits easily; hostile ones are cut. */
const labelCharsMax = 40;

function readLevels(xml: XmlReader): readonly (Level | undefined)[] {
  const levels: (Level | undefined)[] = [];
  let level: Level | undefined;
  for (const name of xml.opened()) {
    const value = xml.attribute("val") ?? "";
    if (name === "lvl") {
      const at = levelOf(xml.attribute("ilvl"));
      level = levels[at] = { format: "decimal", text: `%${at + 1}.`, start: 1 };
    } else if (level === undefined) continue;
    else if (name === "numFmt") level.format = value;
    else if (name === "lvlText") level.text = value.slice(0, labelCharsMax);
    else if (name === "start") level.start = Math.trunc(Number(value)) || 0;
  }
  return levels;
}

function readList(xml: XmlReader): NumberedList {
  const restarts = new Map<number, number>();
  let definition = "";
  let level = 0;
  for (const name of xml.opened()) {
    if (name === "abstractNumId") definition = xml.attribute("val") ?? "";
    else if (name === "lvlOverride") level = levelOf(xml.attribute("ilvl"));
    else if (name === "startOverride") restarts.set(level, Math.trunc(Number(xml.attribute("val"))) || 0);
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

function numeral(count: number, format: string): string {
  if (format === "decimalZero") return String(count).padStart(2, "0");
  const text = format.endsWith("Letter") ? letters(count) : format.endsWith("Roman") ? roman(count) : String(count);
  return format.startsWith("upper") ? text.toUpperCase() : text;
}

/** a … z, aa, bb …, like Word. */
function letters(count: number): string {
  if (count < 1 || count > 260) return String(count);
  return String.fromCharCode(0x61 + ((count - 1) % 26)).repeat(Math.ceil(count / 26));
}

const romans = { m: 1000, cm: 900, d: 500, cd: 400, c: 100, xc: 90, l: 50, xl: 40, x: 10, ix: 9, v: 5, iv: 4, i: 1 };

function roman(count: number): string {
  if (count < 1 || count > 3_999) return String(count);
  let left = count;
  let text = "";
  for (const [sign, value] of Object.entries(romans)) for (; left >= value; left -= value) text += sign;
  return text;
}
