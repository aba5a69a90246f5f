/** Turns text, fed piece by piece, into the lines of one page, and reports when it is full. Keeps only that page. */

import type { NumberStyle, Profile } from "../../contract/profile.ts";
import type { CutLine } from "../../contract/read.ts";
import { lineNumber } from "../../contract/target.ts";
import { cutChars } from "../encoding/encoding.ts";
import { estimateTokens } from "../tokens.ts";
import { countNewlines } from "./newlines.ts";

export type PageRules = Pick<
  Profile,
  "lines" | "lineCharsMax" | "cutMark" | "pageBytesMax" | "pageTokensMax" | "numbers"
>;

export type PageLimit = "lines" | "bytes" | "tokens";

/** What is known about a text from its bytes; each saves a scan of the characters. */
export interface TextFacts {
  readonly ascii: boolean;
  readonly utf8Bytes: number | undefined;
  readonly newlines: number | undefined;
}

export const startPage = (rules: PageRules, from: number, linesMax: number): PageStepper =>
  new PageStepper(rules, from, linesMax);

/** A class: what getters in a closure capture stays in memory until the next full garbage collection of V8. */
export class PageStepper {
  readonly #rules: PageRules;
  readonly #from: number;
  readonly #linesMax: number;
  #lines: string[] = [];
  /** Set as long as every text was taken whole; the lines are split from it on demand. */
  #joined: string | undefined;
  #bytes = 0;
  #allAscii = true;
  readonly cut: CutLine[] = [];
  count = 0;
  tokens = 0;
  lineEndChars = 0;
  full: PageLimit | undefined;

  constructor(rules: PageRules, from: number, linesMax: number) {
    this.#rules = rules;
    this.#from = from;
    this.#linesMax = linesMax;
  }

  get lines(): readonly string[] {
    this.#splitJoined();
    return this.#lines;
  }

  /** The lines joined by newlines, as long as no text had to be split. */
  get joined(): string | undefined {
    return this.#joined;
  }

  get ascii(): boolean {
    return this.#allAscii && this.cut.length === 0;
  }

  /** `text` begins at the start of a line and ends after a newline or, if `end`, at the end of the file. */
  feed(text: string, known: TextFacts, end: boolean): "more" | "full" {
    const { ascii } = known;
    this.#allAscii &&= ascii;
    if (this.#takesAsIs(text, known, end)) return "more";
    this.#splitJoined();
    this.#joined = undefined;
    const pieces = text.split("\n");
    const last = pieces.length - 1;
    for (let index = 0; index < last; index += 1) {
      if (this.#take(pieces[index] ?? "", ascii, true, true) === "full") return "full";
    }
    // The rest after the last newline is a line if it is not empty, or if the profile splits lines and the file ends
    // here.
    const rest = pieces[last] ?? "";
    return rest !== "" || (end && this.#rules.lines === "split") ? this.#take(rest, ascii, false, true) : "more";
  }

  /** Takes a line of which only the beginning was loaded; the rest is beyond every limit. */
  feedLong(start: string, terminated: boolean): "more" | "full" {
    this.#allAscii = false;
    this.#splitJoined();
    this.#joined = undefined;
    return this.#take(start, false, terminated, false);
  }

  /** Most pages are plain lines that fit: they are taken without splitting them. */
  #takesAsIs(text: string, known: TextFacts, end: boolean): boolean {
    const { lines, lineCharsMax, pageBytesMax, pageTokensMax } = this.#rules;
    const before = this.#joined;
    if (pageTokensMax !== undefined || (this.count > 0 && (before === undefined || text === ""))) return false;
    // With `terminated`, a carriage return before a newline is part of the line ending.
    const plain = lines === "terminated" && text.includes("\r") ? text.replaceAll("\r\n", "\n") : text;
    const open = (plain !== "" && !plain.endsWith("\n")) || (end && lines === "split");
    const newlines = known.newlines ?? countNewlines(plain);
    const added = open ? newlines + 1 : newlines;
    // The newline that ends the last line is not part of the page.
    const whole = open ? plain : plain.slice(0, -1);
    const removed = text.length - whole.length;
    const between = this.count > 0 ? 1 : 0;
    const size = known.utf8Bytes === undefined ? Buffer.byteLength(whole) : known.utf8Bytes - removed;
    if (this.count + added > this.#linesMax || this.#bytes + between + size > pageBytesMax) return false;
    if (hasLongLine(whole, lineCharsMax)) return false;
    this.#joined = before === undefined || between === 0 ? whole : `${before}\n${whole}`;
    this.#lines = [];
    this.count += added;
    this.#bytes += between + size;
    this.lineEndChars += newlines + text.length - plain.length;
    return true;
  }

  #splitJoined(): void {
    if (this.#joined !== undefined && this.#lines.length === 0 && this.count > 0)
      this.#lines = this.#joined.split("\n");
  }

  #take(raw: string, ascii: boolean, terminated: boolean, whole: boolean): "more" | "full" {
    const { lines, lineCharsMax, cutMark, pageBytesMax, pageTokensMax, numbers } = this.#rules;
    if (this.count >= this.#linesMax) return this.#stop("lines");
    let line = raw;
    let endChars = terminated ? 1 : 0;
    if (terminated && lines === "terminated" && line.endsWith("\r")) {
      line = line.slice(0, -1);
      endChars = 2;
    }
    let cutBy: CutLine["by"] | undefined = whole ? undefined : "chars";
    if (line.length > lineCharsMax) {
      line = cutChars(line, lineCharsMax);
      cutBy = "chars";
    }
    let cost = 0;
    if (pageTokensMax !== undefined) {
      const numberCost = this.#numberCost(numbers);
      cost = estimateTokens(line) + 1 + numberCost;
      if (this.tokens + cost > pageTokensMax) {
        if (this.count > 0) return this.#stop("tokens");
        // A first line that is over the budget is truncated to fit: there is no smaller page.
        line = fitting(line, cost - numberCost, pageTokensMax - numberCost);
        cutBy = "tokens";
        this.full = "tokens";
      }
    }
    let shown = cutBy === undefined ? line : line + cutMark;
    if (this.count === 0 && Buffer.byteLength(shown) > pageBytesMax) {
      // A first line over the byte limit is truncated, too: an empty page would never advance.
      line = beginning(line, pageBytesMax - Buffer.byteLength(cutMark));
      shown = line + cutMark;
      cutBy = "chars";
      this.full = "bytes";
    }
    const size = (ascii ? shown.length : Buffer.byteLength(shown)) + (this.count > 0 ? 1 : 0);
    if (this.#bytes + size > pageBytesMax) return this.#stop("bytes");
    if (cutBy !== undefined) {
      this.cut.push({ line: lineNumber(this.#from + this.count), charsShown: line.length, by: cutBy });
    }
    this.#lines.push(shown);
    this.count += 1;
    this.#bytes += size;
    this.tokens += cost;
    this.lineEndChars += endChars;
    return this.full === undefined ? "more" : "full";
  }

  #numberCost(numbers: NumberStyle | undefined): number {
    const line = this.#from + this.count;
    const every = numbers?.every ?? 1;
    if (this.count > 0) return line % every === 0 ? numberTokens(line, numbers) : 0;
    // Any line may become the last one, which may have a number as well: the first one pays for it.
    return numberTokens(line, numbers) * (every > 1 ? 2 : 1);
  }

  #stop(why: PageLimit): "full" {
    this.full = why;
    return "full";
  }
}

/** Tokens of all numbers of a page, or a few more. */
export const numbersTokens = (from: number, count: number, numbers: NumberStyle | undefined): number =>
  numberTokens(from + count, numbers) *
  (numbers?.every === undefined ? count : Math.min(count, Math.ceil(count / numbers.every) + 2));

/** Tokens of a line number: one for every three digits, and one for the mark after it. */
export const numberTokens = (line: number, numbers: NumberStyle | undefined): number =>
  numbers === undefined ? 0 : Math.ceil(Math.max(numbers.digitsMin, digitsIn(line)) / 3) + 1;

const digitsIn = (line: number): number => Math.floor(Math.log10(Math.max(1, Math.abs(line)))) + 1;

/** Jumps from line start to line start, as far as a line may reach: few searches, however short the lines are. */
function hasLongLine(text: string, charsMax: number): boolean {
  for (let start = 0; text.length - start > charsMax; ) {
    const newline = text.lastIndexOf("\n", start + charsMax);
    if (newline < start) return true;
    start = newline + 1;
  }
  return false;
}

/** The longest prefix of a line that fits into so many UTF-8 bytes, or a little less. */
function beginning(line: string, bytesMax: number): string {
  let chars = Math.min(line.length, Math.max(0, bytesMax));
  while (chars > 0 && Buffer.byteLength(line.slice(0, chars)) > bytesMax) chars = Math.floor(chars * 0.9);
  return cutChars(line, chars);
}

/** A prefix of a line that stays within `tokensMax`; the whole line costs `cost` tokens. */
function fitting(line: string, cost: number, tokensMax: number): string {
  let chars = Math.floor((line.length * tokensMax) / cost);
  while (chars > 0 && estimateTokens(line.slice(0, chars)) + 1 > tokensMax) chars = Math.floor(chars * 0.9);
  return cutChars(line, chars);
}
