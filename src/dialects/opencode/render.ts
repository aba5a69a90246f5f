/** Answers of both opencode dialects. They differ in how they count lines and in how they show a file or a folder. */

import type { Outcome, Reply } from "../../contract/call.ts";
import type { Profile } from "../../contract/profile.ts";
import type { DirectoryOutcome, Entry, TextOutcome } from "../../contract/read.ts";
import { escapeName } from "../../text/text.ts";
import type { Facts } from "../dialect.ts";
import { firstLinesOfPage, numberedLines } from "../media-text.ts";
import { successReply } from "../words.ts";
import { type ChangeResult, renderChange } from "./changes.ts";
import {
  type HistoryResult,
  type LspResult,
  renderHistory,
  renderLsp,
  renderRewind,
  type RewindResult,
} from "./history.ts";
import { type GrepResult, renderGlob, renderGrep, renderTree, type SearchResult } from "./search.ts";
import {
  cutNotes,
  footerOf,
  previewLines,
  type ReadResult,
  renderMedia,
  renderOutline,
  resultOf,
  sentenceOf,
} from "./sentences.ts";

export interface Forms {
  /** The number of the first line in calls. */
  readonly first: 0 | 1;
  readonly numberLine: (number: number, text: string) => string;
  readonly textResult: (outcome: TextOutcome) => ReadResult;
  readonly directoryResult: (outcome: DirectoryOutcome) => ReadResult;
}

type Result = ReadResult | ChangeResult | HistoryResult | RewindResult | SearchResult | GrepResult | LspResult;

export const rendererOf =
  ({ first, numberLine, textResult, directoryResult }: Forms) =>
  (outcome: Outcome, facts: Facts): Reply<Result> => {
    switch (outcome.kind) {
      case "text":
        return replyOf(textResult(outcome), cutNotes(outcome.pages[0], first));
      case "directory":
        return replyOf(directoryResult(outcome));
      case "lsp":
        return renderLsp(outcome, first, facts);
      case "outline":
        return renderOutline(outcome, first);
      case "grep":
        return renderGrep(outcome);
      case "rewind":
        return renderRewind(outcome, (problem) => sentenceOf(problem, "rewind", numberLine, first));
      case "history":
        return renderHistory(outcome, first);
      case "glob":
        return renderGlob(outcome);
      case "tree":
        return renderTree(outcome);
      case "edit":
      case "write":
      case "notebook-edit":
      case "patch":
        return renderChange(outcome, numberLine, facts);
      case "image":
      case "pdf":
      case "notebook":
      case "unchanged":
        return renderMedia(outcome, facts);
    }
  };

function replyOf(result: ReadResult, notes: Reply["content"] = []): Reply<ReadResult> {
  const reply = successReply(result.output, result);
  return notes.length === 0 ? reply : { ...reply, content: [...reply.content, ...notes] };
}

// Reading in the `opencode` dialect: files and folders, pages of at most 51,200 bytes.

export const profile: Profile = {
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

export const numberLine = (number: number, text: string): string => `${number}: ${text}`;

function textResult(outcome: TextOutcome): ReadResult {
  const page = outcome.pages[0];
  const foot = `\n\n${footerOf(page, profile.pageBytesMax)}\n</content>`;
  const output = numberedLines(page, colon, `${head(outcome, "file")}\n<content>\n`, foot);
  return resultOf(outcome.target, output, firstLinesOfPage(page, previewLines), page.stopped !== "end", outcome);
}

function directoryResult(outcome: DirectoryOutcome): ReadResult {
  const names = outcome.entries.map(entryName);
  const last = outcome.from + names.length - 1;
  const isHidden = outcome.entriesTotal === 0 && outcome.withheld > 0;
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

export const render = rendererOf({ first: 1, numberLine, textResult, directoryResult });
