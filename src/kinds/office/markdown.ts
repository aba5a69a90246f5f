/** The Markdown of documents, sheets and slides, with one limit for all of it. */

import { Buffer } from "node:buffer";
import { cutChars } from "../../text/text.ts";
import { tooLarge } from "./unreadable.ts";

export type Markdown = ReturnType<typeof startMarkdown>;

/** Characters that are collected before they become bytes: a list of all blocks would take more memory than their text. */
const pendingChars = 65_536;

/** A file can use one text a million times: the limit bounds the result, whatever the size of the file. */
export function startMarkdown(charsMax: number) {
  const pieces: Uint8Array[] = [];
  let isEmpty = true;
  let pending = "";
  let chars = 0;
  let bytes = 0;
  /** Throws `Unreadable` if so many more characters exceed the limit. */
  const reserve = (more: number): void => {
    if (chars + more > charsMax) throw tooLarge(`its text has more than ${charsMax} characters`);
  };
  /** Counts characters that will become part of a block, for text that the file has once and uses often. */
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
    block: (text: string) => add("\n\n", text),
    line: (text: string) => add("\n", text),
    reserve,
    spend,
    finish(): Uint8Array {
      if (isEmpty) return new Uint8Array();
      pending += "\n";
      flush();
      // `allocUnsafe` would return a view of shared memory for a small text.
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

/** Markdown has no table without a head. Only the head is padded: a file of empty rows must not become bars. */
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

/** Alternative texts are a sentence or two; longer ones are cut. */
export const altCharsMax = 500;

/** Longer than any address that people type; hostile ones are cut. */
const addressCharsMax = 2_000;

export function markdownLink(text: string, address: string, markdown: Markdown): string {
  const shown = text.trim();
  // Most links show their address as text.
  if (shown === "" || shown === address) return text;
  const cut = cutChars(address, addressCharsMax);
  markdown.spend(cut.length);
  return `[${text}](${cut})`;
}

export function countNoun(count: number, singular: string): string {
  return `${count} ${singular}${count === 1 ? "" : "s"}`;
}

export type LeftOut = ReturnType<typeof startLeftOut>;

export function startLeftOut() {
  const counts = new Map<string, number>();
  return {
    add: (what: string, count = 1) => void counts.set(what, (counts.get(what) ?? 0) + count),
    notes: () =>
      [...counts].filter(([, count]) => count > 0).map(([what, count]) => `${countNoun(count, what)} left out`),
  };
}
