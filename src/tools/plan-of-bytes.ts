/** A file that is taken away or moved as it is, whatever it is: nobody looks into it, but for the diff of a text. */

import { isUtf8 } from "node:buffer";
import type { MatchedBy } from "../contract/edit.ts";
import { limits } from "../contract/limits.ts";
import { Problem } from "../contract/problem.ts";
import type { Profile } from "../contract/profile.ts";
import { nothingShown } from "../session/ledger.ts";
import { hunksOfTexts } from "../text/hunks.ts";
import type { Before } from "./before.ts";
import type { Diff, Plan, Planned } from "./plan.ts";
import { knownAfter, shownOf } from "./edit-checks.ts";

export const planOfBytes = (does: "delete" | "move", profile: Profile): Plan<MatchedBy> => ({
  wants: "bytes",
  profile,
  overwrites: false,
  there: (before) => planned(before, does),
});

const noDiff: Diff = { hunks: [], additions: 0, deletions: 0, complete: true };

function planned(before: Before, does: "delete" | "move"): Planned<MatchedBy> {
  const { bytes, target, seen } = before;
  if (bytes === undefined) {
    const limit = `${limits.editHeldBytesMax / 1_048_576} MB`;
    throw new Problem({ code: "TOO_LARGE", place: target, kind: "text", limit });
  }
  const shared = { notes: [], extra: "exact" } as const;
  if (does === "move") {
    const wrote = knownAfter(before, shownOf(seen));
    return { ...shared, pieces: [bytes], diff: noDiff, before: undefined, wrote };
  }
  const isText = isUtf8(bytes) && !bytes.includes(0);
  const gone = { ...shared, pieces: [], removes: true, wrote: nothingShown } as const;
  if (!isText) return { ...gone, diff: { ...noDiff, complete: false, uncounted: true }, before: undefined };
  const text = bytes.toString("utf8");
  return { ...gone, diff: hunksOfTexts(text, ""), before: text };
}
