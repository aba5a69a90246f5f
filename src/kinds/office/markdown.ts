/** The Markdown that documents, sheets and slides are told in, with one budget for all of it. */

import { Buffer } from "node:buffer";
import { cutChars } from "../../text/text.ts";
import { tooLarge } from "./unreadable.ts";

/** Blocks of text, an empty line between them. */
export interface Markdown {
  block(text: string): void;
  /** Goes on right below the block before: the next item of a list. */
  line(text: string): void;
  /** Throws `Unreadable` if there is no room for so many more characters. */
  reserve(chars: number): void;
  /** Takes room for what will become part of a block, where the file says it once and means it often. */
  spend(chars: number): void;
  /** All of it in UTF-8. */
  finish(): Uint8Array;
}

/** Characters that are put together before they become bytes: a list of all blocks would take more memory than their text. */
const pendingChars = 65_536;

/** What a file says once it can repeat a million times; the text ends there, whatever the file holds. */
export function startMarkdown(charsMax: number): Markdown {
  const pieces: Uint8Array[] = [];
  let isEmpty = true;
  let pending = "";
  let chars = 0;
  let bytes = 0;
  const reserve = (more: number): void => {
    if (chars + more > charsMax) throw tooLarge(`its text has more than ${charsMax} characters`);
  };
  const spend = (more: number): void => {
    reserve(more);
    chars += more;
  };
  const add = (before: string, text: string): void => {
    spend(text.length + before.length);
    pending += isEmpty ? text : before + text;
    isEmpty = false;
    if (pending.length >= pendingChars) flush();
  };
  const flush = (): void => {
    const piece = Buffer.from(pending);
    pending = "";
    bytes += piece.length;
    if (bytes > charsMax) throw tooLarge(`its text has more than ${charsMax} bytes`);
    pieces.push(piece);
  };
  return {
    block: (text) => add("\n\n", text),
    line: (text) => add("\n", text),
    reserve,
    spend,
    finish() {
      if (isEmpty) return new Uint8Array();
      pending += "\n";
      flush();
      // A small one would be a view of memory that is shared with others.
      const whole = Buffer.allocUnsafeSlow(bytes);
      let at = 0;
      for (const piece of pieces) {
        whole.set(piece, at);
        at += piece.length;
      }
      return whole;
    },
  };
}

/**
 * The first row is the head, as Markdown has no table without one. Only the head is filled up to the widest row: others
 * may be shorter, and a file of empty rows must not become a text of bars.
 */
export function tableLines(rows: readonly (readonly string[])[]): readonly string[] {
  const [head = [], ...others] = rows;
  const width = rows.reduce((most, row) => Math.max(most, row.length), 1);
  const filled = [...head, ...Array.from({ length: width - head.length }, () => "")];
  return [tableRow(filled), `|${" --- |".repeat(width)}`, ...others.map(tableRow)];
}

export function tableRow(cells: readonly string[]): string {
  return cells.length === 0 ? "|" : `| ${cells.map(tableCell).join(" | ")} |`;
}

function tableCell(text: string): string {
  return /[|\n\r]/.test(text)
    ? text
        .trim()
        .replaceAll("|", "\\|")
        .replace(/\r?\n|\r/g, "<br>")
    : text;
}

const addressCharsMax = 2_000;

export function link(text: string, address: string, markdown: Markdown): string {
  const shown = text.trim();
  // Most addresses in a text are shown as such.
  if (shown === "" || shown === address) return text;
  const cut = cutChars(address, addressCharsMax);
  markdown.spend(cut.length);
  return `[${text}](${cut})`;
}

/** "1 image", "3 images". */
export function counted(count: number, singular: string): string {
  return `${count} ${singular}${count === 1 ? "" : "s"}`;
}

/** Counts what is left out, and tells it in the order it was first met. */
export interface LeftOut {
  add(what: string, count?: number): void;
  notes(): readonly string[];
}

export function startLeftOut(): LeftOut {
  const counts = new Map<string, number>();
  return {
    add: (what, count = 1) => void counts.set(what, (counts.get(what) ?? 0) + count),
    notes: () =>
      [...counts].filter(([, count]) => count > 0).map(([what, count]) => `${counted(count, what)} left out`),
  };
}
