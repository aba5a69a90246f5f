/** Patch: applies a patch, in the `*** Begin Patch` format or as a unified diff, to all of its files or to none. */

import type { MatchedBy, NearestRegion, Piece, TextChange } from "../../contract/edit.ts";
import { Problem, type ProblemData, type WhichEdit } from "../../contract/problem.ts";
import type { Profile } from "../../contract/profile.ts";
import type { Target } from "../../contract/target.ts";
import { gitBlobId, runInSlices } from "../../disk/disk.ts";
import { nothingShown } from "../../session/session.ts";
import {
  apply,
  applyingHunks,
  changesOfPieces,
  countLines,
  hunksBetween,
  nearestRegion,
  parsingPatch,
  type PatchFile,
  type PatchHunk,
  PieceList,
  type Refused,
  regionAt,
  type Source,
  sourceOf,
  matchOnce,
  type Steps,
  wellFormed,
} from "../../text/text.ts";
import type { NewFile, Plan, Planned } from "../change/change.ts";
import type { CurrentFile } from "../change/current-file.ts";
import { changeMany, type CopySource, type FilePlan } from "../change/change-many.ts";
import { handleOf, resolveChangeTarget } from "../change/change-target.ts";
import { joined } from "../change/commit.ts";
import { openFileOf, prepare } from "../change/prepare.ts";
import {
  knownAfter,
  linesChanged,
  movedAlong,
  planOfChanges,
  requireCertain,
  requireShown,
  shownOf,
  shownRegion,
} from "../edit/edit-text.ts";
import type { ToolContext, Tool } from "../tool.ts";
import { newTextFile, planOver } from "../write/write.ts";

export const patch: Tool<"patch"> = async ({ patchText, profile }, context) => {
  const parsed = await runInSlices(parsingPatch(patchText), context.signal);
  if ("fault" in parsed) throw new Problem({ code: "INVALID_PARAM", reason: "patch", ...parsed });
  const [first, ...others] = parsed.files;
  const part = (file: PatchFile): FilePlan => partOf(file, profile, context);
  return changeMany([part(first), ...others.map(part)], profile, context);
};

function partOf(file: PatchFile, profile: Profile, context: ToolContext): FilePlan {
  const copyOf = file.does === "add" && file.copyOf !== undefined ? { path: file.copyOf } : undefined;
  return {
    path: file.path,
    does: file.does === "add" && file.replaces ? "update" : file.does,
    plan: planOf(file, copyOf, profile, context),
    moveTo: file.does === "update" ? file.moveTo : undefined,
    copyOf,
  };
}

function planOf(
  file: PatchFile,
  copyOf: CopySource | undefined,
  profile: Profile,
  context: ToolContext,
): Plan<MatchedBy> {
  const shared = { wants: "text", profile, overwrites: false } as const;
  switch (file.does) {
    case "add":
      if (file.replaces) {
        return {
          ...shared,
          overwrites: true,
          there: async (current) => {
            const { text, extra } = await runInSlices(addedText(file, current.target), context.signal);
            return { ...withMode(await planOver(current, text, context), current, file.executable), extra };
          },
        };
      }
      return {
        ...shared,
        there: ({ target }) => {
          throw new Problem({ code: "EXISTS", place: target, reason: "file" });
        },
        missing: async (target) => {
          if (copyOf !== undefined) return copiedFile(file, copyOf, profile, context);
          const { text, extra } = await runInSlices(addedText(file, target), context.signal);
          const { executable } = file;
          return { ...(await newTextFile(target, text, context)), ...(executable === true && { executable }), extra };
        },
      };
    case "delete":
      return { ...shared, there: (current) => runInSlices(planRemoval(current, file.hunks), context.signal) };
    case "update":
      return {
        ...shared,
        changedSince: "where certain",
        there: (current) => runInSlices(planUpdate(current, file), context.signal),
      };
  }
}

/** The copy of another file, with the changes that the patch makes in it. */
async function copiedFile(
  { later, executable }: Extract<PatchFile, { readonly does: "add" }>,
  { path, permitted }: CopySource,
  profile: Profile,
  context: ToolContext,
): Promise<NewFile<MatchedBy>> {
  const source = await resolveChangeTarget(path, context);
  using _handle = handleOf(source);
  if (source.target.real !== permitted) throw new Problem({ code: "CHANGED", place: source.target });
  const there = (current: CurrentFile) =>
    runInSlices(planHunks(current, later, { isOriginal: false, removesBom: false }), context.signal);
  const prepared = await prepare(source, { wants: "text", profile, overwrites: false, there }, context);
  using _file = openFileOf(prepared);
  if (prepared.is === "new" || prepared.old === undefined) throw new Problem({ code: "CHANGED", place: source.target });
  const { planned, old, file, extra } = prepared;
  const bytes = joined(planned.pieces, old);
  const diff = await runInSlices(hunksBetween("", wellFormed(bytes.toString("utf8"))), context.signal);
  const runs = executable ?? (file.mode & 0o100) !== 0;
  return { bytes, diff, ...(runs && { executable: true }), extra };
}

/** The executable bits go with those for reading, as git and the umask have it. */
function withMode<Extra>(
  planned: Planned<Extra>,
  { file }: CurrentFile,
  executable: boolean | undefined,
): Planned<Extra> {
  if (executable === undefined) return planned;
  const mode = executable ? file.mode | ((file.mode & 0o444) >> 2) : file.mode & ~0o111;
  if (mode === file.mode) return planned;
  const notes = planned.notes.filter(({ note }) => note !== "same content");
  return { ...planned, mode, notes: [...notes, { note: "mode", executable }] };
}

function* addedText(
  { text: added, later }: Extract<PatchFile, { readonly does: "add" }>,
  target: Target,
): Steps<{ readonly text: string; readonly extra: MatchedBy }> {
  let text = added;
  let extra: MatchedBy = "exact";
  let hunksBefore = 0;
  for (const section of later) {
    const applied = yield* applyingHunks(text, section);
    if (applied.applied === "no") {
      throw new Problem(yield* problemOf(applied, { hunksBefore, section, hunks: later.flat().length }, text, target));
    }
    if (applied.matchedBy !== "exact") extra = applied.matchedBy;
    text = apply(text, applied.changes);
    hunksBefore += section.length;
  }
  return { text, extra };
}

function* planRemoval(current: CurrentFile, hunks: readonly PatchHunk[] | undefined): Steps<Planned<MatchedBy>> {
  const text = wellFormed(textInMemory(current));
  if (hunks !== undefined) yield* requireAllRemoved(current, hunks);
  const diff = yield* hunksBetween(text, "");
  return { pieces: [], diff, before: text, removes: true, notes: [], wrote: nothingShown, extra: "exact" };
}

function* requireAllRemoved(current: CurrentFile, given: readonly PatchHunk[]): Steps<void> {
  const { text, bytes } = { text: textInMemory(current), bytes: current.bytes };
  const hunks = withoutBom(given, current).hunks;
  const applied = yield* applyingHunks(text, hunks);
  if (applied.applied === "yes" && apply(text, applied.changes) === "") return;
  const [place, line] = [current.target.asked, given[0]?.at ?? 1];
  if (bytes !== undefined)
    throw new Problem({ code: "INVALID_PARAM", reason: "patch", fault: "other lines deleted", line, text: place });
}

/** Hunks of git show the BOM of a file as a part of its first line; `removes`: the patch takes it out. */
function withoutBom(
  hunks: readonly PatchHunk[],
  { form }: CurrentFile,
): { readonly hunks: readonly PatchHunk[]; readonly removes: boolean } {
  const [first, ...others] = hunks;
  const marked = first?.lines.filter(({ text }) => text.startsWith("\ufeff")) ?? [];
  if (first === undefined || first.expected === undefined || form.bomBytes === 0 || marked.length === 0)
    return { hunks, removes: false };
  const bare = (line: PatchHunk["lines"][number]) =>
    line.text.startsWith("\ufeff") ? { ...line, text: line.text.slice(1) } : line;
  const [line, ...lines] = first.lines;
  const removes = marked.every(({ mark }) => mark === "-");
  return { hunks: [{ ...first, lines: [bare(line), ...lines.map(bare)] }, ...others], removes };
}

function* planUpdate(
  current: CurrentFile,
  { hunks, later, executable, blobs }: Extract<PatchFile, { readonly does: "update" }>,
): Steps<Planned<MatchedBy>> {
  const isOriginal = blobs !== undefined && (yield* hasBlob(current, blobs[0]));
  if (!isOriginal && blobs !== undefined && blobs[0] !== blobs[1] && (yield* hasBlob(current, blobs[1]))) {
    const which: WhichEdit = { index: 1, of: hunks.length, othersFound: [] };
    throw new Problem({ code: "ALREADY_APPLIED", place: current.target, which, line: 1 });
  }
  const { hunks: own, removes } = withoutBom(hunks, current);
  const planned = yield* planHunks(current, [own, ...later], { isOriginal, removesBom: removes });
  return withMode(planned, current, executable);
}

/** The first piece begins at the beginning of the file, with the BOM that no text contains. */
function piecesAfterBom([first, ...others]: readonly Piece[], { form: { bomBytes } }: CurrentFile): readonly Piece[] {
  if (first === undefined || "make" in first) throw new Error("the BOM of a file in memory is copied");
  if (first instanceof Uint8Array) return [first.subarray(bomBytes), ...others];
  return first.to > bomBytes ? [{ from: bomBytes, to: first.to }, ...others] : others;
}

/** Is the content the one that git names by this id? Then the patch was made from it. */
function* hasBlob({ bytes }: CurrentFile, id: string): Steps<boolean> {
  if (bytes === undefined) return false;
  if (id.length <= 40 && (yield* gitBlobId(bytes, "sha1")).startsWith(id)) return true;
  return (yield* gitBlobId(bytes, "sha256")).startsWith(id);
}

function* planHunks(
  current: CurrentFile,
  sections: readonly (readonly PatchHunk[])[],
  { isOriginal, removesBom }: { readonly isOriginal: boolean; readonly removesBom: boolean },
): Steps<Planned<MatchedBy>> {
  const original = textInMemory(current);
  const hunks = sections.flat();
  if (hunks.length === 0) {
    requireCertain(current, "exact", 0); // a section that only moves the file names no text that could match
    return yield* planOfChanges(current, [], knownAfter(current, shownOf(current.seen)), "exact");
  }
  const pieces = new PieceList(original.length);
  let text = original;
  let matchedBy: MatchedBy = "exact";
  let hunksBefore = 0;
  for (const [at, section] of sections.entries()) {
    const applied = yield* applyingHunks(text, section, isOriginal && at === 0);
    if (applied.applied === "no") {
      throw new Problem(yield* problemOf(applied, { hunksBefore, section, hunks: hunks.length }, text, current.target));
    }
    if (applied.matchedBy !== "exact") ({ matchedBy } = applied);
    if (current.seen.state === "changed" || (current.seen.state === "fresh" && current.seen.since !== undefined))
      requireCertain(current, applied.matchedBy, (yield* matchOnce(text, section)) ? 1 : 0);
    yield* pieces.splice(applied.changes);
    if (sections.length > 1) text = apply(text, applied.changes);
    hunksBefore += section.length;
  }
  yield;
  const changes = yield* changesOfPieces(pieces.pieces, original.length);
  // A hunk of context lines alone is no fault: a section that moves a file may have one.
  const idle = hunks.find(({ lines }) => lines.some(({ mark }) => mark !== " "));
  if (changes.length === 0 && idle !== undefined && !removesBom) {
    throw new Problem({ code: "INVALID_PARAM", reason: "patch", fault: "same lines", line: idle.at, text: "" });
  }
  yield;
  const planned = yield* planOfChanges(current, changes, yield* requireLines(current, original, changes), matchedBy);
  return removesBom ? { ...planned, pieces: piecesAfterBom(planned.pieces, current) } : planned;
}

function* requireLines(
  current: CurrentFile,
  text: string,
  changes: readonly TextChange[],
): Steps<Planned<MatchedBy>["wrote"]> {
  const shown = shownOf(current.seen);
  const lines = yield* linesChanged(text, changes);
  const old = lines.filter(({ linesBefore }) => linesBefore > 0);
  requireShown(
    current,
    shown,
    old.map(({ line, linesBefore }) => ({ from: line, to: line + linesBefore - 1 })),
  );
  yield;
  return knownAfter(current, movedAlong(shown, lines));
}

/** Files of a patch are read into memory, so that they can be put back if another one fails. */
function textInMemory(current: CurrentFile): string {
  if (current.bytes !== undefined) return current.source().text;
  throw new Problem({ code: "TOO_LARGE", place: current.target, kind: "text", limit: "32 MB in a patch" });
}

interface Failing {
  readonly hunksBefore: number;
  readonly section: readonly PatchHunk[];
  readonly hunks: number;
}

function* problemOf(refused: Refused, failing: Failing, text: string, place: Target): Steps<ProblemData> {
  const { hunksBefore, section, hunks } = failing;
  const which: WhichEdit = { index: hunksBefore + refused.hunk + 1, of: hunks, othersFound: [] };
  switch (refused.why) {
    case "several": {
      const { lines, total } = refused;
      return { code: "AMBIGUOUS", place, which, matchedBy: "exact", lines, total, hunk: true };
    }
    case "already":
      return { code: "ALREADY_APPLIED", place, which, line: refused.line };
    case "not found":
    case "header not found":
    case "out of order":
    case "no context": {
      const { applied: _, hunk: at, ...hunk } = refused;
      const wanted = wantedOf(refused, section[at]);
      const source = sourceOf(text);
      const like = wanted === "" ? undefined : yield* nearestRegion(source, wanted);
      const shown = shownRegion(like ?? (yield* expectedRegion(source, wanted, section, at)));
      const why = hunk.why === "not found" ? ({ why: "not found" } as const) : hunk;
      return { code: "NO_MATCH", place, which, nearest: shown, searched: "loosely", hunk: why };
    }
  }
}

/** Fewer lines would not show the model which place is meant. */
const expectedLinesMin = 5;

/** Where a hunk that resembles nothing in the file was expected: below its header, else below the change of the hunk before it. */
function* expectedRegion(
  source: Source,
  wanted: string,
  section: readonly PatchHunk[],
  at: number,
): Steps<NearestRegion | undefined> {
  if (source.text === "") return undefined;
  const header = section[at]?.headers.at(-1);
  const named = header === undefined ? undefined : yield* nearestRegion(source, header);
  const applied = yield* applyingHunks(source.text, section.slice(0, at));
  const last = applied.applied === "yes" ? applied.changes.at(-1) : undefined;
  const below = named?.from ?? (last === undefined ? 0 : source.lines().at(last.to));
  const linesShown = Math.max(expectedLinesMin, wanted.split("\n").length);
  // At the end of the file, the lines before it are shown instead of none.
  const start = Math.max(0, Math.min(below, countLines(source.text) - linesShown));
  const region = yield* regionAt(source, wanted, start, expectedLinesMin);
  return { ...region, isExpectedPlace: true };
}

/** The text to look for in the file: the old lines of the hunk, or the line of its header if the hunk only adds lines. */
function wantedOf(refused: Refused, hunk: PatchHunk | undefined): string {
  if (refused.why === "header not found" && hunk !== undefined) {
    const onlyAdds = hunk.lines.every(({ mark }) => mark === "+");
    if (onlyAdds) return refused.header;
  }
  const old = hunk?.lines.filter(({ mark }) => mark !== "+").map((line) => line.text) ?? [];
  return old.join("\n");
}
