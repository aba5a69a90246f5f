/** The items of an outline: scanners collect them within limits, and `chooseItems` selects those that are shown. */

import type { OutlineItem } from "../../contract/outline.ts";
import type { Steps } from "../steps.ts";

/** `hidden`: the descendants that were counted and not collected. */
export type WholeItem = Omit<OutlineItem, "hidden"> & { readonly hidden?: number };

export interface ItemLimits {
  readonly itemsMax: number;
  /** Deeper levels are only counted. */
  readonly depthMax: number;
  readonly nameCharsMax: number;
}

/** Finds the items of a text and returns the first line that it does not understand. Linear in the text, without recursion. */
export type OutlineScanner = (text: string, items: ItemCollector) => Steps<number | undefined>;

interface Collected {
  readonly name: string;
  readonly kind: string;
  readonly from: number;
  to: number;
  readonly depth: number;
  hidden: number;
}

/**
 * Takes items in file order: `open` begins one inside those that are open, `close` ends the innermost one. If there are too
 * many, the deepest level is dropped and counted, so the upper levels are complete up to the end of a large file.
 */
export class ItemCollector {
  readonly #limits: ItemLimits;
  #items: Collected[] = [];
  /** The open items that were collected; the others are deeper. */
  readonly #open: Collected[] = [];
  #openDeeper = 0;
  #levels: number;
  #total = 0;

  constructor(limits: ItemLimits) {
    this.#limits = limits;
    this.#levels = limits.depthMax;
  }

  get items(): readonly WholeItem[] {
    return this.#items;
  }

  /** All items, also those that were only counted. */
  get total(): number {
    return this.#total;
  }

  get depth(): number {
    return this.#open.length + this.#openDeeper;
  }

  /** `name` is called only if the item is collected. */
  open(kind: string, from: number, name: () => string): void {
    this.#total += 1;
    if (this.#items.length >= this.#limits.itemsMax) this.#dropDeepest();
    const { depth } = this;
    const outer = this.#open.at(-1);
    if (depth >= this.#levels || this.#items.length >= this.#limits.itemsMax) {
      if (outer !== undefined) outer.hidden += 1;
      this.#openDeeper += 1;
      return;
    }
    const item = { name: shortName(name(), this.#limits.nameCharsMax), kind, from, to: from, depth, hidden: 0 };
    this.#items.push(item);
    this.#open.push(item);
  }

  close(to: number): void {
    if (this.#openDeeper > 0) {
      this.#openDeeper -= 1;
      return;
    }
    const item = this.#open.pop();
    if (item !== undefined) item.to = Math.max(item.from, to);
  }

  /** Takes the innermost open item back; it MUST have no items inside. */
  cancel(): void {
    this.#total -= 1;
    if (this.#openDeeper === 0) {
      this.#open.pop();
      this.#items.pop();
      return;
    }
    this.#openDeeper -= 1;
    const outer = this.#open.at(-1);
    if (outer !== undefined) outer.hidden -= 1;
  }

  /** Each call costs as much as all items, and there are at most as many calls as levels. */
  #dropDeepest(): void {
    if (this.#levels <= 1) return;
    const deepest = this.#items.reduce((most, { depth }) => Math.max(most, depth), 0);
    this.#levels = Math.max(1, deepest);
    if (deepest === 0) return;
    const kept: Collected[] = [];
    for (const item of this.#items) {
      if (item.depth < deepest) kept.push(item);
      else {
        const outer = kept.at(-1);
        if (outer !== undefined) outer.hidden += 1 + item.hidden;
      }
    }
    this.#items = kept;
    while (this.#open.length > deepest) {
      this.#open.pop();
      this.#openDeeper += 1;
    }
  }
}

/** A name on one line, cut after `charsMax` characters. */
export function shortName(name: string, charsMax: number): string {
  const line = name
    .slice(0, charsMax * 4)
    .replace(/\s+/g, " ")
    .trim();
  return line.length > charsMax ? `${line.slice(0, charsMax).replace(/[\ud800-\udbff]$/, "")}…` : line;
}

/** Characters between two yields of a scanner: about a millisecond of work. */
export const scanCharsMax = 65_536;

/** Calls `visit` with each line, without its line ending, and its number from 1. Returns the number of lines. */
export function* eachLine(text: string, visit: (line: string, number: number) => void): Steps<number> {
  let number = 0;
  let since = 0;
  for (let at = 0; at < text.length; ) {
    const newline = text.indexOf("\n", at);
    const next = newline === -1 ? text.length : newline + 1;
    const end = newline === -1 ? text.length : newline;
    number += 1;
    visit(text.slice(at, end > at && text.charCodeAt(end - 1) === 13 ? end - 1 : end), number);
    since += next - at + 16;
    at = next;
    if (since >= scanCharsMax) {
      since = 0;
      yield;
    }
  }
  return number;
}

/** The line of a place in a text, for places that never decrease. */
export function lineCounter(text: string): (at: number) => number {
  let line = 1;
  let newline = text.indexOf("\n");
  return (at) => {
    while (newline !== -1 && newline < at) {
      line += 1;
      newline = text.indexOf("\n", newline + 1);
    }
    return line;
  };
}

/**
 * At most `depth` levels and `itemsMax` items. Leaves out whole levels, the deepest first; the first level alone is
 * truncated if it is too long. `depthShown`: the levels that are shown, if there are more.
 */
export function chooseItems(all: readonly WholeItem[], depth: number, itemsMax: number) {
  const perLevel: number[] = [];
  let isDropped = false;
  for (const item of all) {
    perLevel[item.depth] = (perLevel[item.depth] ?? 0) + 1;
    isDropped ||= (item.hidden ?? 0) > 0;
  }
  let levels = 0;
  let count = 0;
  while (levels < perLevel.length && levels < depth) {
    const more = count + (perLevel[levels] ?? 0);
    if (levels > 0 && more > itemsMax) break;
    count = more;
    levels += 1;
  }
  const items: OutlineItem[] = [];
  let hidden = 0;
  for (const item of all.toReversed()) {
    hidden += item.hidden ?? 0;
    if (item.depth >= levels) {
      hidden += 1;
      continue;
    }
    items.push({ ...item, hidden });
    hidden = 0;
  }
  const depthShown = levels < perLevel.length || isDropped ? levels : undefined;
  return { items: items.reverse().slice(0, itemsMax) as readonly OutlineItem[], depthShown };
}
