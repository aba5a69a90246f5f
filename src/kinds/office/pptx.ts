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
  for (const name of xml.opened()) {
    if (name === "sldId") ids.push(xml.prefixed("id") ?? "");
    checkCount(ids.length, "slides");
  }
  return ids;
}

type Writing = Pick<OfficeReading, "office" | "markdown" | "leftOut">;

function writeSlide(part: Part, number: number, { office, markdown, leftOut }: Writing): void {
  const relationships = office.relationships(part.name);
  const { xml } = part;
  while (xml.next() !== "open");
  const hidden = ["0", "false"].includes(xml.attribute("show") ?? "") ? " (hidden)" : "";
  const { shapes, charts, diagrams } = readShapes(xml, { relationships, markdown }, leftOut);
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
  readonly charts: string[];
  readonly diagrams: string[];
}

/** Reads everything in the element that was just opened, including grouped shapes. */
function readShapes(xml: XmlReader, links: Links, leftOut: LeftOut): Shapes {
  const found: Shapes = { shapes: [], charts: [], diagrams: [] };
  let chars = 0;
  for (const name of xml.opened()) {
    checkCount(found.shapes.length + found.charts.length + found.diagrams.length, "shapes on one slide");
    if (name === "sp") {
      const shape = readShape(xml, links);
      found.shapes.push(shape);
      chars += shapeText(shape).length;
      checkText(chars, "slide");
    } else if (name === "tbl") {
      found.shapes.push({ role: "table", paragraphs: [{ text: readTable(xml, links), level: 0 }] });
    } else if (name === "chart") {
      leftOut.add("chart");
      found.charts.push(xml.prefixed("id") ?? "");
    } else if (name === "relIds") found.diagrams.push(xml.prefixed("dm") ?? "");
    else if (name === "pic") {
      found.shapes.push({ role: "other", paragraphs: [{ text: readPicture(xml), level: 0 }] });
      leftOut.add("image");
    }
    // The alternative to what was just read.
    else if (name === "Fallback") xml.skip();
  }
  return found;
}

function readShape(xml: XmlReader, links: Links): Shape {
  let role: Shape["role"] = "other";
  const paragraphs: Paragraph[] = [];
  let chars = 0;
  for (const name of xml.opened()) {
    if (name === "ph") role = roleOf(xml.attribute("type"));
    else if (name === "p") {
      const paragraph = readParagraph(xml, links);
      chars += paragraph.text.length;
      checkText(chars, "slide");
      paragraphs.push(paragraph);
    } else if (name === "Fallback") xml.skip();
    checkCount(paragraphs.length, "paragraphs in one shape");
  }
  return { role, paragraphs: paragraphs.filter(({ text }) => text !== "") };
}

const shapeText = ({ paragraphs }: Shape): string => paragraphs.map(({ text }) => text).join("\n");

/** A placeholder without a type is for any content, and has bullets like the body. */
function roleOf(placeholder = "body"): Shape["role"] {
  if (placeholder === "title" || placeholder === "ctrTitle") return "title";
  if (placeholder === "body" || placeholder === "obj") return "body";
  return ["dt", "ftr", "hdr", "sldNum"].includes(placeholder) ? "margin" : "other";
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
  for (const name of xml.opened()) if (name === "cNvPr") alt = xml.attribute("descr") ?? "";
  return alt.trim() === "" ? "[image]" : `[image: ${cutChars(alt.replace(/\s+/g, " ").trim(), altCharsMax)}]`;
}

function readTable(xml: XmlReader, links: Links): string {
  const rows: string[][] = [];
  let [cells, chars] = [0, 0];
  for (const name of xml.opened()) {
    checkCount(rows.length + cells, "cells in one table");
    if (name === "tr") rows.push([]);
    // The cells that a merged cell covers are in the file, and empty.
    else if (name === "tc") {
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
  for (const name of xml.opened()) {
    checkCount(lines.length, "paragraphs in one diagram");
    // A chart's own title comes first; titles after the plot area are those of its axes.
    if (within === "title" && name === "plotArea") return "";
    if (name !== within) continue;
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
    const xml = office.open(target)?.xml;
    if (xml === undefined) return "";
    while (xml.next() !== "open");
    const { shapes } = readShapes(xml, { relationships: new Map(), markdown }, leftOut);
    const body = shapes.filter((shape) => shape.role === "body");
    return body.map(shapeText).join("\n");
  }
  return "";
}
