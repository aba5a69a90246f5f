/** Keys and list elements of YAML, by their indentation. */

import type { Steps } from "../steps.ts";
import { eachLine, type ItemCollector } from "./items.ts";

/** YAML allows no longer key on one line. */
const keyCharsMax = 1_024;

interface Node {
  readonly indent: number;
  readonly isElement: boolean;
  readonly line: number;
  readonly isTop: boolean;
}

/**
 * Top-level keys, nested keys whose value has several lines, and elements of lists that have several lines. Reads no meaning into
 * block scalars, quoted texts or flow collections, which may contain what looks like a key.
 */
export function* scanYaml(text: string, items: ItemCollector): Steps<number | undefined> {
  const nodes: Node[] = [];
  let lastFilled = 0;
  /** Deeper lines are the text of a block scalar. */
  let blockIndent: number | undefined;
  const inside = new Delimiters();

  const closeLast = (): void => {
    const node = nodes.pop();
    if (node === undefined) return;
    if (node.line === lastFilled && !node.isTop) items.cancel();
    else items.close(lastFilled);
  };
  const open = (indent: number, isElement: boolean, line: number, name: () => string): void => {
    nodes.push({ indent, isElement, line, isTop: items.depth === 0 && !isElement });
    items.open(isElement ? "item" : "key", line, name);
    // What is opened on this line is closed with this line at the earliest.
    lastFilled = line;
  };

  const visit = (line: string, number: number): void => {
    let at = indentOf(line);
    if (inside.isOpen) {
      inside.scan(line, 0, number);
      lastFilled = number;
      return;
    }
    if (at === line.length) return;
    if (blockIndent !== undefined) {
      if (at > blockIndent) {
        lastFilled = number;
        return;
      }
      blockIndent = undefined;
    }
    if (line[at] === "#") return;
    if (at === 0 && /^(?:---|\.\.\.)(?:[ \t]|$)/.test(line.slice(0, 4))) {
      while (nodes.length > 0) closeLast();
      return;
    }
    let outer = at;
    while (line[at] === "-" && isGap(line, at + 1)) {
      // The elements of a list may be as far in as the key of the list.
      for (let node = nodes.at(-1); node !== undefined; node = nodes.at(-1)) {
        if (node.indent < at || (node.indent === at && !node.isElement)) break;
        closeLast();
      }
      const from = at + 1;
      open(at, true, number, () => line.slice(from, from + keyCharsMax));
      outer = at;
      at += 1;
      while (isSpace(line, at)) at += 1;
    }
    const end = keyEnd(line, at);
    if (end !== undefined) {
      while ((nodes.at(-1)?.indent ?? -1) >= at) closeLast();
      const from = at;
      open(at, false, number, () => unquoted(line.slice(from, end).trim()));
      outer = at;
      at = end + 1;
    }
    lastFilled = number;
    at = valueStart(line, at);
    const first = line[at];
    if (first === "|" || first === ">") blockIndent = outer;
    else if (first !== undefined && "\"'[{".includes(first)) inside.scan(line, at, number);
  };
  yield* eachLine(text, visit);
  while (nodes.length > 0) closeLast();
  return inside.isOpen ? inside.line : undefined;
}

/** A quoted text or a flow collection that may go on over lines. */
class Delimiters {
  #depth = 0;
  #quote = "";
  line = 0;

  get isOpen(): boolean {
    return this.#depth > 0 || this.#quote !== "";
  }

  scan(line: string, from: number, number: number): void {
    if (!this.isOpen) this.line = number;
    let before = "[";
    for (let at = from; at < line.length; at += 1) {
      const char = line[at] ?? "";
      if (this.#quote !== "") {
        if (char === "\\" && this.#quote === '"') at += 1;
        else if (char === this.#quote && line[at + 1] === char && char === "'") at += 1;
        else if (char === this.#quote) this.#quote = "";
      } else if ((char === '"' || char === "'") && "[{,:".includes(before)) this.#quote = char;
      else if (char === "[" || char === "{") this.#depth += 1;
      else if (char === "]" || char === "}") this.#depth = Math.max(0, this.#depth - 1);
      else if (char === "#" && isSpace(line, at - 1)) return;
      if (!this.isOpen) return;
      if (char !== " ") before = char;
    }
  }
}

const isSpace = (line: string, at: number): boolean => line[at] === " " || line[at] === "\t";
const isGap = (line: string, at: number): boolean => at >= line.length || isSpace(line, at);

function indentOf(line: string): number {
  let at = 0;
  while (isSpace(line, at)) at += 1;
  return at;
}

/** Where the colon of a key is; undefined if the line has no key at this place. */
function keyEnd(line: string, from: number): number | undefined {
  const end = Math.min(line.length, from + keyCharsMax);
  const first = line[from];
  let at = from;
  if (first === '"' || first === "'") {
    for (at += 1; at < end && line[at] !== first; at += 1) if (line[at] === "\\" && first === '"') at += 1;
    at += 1;
    while (isSpace(line, at)) at += 1;
    return line[at] === ":" && isGap(line, at + 1) ? at : undefined;
  }
  if (first === undefined || "[{#|>%".includes(first)) return undefined;
  for (; at < end; at += 1) {
    if (line[at] === ":" && isGap(line, at + 1)) return at;
    if (line[at] === "#" && isSpace(line, at - 1)) return undefined;
  }
  return undefined;
}

/** After whitespace, anchors and tags. */
function valueStart(line: string, from: number): number {
  let at = from;
  for (;;) {
    while (isSpace(line, at)) at += 1;
    if (line[at] !== "&" && line[at] !== "!") return at;
    while (at < line.length && !isSpace(line, at)) at += 1;
  }
}

const unquoted = (key: string): string => (/^(["']).*\1$/.test(key) ? key.slice(1, -1) : key);
