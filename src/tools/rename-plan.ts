/** What a new name does to one file, as a plan for the spine of all changes. */

import type { MatchedBy, TextChange } from "../contract/edit.ts";
import type { FileEdits } from "../contract/language.ts";
import { Problem } from "../contract/problem.ts";
import type { Profile } from "../contract/profile.ts";
import { changesOfEdits } from "../text/range-edits.ts";
import type { Before } from "./before.ts";
import type { Plan, Planned } from "./plan.ts";
import { finish } from "../text/steps.ts";
import { knownAfter, movedAlong, shownOf } from "./edit-checks.ts";
import { linesChanged, planOfChanges } from "./edit-text.ts";

/** The server has read the file; whether it read it as it is now shows in whether the old name stands where it says. */
export const planOfRename = (edits: FileEdits["edits"], oldName: string, profile: Profile): Plan<MatchedBy> => ({
  wants: "text",
  profile,
  overwrites: false,
  unseen: "permitted",
  there: (before) => planned(before, edits, oldName),
});

function planned(before: Before, edits: FileEdits["edits"], oldName: string): Planned<MatchedBy> {
  const { target: place } = before;
  if (before.bytes === undefined) {
    throw new Problem({ code: "TOO_LARGE", place, kind: "text", limit: "32 MB in a rename" });
  }
  const { text } = before.source();
  const changes = changesOfEdits(text, edits, oldName);
  switch (changes.are) {
    case "stale":
      throw new Problem({ code: "STALE", place, reason: "while changing it" });
    case "overlapping":
      throw new Problem({ code: "NO_RENAME", place, reason: "overlap", count: 0 });
    case "fine":
      return finish(planOfChanges(before, changes.changes, wrote(before, text, changes.changes), "exact"));
  }
}

/** Lines that were shown are known still: all that changed in them is a name. */
function wrote(before: Before, text: string, changes: readonly TextChange[]): Planned<MatchedBy>["wrote"] {
  return knownAfter(before, movedAlong(shownOf(before.seen), linesChanged(text, changes)));
}
