/** Answers in the `opencode-legacy` dialect: five-digit numbers inside `<file>`. */

import type { DirectoryOutcome, TextOutcome } from "../../contract/read.ts";
import { escapeName } from "../../text/escape.ts";
import { firstLines, numbered } from "../numbered.ts";
import { rendererOf } from "../opencode-render.ts";
import { footerOf, previewLines, type ReadResult, resultOf } from "../opencode-words.ts";
import { profile } from "./profile.ts";

const bar = { digitsMin: 5, pad: "0", mark: "| " } as const;

export const numberLine = (number: number, text: string): string => `${String(number).padStart(5, "0")}| ${text}`;

function textResult(outcome: TextOutcome): ReadResult {
  const page = outcome.pages[0];
  const output = numbered(page, bar, "<file>\n", `\n\n${footerOf(page, profile.pageBytesMax)}\n</file>`);
  return resultOf(outcome.target, output, firstLines(page, previewLines), page.stopped !== "end", outcome);
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

export const render = rendererOf({ first: 0, numberLine, textResult, directoryResult });
