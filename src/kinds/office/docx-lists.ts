/** What a paragraph of a Word document is by its style and its numbering: a heading, an item of a list, plain text. */

import type { XmlReader } from "../xml.ts";
import type { Part } from "./package.ts";
import { checkHeld } from "./unreadable.ts";

/** What a paragraph or a style says of itself. */
export interface Properties {
  style?: string;
  numId?: string;
  level?: number;
  /** 0 is the highest heading, 9 is plain text. */
  outline?: number;
}

/** Reads the `pPr` that was just opened. */
export function readProperties(xml: XmlReader): Properties {
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
      // What the paragraph was before a tracked change, and what belongs to its mark.
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

/** Completes what a paragraph says of itself by what its style does. */
export type Styles = (own: Properties) => Properties;

const basedOnMax = 12;

export function readStyles(part: Part | undefined): Styles {
  const styles = new Map<string, Style>();
  if (part !== undefined) readStyleList(part, styles);
  const known = new Map<string, Properties>();
  const resolve = (id: string): Properties => {
    const before = known.get(id);
    if (before !== undefined) return before;
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

/** Names stay English in every language of Word; ids do not ("berschrift1"). */
function outlineByName(name: string): number | undefined {
  if (name === "title") return 0;
  const heading = /^heading ([1-9])$/.exec(name)?.[1];
  return heading === undefined ? undefined : Number(heading) - 1;
}

function readStyleList(part: Part, styles: Map<string, Style>): void {
  const { xml } = part;
  for (let event = xml.next(); event !== "end"; event = xml.next()) {
    if (event === "open" && xml.name === "style") styles.set(xml.attribute("styleId") ?? "", readStyle(xml));
    checkHeld(styles.size, "styles");
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
  /** How many of each level there have been; lists that share a definition count on together. */
  readonly counts: (number | undefined)[];
}

interface NumberedList {
  readonly definition: string;
  readonly restarts: Map<number, number>;
}

export interface Lists {
  /** The mark before the next item of a list, "-" or "2.1."; undefined if it has none. Counts. */
  nextLabel(numId: string, level: number): string | undefined;
}

export function readLists(part: Part | undefined): Lists {
  const definitions = new Map<string, List>();
  const lists = new Map<string, NumberedList>();
  if (part !== undefined) readNumbering(part, definitions, lists);
  return {
    nextLabel(numId, level) {
      const list = lists.get(numId);
      const definition = definitions.get(list?.definition ?? "");
      const shape = definition?.levels[level];
      // A list that is not defined is still meant as one.
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
    checkHeld(definitions.size + lists.size, "numberings");
    if (event !== "open") continue;
    if (xml.name === "abstractNum") {
      definitions.set(xml.attribute("abstractNumId") ?? "", { levels: readLevels(xml), counts: [] });
    } else if (xml.name === "num") lists.set(xml.attribute("numId") ?? "", readList(xml));
  }
}

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

/** Numbers of other scripts are told as decimal. */
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

/** a … z, aa, bb …, as Word counts. */
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
