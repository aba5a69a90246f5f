/** Diffs between versions on the screen: the changed lines, or one line that says why there are none. */

import { escapeName } from "../../text/escape.ts";
import type { Host } from "./command.ts";
import { paintDiff } from "./diff.ts";
import { coloured } from "./print.ts";
import { shortened } from "../shown-hunks.ts";
import type { VersionDiff } from "./versions.ts";

/** Diff lines of one file on the screen; `--json` has them all. */
const diffLinesMax = 2_000;

export function paintVersions(name: string, diff: VersionDiff, host: Host): string {
  const title = diff.became === null ? name : `${name} (${diff.became})`;
  if (diff.note !== null) return `${escapeName(title)}\n(${escapeName(diff.note)})`;
  const { hunks } = shortened(diff.hunks, diffLinesMax);
  const { additions, deletions } = diff;
  return paintDiff(title, hunks, { colour: coloured(host, "stdout"), totals: { additions, deletions } });
}
