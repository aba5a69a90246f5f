/**
 * Turns decoded text, fed piece by piece, into the lines of one page: cuts long lines, counts bytes and tokens, and
 * says when the page is full. It holds one page, never more.
 */

import { lineNumber } from "../contract/brand.ts";
import type { Profile } from "../contract/profile.ts";
import type { CutLine } from "../contract/read.ts";
import { cutChars } from "./encoding.ts";
import { estimateTokens } from "./tokens.ts";

export type PageRules = Pick<Profile, "lines" | "lineCharsMax" | "cutMark" | "pageBytesMax" | "pageTokensMax">;

/** What filled a page before its range or the file came to an end. */
export type Full = "lines" | "bytes" | "tokens";

export interface PageStepper {
  /**
   * Takes the lines of `text`, which begins at a line's start and ends behind a newline or, if `end`, at the end of
   * the file. `ascii` is a promise about `text` that saves counting its bytes.
   */
  feed(text: string, ascii: boolean, end: boolean): "more" | "full";
  /** Takes a line of which only the beginning is at hand; its end is known to lie beyond every cap. */
  feedLong(beginning: string, terminated: boolean): "more" | "full";
  readonly lines: readonly string[];
  /** The lines joined by newlines, where that is at hand because none was changed. */
  readonly joined: string | undefined;
  readonly cut: readonly CutLine[];
  readonly lineEndChars: number;
  readonly tokens: number;
  readonly full: Full | undefined;
}

export function startPage(rules: PageRules, from: number, linesMax: number): PageStepper {
  let lines: string[] = [];
  let joined: string | undefined;
  const cut: CutLine[] = [];
  let bytes = 0;
  let tokens = 0;
  let lineEndChars = 0;
  let full: Full | undefined;

  const stop = (why: Full): "full" => {
    full = why;
    return "full";
  };

  const take = (raw: string, ascii: boolean, terminated: boolean, whole: boolean): "more" | "full" => {
    if (lines.length >= linesMax) return stop("lines");
    let line = raw;
    let endChars = terminated ? 1 : 0;
    if (terminated && rules.lines === "terminated" && line.endsWith("\r")) {
      line = line.slice(0, -1);
      endChars = 2;
    }
    let cutBy: CutLine["by"] | undefined = whole ? undefined : "chars";
    if (line.length > rules.lineCharsMax) {
      line = cutChars(line, rules.lineCharsMax);
      cutBy = "chars";
    }
    let cost = 0;
    if (rules.pageTokensMax !== undefined) {
      cost = estimateTokens(line) + 1;
      if (tokens + cost > rules.pageTokensMax) {
        if (lines.length > 0) return stop("tokens");
        // A first line that is over the budget by itself is shown as far as it fits: there is no smaller page.
        line = fitting(line, cost, rules.pageTokensMax);
        cutBy = "tokens";
        full = "tokens";
      }
    }
    let shown = cutBy === undefined ? line : line + rules.cutMark;
    if (lines.length === 0 && Buffer.byteLength(shown) > rules.pageBytesMax) {
      // No page is smaller than its first line, so that is shown as far as it goes: an empty page would never end.
      line = beginning(line, rules.pageBytesMax - Buffer.byteLength(rules.cutMark));
      shown = line + rules.cutMark;
      cutBy = "chars";
      full = "bytes";
    }
    const size = (ascii ? shown.length : Buffer.byteLength(shown)) + (lines.length > 0 ? 1 : 0);
    if (bytes + size > rules.pageBytesMax) return stop("bytes");
    if (cutBy !== undefined) cut.push({ line: lineNumber(from + lines.length), charsShown: line.length, by: cutBy });
    lines.push(shown);
    bytes += size;
    tokens += cost;
    lineEndChars += endChars;
    return full === undefined ? "more" : "full";
  };

  /** Most pages are one piece of plain lines that fit: they are taken without looking at each. */
  const takesAsIs = (text: string, pieces: string[], ascii: boolean, end: boolean): boolean => {
    if (rules.pageTokensMax !== undefined || (rules.lines === "terminated" && text.includes("\r"))) return false;
    const open = pieces[pieces.length - 1] !== "" || (end && rules.lines === "split");
    const count = open ? pieces.length : pieces.length - 1;
    const whole = open ? text : text.slice(0, -1);
    const size = ascii ? whole.length : Buffer.byteLength(whole);
    if (count > linesMax || size > rules.pageBytesMax) return false;
    for (const piece of pieces) if (piece.length > rules.lineCharsMax) return false;
    if (!open) pieces.pop();
    lines = pieces;
    joined = whole;
    bytes = size;
    lineEndChars = open ? count - 1 : count;
    return true;
  };

  return {
    feed(text, ascii, end) {
      const pieces = text.split("\n");
      if (lines.length === 0 && takesAsIs(text, pieces, ascii, end)) return "more";
      joined = undefined;
      const last = pieces.length - 1;
      for (let index = 0; index < last; index += 1) {
        if (take(pieces[index] ?? "", ascii, true, true) === "full") return "full";
      }
      // What stands behind the last newline is a line if it is not empty, or if lines are split and the file ends here.
      const rest = pieces[last] ?? "";
      return rest !== "" || (end && rules.lines === "split") ? take(rest, ascii, false, true) : "more";
    },
    feedLong: (start, terminated) => {
      joined = undefined;
      return take(start, false, terminated, false);
    },
    get lines() {
      return lines;
    },
    get joined() {
      return joined;
    },
    cut,
    get lineEndChars() {
      return lineEndChars;
    },
    get tokens() {
      return tokens;
    },
    get full() {
      return full;
    },
  };
}

/** As much of a line as fits into so many UTF-8 bytes. */
function beginning(line: string, bytesMax: number): string {
  let chars = Math.min(line.length, Math.max(0, bytesMax));
  while (chars > 0 && Buffer.byteLength(line.slice(0, chars)) > bytesMax) chars = Math.floor(chars * 0.9);
  return cutChars(line, chars);
}

/** The beginning of a line that costs `cost` tokens, so long that it stays within `tokensMax`. */
function fitting(line: string, cost: number, tokensMax: number): string {
  let chars = Math.floor((line.length * tokensMax) / cost);
  while (chars > 0 && estimateTokens(line.slice(0, chars)) + 1 > tokensMax) chars = Math.floor(chars * 0.9);
  return cutChars(line, chars);
}
