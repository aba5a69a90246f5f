/** Answers in the `opencode-legacy` dialect: five-digit numbers inside `<file>`. */

import type { Reply } from "../../contract/call.ts";
import type { DirectoryOutcome, TextOutcome } from "../../contract/read.ts";
import type { Outcome } from "../../contract/verb.ts";
import { escapeName } from "../../text/escape.ts";
import { footerOf, type ReadResult, resultOf } from "../opencode-words.ts";
import { success } from "../replies.ts";
import { profile } from "./profile.ts";

export function render(outcome: Outcome): Reply<ReadResult> {
  const result = outcome.kind === "text" ? textResult(outcome) : directoryResult(outcome);
  return success(result.output, result);
}

function textResult(outcome: TextOutcome): ReadResult {
  const page = outcome.pages[0];
  const number = (index: number): string => (page.from + index).toString().padStart(5, "0");
  const numbered = page.lines.map((line, index) => `${number(index)}| ${line}`).join("\n");
  const output = `<file>\n${numbered}\n\n${footerOf(page, profile.pageBytesMax)}\n</file>`;
  return resultOf(outcome.target, output, page.lines, page.stopped !== "end", outcome);
}

/** This dialect reads no folders; a list of names serves `filehand ls`. */
function directoryResult(outcome: DirectoryOutcome): ReadResult {
  const names = outcome.entries.map(({ name, kind }) => escapeName(name) + (kind === "directory" ? "/" : ""));
  const last = outcome.from + names.length - 1;
  const foot =
    outcome.next === undefined
      ? []
      : [
          `(Showing ${names.length} of ${outcome.entriesTotal} entries. Use 'offset' parameter to read beyond entry ${last})`,
        ];
  const output = [`${escapeName(outcome.target.absolute)}/`, ...names.map((name) => `  ${name}`), ...foot].join("\n");
  return resultOf(outcome.target, output, names, outcome.next !== undefined);
}
