/** Edit: replace a text that is found, and leave every other byte as it is. */

import type { EditFound, EditRequest, TextEdit } from "../../contract/edit.ts";
import { type EditFault, Problem } from "../../contract/problem.ts";
import type { EncodingName } from "../../contract/read.ts";
import type { Target } from "../../contract/target.ts";
import { inTurns } from "../../disk/disk.ts";
import { startUtf8Watch } from "../../kinds/kinds.ts";
import { isByteSearchable, isWellFormed, withoutMark } from "../../text/text.ts";
import { change, type NewFile, type Plan, type Planned } from "../change/change.ts";
import type { CurrentFile } from "../change/current-file.ts";
import { isHashed } from "../fingerprint.ts";
import type { ToolContext, Tool } from "../tool.ts";
import { newTextFile } from "../write/write.ts";
import { planBytes } from "./edit-bytes.ts";
import { type EditEngines, editEngines, planText, textFromEdits } from "./edit-text.ts";

export const edit: Tool<"edit"> = async (request, context) => {
  const plan: Plan<readonly EditFound[]> = {
    wants: "text",
    profile: request.profile,
    holds: "if need be",
    overwrites: false,
    changedSince: "where certain",
    there: (current) => planEdits(current, request, context),
    ...(isCreation(request.edits[0]) ? { missing: (target: Target) => planNew(target, request, context) } : {}),
  };
  const { file, extra: found } = await change(request.path, plan, context);
  return { kind: "edit", target: file.target, file, edits: request.edits, found, dryRun: context.dryRun };
};

/** Without a text to replace, an edit makes a file, or fills an empty one. */
const isCreation = (edit: TextEdit): boolean => edit.oldText === "" && edit.behindLine === undefined;

/**
 * Exact text is looked for in the bytes first, except in small files; whatever that does not find takes the ladder of looser
 * comparisons over the whole text, for which the file must fit in memory. Both give the same result where both can serve an edit.
 */
export async function planEdits(
  current: CurrentFile,
  { edits }: Pick<EditRequest, "edits">,
  context: Pick<ToolContext, "signal" | "onProgress" | "changes">,
  engines: EditEngines = editEngines,
): Promise<Planned<readonly EditFound[]>> {
  requireSound(edits, current.target, current.file.sizeBytes === current.form.bomBytes);
  const fitsMemory = current.bytes !== undefined || current.file.sizeBytes <= engines.heldBytesMax;
  const { encoding } = current.form;
  const isSearchable = fitsMemory ? isByteSearchable(encoding) : !/^(?:utf-(?:16|32)|iso-2022)/.test(encoding);
  const isPlain = edits.length === 1 && edits[0].oldText !== "" && isSearchable && !/^utf-(?:16|32)/.test(encoding);
  if (!fitsMemory) {
    if (!isPlain) throw tooLarge(current, edits, isSearchable, engines);
    return planStreamed(current, edits[0], context, engines);
  }
  const isLarge = current.bytes === undefined || current.bytes.length >= engines.bytesFirstMin;
  const planned = isPlain && isLarge ? await planInBytes(current, edits[0], context, engines) : undefined;
  if (planned !== undefined) return planned;
  const inMemory = current.bytes === undefined ? await current.whole() : current;
  return inTurns(planText(inMemory, edits, engines), context.signal);
}

/** Undefined: the whole text is to be looked at. */
async function planInBytes(
  current: CurrentFile,
  edit: TextEdit,
  context: Pick<ToolContext, "signal" | "onProgress" | "changes">,
  engines: EditEngines,
): Promise<Planned<readonly EditFound[]> | undefined> {
  // Only the whole text says whether a mark at the beginning of the old text is the file's or stands in the text.
  if (edit.oldText.startsWith("\ufeff")) return undefined;
  const { planned, encoding } = await watched(current, edit, context, engines);
  if (encoding !== current.form.encoding) return undefined;
  // A text that begins with a newline may be found by its line ends too.
  const isCertain =
    !edit.oldText.startsWith("\n") || (!(planned instanceof Problem) && planned.extra[0]?.matchedBy === "exact");
  if (!isCertain) return undefined;
  if (planned instanceof Problem) {
    if (planned.data.code === "AMBIGUOUS") throw planned;
    return undefined;
  }
  // What becomes so small is known by its hash, for which the bytes are needed.
  const sizeAfter = current.file.sizeBytes - Buffer.byteLength(edit.oldText);
  return current.bytes === undefined && isHashed({ sizeBytes: sizeAfter }) ? undefined : planned;
}

/** In a file that does not fit in memory only the exact text can be found. */
async function planStreamed(
  current: CurrentFile,
  edit: TextEdit,
  context: Pick<ToolContext, "signal" | "onProgress" | "changes">,
  engines: EditEngines,
): Promise<Planned<readonly EditFound[]>> {
  const { planned, encoding } = await watched(current, edit, context, engines);
  if (encoding !== current.form.encoding) {
    const known = { ...current, form: { ...current.form, encoding }, head: undefined };
    // The change may take away the very letters that showed the encoding.
    return { ...(await planEdits(known, { edits: [edit] }, context, engines)), remember: encoding };
  }
  if (!(planned instanceof Problem)) return planned;
  const unmarked = withoutMark(edit);
  const again = planned.data.code === "NO_MATCH" && unmarked.oldText !== edit.oldText;
  if (!again || faultOf(unmarked, false) !== undefined) throw planned;
  return planBytes(current, unmarked, context, engines);
}

/** Searches the bytes. Where only the first bytes speak for UTF-8, the search goes through all of them and knows better afterwards. */
async function watched(
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
  const what = edits[0].behindLine === undefined ? "one edit at a time" : "no insertion by line";
  const megabytes = engines.heldBytesMax / 1_048_576;
  const limit = isSearchable
    ? `${what} in a file of this size`
    : `${megabytes} MB for a file in ${current.form.encoding}`;
  const oneByOne = edits.length > 1 ? ({ remedy: "one by one" } as const) : {};
  const remedy = isSearchable ? oneByOne : ({ remedy: "convert" } as const);
  return new Problem({ code: "TOO_LARGE", place: current.target, kind: "text", limit, ...remedy });
}

/** A refusal that may not be the last word: it may rest on the wrong encoding, or on a mark. */
async function orProblem<Result>(work: Promise<Result>): Promise<Result | Problem> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

/** Throws what is wrong with an edit whatever the text is. Of an empty file, or of none, the first one may say all. */
function requireSound(edits: EditRequest["edits"], place: Target, isEmpty: boolean): void {
  for (const [index, edit] of edits.entries()) {
    const fault = faultOf(edit, index === 0 && isEmpty);
    if (fault === undefined) continue;
    const which = { index: index + 1, of: edits.length };
    throw new Problem({ code: "INVALID_PARAM", reason: "edit", place, fault, which });
  }
}

function faultOf(edit: TextEdit, mayBeEmpty: boolean): EditFault | undefined {
  if (edit.behindLine !== undefined) return isWellFormed(edit.newText) ? undefined : "lone surrogate";
  if (edit.oldText === edit.newText) return "same text";
  if (edit.oldText === "" && !mayBeEmpty) return "empty old text";
  if (!isWellFormed(edit.newText)) return "lone surrogate";
  return undefined;
}

async function planNew(
  target: Target,
  { edits }: EditRequest,
  { signal }: ToolContext,
): Promise<NewFile<readonly EditFound[]>> {
  requireSound(edits, target, true);
  const { text, found } = await inTurns(textFromEdits(target, edits), signal);
  return { ...newTextFile(target, text), extra: found };
}
