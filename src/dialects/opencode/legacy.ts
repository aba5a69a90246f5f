/** The `opencode-legacy` dialect: read, with lines counted from 0 in calls. */

import type { Profile } from "../../contract/profile.ts";
import type { DirectoryOutcome, TextOutcome } from "../../contract/read.ts";
import { escapeName } from "../../text/text.ts";
import type { Dialect } from "../dialect.ts";
import { firstLinesOfPage, numberedLines } from "../media-text.ts";
import { legacySpecs } from "./tools.ts";
import type { ChangeTools } from "./changes.ts";
import type { ReadInput } from "./inputs.ts";
import { footerOf, previewLines, type ReadResult, resultOf } from "./read.ts";
import { dialectOf, type HistoryTools, type SharedTools, type OutlineTools } from "./render.ts";
import type { GrepTools, SearchTools } from "./search.ts";

// Reading in the `opencode-legacy` dialect: a line is the text between two newlines, `\r` included.

const profile: Profile = {
  lines: "split",
  lineCharsMax: 2_000,
  cutMark: "...",
  pageBytesMax: 51_200,
  pageTokensMax: undefined,
  numbers: undefined,
  total: "at the end",
  pastEnd: "empty",
  nulSampleBytes: 4_096,
  longCode: "first page",
  repeats: "content",
  documents: "attached",
  kinds: { directory: "refuse", image: "read", pdf: "read", notebook: "skip", office: "skip" },
};

// Answers in the `opencode-legacy` dialect: five-digit numbers inside `<file>`.

const bar = { digitsMin: 5, pad: "0", mark: "| " } as const;

function textResult(outcome: TextOutcome): ReadResult {
  const page = outcome.pages[0];
  const output = numberedLines(page, bar, "<file>\n", `\n\n${footerOf(page, profile.pageBytesMax)}\n</file>`);
  return resultOf(outcome.target, output, firstLinesOfPage(page, previewLines), page.stopped !== "end", outcome);
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

export interface Tools extends ChangeTools, HistoryTools, SearchTools, GrepTools, SharedTools, OutlineTools {
  readonly read: { readonly input: ReadInput; readonly output: ReadResult };
}

export const opencodeLegacy: Dialect = dialectOf({
  name: "opencode-legacy",
  profile,
  specs: legacySpecs,
  first: 0,
  numbers: bar,
  textResult,
  directoryResult,
});

export type { ReadInput, ReadResult };
