/** The `opencode` dialect: read, for files and folders. */

import type { Profile } from "../../contract/profile.ts";
import type { DirectoryOutcome, Entry, TextOutcome } from "../../contract/read.ts";
import { escapeName } from "../../text/text.ts";
import type { Dialect } from "../dialect.ts";
import { firstLinesOfPage, numberedLines } from "../media-text.ts";
import type { ChangeResult, ChangeTools } from "./changes.ts";
import type { MultiEditInput, ReadInput } from "./inputs.ts";
import { footerOf, previewLines, type ReadResult, resultOf } from "./read.ts";
import { dialectOf, type HistoryTools, type SharedTools, type OutlineTools } from "./render.ts";
import type { GrepTools, SearchTools } from "./search.ts";
import { specs } from "./tools.ts";

export interface Tools extends ChangeTools, HistoryTools, SearchTools, GrepTools, SharedTools, OutlineTools {
  readonly read: { readonly input: ReadInput; readonly output: ReadResult };
  readonly multiedit: { readonly input: MultiEditInput; readonly output: ChangeResult };
}

// Reading in the `opencode` dialect: files and folders, pages of at most 51,200 bytes.

const profile: Profile = {
  lines: "terminated",
  lineCharsMax: 2_000,
  cutMark: "...",
  pageBytesMax: 51_200,
  pageTokensMax: undefined,
  numbers: undefined,
  total: "at the end",
  pastEnd: "refused",
  nulSampleBytes: 4_096,
  longCode: "first page",
  repeats: "content",
  documents: "attached",
  kinds: { directory: "read", image: "read", pdf: "read", notebook: "skip", office: "read" },
};

// Answers in the `opencode` dialect: path, type and content between tags.

const colon = { digitsMin: 1, pad: " ", mark: ": " } as const;

function textResult(outcome: TextOutcome): ReadResult {
  const page = outcome.pages[0];
  const foot = `\n\n${footerOf(page, profile.pageBytesMax)}\n</content>`;
  const output = numberedLines(page, colon, `${head(outcome, "file")}\n<content>\n`, foot);
  return resultOf(outcome.target, output, firstLinesOfPage(page, previewLines), page.stopped !== "end", outcome);
}

function directoryResult(outcome: DirectoryOutcome): ReadResult {
  const names = outcome.entries.map(entryName);
  const last = outcome.from + names.length - 1;
  const isHidden = outcome.entriesTotal === 0 && outcome.hiddenByRules > 0;
  const foot =
    outcome.next === undefined
      ? `(${outcome.entriesTotal} entries${isHidden ? " shown, all are withheld by permission rules" : ""})`
      : `(Showing ${names.length} of ${outcome.entriesTotal} entries. Use 'offset' parameter to read beyond entry ${last})`;
  const output = `${head(outcome, "directory")}\n<entries>\n${names.join("\n")}\n\n${foot}\n</entries>`;
  return resultOf(outcome.target, output, names, outcome.next !== undefined);
}

const head = ({ target }: TextOutcome | DirectoryOutcome, type: "file" | "directory"): string =>
  `<path>${escapeName(target.absolute)}</path>\n<type>${type}</type>`;

function entryName(entry: Entry): string {
  const folder = entry.kind === "directory" || entry.leadsTo === "directory";
  return escapeName(entry.name) + (folder ? "/" : "");
}

export const opencode: Dialect = dialectOf({
  name: "opencode",
  profile,
  specs,
  first: 1,
  numbers: colon,
  textResult,
  directoryResult,
});

export type { ReadInput, ReadResult };
