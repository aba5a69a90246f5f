/** Converts a presentation to Markdown: for each slide its title, its texts in the order of the shapes, and the notes. */

import { cutChars } from "../../text/text.ts";
import { altCharsMax, type LeftOut, markdownLink, type Markdown, tableLines } from "./markdown.ts";
import type { Part, Relationships } from "./package.ts";
import { checkCount, type OfficeSummary, type OfficeReading } from "./unreadable.ts";
import { checkText, type XmlReader } from "./xml.ts";

export function readPresentation({ main, office, markdown, leftOut }: OfficeReading): OfficeSummary {
  const ids = readSlideIds(main);
  const relationships = office.relationships(main.name);
  const parts: string[] = [];
  for (const [index, id] of ids.entries()) {
    const part = office.open(relationships.get(id)?.target ?? "");
    if (part === undefined) {
      leftOut.add("missing slide");
      continue;
    }
    parts.push(`slide ${index + 1}`);
    writeSlide(part, index + 1, { office, markdown, leftOut });
  }
  leftOut.add("comment list", office.count("ppt/comments/"));
  return { parts, notes: [] };
}

function readSlideIds(part: Part): readonly string[] {
  const { xml } = part;
  const ids: string[] = [];
  for (let event = xml.next(); event !== "end"; event = xml.next()) {
    if (event === "open" && xml.name === "sldId") ids.push(xml.prefixed("id") ?? "");
    checkCount(ids.length, "slides");
  }
  return ids;
}

type Writing = Pick<OfficeReading, "office" | "markdown" | "leftOut">;

function writeSlide(part: Part, number: number, { office, markdown, leftOut }: Writing): void {
  const relationships = office.relationships(part.name);
  const { xml } = part;
  // The root element says whether the slide is hidden.
  while (xml.next() !== "open");
  const hidden = ["0", "false"].includes(xml.attribute("show") ?? "") ? " (hidden)" : "";
  const { shapes, charts, diagrams } = readShapes(part, { relationships, markdown }, leftOut);
  const title = shapes.find((shape) => shape.role === "title");
  const heading = title === undefined ? "" : `: ${onOneLine(title.paragraphs)}`;
  markdown.block(`## Slide ${number}${hidden}${heading}`);
  for (const shape of shapes) if (shape !== title && shape.role !== "margin") writeShape(shape, markdown);

  for (const id of charts) {
    const name = readFlat(relationships.get(id)?.target, "title", { office, markdown });
    markdown.block(name === "" ? "[chart]" : `[chart: ${cutChars(name, altCharsMax)}]`);
  }
  for (const id of diagrams) {
    const text = readFlat(relationships.get(id)?.target, "pt", { office, markdown });
    if (text !== "") markdown.block(text);
  }
  const notes = readNotes(relationships, { office, markdown, leftOut });
  if (notes !== "") markdown.block(`Notes: ${notes}`);
}

/** What the links of a text need. */
interface Links {
  readonly relationships: Relationships;
  readonly markdown: Markdown;
}

interface Shape {
  /** Margins are the date, the footer and the slide number. */
  readonly role: "title" | "body" | "margin" | "other" | "table";
  readonly paragraphs: readonly Paragraph[];
}

interface Paragraph {
  readonly text: string;
  readonly level: number;
}

interface Shapes {
  readonly shapes: Shape[];
  /** Relationship ids of their parts. */
  readonly charts: string[];
  readonly diagrams: string[];
}

/** Reads everything in the element that was just opened, including grouped shapes. */
function readShapes(part: Part, links: Links, leftOut: LeftOut): Shapes {
  const { xml } = part;
  const found: Shapes = { shapes: [], charts: [], diagrams: [] };
  let chars = 0;
  const depth = xml.depth;
  for (let event = xml.nextIn(depth); event !== undefined; event = xml.nextIn(depth)) {
    if (event !== "open") continue;
    checkCount(found.shapes.length + found.charts.length + found.diagrams.length, "shapes on one slide");
    switch (xml.name) {
      case "sp":
        found.shapes.push(readShape(xml, links));
        chars += shapeText(found.shapes.at(-1)).length;
        checkText(chars, "slide");
        break;
      case "tbl":
        found.shapes.push({ role: "table", paragraphs: [{ text: readTable(part, links), level: 0 }] });
        break;
      case "chart":
        leftOut.add("chart");
        found.charts.push(xml.prefixed("id") ?? "");
        break;
      case "relIds":
        found.diagrams.push(xml.prefixed("dm") ?? "");
        break;
      case "pic":
        found.shapes.push({ role: "other", paragraphs: [{ text: readPicture(xml), level: 0 }] });
        leftOut.add("image");
        break;
      // The alternative to what was just read.
      case "Fallback":
        xml.skip();
        break;
    }
  }
  return found;
}

function readShape(xml: XmlReader, links: Links): Shape {
  let role: Shape["role"] = "other";
  const paragraphs: Paragraph[] = [];
  let chars = 0;
  const depth = xml.depth;
  for (let event = xml.nextIn(depth); event !== undefined; event = xml.nextIn(depth)) {
    if (event !== "open") continue;
    if (xml.name === "ph") role = roleOf(xml.attribute("type"));
    else if (xml.name === "p") {
      const paragraph = readParagraph(xml, links);
      chars += paragraph.text.length;
      checkText(chars, "slide");
      paragraphs.push(paragraph);
    } else if (xml.name === "Fallback") xml.skip();
    checkCount(paragraphs.length, "paragraphs in one shape");
  }
  return { role, paragraphs: paragraphs.filter(({ text }) => text !== "") };
}

const shapeText = (shape: Shape | undefined): string => (shape?.paragraphs ?? []).map(({ text }) => text).join("\n");

function roleOf(placeholder: string | undefined): Shape["role"] {
  switch (placeholder) {
    case "title":
    case "ctrTitle":
      return "title";
    case "dt":
    case "ftr":
    case "hdr":
    case "sldNum":
      return "margin";
    // A placeholder without a type is for any content, and has bullets like the body.
    case undefined:
    case "body":
    case "obj":
      return "body";
    default:
      return "other";
  }
}

/** PowerPoint has nine levels, from 0. */
const levelsMax = 8;

function readParagraph(xml: XmlReader, links: Links): Paragraph {
  let text = "";
  let level = 0;
  let address: string | undefined;
  const depth = xml.depth;
  for (let event = xml.nextIn(depth); event !== undefined; event = xml.nextIn(depth)) {
    if (event === "close" && xml.name === "r") address = undefined;
    if (event !== "open") continue;
    if (xml.name === "t") {
      const run = xml.textInside();
      text += address === undefined ? run : markdownLink(run, address, links.markdown);
      checkText(text.length, "slide");
    } else if (xml.name === "br") text += "\n";
    else if (xml.name === "pPr")
      level = Math.min(levelsMax, Math.max(0, Math.trunc(Number(xml.attribute("lvl"))) || 0));
    else if (xml.name === "hlinkClick") {
      const target = links.relationships.get(xml.prefixed("id") ?? "");
      address = target?.external === true ? target.target : undefined;
    }
  }
  return { text: text.trim(), level };
}

function readPicture(xml: XmlReader): string {
  let alt = "";
  const depth = xml.depth;
  for (let event = xml.nextIn(depth); event !== undefined; event = xml.nextIn(depth)) {
    if (event === "open" && xml.name === "cNvPr") alt = xml.attribute("descr") ?? "";
  }
  return alt.trim() === "" ? "[image]" : `[image: ${cutChars(alt.replace(/\s+/g, " ").trim(), altCharsMax)}]`;
}

function readTable(part: Part, links: Links): string {
  const { xml } = part;
  const rows: string[][] = [];
  let cells = 0;
  let chars = 0;
  const depth = xml.depth;
  for (let event = xml.nextIn(depth); event !== undefined; event = xml.nextIn(depth)) {
    if (event !== "open") continue;
    checkCount(rows.length + cells, "cells in one table");
    if (xml.name === "tr") rows.push([]);
    // The cells that a merged cell covers are in the file, and empty.
    else if (xml.name === "tc") {
      cells += 1;
      const text = shapeText(readShape(xml, links));
      chars += text.length;
      checkText(chars, "slide");
      rows.at(-1)?.push(text);
    }
  }
  return rows.length === 0 ? "" : tableLines(rows).join("\n");
}

function writeShape(shape: Shape, markdown: Markdown): void {
  let first = true;
  for (const { text, level } of shape.paragraphs) {
    const bullet = shape.role === "body" || level > 0;
    const indent = "  ".repeat(level);
    const line = bullet ? `${indent}- ${text.replaceAll("\n", `\n${indent}  `)}` : text;
    if (line === "") continue;
    if (first) markdown.block(line);
    else markdown.line(line);
    first = false;
  }
}

const onOneLine = (paragraphs: readonly Paragraph[]): string =>
  paragraphs
    .map(({ text }) => text)
    .join(" ")
    .replace(/\s+/g, " ");

/** All paragraphs in elements of this name, as lines; empty if the part is missing. */
function readFlat(
  target: string | undefined,
  within: "title" | "pt",
  { office, markdown }: Pick<Writing, "office" | "markdown">,
): string {
  const part = target === undefined ? undefined : office.open(target);
  if (part === undefined) return "";
  const { xml } = part;
  const lines: string[] = [];
  let chars = 0;
  for (let event = xml.next(); event !== "end"; event = xml.next()) {
    if (event !== "open") continue;
    checkCount(lines.length, "paragraphs in one diagram");
    // A chart's own title comes first; titles after the plot area are those of its axes.
    if (within === "title" && xml.name === "plotArea") return "";
    if (xml.name !== within) continue;
    for (const { text } of readShape(xml, { relationships: new Map(), markdown }).paragraphs) {
      chars += text.length;
      checkText(chars, "diagram");
      lines.push(`- ${text}`);
    }
    if (within === "title") return lines.map((line) => line.slice(2)).join(" ");
  }
  return lines.join("\n");
}

function readNotes(relationships: Relationships, { office, markdown, leftOut }: Writing): string {
  for (const { type, target } of relationships.values()) {
    if (type !== "notesSlide") continue;
    const part = office.open(target);
    if (part === undefined) return "";
    while (part.xml.next() !== "open");
    const { shapes } = readShapes(part, { relationships: new Map(), markdown }, leftOut);
    const body = shapes.filter((shape) => shape.role === "body");
    return body.map(shapeText).join("\n");
  }
  return "";
}
