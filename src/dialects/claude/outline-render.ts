/** Outlines in the `claude` dialect. */

import type { Reply } from "../../contract/call.ts";
import type { OutlineOutcome } from "../../contract/outline.ts";
import { type OutlineEntry, outlineEntries, outlineLines, outlineMeasure, outlineNotes } from "../outline-text.ts";
import { success } from "../replies.ts";
import { quoted } from "../words.ts";
import { outlineNames } from "./problems.ts";

/** What stands for the text of a long code file, or was asked for. */
export interface OutlineResult {
  readonly type: "outline";
  readonly file: {
    readonly filePath: string;
    readonly language: string;
    readonly outline: readonly OutlineEntry[];
    readonly totalDeclarations: number;
    readonly totalLines: number;
  };
}

export function renderOutline(outcome: OutlineOutcome): Reply<OutlineResult> {
  const head = `[Outline of ${quoted(outcome.target.asked)}: ${outlineMeasure(outcome)}]`;
  const notes = outlineNotes(outcome, outlineNames).map((note) => `[${note.charAt(0).toUpperCase()}${note.slice(1)}]`);
  const lines = outlineLines(outcome);
  const text = [head, ...lines, ...(notes.length > 0 && lines.length > 0 ? [""] : []), ...notes].join("\n");
  return success(text, {
    type: "outline",
    file: {
      filePath: outcome.target.absolute,
      language: outcome.language,
      outline: outlineEntries(outcome),
      totalDeclarations: outcome.total,
      totalLines: outcome.linesTotal,
    },
  });
}
