/**
 * A part of a change: a person who was asked accepted some hunks of the diff and refused the others. The refused lines stay to the
 * byte, the ledger learns what was really written, and the reply lists both kinds.
 */

import type { OfferedHunk } from "../../contract/ask.ts";
import type { ChangeNote, HunkLines, Piece } from "../../contract/edit.ts";
import { limits } from "../../contract/limits.ts";
import { runInSlices } from "../../disk/disk.ts";
import { chooseHunks, lineEndOf, sourceText, type Steps } from "../../text/text.ts";
import { knownAfter, linesChanged, linesMoved, movedAlong, notesOf, shownOf } from "../edit/edit-text.ts";
import type { ToolContext } from "../tool.ts";
import type { Plan, Planned } from "./change.ts";
import { joined } from "./commit.ts";
import type { CurrentFile } from "./current-file.ts";
import { modesOf, type Prepared } from "./prepare.ts";

type Existing<Extra> = Extract<Prepared<Extra>, { readonly is: "there" }>;

/** A file whose parts are chosen is read into memory, which must not change its diff. */
export const inMemory = <Extra>(plan: Plan<Extra>): Plan<Extra> => ({ ...plan, holds: "at once" });

/**
 * The parts of a file's change that a person can accept one by one: its hunks, or the file as a whole. None if the question does
 * not show all of a whole.
 */
export function offeredHunks<Extra>(
  prepared: Prepared<Extra>,
  file: number,
  as: "it is" | "moved" = "it is",
): readonly OfferedHunk[] {
  const { diff } = prepared;
  const isRemoved = prepared.is === "there" && prepared.planned.removes === true;
  // That a file is deleted is known without its lines.
  if (isRemoved) return [{ file }];
  if (prepared.is === "there" && as === "it is" && isDivisible(prepared)) {
    return diff.hunks.map((_, hunk) => ({ file, hunk }));
  }
  return diff.complete && diff.uncounted !== true ? [{ file }] : [];
}

function isDivisible<Extra>(prepared: Existing<Extra>): boolean {
  const { planned, current, file } = prepared;
  if (current === undefined || planned.indivisible === true || planned.source !== undefined) return false;
  // In this encoding the meaning of a line's bytes depends on the lines before it.
  if (current.form.encoding === "iso-2022-jp") return false;
  return modesOf(prepared) === undefined && file.sizeBytes <= limits.editInMemoryBytesMax;
}

/** Which hunks of a file were chosen; undefined if the file was accepted as a whole. */
export function chosenIn(
  file: number,
  offered: readonly OfferedHunk[],
  chosen: readonly number[],
): readonly number[] | undefined {
  const own = chosen.flatMap((at) => offered[at] ?? []).filter((one) => one.file === file);
  const hunks = own.flatMap(({ hunk }) => hunk ?? []);
  return hunks.length < own.length ? undefined : hunks;
}

/** The change with only these hunks of its diff. Chosen hunks MUST be among those that were offered. */
export async function partOf<Extra>(
  whole: Prepared<Extra>,
  hunks: readonly number[],
  { signal }: Pick<ToolContext, "signal">,
): Promise<Prepared<Extra>> {
  const isAll = hunks.length === whole.diff.hunks.length && whole.diff.complete;
  if (isAll || whole.is === "new" || whole.current === undefined) return whole;
  const { current, old } = whole;
  if (old === undefined) throw new Error("hunks are only offered for a file that fits into memory");
  const planned = await runInSlices(planPart(whole.planned, current, old, new Set(hunks)), signal);
  return planned === undefined ? whole : { ...whole, planned, diff: planned.diff };
}

/** Undefined if these hunks are all of the change. */
function* planPart<Extra>(
  whole: Planned<Extra>,
  current: CurrentFile,
  old: Buffer,
  chosen: ReadonlySet<number>,
): Steps<Planned<Extra> | undefined> {
  const after = joined(whole.pieces, old);
  yield;
  const source = current.source();
  yield;
  const newSource = sourceText(after, current.form);
  yield;
  const part = yield* chooseHunks(source.text, newSource.text, whole.diff.hunks, chosen);
  const { replaced, hunks, refused, accepted } = part;
  const pieces: Piece[] = [];
  let at = 0;
  for (const { from, to, afterFrom, afterTo } of replaced) {
    const start = source.byteAt(from);
    if (start > at) pieces.push({ from: at, to: start });
    if (afterTo > afterFrom) pieces.push(after.subarray(newSource.byteAt(afterFrom), newSource.byteAt(afterTo)));
    at = source.byteAt(to);
    yield;
  }
  if (at < old.length) pieces.push({ from: at, to: old.length });
  const bytes = joined(pieces, old);
  if (bytes.equals(after)) return undefined;
  yield;
  const changes = replaced.map(({ from, to, afterFrom, afterTo }) => ({
    from,
    to,
    text: newSource.text.slice(afterFrom, afterTo),
  }));
  const touched = yield* linesChanged(source.text, changes);
  const lineEnds = whole.notes.find(({ note }) => note === "line ends");
  const newEnds = lineEnds === undefined ? undefined : lineEndOf(sourceText(bytes, current.form).text);
  return {
    pieces: bytes.length === 0 ? [] : [bytes],
    diff: { hunks, complete: true, ...countsIn(hunks) },
    before: whole.before,
    notes: [
      ...notesOf(current, touched),
      ...(lineEnds?.note === "line ends" && newEnds !== undefined && newEnds !== lineEnds.before
        ? [{ ...lineEnds, after: newEnds }]
        : []),
      noteOf(accepted, refused, part.now, whole.diff.complete),
    ],
    wrote: knownAfter(current, movedAlong(shownOf(current.seen), touched)),
    lines: linesMoved(current, touched),
    extra: whole.extra,
    ...(whole.remember !== undefined && { remember: whole.remember }),
  };
}

function noteOf(
  accepted: readonly HunkLines[],
  refused: readonly HunkLines[],
  now: Extract<ChangeNote, { readonly note: "part" }>["now"],
  isComplete: boolean,
): ChangeNote {
  const lines = now.reduce((sum, hunk) => sum + hunk.lines.length, 0);
  const shown = lines <= limits.changeLinesMax ? now : [];
  return { note: "part", accepted, refused, now: shown, ...(!isComplete && { notShown: true }) };
}

function countsIn(hunks: Planned<unknown>["diff"]["hunks"]): {
  readonly additions: number;
  readonly deletions: number;
} {
  let [additions, deletions] = [0, 0];
  for (const { lines } of hunks) {
    for (const line of lines) {
      if (line.startsWith("+")) additions += 1;
      else if (line.startsWith("-")) deletions += 1;
    }
  }
  return { additions, deletions };
}
