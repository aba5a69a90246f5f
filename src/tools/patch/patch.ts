/** Patch: applies the text of a patch to all of its files or to none. */

import type { MatchedBy, NearestRegion, TextChange } from "../../contract/edit.ts";
import { Problem, type ProblemData, type WhichEdit } from "../../contract/problem.ts";
import type { Profile } from "../../contract/profile.ts";
import type { Target } from "../../contract/target.ts";
import { runInSlices } from "../../disk/disk.ts";
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
import type { Plan, Planned } from "../change/change.ts";
import type { CurrentFile } from "../change/current-file.ts";
import { changeMany, type FilePlan } from "../change/change-many.ts";
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

const partOf = (file: PatchFile, profile: Profile, context: ToolContext): FilePlan => ({
  path: file.path,
  does: file.does === "add" && file.replaces ? "update" : file.does,
  plan: planOf(file, profile, context),
  moveTo: file.does === "update" ? file.moveTo : undefined,
});

function planOf(file: PatchFile, profile: Profile, context: ToolContext): Plan<MatchedBy> {
  const shared = { wants: "text", profile, overwrites: false } as const;
  switch (file.does) {
    case "add":
      if (file.replaces) {
        return {
          ...shared,
          overwrites: true,
          there: async (current) => {
            const { text, extra } = await runInSlices(addedText(file, current.target), context.signal);
            return { ...(await planOver(current, text, context)), extra };
          },
        };
      }
      return {
        ...shared,
        there: ({ target }) => {
          throw new Problem({ code: "EXISTS", place: target, reason: "file" });
        },
        missing: async (target) => {
          const { text, extra } = await runInSlices(addedText(file, target), context.signal);
          return { ...(await newTextFile(target, text, context)), extra };
        },
      };
    case "delete":
      return { ...shared, there: (current) => runInSlices(planRemoval(current), context.signal) };
    case "update":
      return {
        ...shared,
        changedSince: "where certain",
        there: (current) => runInSlices(planHunks(current, [file.hunks, ...file.later]), context.signal),
      };
  }
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

function* planRemoval(current: CurrentFile): Steps<Planned<MatchedBy>> {
  const text = wellFormed(textInMemory(current));
  const diff = yield* hunksBetween(text, "");
  return { pieces: [], diff, before: text, removes: true, notes: [], wrote: nothingShown, extra: "exact" };
}

function* planHunks(current: CurrentFile, sections: readonly (readonly PatchHunk[])[]): Steps<Planned<MatchedBy>> {
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
  for (const section of sections) {
    const applied = yield* applyingHunks(text, section);
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
  if (changes.length === 0 && idle !== undefined) {
    throw new Problem({ code: "INVALID_PARAM", reason: "patch", fault: "same lines", line: idle.at, text: "" });
  }
  yield;
  return yield* planOfChanges(current, changes, yield* requireLines(current, original, changes), matchedBy);
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
    case "out of order": {
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
