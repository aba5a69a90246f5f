/** Edits by line and column, as places in a text; and whether they can be meant for this text at all. */

import type { TextChange } from "../contract/edit.ts";
import type { FileEdits, Position } from "../contract/language.ts";

export type RangeEdits =
  | { readonly are: "fine"; readonly changes: readonly TextChange[] }
  /** A place is not there, or the old name does not stand there: they were made for another state of the file. */
  | { readonly are: "stale" }
  | { readonly are: "overlapping" };

/** In the order of the text. A range must hold the old name; what is only put in must stand on a line with it. */
export function changesOfEdits(text: string, edits: FileEdits["edits"], oldName: string): RangeEdits {
  const starts = lineStarts(text);
  const changes = new Map<string, TextChange>();
  for (const { range, text: put } of edits) {
    const [from, to] = [offsetOf(text, starts, range.start), offsetOf(text, starts, range.end)];
    if (from === undefined || to === undefined || to < from) return { are: "stale" };
    const line = text.slice(starts[range.start.line - 1] ?? 0, starts[range.end.line] ?? text.length);
    if (!(from === to ? line : text.slice(from, to)).includes(oldName)) return { are: "stale" };
    // What is said twice is meant once; but two texts that are put in at one place are two.
    changes.set(JSON.stringify([from, to, put]), { from, to, text: put });
  }
  // Not by the end alone: of two at one place the one that is only put in comes first.
  const sorted = [...changes.values()].toSorted((one, two) => one.from - two.from || one.to - two.to);
  for (const [index, { from }] of sorted.entries()) {
    if (from < (sorted[index - 1]?.to ?? 0)) return { are: "overlapping" };
  }
  return { are: "fine", changes: sorted.filter(({ from, to, text: put }) => text.slice(from, to) !== put) };
}

function lineStarts(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

function offsetOf(text: string, starts: readonly number[], { line, column }: Position): number | undefined {
  const start = starts[line - 1];
  if (start === undefined) return undefined;
  const end = starts[line] === undefined ? text.length : (starts[line] ?? text.length) - 1;
  const offset = start + column - 1;
  return offset > end ? undefined : offset;
}
