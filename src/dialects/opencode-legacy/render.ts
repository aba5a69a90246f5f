/** Answers in the `opencode-legacy` dialect: five-digit numbers inside `<file>`. */

import type { Reply } from "../../contract/call.ts";
import type { DirectoryOutcome, TextOutcome } from "../../contract/read.ts";
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
      return renderLsp(outcome, 0);
    case "outline":
      return renderOutline(outcome, 0);
    case "grep":
      return renderGrep(outcome);
    case "rewind":
      return renderRewind(outcome, (problem) => sentenceOf(problem, "rewind", numberLine, 0));
    case "history":
      return renderHistory(outcome, 0);
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
