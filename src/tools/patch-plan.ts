/** What a patch does to one file, as a plan for the spine of all changes. */

import type { MatchedBy, TextChange } from "../contract/edit.ts";
import { Problem, type ProblemData, type WhichEdit } from "../contract/problem.ts";
import type { Profile } from "../contract/profile.ts";
import type { Target } from "../contract/target.ts";
import { inTurns } from "../disk/others-turn.ts";
import { nothingShown } from "../session/ledger.ts";
import { hunksOfTexts } from "../text/hunks.ts";
import { sourceOf } from "../text/match-source.ts";
import { nearestRegion } from "../text/nearest-region.ts";
import { applyingHunks, type Refused, standOnce } from "../text/patch-apply.ts";
import type { PatchFile, PatchHunk } from "../text/patch.ts";
import { apply, changesOf, PieceList } from "../text/pieces.ts";
import type { Steps } from "../text/steps.ts";
import { wellFormed } from "../text/well-formed.ts";
import type { Before } from "./before.ts";
import type { Plan, Planned } from "./plan.ts";
import { knownAfter, movedAlong, requireCertain, requireShown, shownOf } from "./edit-checks.ts";
import { linesChanged, planOfChanges, shownRegion } from "./edit-text.ts";
import { newTextFile } from "./new-text.ts";

export function planOf(file: PatchFile, profile: Profile, signal: AbortSignal): Plan<MatchedBy> {
  const shared = { wants: "text", profile, overwrites: false } as const;
  switch (file.does) {
    case "add":
      return {
        ...shared,
        there: ({ target }) => {
          throw new Problem({ code: "EXISTS", place: target, reason: "file" });
        },
        missing: (target) => ({ ...newTextFile(target, file.text), extra: "exact" }),
      };
    case "delete":
      return { ...shared, there: planRemoval };
    case "update":
      return {
        ...shared,
        changedSince: "where certain",
        there: (before) => inTurns(planHunks(before, [file.hunks, ...file.later]), signal),
      };
  }
}

function planRemoval(before: Before): Planned<MatchedBy> {
  const text = wellFormed(held(before));
  const diff = hunksOfTexts(text, "");
  return { pieces: [], diff, before: text, removes: true, notes: [], wrote: nothingShown, extra: "exact" };
}

/** Each section is applied to what the ones before it made. */
function* planHunks(before: Before, sections: readonly (readonly PatchHunk[])[]): Steps<Planned<MatchedBy>> {
  const original = held(before);
  const hunks = sections.flat();
  if (hunks.length === 0) {
    requireCertain(before, "exact", 0); // a file that is only moved names no text that is to be there
    return yield* planOfChanges(before, [], knownAfter(before, shownOf(before.seen)), "exact");
  }
  const pieces = new PieceList(original.length);
  let text = original;
  let matchedBy: MatchedBy = "exact";
  let hunksBefore = 0;
  for (const section of sections) {
    const applied = yield* applyingHunks(text, section);
    if (applied.applied === "no") {
      throw new Problem(yield* problemOf(applied, { hunksBefore, section, hunks: hunks.length }, text, before.target));
    }
    if (applied.matchedBy !== "exact") ({ matchedBy } = applied);
    if (before.seen.state === "changed") requireCertain(before, applied.matchedBy, standOnce(text, section) ? 1 : 0);
    pieces.splice(applied.changes);
    if (sections.length > 1) text = apply(text, applied.changes);
    hunksBefore += section.length;
  }
  yield;
  const changes = changesOf(pieces.pieces, original.length);
  // Lines of context alone say where something is moved from.
  const idle = hunks.find(({ lines }) => lines.some(({ mark }) => mark !== " "));
  if (changes.length === 0 && idle !== undefined) {
    throw new Problem({ code: "INVALID_PARAM", reason: "patch", fault: "same lines", line: idle.at, text: "" });
  }
  return yield* planOfChanges(before, changes, requireLines(before, original, changes), matchedBy);
}

function requireLines(before: Before, text: string, changes: readonly TextChange[]): Planned<MatchedBy>["wrote"] {
  const shown = shownOf(before.seen);
  const lines = linesChanged(text, changes);
  const old = lines.filter(({ linesBefore }) => linesBefore > 0);
  requireShown(
    before,
    shown,
    old.map(({ line, linesBefore }) => ({ from: line, to: line + linesBefore - 1 })),
  );
  return knownAfter(before, movedAlong(shown, lines));
}

/** Files that are patched are held in memory, so that they can be put back. */
function held(before: Before): string {
  if (before.bytes !== undefined) return before.source().text;
  throw new Problem({ code: "TOO_LARGE", place: before.target, kind: "text", limit: "32 MB in a patch" });
}

interface Failing {
  /** Of sections before the one that failed. */
  readonly hunksBefore: number;
  readonly section: readonly PatchHunk[];
  /** Of all sections. */
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
      const nearest = wanted === "" ? undefined : yield* nearestRegion(sourceOf(text), wanted);
      const shown = shownRegion(nearest);
      const why = hunk.why === "not found" ? ({ why: "not found" } as const) : hunk;
      return { code: "NO_MATCH", place, which, nearest: shown, searched: "loosely", hunk: why };
    }
  }
}

/** What the reader of a failure wants to see as it is: the line that a header names, or the lines that the hunk is about. */
function wantedOf(refused: Refused, hunk: PatchHunk | undefined): string {
  if (refused.why === "header not found" && hunk !== undefined) {
    const isOnly = hunk.lines.every(({ mark }) => mark === "+");
    if (isOnly) return refused.header;
  }
  const old = hunk?.lines.filter(({ mark }) => mark !== "+").map((line) => line.text) ?? [];
  return old.join("\n");
}
