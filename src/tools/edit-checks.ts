/** What holds for an edit wherever it is found: its author was shown the place, and the new text has bytes. */

import type { MatchedBy } from "../contract/edit.ts";
import { type LineSpan, Problem } from "../contract/problem.ts";
import type { Target } from "../contract/target.ts";
import { nothingShown, type Seen, type Shown, type Wrote } from "../session/ledger.ts";
import { covers, type LineChange, shifted, shiftedCut } from "../session/line-spans.ts";
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
export const movedAlong = ({ shown, cut }: Shown, changes: readonly LineChange[]): Shown => ({
  shown: shifted(shown, changes),
  cut: shiftedCut(cut, changes),
  cells: [],
});

/** Throws if the lines were not shown. `shown` are those of the file as it is at that moment. */
export function requireShown({ target, seen }: Before, { shown }: Pick<Shown, "shown">, needed: LineSpan): void {
  if (seen.state !== "fresh" || seen.whole || covers(shown, needed)) return;
  throw new Problem({ code: "NOT_READ", place: target, reason: "elsewhere", unit: "line", shown, needed });
}

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
export const knownAfter = ({ seen }: Before, { shown, cut, cells, movedCells = [] }: Shown): Wrote =>
  seen.state === "fresh" && seen.whole ? "all" : { shown, cut, cells, movedCells };
