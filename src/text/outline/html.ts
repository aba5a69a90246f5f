/** Headings, sections and elements with an id of HTML. */

import type { Steps } from "../steps.ts";
import { type ItemCollector, lineCounter, scanCharsMax } from "./items.ts";

/** Elements inside this many others are skipped: browsers stop nesting at 512. */
const nestingMax = 512;
/** A longer tag is searched for an id up to here. */
const tagCharsMax = 2_000;

const words = (list: string): ReadonlySet<string> => new Set(list.split(" "));
const voids = words("area base br col embed hr img input link meta param source track wbr");
const sections = words(
  "head body header nav main section article aside footer form table template script style dialog",
);
/** Their content is text, up to the end tag. */
const raw = words("script style textarea title xmp");
const blocks = words("div ul ol dl pre blockquote figure fieldset hr");
/** Elements that end where the next one of them begins. */
const implied = words("p li dt dd tr td th option");

interface Entry {
  readonly tag: string;
  /** 1 to 6: the section of a heading, which no tag ends. */
  readonly level: number;
  readonly isItem: boolean;
}

export function* scanHtml(text: string, items: ItemCollector): Steps<undefined> {
  const lineAt = lineCounter(text);
  const entries: Entry[] = [];
  /** How many elements of a tag are open, so that an end tag without a start is found out at once. */
  const opened = new Map<string, number>();
  let yieldAt = scanCharsMax;

  const pop = (at: number): Entry | undefined => {
    const entry = entries.pop();
    if (entry === undefined) return undefined;
    opened.set(entry.tag, (opened.get(entry.tag) ?? 1) - 1);
    if (entry.isItem) items.close(lineAt(at));
    return entry;
  };
  const push = (entry: Entry): void => {
    entries.push(entry);
    opened.set(entry.tag, (opened.get(entry.tag) ?? 0) + 1);
  };
  /** The last character before a place that is not whitespace, since a heading's section ends before the next one. */
  const filledBefore = (at: number): number => {
    let end = at - 1;
    while (end > 0 && end > at - tagCharsMax && text.charCodeAt(end) <= 32) end -= 1;
    return end;
  };

  let at = text.indexOf("<");
  while (at !== -1 && at < text.length) {
    if (at >= yieldAt) {
      yieldAt = at + scanCharsMax;
      yield;
    }
    if (text.startsWith("<!--", at)) {
      const end = text.indexOf("-->", at + 4);
      at = end === -1 ? -1 : text.indexOf("<", end);
      continue;
    }
    const isEnd = text[at + 1] === "/";
    const tag = tagName(text, at + (isEnd ? 2 : 1));
    if (tag === "") {
      at = text.indexOf("<", at + 1);
      continue;
    }
    const end = tagEnd(text, at);
    const level = /^h[1-6]$/.test(tag) ? Number(tag[1]) : 0;
    if (isEnd) {
      // A heading's section goes on after its end tag.
      if (level === 0 && (opened.get(tag) ?? 0) > 0) {
        const filled = filledBefore(at);
        while (entries.length > 0 && entries.at(-1)?.tag !== tag) pop(filled);
        pop(at);
      }
      at = text.indexOf("<", end);
      continue;
    }
    if (entries.length < nestingMax && !voids.has(tag)) {
      const from = at;
      const isBlock = level > 0 || implied.has(tag) || sections.has(tag) || blocks.has(tag);
      if (isBlock && entries.at(-1)?.tag === "p") pop(filledBefore(at));
      if (level > 0) {
        const filled = filledBefore(at);
        while ((entries.at(-1)?.level ?? 0) >= level) pop(filled);
        push({ tag: "", level, isItem: true });
        items.open(tag, lineAt(at), () => headingText(text, end));
      } else {
        if (implied.has(tag) && entries.at(-1)?.tag === tag) pop(filledBefore(at));
        const id = idIn(text.slice(from, Math.min(end, from + tagCharsMax)));
        const isItem = sections.has(tag) || id !== undefined;
        const isClosed = text[end - 2] === "/";
        if (isItem) items.open(tag, lineAt(at), () => (id === undefined ? "" : `#${id}`) || `<${tag}>`);
        if (isClosed) {
          if (isItem) items.close(lineAt(end));
        } else push({ tag, level: 0, isItem });
        if (raw.has(tag) && !isClosed) {
          at = rawEnd(text, tag, end);
          continue;
        }
      }
    } else if (raw.has(tag)) {
      at = rawEnd(text, tag, end);
      continue;
    }
    at = text.indexOf("<", end);
  }
  while (entries.length > 0) pop(filledBefore(text.length));
  return undefined;
}

/** In lower case; empty if no name is there. */
function tagName(text: string, at: number): string {
  const [name = ""] = /^[A-Za-z][\w:-]*/.exec(text.slice(at, at + 40)) ?? [];
  return name.toLowerCase();
}

/** The place after the `>` of a tag, which quotes may hide. An unclosed tag or quote ends at the next `<`. */
function tagEnd(text: string, from: number): number {
  let quote = 0;
  for (let at = from + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (quote !== 0) {
      if (code === quote) quote = 0;
      else if (at - from > scanCharsMax) break;
    } else if (code === 0x3e) return at + 1;
    else if (code === 0x3c) return at;
    else if ((code === 0x22 || code === 0x27) && text.charCodeAt(at - 1) === 0x3d) quote = code;
  }
  const next = text.indexOf("<", from + 1);
  return next === -1 ? text.length : next;
}

/** The `<` of the end tag, in any letter case; -1 without one. */
function rawEnd(text: string, tag: string, from: number): number {
  for (let at = text.indexOf("</", from); at !== -1; at = text.indexOf("</", at + 2)) {
    if (text.slice(at + 2, at + 2 + tag.length).toLowerCase() === tag) return at;
  }
  return -1;
}

const idIn = (tag: string): string | undefined => {
  const [, double, single, bare] = /\sid=(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/i.exec(tag) ?? [];
  return double ?? single ?? bare;
};

/** The text up to the end tag, without the tags in it. */
function headingText(text: string, from: number): string {
  const part = text.slice(from, from + tagCharsMax);
  const end = part.search(/<\/h[1-6]/i);
  return (end === -1 ? (part.split("\n", 1)[0] ?? "") : part.slice(0, end)).replace(/<[^<>]*>/g, "");
}
