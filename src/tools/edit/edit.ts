/** Edit: replace a text that is found, and leave every other byte as it is. */

import type { EditFound, EditRequest, TextEdit } from "../../contract/edit.ts";
import { limits } from "../../contract/limits.ts";
import { type EditFault, Problem } from "../../contract/problem.ts";
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
import { planText, textFromEdits } from "./edit-text.ts";

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

async function planEdits(
  current: CurrentFile,
  { edits }: EditRequest,
  context: ToolContext,
): Promise<Planned<readonly EditFound[]>> {
  requireSound(edits, current.target, current.file.sizeBytes === current.form.bomBytes);
  if (current.bytes !== undefined || current.file.sizeBytes > limits.editInMemoryBytesMax) {
    return (await quickly(current, edits, context)) ?? inTurns(planText(current, edits), context.signal);
  }
  const found = await inPassing(current, edits, context);
  if (found !== "nowhere" && found !== "perhaps") return found;
  const inMemory = await current.whole();
  const quick = found === "perhaps" ? await quickly(inMemory, edits, context) : undefined;
  return quick ?? inTurns(planText(inMemory, edits), context.signal);
}

/**
 * A file that could be held is searched as it goes by: held, its bytes would be moved three times more, into memory of
 * which each page is new. Only what is certain is planned from that. `nowhere`: its very letters are not there.
 */
async function inPassing(
  current: CurrentFile,
  edits: EditRequest["edits"],
  context: ToolContext,
): Promise<Planned<readonly EditFound[]> | "nowhere" | "perhaps"> {
  const [only, ...others] = edits;
  if (others.length > 0 || only.all || only.oldText === "" || only.oldText.startsWith("\ufeff")) return "perhaps";
  const breaks = breaksLines(only);
  if (breaks && only.newText.includes("\r")) return "perhaps";
  const watch = startUtf8Watch();
  let returns = false;
  const see = (chunk: Uint8Array): void => {
    if (current.head !== undefined) watch.see(chunk);
    if (breaks) returns ||= chunk.includes(carriageReturn);
  };
  const planned = await orProblem(planBytes(current, only, context, see));
  if (current.head !== undefined && (await watch.encoding(current.head)) !== "utf-8") return "perhaps";
  if (planned instanceof Problem) return planned.data.code === "NO_MATCH" ? "nowhere" : "perhaps";
  if (planned === undefined || returns) return "perhaps";
  // What becomes so small is known by its hash, for which the bytes are needed.
  const shorterBy = Buffer.byteLength(only.oldText);
  return isHashed({ sizeBytes: current.file.sizeBytes - shorterBy }) ? "perhaps" : planned;
}

/** New lines take the line ends around them. */
const breaksLines = ({ oldText, newText }: TextEdit): boolean => /[\r\n]/.test(newText) || oldText.startsWith("\n");

const carriageReturn = 13;

/** The very letters, looked for in the bytes: no text is made of what is not touched. Undefined: it takes a closer look. */
async function quickly(
  current: CurrentFile,
  edits: EditRequest["edits"],
  context: ToolContext,
): Promise<Planned<readonly EditFound[]> | undefined> {
  const [only, ...others] = edits;
  const inMemory = current.bytes !== undefined;
  const { encoding } = current.form;
  const searchable = !/^(?:utf-(?:16|32)|iso-2022)/.test(encoding) && (!inMemory || isByteSearchable(encoding));
  const plain = others.length === 0 && only.oldText !== "" && searchable;
  const breaks = breaksLines(only);
  // A mark at the beginning of a call is no text.
  const closer =
    only.oldText.startsWith("\ufeff") ||
    (breaks && (only.newText.includes("\r") || current.bytes?.includes(carriageReturn) === true));
  if (inMemory) return plain && !closer ? planBytes(current, only, context) : undefined;
  if (!plain) {
    const what = only.behindLine === undefined ? "one edit at a time" : "no insertion by line";
    const megabytes = limits.editInMemoryBytesMax / 1_048_576;
    const limit = searchable ? `${what} in a file of this size` : `${megabytes} MB for a file in ${encoding}`;
    const oneByOne = edits.length > 1 ? ({ remedy: "one by one" } as const) : {};
    const remedy = searchable ? oneByOne : ({ remedy: "convert" } as const);
    throw new Problem({ code: "TOO_LARGE", place: current.target, kind: "text", limit, ...remedy });
  }
  if (current.head === undefined) return planStreamed(current, only, context);
  // The first bytes look like UTF-8; the search goes through all of them and knows better afterwards.
  const watch = startUtf8Watch();
  const planned = await orProblem(planStreamed(current, only, context, (chunk) => watch.see(chunk)));
  const found = await watch.encoding(current.head);
  if (found !== "utf-8") {
    const known = { ...current, form: { ...current.form, encoding: found }, head: undefined };
    const again = await quickly(known, edits, context);
    // The change may take away the very letters that told.
    return again && { ...again, remember: found };
  }
  if (planned instanceof Problem) throw planned;
  return planned;
}

/** In a file that is not held nobody can see beforehand whether a mark in front of the old text stands in the text. */
async function planStreamed(
  current: CurrentFile,
  edit: TextEdit,
  context: ToolContext,
  onChunk?: (chunk: Uint8Array) => void,
): Promise<Planned<readonly EditFound[]> | undefined> {
  const planned = await orProblem(planBytes(current, edit, context, onChunk));
  if (!(planned instanceof Problem)) return planned;
  const unmarked = withoutMark(edit);
  const again = planned.data.code === "NO_MATCH" && unmarked.oldText !== edit.oldText;
  if (!again || faultOf(unmarked, false) !== undefined) throw planned;
  return planBytes(current, unmarked, context);
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
