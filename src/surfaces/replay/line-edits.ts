/** A recorded change of a file as the edits by line that make it: as a model would write them that sees line numbers. Pure. */

import type { Hunk } from "../../contract/edit.ts";
import { hunksOfTexts } from "../../text/text.ts";

/** As a call of `EditLines` has it: `120-124`, `before 1` or `after 7`, and the new lines. */
export interface LineEditAsked {
  readonly lines: string;
  readonly newText: string;
  /** The lines that must have been shown. */
  readonly from: number;
  readonly to: number;
}

/** Changes with fewer unchanged lines between them are one edit: a second one costs more than to repeat these lines. */
const apartMin = 3;

/** Undefined where edits by line cannot say it: a file that is created or emptied, or only the end of the last line changes. */
export function lineEditsOf(before: string, after: string): readonly LineEditAsked[] | undefined {
  if (before === "" || after === "" || before.endsWith("\n") !== after.endsWith("\n")) return undefined;
  const { hunks, complete } = hunksOfTexts(before, after, { context: Math.floor((apartMin - 1) / 2) });
  return complete ? hunks.map(lineEditOf) : undefined;
}

function lineEditOf({ oldStart, lines: all }: Hunk): LineEditAsked {
  const lines = all.filter((line) => !line.startsWith("\\"));
  const head = lines.findIndex((line) => !line.startsWith(" "));
  const changed = lines.slice(head, lines.findLastIndex((line) => !line.startsWith(" ")) + 1);
  const made = changed.filter((line) => !line.startsWith("-")).map((line) => line.slice(1));
  const gone = changed.filter((line) => !line.startsWith("+")).length;
  // An empty last line needs a line end of its own: one at the end of the text adds no line.
  const newText = made.join("\n") + (made.at(-1) === "" ? "\n" : "");
  const from = oldStart + head;
  const to = from + gone - 1;
  if (gone > 0) return { lines: from === to ? `${from}` : `${from}-${to}`, newText, from, to };
  const beside = Math.max(1, from - 1);
  return { lines: from === 1 ? "before 1" : `after ${beside}`, newText, from: beside, to: beside };
}
