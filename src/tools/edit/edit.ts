/** Edit: replace a text that is found, and leave every other byte as it is. */

import type { EditFound, EditRequest, TextEdit } from "../../contract/edit.ts";
import { limits } from "../../contract/limits.ts";
import { type EditFault, Problem } from "../../contract/problem.ts";
import type { Target } from "../../contract/target.ts";
import { inTurns } from "../../disk/event-loop.ts";
import { startUtf8Watch } from "../../kinds/utf8-watch.ts";
import { isWellFormed } from "../../text/encoding/escape.ts";
import { isByteSearchable } from "../../text/match/find.ts";
import { withoutMark } from "../../text/match/match.ts";
import { change, type NewFile, type Plan, type Planned } from "../change/change.ts";
import type { Before } from "../change/current-file.ts";
import { isHashed } from "../stamp.ts";
import type { Bench, Tool } from "../tool.ts";
import { newTextFile } from "../write/write.ts";
import { planBytes } from "./edit-bytes.ts";
import { planText, textFromEdits } from "./edit-text.ts";

export const edit: Tool<"edit"> = async (request, bench) => {
  const plan: Plan<readonly EditFound[]> = {
    wants: "text",
    profile: request.profile,
    holds: "if need be",
    overwrites: false,
    changedSince: "where certain",
    there: (before) => planEdits(before, request, bench),
    ...(isCreation(request.edits[0]) ? { missing: (target: Target) => planNew(target, request, bench) } : {}),
  };
  const { file, extra: found } = await change(request.path, plan, bench);
  return { kind: "edit", target: file.target, file, edits: request.edits, found, dryRun: bench.dryRun };
};

/** Without a text to replace, an edit makes a file, or fills an empty one. */
const isCreation = (edit: TextEdit): boolean => edit.oldText === "" && edit.behindLine === undefined;

async function planEdits(before: Before, { edits }: EditRequest, bench: Bench): Promise<Planned<readonly EditFound[]>> {
  requireSound(edits, before.target, before.file.sizeBytes === before.form.bomBytes);
  if (before.bytes !== undefined || before.file.sizeBytes > limits.editHeldBytesMax) {
    return (await quickly(before, edits, bench)) ?? inTurns(planText(before, edits), bench.signal);
  }
  const found = await inPassing(before, edits, bench);
  if (found !== "nowhere" && found !== "perhaps") return found;
  const held = await before.held();
  const quick = found === "perhaps" ? await quickly(held, edits, bench) : undefined;
  return quick ?? inTurns(planText(held, edits), bench.signal);
}

/**
 * A file that could be held is searched as it goes by: held, its bytes would be moved three times more, into memory of
 * which each page is new. Only what is certain is planned from that. `nowhere`: its very letters are not there.
 */
async function inPassing(
  before: Before,
  edits: EditRequest["edits"],
  bench: Bench,
): Promise<Planned<readonly EditFound[]> | "nowhere" | "perhaps"> {
  const [only, ...others] = edits;
  if (others.length > 0 || only.all || only.oldText === "" || only.oldText.startsWith("\ufeff")) return "perhaps";
  const breaks = breaksLines(only);
  if (breaks && only.newText.includes("\r")) return "perhaps";
  const watch = startUtf8Watch();
  let returns = false;
  const see = (chunk: Uint8Array): void => {
    if (before.head !== undefined) watch.see(chunk);
    if (breaks) returns ||= chunk.includes(carriageReturn);
  };
  const planned = await orProblem(planBytes(before, only, bench, see));
  if (before.head !== undefined && (await watch.encoding(before.head)) !== "utf-8") return "perhaps";
  if (planned instanceof Problem) return planned.data.code === "NO_MATCH" ? "nowhere" : "perhaps";
  if (planned === undefined || returns) return "perhaps";
  // What becomes so small is known by its hash, for which the bytes are needed.
  const shorterBy = Buffer.byteLength(only.oldText);
  return isHashed({ sizeBytes: before.file.sizeBytes - shorterBy }) ? "perhaps" : planned;
}

/** New lines take the line ends around them. */
const breaksLines = ({ oldText, newText }: TextEdit): boolean => /[\r\n]/.test(newText) || oldText.startsWith("\n");

const carriageReturn = 13;

/** The very letters, looked for in the bytes: no text is made of what is not touched. Undefined: it takes a closer look. */
async function quickly(
  before: Before,
  edits: EditRequest["edits"],
  bench: Bench,
): Promise<Planned<readonly EditFound[]> | undefined> {
  const [only, ...others] = edits;
  const held = before.bytes !== undefined;
  const { encoding } = before.form;
  const searchable = !/^(?:utf-(?:16|32)|iso-2022)/.test(encoding) && (!held || isByteSearchable(encoding));
  const plain = others.length === 0 && only.oldText !== "" && searchable;
  const breaks = breaksLines(only);
  // A mark at the beginning of a call is no text.
  const closer =
    only.oldText.startsWith("\ufeff") ||
    (breaks && (only.newText.includes("\r") || before.bytes?.includes(carriageReturn) === true));
  if (held) return plain && !closer ? planBytes(before, only, bench) : undefined;
  if (!plain) {
    const what = only.behindLine === undefined ? "one edit at a time" : "no insertion by line";
    const megabytes = limits.editHeldBytesMax / 1_048_576;
    const limit = searchable ? `${what} in a file of this size` : `${megabytes} MB for a file in ${encoding}`;
    const oneByOne = edits.length > 1 ? ({ remedy: "one by one" } as const) : {};
    const remedy = searchable ? oneByOne : ({ remedy: "convert" } as const);
    throw new Problem({ code: "TOO_LARGE", place: before.target, kind: "text", limit, ...remedy });
  }
  if (before.head === undefined) return planUnheld(before, only, bench);
  // The first bytes look like UTF-8; the search goes through all of them and knows better afterwards.
  const watch = startUtf8Watch();
  const planned = await orProblem(planUnheld(before, only, bench, (chunk) => watch.see(chunk)));
  const found = await watch.encoding(before.head);
  if (found !== "utf-8") {
    const known = { ...before, form: { ...before.form, encoding: found }, head: undefined };
    const again = await quickly(known, edits, bench);
    // The change may take away the very letters that told.
    return again && { ...again, remember: found };
  }
  if (planned instanceof Problem) throw planned;
  return planned;
}

/** In a file that is not held nobody can see beforehand whether a mark in front of the old text stands in the text. */
async function planUnheld(
  before: Before,
  edit: TextEdit,
  bench: Bench,
  onChunk?: (chunk: Uint8Array) => void,
): Promise<Planned<readonly EditFound[]> | undefined> {
  const planned = await orProblem(planBytes(before, edit, bench, onChunk));
  if (!(planned instanceof Problem)) return planned;
  const unmarked = withoutMark(edit);
  const again = planned.data.code === "NO_MATCH" && unmarked.oldText !== edit.oldText;
  if (!again || faultOf(unmarked, false) !== undefined) throw planned;
  return planBytes(before, unmarked, bench);
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
  { signal }: Bench,
): Promise<NewFile<readonly EditFound[]>> {
  requireSound(edits, target, true);
  const { text, found } = await inTurns(textFromEdits(target, edits), signal);
  return { ...newTextFile(target, text), extra: found };
}
