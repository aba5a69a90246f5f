/**
 * EditLines: replaces, inserts and deletes whole lines by their numbers. A number means the line that the session was shown under
 * it: the ledger knows where the line is after the session's own changes. A line that another program moved or changed, that was
 * shown under two numbers, or that was not shown, is not edited.
 */

import type { EditFound, EditLinesRequest, LineEdit, TextChange, TextEdit } from "../../contract/edit.ts";
import { limits } from "../../contract/limits.ts";
import { type LineSpan, type NumberedLines, Problem } from "../../contract/problem.ts";
import { runInSlices } from "../../disk/disk.ts";
import { linesMeant, type Meant, type NumberedSpan } from "../../session/session.ts";
import { countLines, isWellFormed, lineReplacement, startsIn, type Steps, wellFormed } from "../../text/text.ts";
import { change, type Plan, type Planned } from "../change/change.ts";
import type { CurrentFile } from "../change/current-file.ts";
import type { ToolContext, Tool } from "../tool.ts";
import { knownAfter, linesChanged, movedAlong, notShown, planOfChanges, shownOf, unshown } from "./edit-text.ts";

export const editLines: Tool<"edit-lines"> = async (request, context) => {
  const { file, extra } = await change(request.path, planOfLines(request, context), context);
  const [first, ...others] = extra.map(({ edit }) => edit);
  if (first === undefined) throw new Error("there is at least one edit");
  const found = extra.map((one) => one.found);
  return { kind: "edit", target: file.target, file, edits: [first, ...others], found, dryRun: context.dryRun };
};

/** An edit by line as an edit of the text that was there. */
interface Made {
  readonly edit: TextEdit;
  readonly found: EditFound;
}

export const planOfLines = (
  { lines, profile }: Pick<EditLinesRequest, "lines" | "profile">,
  context: ToolContext,
): Plan<readonly Made[]> => ({
  wants: "text",
  profile,
  overwrites: false,
  // Lines that another program moved or changed are refused one by one.
  changedSince: "where certain",
  async there(current) {
    if (current.bytes === undefined) {
      const limit = `${limits.editInMemoryBytesMax / 1_048_576} MB for edits by line`;
      throw new Problem({ code: "TOO_LARGE", place: current.target, kind: "text", limit });
    }
    const numbers = context.ledger.numbersOf(current.target.real, current.seen);
    return runInSlices(planLines(current, lines, numbers, context.changes.readFirst !== false), context.signal);
  },
});

function* planLines(
  current: CurrentFile,
  edits: readonly LineEdit[],
  numbers: readonly NumberedSpan[],
  mustBeShown: boolean,
): Steps<Planned<readonly Made[]>> {
  const { text } = current.source();
  const lineAt = lineStarts(text);
  const places: Place[] = [];
  for (const [index, edit] of edits.entries()) {
    if ((index + 1) % 1_000 === 0) yield;
    places.push(placeOf(current, edit, { index: index + 1, of: edits.length }, numbers, lineAt, mustBeShown));
  }
  // An insertion before a line comes before a change of that line, and one after it comes after.
  const sorted = places.toSorted((a, b) => a.at - b.at || a.until - b.until || a.index - b.index);
  const changes: TextChange[] = [];
  const made: Made[] = [];
  let [end, shift] = [0, 0];
  for (const place of sorted) {
    if (place.at < end) throw fault(current, "overlapping lines", place);
    end = Math.max(end, place.until);
    const { replaced, ...change } = lineReplacement(text, place, place.edit.newText);
    if (replaced === change.text) throw fault(current, "same text", place);
    const last = changes.at(-1);
    if (last !== undefined && change.from < last.to) {
      // A deleted last line without a newline takes along the newline before it, which the change before it brings.
      changes[changes.length - 1] = { ...last, text: last.text.replace(/\r?\n$/, "") };
      changes.push({ ...change, from: place.at });
    } else changes.push(change);
    const oldText = replaced.length > limits.changeCharsMax ? "" : wellFormed(replaced);
    const line = Math.max(1, place.line + shift);
    shift += countLines(change.text) - countLines(replaced);
    made[place.index] = {
      edit: { oldText, newText: place.edit.newText, all: false },
      found: { matchedBy: "exact", replacements: 1, line },
    };
    yield;
  }
  const lines = yield* linesChanged(text, changes);
  yield;
  return yield* planOfChanges(current, changes, knownAfter(current, movedAlong(shownOf(current.seen), lines)), made);
}

/** Where an edit changes the text: from the start of its first line to the start of the line after its last. */
interface Place {
  readonly at: number;
  readonly until: number;
  /** The first changed line as it is numbered now. */
  readonly line: number;
  readonly index: number;
  readonly of: number;
  readonly edit: LineEdit;
}

type Which = { readonly index: number; readonly of: number };
type LineStarts = ReturnType<typeof lineStarts>;

function placeOf(
  current: CurrentFile,
  edit: LineEdit,
  which: Which,
  numbers: readonly NumberedSpan[],
  lineAt: LineStarts,
  mustBeShown: boolean,
): Place {
  const { does, newText } = edit;
  const place = { ...which, index: which.index - 1, edit };
  if (!isWellFormed(newText)) throw fault(current, "lone surrogate", place);
  if (does !== "replace" && newText === "") throw fault(current, "same text", place);
  const span = lineOf(current, edit, which, numbers, lineAt, mustBeShown);
  switch (does) {
    case "replace":
      return { ...place, at: lineAt.start(span.from), until: lineAt.start(span.to + 1), line: span.from };
    case "before":
      return { ...place, at: lineAt.start(span.from), until: lineAt.start(span.from), line: span.from };
    case "after":
      return { ...place, at: lineAt.start(span.to + 1), until: lineAt.start(span.to + 1), line: span.to + 1 };
  }
}

/** The lines that an edit means, as they are numbered now. Throws unless they are certain. */
function lineOf(
  current: CurrentFile,
  { from, to, first }: LineEdit,
  which: Which,
  numbers: readonly NumberedSpan[],
  lineAt: LineStarts,
  mustBeShown: boolean,
): LineSpan {
  const asked = { from, to };
  const all = linesMeant(numbers, asked);
  const isFirst = ({ from: line }: LineSpan): boolean =>
    first === undefined || lineAt.text(line).trim() === first.trim();
  // A number that was shown for two lines is settled by the text of the line.
  const meant = all.length > 1 && first !== undefined ? all.filter(isFirst) : all;
  const refuse = (reason: "first differs" | "shown twice" | "moved", now: readonly LineSpan[]): Problem => {
    const shown = now.map((span) => numberedLines(span, lineAt));
    return new Problem({ code: "WRONG_LINES", place: current.target, reason, which, asked, first, now: shown });
  };
  const [only, ...others] = meant;
  if (others.length > 0) throw refuse("shown twice", meant);
  if (only === undefined) {
    if (all.length > 0) throw refuse("first differs", all);
    if (mustBeShown && lineAt.total > 0) throw notNumbered(current, asked, lineAt.total);
  }
  const span: Meant = only ?? { ...asked, byOthers: false };
  if (span.to > lineAt.total) {
    const { target: place } = current;
    throw new Problem({ code: "INVALID_PARAM", reason: "range", place, of: "lines", from, total: lineAt.total });
  }
  if (span.byOthers) throw refuse("moved", [span]);
  // Lines that were cut, or changed by others since, do not count as shown.
  const { cut } = shownOf(current.seen);
  const missing = mustBeShown ? unshown(current, shownOf(current.seen), [span]) : [];
  if (missing.length > 0) throw notShown(current, missing);
  if (mustBeShown && cut.some((part) => part.from <= span.to && span.from <= part.to)) throw notShown(current, [span]);
  if (!isFirst(span)) throw refuse("first differs", [span]);
  return span;
}

/** The refusal asks for lines that exist, also if the number is after the end. */
const notNumbered = (current: CurrentFile, { from, to }: LineSpan, total: number): Problem =>
  notShown(current, [{ from: Math.min(from, total), to: Math.min(to, total) }]);

/** Lines of a refusal: enough to recognise the place. */
const shownLinesMax = 12;

function numberedLines({ from, to }: LineSpan, lineAt: LineStarts): NumberedLines {
  const last = Math.min(to, from + shownLinesMax - 1, lineAt.total);
  const lines = Array.from({ length: Math.max(0, last - from + 1) }, (_, at) => wellFormed(lineAt.text(from + at)));
  return { from, to, lines };
}

const fault = (
  { target: place }: CurrentFile,
  what: "same text" | "lone surrogate" | "overlapping lines",
  { index, of }: Pick<Place, "index" | "of">,
): Problem =>
  new Problem({ code: "INVALID_PARAM", reason: "edit", place, fault: what, which: { index: index + 1, of } });

/** The offsets of lines, counted from 1. A final newline adds no line. */
function lineStarts(text: string) {
  const starts = startsIn(text, "\n");
  const start = (line: number): number => starts[line - 1] ?? text.length;
  return {
    total: countLines(text),
    start,
    text: (line: number): string => text.slice(start(line), start(line + 1)).replace(/\r?\n$/, ""),
  };
}
