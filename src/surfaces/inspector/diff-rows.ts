/** A part of a long diff: rows are the lines of all hunks, one after the other. Pure. */

import type { Hunk } from "../../contract/edit.ts";
import type { HunkPart } from "../../contract/inspector.ts";
import { cutAll } from "../shown-hunks.ts";

export const rowsIn = (hunks: readonly Hunk[]): number => hunks.reduce((sum, { lines }) => sum + lines.length, 0);

/** The rows from `from` on, as parts of their hunks. */
export function rowsOf(hunks: readonly Hunk[], from: number, count: number): readonly HunkPart[] {
  const parts: HunkPart[] = [];
  let first = 0;
  for (const hunk of hunks) {
    const { lines } = hunk;
    const [start, end] = [Math.max(0, from - first), Math.min(lines.length, from + count - first)];
    if (start < end) parts.push(partOf(hunk, start, end));
    first += lines.length;
    if (first >= from + count) break;
  }
  return parts;
}

function partOf(hunk: Hunk, start: number, end: number): HunkPart {
  const shown = hunk.lines.slice(start, end);
  // Of the whole hunk: where a line is cut depends on the one that it took the place of.
  const lines = cutAll(hunk.lines).slice(start, end);
  if (start === 0 && end === hunk.lines.length) return { ...hunk, lines, continued: false };
  const before = sidesOf(hunk.lines.slice(0, start));
  const own = sidesOf(shown);
  // As `diff -u` has it, a side without lines starts at the line before.
  const oldFirst = hunk.oldStart + (hunk.oldLines === 0 ? 1 : 0) + before.old;
  const newFirst = hunk.newStart + (hunk.newLines === 0 ? 1 : 0) + before.new;
  return {
    oldStart: own.old === 0 ? oldFirst - 1 : oldFirst,
    oldLines: own.old,
    newStart: own.new === 0 ? newFirst - 1 : newFirst,
    newLines: own.new,
    lines,
    continued: start > 0,
  };
}

function sidesOf(lines: readonly string[]): { readonly old: number; readonly new: number } {
  let [old, fresh] = [0, 0];
  for (const line of lines) {
    if (line.startsWith("\\")) continue;
    if (!line.startsWith("+")) old += 1;
    if (!line.startsWith("-")) fresh += 1;
  }
  return { old, new: fresh };
}
