/** What a patch does to one file, as a plan for the spine of all changes. */

import type { MatchedBy, TextChange } from "../contract/edit.ts";
import { Problem, type ProblemData, type WhichEdit } from "../contract/problem.ts";
import type { Profile } from "../contract/profile.ts";
import type { Target } from "../contract/target.ts";
import { nothingShown } from "../session/ledger.ts";
import { hunksOfTexts } from "../text/hunks.ts";
import { match } from "../text/match.ts";
import { applyHunks, type Refused, standOnce } from "../text/patch-apply.ts";
import type { PatchFile, PatchHunk } from "../text/patch.ts";
import { wellFormed } from "../text/well-formed.ts";
import type { Before } from "./before.ts";
import type { Plan, Planned } from "./plan.ts";
import { knownAfter, movedAlong, requireCertain, requireShown, shownOf } from "./edit-checks.ts";
import { linesChanged, planOfChanges, shownRegion } from "./edit-text.ts";
import { newTextFile } from "./new-text.ts";

export function planOf(file: PatchFile, profile: Profile): Plan<MatchedBy> {
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
      return { ...shared, changedSince: "where certain", there: (before) => planHunks(before, file.hunks) };
  }
}

function planRemoval(before: Before): Planned<MatchedBy> {
  const text = wellFormed(held(before));
  const diff = hunksOfTexts(text, "");
  return { pieces: [], diff, before: text, removes: true, notes: [], wrote: nothingShown, extra: "exact" };
}

function planHunks(before: Before, hunks: readonly PatchHunk[]): Planned<MatchedBy> {
  const text = held(before);
  if (hunks.length === 0) {
    requireCertain(before, "exact", 0); // a file that is only moved names no text that is to be there
    return planOfChanges(before, [], knownAfter(before, shownOf(before.seen)), "exact");
  }
  const applied = applyHunks(text, hunks);
  if (applied.applied === "no") throw new Problem(problemOf(applied, hunks.length, text, before.target));
  const { changes, matchedBy } = applied;
  if (before.seen.state === "changed") requireCertain(before, matchedBy, standOnce(text, hunks) ? 1 : 0);
  // Lines of context alone say where something is moved from.
  const idle = hunks.find(({ lines }) => lines.some(({ mark }) => mark !== " "));
  if (changes.length === 0 && idle !== undefined) {
    throw new Problem({ code: "INVALID_PARAM", reason: "patch", fault: "same lines", line: idle.at, text: "" });
  }
  return planOfChanges(before, changes, requireLines(before, text, changes), matchedBy);
}

function requireLines(before: Before, text: string, changes: readonly TextChange[]): Planned<MatchedBy>["wrote"] {
  const shown = shownOf(before.seen);
  const lines = linesChanged(text, changes);
  for (const { line, linesBefore } of lines) {
    if (linesBefore > 0) requireShown(before, shown, { from: line, to: line + linesBefore - 1 });
  }
  return knownAfter(before, movedAlong(shown, lines));
}

/** Files that are patched are held in memory, so that they can be put back. */
function held(before: Before): string {
  if (before.bytes !== undefined) return before.source().text;
  throw new Problem({ code: "TOO_LARGE", place: before.target, kind: "text", limit: "32 MB in a patch" });
}

function problemOf(refused: Refused, hunks: number, text: string, place: Target): ProblemData {
  const which: WhichEdit = { index: refused.hunk + 1, of: hunks, othersFound: [] };
  switch (refused.why) {
    case "several": {
      const { lines, total } = refused;
      return { code: "AMBIGUOUS", place, which, matchedBy: "exact", lines, total, hunk: true };
    }
    case "already":
      return { code: "ALREADY_APPLIED", place, which, line: refused.line };
    case "not found": {
      const looked = match(text, { oldText: refused.oldLines.join("\n"), newText: "", all: false });
      const nearest = looked.found === "no" ? shownRegion(looked.nearest) : undefined;
      return { code: "NO_MATCH", place, which, nearest, searched: "loosely", hunk: { why: "not found" } };
    }
    default: {
      const { applied: _, hunk: __, ...hunk } = refused;
      return { code: "NO_MATCH", place, which, nearest: undefined, searched: "loosely", hunk };
    }
  }
}
