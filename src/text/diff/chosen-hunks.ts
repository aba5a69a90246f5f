/** A part of a diff: the lines of some hunks are replaced, and every other line stays as it was. Pure. */

import type { Hunk, HunkLines } from "../../contract/edit.ts";
import { partLength, type Steps } from "../steps.ts";
import { noNewlineRow } from "./unified.ts";

/** Lines of the text before, and the lines of the text after that take their place. Offsets are UTF-16 units. */
export interface ReplacedLines {
  readonly from: number;
  readonly to: number;
  readonly afterFrom: number;
  readonly afterTo: number;
}

export interface ChosenHunks {
  readonly replaced: readonly ReplacedLines[];
  /** The chosen hunks, numbered as they are without the others. */
  readonly hunks: readonly Hunk[];
  readonly accepted: readonly HunkLines[];
  readonly refused: readonly HunkLines[];
  /** The old lines of the refused hunks, all of them unchanged, numbered as they are now. */
  readonly now: readonly Hunk[];
}

/** `hunks` MUST be those of a diff between the two texts, in order; those that the diff left out count as not chosen. */
export function* chooseHunks(
  before: string,
  after: string,
  hunks: readonly Hunk[],
  chosen: ReadonlySet<number>,
): Steps<ChosenHunks> {
  const [oldAt, newAt] = [lineSeeker(before), lineSeeker(after)];
  const replaced: ReplacedLines[] = [];
  const made: Hunk[] = [];
  const now: Hunk[] = [];
  const accepted: HunkLines[] = [];
  const refused: HunkLines[] = [];
  let grown = 0;
  for (const [index, hunk] of hunks.entries()) {
    yield;
    const { oldLines, newLines } = hunk;
    const runs = runsOf(hunk);
    const [first, last] = [runs[0], runs.at(-1)];
    if (first === undefined || last === undefined) continue;
    const from = first.from + grown;
    const oldFirst = firstLine(hunk.oldStart, oldLines);
    if (!chosen.has(index)) {
      refused.push({ hunk: index, from, to: last.to - 1 + grown });
      if (oldLines > 0) now.push({ ...hunk, newStart: oldFirst + grown, newLines: oldLines, lines: oldRows(hunk) });
      continue;
    }
    for (const run of runs) {
      replaced.push({
        from: yield* oldAt(run.from),
        to: yield* oldAt(run.to),
        afterFrom: yield* newAt(run.afterFrom),
        afterTo: yield* newAt(run.afterTo),
      });
    }
    made.push({ ...hunk, newStart: oldFirst + grown - (newLines === 0 ? 1 : 0) });
    accepted.push({ hunk: index, from, to: from + last.afterTo - first.afterFrom - 1 });
    grown += newLines - oldLines;
  }
  return { replaced, hunks: made, accepted, refused, now };
}

/** Finds where lines start, for line numbers in ascending order; the end of the text for a line after the last. */
function lineSeeker(text: string): (line: number) => Steps<number> {
  let [at, reached] = [0, 1];
  return function* (line) {
    for (; reached < line && at < text.length; reached += 1) {
      if (reached % partLength === 0) yield;
      at = text.indexOf("\n", at) + 1 || text.length;
    }
    return at;
  };
}

/** As in `diff -u`, a side without lines starts at the line before. */
const firstLine = (start: number, lines: number): number => (lines === 0 ? start + 1 : start);

/** The changed lines of a hunk, by their numbers on both sides; `to` is exclusive. */
function runsOf({ oldStart, oldLines, newStart, newLines, lines }: Hunk): readonly ReplacedLines[] {
  const runs: ReplacedLines[] = [];
  let [old, fresh] = [firstLine(oldStart, oldLines), firstLine(newStart, newLines)];
  let [from, afterFrom] = [old, fresh];
  const close = (): void => {
    if (old > from || fresh > afterFrom) runs.push({ from, to: old, afterFrom, afterTo: fresh });
  };
  for (const row of lines) {
    const sign = row.charAt(0);
    if (sign === "-") old += 1;
    else if (sign === "+") fresh += 1;
    else if (sign === " ") {
      close();
      [old, fresh] = [old + 1, fresh + 1];
      [from, afterFrom] = [old, fresh];
    }
  }
  close();
  return runs;
}

function oldRows({ lines }: Hunk): readonly string[] {
  return lines.flatMap((row, at) => {
    if (row === noNewlineRow) return lines[at - 1]?.startsWith("+") === true ? [] : [row];
    return row.startsWith("+") ? [] : [` ${row.slice(1)}`];
  });
}
