/** What stands inside a paragraph: text, links, notes, and a word for each picture. */

import { cutChars } from "../../text/encoding.ts";
import { checkText, type XmlReader } from "../xml.ts";
import { type Lists, type Properties, readProperties, type Styles } from "./docx-lists.ts";
import { type LeftOut, link, type Markdown } from "./markdown.ts";
import type { Relationships } from "./package.ts";
import { checkHeld } from "./unreadable.ts";

export interface Context {
  readonly relationships: Relationships;
  readonly styles: Styles;
  readonly lists: Lists;
  readonly leftOut: LeftOut;
  readonly markdown: Markdown;
  /** The ids of the notes that were referred to, numbered in that order. */
  readonly footnotes: Map<string, number>;
  readonly endnotes: Map<string, number>;
  /** Texts of boxes that are anchored in the paragraph being read; they follow it. */
  readonly boxes: string[];
  /** Tables that are open. */
  tables: number;
  inLink: boolean;
}

const altCharsMax = 500;

/**
 * The text of the element that was just opened, paragraphs inside it as lines. Goes behind it. If `own` is given, the
 * element is a paragraph, and what it says of itself is put there.
 */
export function readInline(xml: XmlReader, context: Context, own?: Properties): string {
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
        checkHeld(context.boxes.length, "text boxes in one paragraph");
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
      // Formatting, the second form of what was just read, and the reading aid above East Asian characters.
      case "rPr":
      case "Fallback":
      case "rt":
        xml.skip();
        break;
    }
  }
  return text;
}

/** Symbol fonts keep their signs in the private area, where no other font has them. */
function symbol(char: string | undefined): string {
  const unit = Number.parseInt(char ?? "", 16);
  return unit > 0x20 && unit < 0xd800 ? String.fromCharCode(unit) : "▪";
}

function readHyperlink(xml: XmlReader, context: Context): string {
  const target = context.relationships.get(xml.prefixed("id") ?? "");
  // Word has no link in a link, and each level would copy the text once more.
  if (context.inLink) return readInline(xml, context);
  context.inLink = true;
  const text = readInline(xml, context);
  context.inLink = false;
  return target?.external === true ? link(text, target.target, context.markdown) : text;
}

function numberOf(id: string | undefined, ids: Map<string, number>): number {
  const number = ids.get(id ?? "") ?? ids.size + 1;
  ids.set(id ?? "", number);
  checkHeld(ids.size, "notes");
  return number;
}

function readObject(xml: XmlReader, alt: string, leftOut: LeftOut): string {
  const what = xml.name === "chart" ? "chart" : xml.name === "OLEObject" ? "embedded object" : "image";
  leftOut.add(what);
  xml.skip();
  return alt === "" ? `[${what}]` : `[${what}: ${alt.replace(/\s+/g, " ").trim()}]`;
}
