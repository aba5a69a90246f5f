/** Answers in the `opencode` dialect: path, type and content between tags. */

import type { Reply } from "../../contract/call.ts";
import type { DirectoryOutcome, Entry, TextOutcome } from "../../contract/read.ts";
import type { Outcome } from "../../contract/verb.ts";
import { escapeName } from "../../text/escape.ts";
import type { Facts } from "../dialect.ts";
import { type ChangeResult, renderChange } from "../opencode-changes.ts";
import { type HistoryResult, type RewindResult, renderHistory, renderRewind } from "../opencode-history.ts";
import { sentenceOf } from "../opencode-sentences.ts";
import { footerOf, previewLines, type ReadResult, renderMedia, renderOutline, resultOf } from "../opencode-words.ts";
import { type LspResult, renderLsp } from "../opencode-lsp.ts";
import { renderGlob, renderTree, type SearchResult } from "../opencode-search.ts";
import { firstLines, numbered } from "../numbered.ts";
import { type GrepResult, renderGrep } from "../opencode-grep.ts";
import { success } from "../replies.ts";
import { profile } from "./profile.ts";

export function render(
  outcome: Outcome,
  facts: Facts,
): Reply<ReadResult | ChangeResult | HistoryResult | RewindResult | SearchResult | GrepResult | LspResult> {
  switch (outcome.kind) {
    case "text":
      return replyOf(textResult(outcome));
    case "directory":
      return replyOf(directoryResult(outcome));
    case "lsp":
      return renderLsp(outcome, 1);
    case "outline":
      return renderOutline(outcome, 1);
    case "grep":
      return renderGrep(outcome);
    case "rewind":
      return renderRewind(outcome, (problem) => sentenceOf(problem, "rewind", numberLine, 1));
    case "history":
      return renderHistory(outcome, 1);
    case "glob":
      return renderGlob(outcome);
    case "tree":
      return renderTree(outcome);
    case "edit":
    case "write":
    case "notebook-edit":
    case "patch":
      return renderChange(outcome, numberLine, facts);
    default:
      return renderMedia(outcome, facts);
  }
}

const replyOf = (result: ReadResult): Reply<ReadResult> => success(result.output, result);

const colon = { digitsMin: 1, pad: " ", mark: ": " } as const;

export const numberLine = (number: number, text: string): string => `${number}: ${text}`;

function textResult(outcome: TextOutcome): ReadResult {
  const page = outcome.pages[0];
  const foot = `\n\n${footerOf(page, profile.pageBytesMax)}\n</content>`;
  const output = numbered(page, colon, `${head(outcome, "file")}\n<content>\n`, foot);
  return resultOf(outcome.target, output, firstLines(page, previewLines), page.stopped !== "end", outcome);
}

function directoryResult(outcome: DirectoryOutcome): ReadResult {
  const names = outcome.entries.map(entryName);
  const last = outcome.from + names.length - 1;
  const foot =
    outcome.next === undefined
      ? `(${outcome.entriesTotal} entries)`
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
