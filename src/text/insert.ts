/** New lines behind a line of a text, with the line ends that stand around them. */

import type { TextChange } from "../contract/edit.ts";

export interface Insertion {
  readonly change: TextChange;
  /** The line before the new ones, or the very beginning: what their author must have seen. */
  readonly beside: { readonly from: number; readonly to: number };
}

/** Undefined: the text has fewer lines. A text that does not end with a newline goes on without one. */
export function insertion(text: string, behindLine: number, newText: string): Insertion | undefined {
  const beside = lineSpan(text, behindLine);
  if (beside === undefined) return undefined;
  const { from, to } = beside;
  const lineEnd = lineEndNear(text, to);
  const lines = newText
    .replace(/\r?\n$/, "")
    .split(/\r?\n/)
    .join(lineEnd);
  const unfinished = to > from && text[to - 1] !== "\n";
  return { change: { from: to, to, text: unfinished ? `${lineEnd}${lines}` : `${lines}${lineEnd}` }, beside };
}

/** A newline ends a line, so a final one begins none. */
export function linesIn(text: string): number {
  let count = text === "" || text.endsWith("\n") ? 0 : 1;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}

/** A line with its end; line 0 is the empty place before the first. */
function lineSpan(text: string, line: number): Insertion["beside"] | undefined {
  if (line < 0) return undefined;
  let from = 0;
  let to = 0;
  for (let count = 0; count < line; count += 1) {
    if (to === text.length) return undefined;
    from = to;
    const newline = text.indexOf("\n", to);
    to = newline === -1 ? text.length : newline + 1;
  }
  return { from, to };
}

/** That of the line before, else of the first line. */
function lineEndNear(text: string, at: number): string {
  const before = at === 0 ? -1 : text.lastIndexOf("\n", at - 1);
  const newline = before === -1 ? text.indexOf("\n") : before;
  return newline > 0 && text[newline - 1] === "\r" ? "\r\n" : "\n";
}
