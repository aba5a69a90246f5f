/**
 * Edit: replaces a text in a file and leaves every other byte as it is. `planEdits` picks one of two engines: `edit-bytes.ts`
 * searches the bytes for the exact text, in files of any size; `edit-text.ts` decodes the file and also tries looser
 * comparisons (`text/match`), in files that fit in memory. Where both can make an edit, both give the same result.
 */

import type { EditFound, EditRequest, EditedFile, MatchedBy, TextEdit } from "../../contract/edit.ts";
import { type EditFault, Problem } from "../../contract/problem.ts";
import type { EncodingName } from "../../contract/read.ts";
import type { Target } from "../../contract/target.ts";
import { runInSlices } from "../../disk/disk.ts";
import { startUtf8Watch } from "../../kinds/kinds.ts";
import { isByteSearchable, isWellFormed, withoutMark } from "../../text/text.ts";
import { change, type NewFile, type Plan, type Planned } from "../change/change.ts";
import { changeMany, type FilePlan } from "../change/change-many.ts";
import type { CurrentFile } from "../change/current-file.ts";
import { isHashed } from "../fingerprint.ts";
import type { ToolContext, Tool } from "../tool.ts";
import { newTextFile } from "../write/write.ts";
import { planBytes } from "./edit-bytes.ts";
import { planOfLines } from "./edit-lines.ts";
import { type EditEngines, editEngines, planText, textFromEdits } from "./edit-text.ts";

export const edit: Tool<"edit"> = async (request, context) => {
  const plan: Plan<readonly EditFound[]> = { ...planOfEdits(request, context), holds: "if need be" };
  const { file, extra: found } = await change(request.path, plan, context);
  return { kind: "edit", target: file.target, file, edits: request.edits, found, dryRun: context.dryRun };
};

/** EditFiles: the edits of several files, all or none. */
export const editFiles: Tool<"edit-files"> = async ({ files, profile }, context) => {
  const planOf = (file: EditedFile): FilePlan => {
    const plan =
      "edits" in file
        ? withStep(planOfEdits({ ...file, profile }, context), (found) => found)
        : withStep(planOfLines({ ...file, profile }, context), (made) => made.map(({ found }) => found));
    const isNew = "edits" in file && isCreation(file.edits[0]);
    return { path: file.path, does: isNew ? "add or update" : "update", plan, moveTo: undefined };
  };
  const [first, ...others] = files;
  return changeMany([planOf(first), ...others.map(planOf)], profile, context);
};

/** The same plan, of which only the first step that is not exact is kept. */
const withStep = <Extra>(plan: Plan<Extra>, foundIn: (extra: Extra) => readonly EditFound[]): Plan<MatchedBy> => {
  const stepOf = (extra: Extra): MatchedBy =>
    foundIn(extra).find(({ matchedBy }) => matchedBy !== "exact")?.matchedBy ?? "exact";
  const withOwn = <Made extends { readonly extra: Extra }>(made: Made) => ({ ...made, extra: stepOf(made.extra) });
  const { wants, profile, overwrites, changedSince } = plan;
  const makes = plan.missing?.bind(plan);
  return {
    wants,
    profile,
    overwrites,
    ...(changedSince === undefined ? {} : { changedSince }),
    there: async (current) => withOwn(await plan.there(current)),
    ...(makes === undefined ? {} : { missing: async (target: Target) => withOwn(await makes(target)) }),
  };
};

const planOfEdits = (
  request: Pick<EditRequest, "edits" | "profile">,
  context: ToolContext,
): Plan<readonly EditFound[]> => ({
  wants: "text",
  profile: request.profile,
  overwrites: false,
  changedSince: "where certain",
  there: (current) => planEdits(current, request, context),
  ...(isCreation(request.edits[0]) ? { missing: (target: Target) => planNew(target, request, context) } : {}),
});

const isCreation = (edit: TextEdit): boolean => edit.oldText === "" && edit.afterLine === undefined;

/** The bytes are searched first, except in small files; the text engine gets what that search does not find, if the file fits in memory. */
export async function planEdits(
  current: CurrentFile,
  { edits }: Pick<EditRequest, "edits">,
  context: Pick<ToolContext, "signal" | "onProgress" | "changes">,
  engines: EditEngines = editEngines,
): Promise<Planned<readonly EditFound[]>> {
  requireSound(edits, current.target, current.file.sizeBytes === current.form.bomBytes);
  const fitsMemory = current.bytes !== undefined || current.file.sizeBytes <= engines.inMemoryBytesMax;
  const { encoding } = current.form;
  const isSearchable = fitsMemory ? isByteSearchable(encoding) : !/^(?:utf-(?:16|32)|iso-2022)/.test(encoding);
  const canSearchBytes =
    edits.length === 1 && edits[0].oldText !== "" && isSearchable && !/^utf-(?:16|32)/.test(encoding);
  if (!fitsMemory) {
    if (!canSearchBytes) throw tooLarge(current, edits, isSearchable, engines);
    return planStreamed(current, edits[0], context, engines);
  }
  const isLarge = current.bytes === undefined || current.bytes.length >= engines.bytesFirstMin;
  const planned = canSearchBytes && isLarge ? await planInBytes(current, edits[0], context, engines) : undefined;
  if (planned !== undefined) return planned;
  const inMemory = current.bytes === undefined ? await current.whole() : current;
  return runInSlices(planText(inMemory, edits, engines), context.signal);
}

async function planInBytes(
  current: CurrentFile,
  edit: TextEdit,
  context: Pick<ToolContext, "signal" | "onProgress" | "changes">,
  engines: EditEngines,
): Promise<Planned<readonly EditFound[]> | undefined> {
  // Only the decoded text shows whether a BOM at the start of the old text is the file's own or a character of its text.
  if (edit.oldText.startsWith("\ufeff")) return undefined;
  const { planned, encoding } = await planAndCheckEncoding(current, edit, context, engines);
  if (encoding !== current.form.encoding) return undefined;
  // Where the bytes match a leading newline only as part of a `\r\n`, the text engine compares line ends properly.
  const isCertain =
    !edit.oldText.startsWith("\n") || (!(planned instanceof Problem) && planned.extra[0]?.matchedBy === "exact");
  if (!isCertain) return undefined;
  if (planned instanceof Problem) {
    if (planned.data.code === "AMBIGUOUS") throw planned;
    return undefined;
  }
  // A file that becomes this small is fingerprinted by its hash, which needs its bytes in memory.
  const sizeAfter = current.file.sizeBytes - Buffer.byteLength(edit.oldText);
  return current.bytes === undefined && isHashed({ sizeBytes: sizeAfter }) ? undefined : planned;
}

/** For a file that does not fit in memory, where only the exact text can be found. */
async function planStreamed(
  current: CurrentFile,
  edit: TextEdit,
  context: Pick<ToolContext, "signal" | "onProgress" | "changes">,
  engines: EditEngines,
): Promise<Planned<readonly EditFound[]>> {
  const { planned, encoding } = await planAndCheckEncoding(current, edit, context, engines);
  if (encoding !== current.form.encoding) {
    const known = { ...current, form: { ...current.form, encoding }, head: undefined };
    // The change may remove the only characters that reveal the encoding.
    return { ...(await planEdits(known, { edits: [edit] }, context, engines)), remember: encoding };
  }
  if (!(planned instanceof Problem)) return planned;
  const unmarked = withoutMark(edit);
  const mayRetry = planned.data.code === "NO_MATCH" && unmarked.oldText !== edit.oldText;
  if (!mayRetry || faultOf(unmarked, false) !== undefined) throw planned;
  return planBytes(current, unmarked, context, engines);
}

/** Searches the bytes. Where UTF-8 was guessed from the first bytes alone, also checks all bytes on the way and returns their encoding. */
async function planAndCheckEncoding(
  current: CurrentFile,
  edit: TextEdit,
  context: Pick<ToolContext, "signal" | "onProgress" | "changes">,
  engines: EditEngines,
): Promise<{ readonly planned: Planned<readonly EditFound[]> | Problem; readonly encoding: EncodingName }> {
  const { head, form } = current;
  const watch = head === undefined ? undefined : startUtf8Watch();
  const planned = await orProblem(planBytes(current, edit, context, engines, (chunk) => watch?.see(chunk)));
  const encoding = head === undefined || watch === undefined ? form.encoding : await watch.encoding(head);
  return { planned, encoding };
}

function tooLarge(
  current: CurrentFile,
  edits: EditRequest["edits"],
  isSearchable: boolean,
  engines: EditEngines,
): Problem {
  const what = edits[0].afterLine === undefined ? "one edit at a time" : "no insertion by line";
  const megabytes = engines.inMemoryBytesMax / 1_048_576;
  const limit = isSearchable
    ? `${what} in a file of this size`
    : `${megabytes} MB for a file in ${current.form.encoding}`;
  const oneByOne = edits.length > 1 ? ({ remedy: "one by one" } as const) : {};
  const remedy = isSearchable ? oneByOne : ({ remedy: "convert" } as const);
  return new Problem({ code: "TOO_LARGE", place: current.target, kind: "text", limit, ...remedy });
}

/** Returns a `Problem` instead of throwing it: it may be due to a wrongly guessed encoding or to a BOM, and another try may succeed. */
async function orProblem<Result>(work: Promise<Result>): Promise<Result | Problem> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

/** Throws if an edit is invalid whatever the file contains. Only the first edit of an empty or missing file may have an empty old text. */
function requireSound(edits: EditRequest["edits"], place: Target, isEmpty: boolean): void {
  for (const [index, edit] of edits.entries()) {
    const fault = faultOf(edit, index === 0 && isEmpty);
    if (fault === undefined) continue;
    const which = { index: index + 1, of: edits.length };
    throw new Problem({ code: "INVALID_PARAM", reason: "edit", place, fault, which });
  }
}

function faultOf(edit: TextEdit, mayBeEmpty: boolean): EditFault | undefined {
  if (edit.afterLine !== undefined) return isWellFormed(edit.newText) ? undefined : "lone surrogate";
  if (edit.oldText === edit.newText) return "same text";
  if (edit.oldText === "" && !mayBeEmpty) return "empty old text";
  if (!isWellFormed(edit.newText)) return "lone surrogate";
  return undefined;
}

async function planNew(
  target: Target,
  { edits }: Pick<EditRequest, "edits">,
  context: ToolContext,
): Promise<NewFile<readonly EditFound[]>> {
  requireSound(edits, target, true);
  const { text, found } = await runInSlices(textFromEdits(target, edits), context.signal);
  return { ...(await newTextFile(target, text, context)), extra: found };
}
