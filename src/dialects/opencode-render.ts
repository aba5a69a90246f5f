/** Answers of both opencode dialects. They differ in how they count lines and in how they show a file or a folder. */

import type { Reply } from "../contract/call.ts";
import type { DirectoryOutcome, TextOutcome } from "../contract/read.ts";
import type { Outcome } from "../contract/verb.ts";
import type { Facts } from "./dialect.ts";
import { type ChangeResult, renderChange } from "./opencode-changes.ts";
import { type GrepResult, renderGrep } from "./opencode-grep.ts";
import { type HistoryResult, type RewindResult, renderHistory, renderRewind } from "./opencode-history.ts";
import { type LspResult, renderLsp } from "./opencode-lsp.ts";
import { renderGlob, renderTree, type SearchResult } from "./opencode-search.ts";
import { sentenceOf } from "./opencode-sentences.ts";
import { cutNotes, type ReadResult, renderMedia, renderOutline } from "./opencode-words.ts";
import { success } from "./replies.ts";

export interface Forms {
  /** What the first line is called in calls. */
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
      default:
        return renderMedia(outcome, facts);
    }
  };

function replyOf(result: ReadResult, notes: Reply["content"] = []): Reply<ReadResult> {
  const reply = success(result.output, result);
  return notes.length === 0 ? reply : { ...reply, content: [...reply.content, ...notes] };
}
