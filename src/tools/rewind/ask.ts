/** Permission for all files of a rewind, before the first change: an MCP client may have to repeat the call. */

import { isUtf8 } from "node:buffer";
import type { Hunk } from "../../contract/edit.ts";
import type {
  ConflictSides,
  FileVersion,
  RewindAction,
  RewindFile,
  RewoundFile,
  Uncounted,
} from "../../contract/history.ts";
import { limits } from "../../contract/limits.ts";
import { Problem, type ProblemData } from "../../contract/problem.ts";
import { runInSlices, type OpenFile, timeSlices, wholeFile } from "../../disk/disk.ts";
import type { SessionHistory } from "../../history/history.ts";
import { decideEncoding } from "../../kinds/kinds.ts";
import {
  cutChars,
  decode,
  hunksBetween,
  hunksOfTexts,
  looksBinary,
  moreLine,
  sniff,
  type TextDiff,
  unified,
} from "../../text/text.ts";
import { handleOf, type ChangeTarget, resolveChangeTarget } from "../change/change-target.ts";
import { standingOf } from "../lsp/lsp.ts";
import { targetAt } from "../files/tree.ts";
import { type ToolContext, orFileUnreadable, orUnreadable } from "../tool.ts";

export interface RewindTask {
  readonly file: RewindFile;
  readonly action: RewindAction | undefined;
}

/** The reasons why files may not be changed, by path. The other files are rewound all the same. */
export async function rewindRefusals(
  tasks: readonly RewindTask[],
  to: string,
  history: SessionHistory,
  context: ToolContext,
): Promise<ReadonlyMap<string, ProblemData>> {
  const refused = new Map<string, ProblemData>();
  const slices = timeSlices(context.signal);
  for (const { file, action } of tasks) {
    if (action === undefined) continue;
    if (slices.isOver()) await slices.next();
    try {
      await orFileUnreadable(file.path, () => permitAction(file.path, action, to, history, context));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      refused.set(file.path, error.data);
    }
  }
  return refused;
}

async function permitAction(
  path: string,
  action: RewindAction,
  to: string,
  history: SessionHistory,
  context: ToolContext,
): Promise<void> {
  if (isEntryAction(action)) {
    const target = targetAt(path, "file", context);
    const shown = async () => ({ rewind: to, action: action.does, diff: "" });
    await context.guard.permit("edit", target, context.signal, { preview: shown });
    return;
  }
  const changeTarget = await resolveChangeTarget(path, context);
  using _handle = handleOf(changeTarget);
  const preview = async () => ({
    rewind: to,
    action: action.does,
    // A question shows no file that the session may not read without a question.
    diff: standingOf(path, context) === "shown" ? await diffOf(changeTarget, action, history, context) : "",
  });
  await context.guard.permit("edit", changeTarget.target, context.signal, { preview });
}

/** Is it about a symlink or a folder, as such? */
export const isEntryAction = (action: RewindAction): boolean =>
  action.is !== undefined || (action.does !== "delete" && action.replaces !== undefined);

const kinds = { restore: "update", create: "create", delete: "delete" } as const;

/** Empty if one of the two states cannot be shown as lines: then the question shows the path only. */
async function diffOf(
  changeTarget: ChangeTarget,
  action: RewindAction,
  history: SessionHistory,
  context: ToolContext,
): Promise<string> {
  const [now, then] = [await textNow(changeTarget, context), await textThen(action, history)];
  if (now === undefined || then === undefined) return "";
  const { hunks, complete, additions, deletions } = hunksOfTexts(now, then);
  const text = unified(changeTarget.target.relative, hunks, kinds[action.does]);
  return complete ? text : `${text}${moreLine(additions, deletions)}\n`;
}

async function textNow(changeTarget: ChangeTarget, context: ToolContext): Promise<string | undefined> {
  if (changeTarget.is === "new") return "";
  const opened = context.disk.open(changeTarget.node);
  if ("errno" in opened) return undefined;
  using file = opened;
  return onlyText(await textIn(file));
}

const textThen = async (action: RewindAction, history: SessionHistory): Promise<string | undefined> =>
  action.does === "delete" ? "" : onlyText(await textOfContent(action.content, history));

const onlyText = (text: TextOrWhy): string | undefined => (typeof text === "string" ? text : undefined);

/** Adds the two sides of each conflict, as far as there is room, for files that may be read without a question. */
export async function withSides(
  files: readonly RewoundFile[],
  past: SessionHistory,
  context: ToolContext,
): Promise<readonly RewoundFile[]> {
  const budget: DiffBudget = { bytes: limits.historyBytesMax };
  let charsLeft: number = limits.historyCharsMax;
  const seen: RewoundFile[] = [];
  for (const file of files) {
    const isShown = file.came === "left" && charsLeft > 0 && standingOf(file.path, context) === "shown";
    const sides = isShown ? await sidesOf(file, past, budget, charsLeft, context) : undefined;
    if (sides !== undefined) charsLeft -= charsOf(sides.ours) + charsOf(sides.theirs);
    seen.push(sides === undefined ? file : { ...file, sides });
  }
  return seen;
}

async function sidesOf(
  { path, step }: RewoundFile,
  past: SessionHistory,
  budget: DiffBudget,
  charsMax: number,
  context: ToolContext,
): Promise<ConflictSides | undefined> {
  if (step.does !== "conflict" || (step.why !== "changed since" && step.why !== "changed in between")) return undefined;
  const ours = await versionDiff(step.base, step.ours, past, budget, context.signal);
  if ("why" in ours) return undefined;
  const first = fittedHunks(ours.hunks, charsMax);
  const own = { ours: first.hunks, cut: first.cut || !ours.complete };
  if (step.why === "changed in between") return { ...own, theirs: [], removed: false };
  if (step.theirs === undefined) return { ...own, theirs: [], removed: true };
  const [left, now] = [await textOf(step.ours, past), await conflictTextNow(path, context)];
  if (typeof left !== "string" || now === undefined) return undefined;
  const theirs = await runInSlices(hunksBetween(left, now), context.signal);
  const second = fittedHunks(theirs.hunks, Math.max(0, charsMax - charsOf(first.hunks)));
  return { ...own, theirs: second.hunks, cut: own.cut || second.cut || !theirs.complete, removed: false };
}

/** Undefined if it is not text or gone: then the answer leaves the sides out. */
async function conflictTextNow(path: string, context: ToolContext): Promise<string | undefined> {
  return orUnreadable(path, async () => {
    const changeTarget = await resolveChangeTarget(path, context);
    using _handle = handleOf(changeTarget);
    return changeTarget.is === "there" ? await textNow(changeTarget, context) : undefined;
  }).catch((error: unknown) => {
    if (error instanceof Problem) return undefined;
    throw error;
  });
}

export interface DiffBudget {
  bytes: number;
}

export async function versionDiff(
  before: FileVersion,
  after: FileVersion,
  past: SessionHistory,
  budget: DiffBudget,
  signal: AbortSignal,
): Promise<TextDiff | { readonly why: Uncounted }> {
  const bytes = sizeOf(before) + sizeOf(after);
  const notKept = notKeptOf(before) ?? notKeptOf(after);
  if (notKept !== undefined) return { why: notKept };
  const isOver = Math.max(sizeOf(before), sizeOf(after)) > limits.historyVersionBytesMax || bytes > budget.bytes;
  if (isOver) return { why: "over the limit" };
  budget.bytes -= bytes;
  const a = await textOf(before, past);
  if (typeof a !== "string") return a;
  const b = await textOf(after, past);
  return typeof b === "string" ? runInSlices(hunksBetween(a, b), signal) : b;
}

const sizeOf = (version: FileVersion): number => (version.kind === "absent" ? 0 : version.sizeBytes);

function notKeptOf(version: FileVersion): Uncounted | undefined {
  if (version.kind === "absent") return undefined;
  return version.notKept ?? (version.content === undefined ? "failed" : undefined);
}

const textOf = async (version: FileVersion, past: SessionHistory): Promise<TextOrWhy> =>
  version.kind === "absent" || version.content === undefined ? "" : textOfContent(version.content, past);

async function textOfContent(content: string, past: SessionHistory): Promise<TextOrWhy> {
  const opened = await past.open(content);
  if (typeof opened === "string") return { why: opened === "missing" ? "pruned" : "damaged" };
  using kept = opened;
  return await textIn(kept);
}

type TextOrWhy = string | { readonly why: Uncounted };

/** The text of a file, unless it is binary or too long to be compared. */
async function textIn(file: OpenFile): Promise<TextOrWhy> {
  const bytes = await wholeFile(file, limits.historyVersionBytesMax);
  if (bytes === undefined) return { why: "over the limit" };
  const form = sniff(bytes);
  const head = bytes.subarray(0, limits.headBytesMax);
  if ((form?.unitBytes ?? 1) === 1 && looksBinary(head, limits.headBytesMax)) return { why: "not text" };
  const encoding = form?.encoding ?? (isUtf8(bytes) ? "utf-8" : (await decideEncoding([bytes])).encoding);
  return decode(bytes.subarray(form?.bomBytes ?? 0), encoding).text;
}

export const charsOf = (hunks: readonly Hunk[]): number =>
  hunks.reduce(
    (sum, { lines }) =>
      sum + lines.reduce((all, line) => all + Math.min(line.length, limits.historyLineCharsMax) + 1, 40),
    0,
  );

/** As many lines as fit, long ones truncated. A truncated hunk keeps its line counts. */
export function fittedHunks(
  hunks: readonly Hunk[],
  charsMax: number,
): { readonly hunks: readonly Hunk[]; readonly cut: boolean } {
  let left = charsMax;
  let cut = false;
  const fitted: Hunk[] = [];
  for (const hunk of hunks) {
    const lines: string[] = [];
    for (const line of hunk.lines) {
      const isLong = line.length > limits.historyLineCharsMax;
      const shown = isLong ? `${cutChars(line, limits.historyLineCharsMax)}...` : line;
      left -= shown.length + 1;
      if (left < 0) return { hunks: lines.length === 0 ? fitted : [...fitted, { ...hunk, lines }], cut: true };
      cut ||= isLong;
      lines.push(shown);
    }
    fitted.push({ ...hunk, lines });
  }
  return { hunks: fitted, cut };
}
