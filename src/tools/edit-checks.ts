/** What holds for an edit wherever it is found: its author was shown the place, and the new text has bytes. */

import type { MatchedBy } from "../contract/edit.ts";
import { type LineSpan, Problem } from "../contract/problem.ts";
import type { Target } from "../contract/target.ts";
import { nothingShown, type Seen, type Shown, type Wrote } from "../session/ledger.ts";
import { type LineChange, merged, shifted, shiftedCut, shiftedParts, without } from "../session/line-spans.ts";
import { encode } from "../text/encode.ts";
import type { Before } from "./before.ts";

/** Lines that a text of so many newlines spans, from a line on; a newline at its end begins no line of its own. */
export const spanFrom = (line: number, newlines: number, endsWithNewline: boolean): LineSpan => ({
  from: line,
  to: line + Math.max(0, newlines - (endsWithNewline ? 1 : 0)),
});

/** What is known of a file, as far as it is still so. */
export const shownOf = (seen: Seen): Shown => (seen.state === "fresh" ? seen : nothingShown);

/** The same when lines have changed. Cells are not where they were. */
export const movedAlong = ({ shown, cut, parts = [] }: Shown, changes: readonly LineChange[]): Shown => ({
  shown: shifted(shown, changes),
  cut: shiftedCut(cut, changes),
  parts: shiftedParts(parts, changes),
  cells: [],
});

/** Those of the lines that were not shown. `shown` and `needed` are lines of the same state of the file. */
export function unshown(
  { seen }: Pick<Before, "seen">,
  { shown }: Pick<Shown, "shown">,
  needed: readonly LineSpan[],
): readonly LineSpan[] {
  return seen.state !== "fresh" || seen.whole ? [] : without(merged(needed), shown);
}

/** Throws if lines of the file as it is were not shown; one refusal names them all. */
export function requireShown(before: Before, { shown }: Pick<Shown, "shown">, lines: readonly LineSpan[]): void {
  const needed = unshown(before, { shown }, lines);
  if (needed.length > 0) throw notShown(before, needed);
}

/** What was shown is told of the file as it is, whatever earlier edits of the same call would make of it. */
export const notShown = ({ target, seen }: Before, needed: readonly LineSpan[]): Problem =>
  new Problem({
    code: "NOT_READ",
    place: target,
    reason: "elsewhere",
    unit: "line",
    shown: shownOf(seen).shown,
    needed: merged(needed),
  });

/** A file that somebody else changed since is edited only where the very text is still there, once. */
export function requireCertain(before: Before, matchedBy: MatchedBy, places: number): void {
  if (before.seen.state !== "changed" || (matchedBy === "exact" && places === 1)) return;
  const { sizeBytes: sizeNow, mtimeMs } = before.file;
  const { sizeThen } = before.seen;
  throw new Problem({ code: "STALE", place: before.target, reason: "changed", sizeThen, sizeNow, mtimeMs });
}

export function encoded(text: string, { form: { encoding }, target }: Pick<Before, "form" | "target">): Uint8Array {
  const result = encode(text, encoding);
  if ("bytes" in result) return result.bytes;
  throw lacking(target, encoding, result.lacks);
}

const lacking = (place: Target, encoding: string, character: string): Problem =>
  new Problem({ code: "ENCODING", place, encoding, character });

export const notesOf = ({ seen }: Before): readonly { readonly note: "other changes" }[] =>
  seen.state === "changed" ? [{ note: "other changes" }] : [];

/** What the session knows once its change is made: all of it, if it knew all of it before; else the parts it was shown. */
export const knownAfter = ({ seen }: Before, { shown, cut, parts = [], cells, movedCells = [] }: Shown): Wrote =>
  seen.state === "fresh" && seen.whole ? "all" : { shown, cut, parts, cells, movedCells };
