/** Answers of both opencode dialects. They differ in how they count lines and in how they show a file or a folder. */

import { foreignWords } from "../change-text.ts";
import type { Reply } from "../../contract/call.ts";
import type { ChangeOutcome } from "../../contract/edit.ts";
import type { NumberStyle } from "../../contract/profile.ts";
import type { DirectoryOutcome, TextOutcome } from "../../contract/read.ts";
import { byKind, type Dialect, type Facts } from "../dialect.ts";
import { historyAnswer, type HistoryResult } from "../history-text.ts";
import { lspAnswer, type LspResult } from "../lsp-text.ts";
import { rewindAnswer, type RewindResult } from "../rewind-text.ts";
import { failureReply, type SharedAnswer, successReply } from "../words.ts";
import { type ChangeResult, lateBlocks, renderChange } from "./changes.ts";
import type { CopyInput, DeleteInput, HistoryInput, MakeFolderInput, MoveInput } from "../inputs.ts";
import type { EditFilesInput, EditLinesInput, LspInput, OutlineInput, RenameInput, RewindInput } from "./inputs.ts";
import { namesWith, sentencesFor } from "./problems.ts";
import { cutNotes, type ReadResult, renderMedia, renderOutline, type Titled } from "./read.ts";
import { type GrepResult, renderGlob, renderGrep, renderTree, type SearchResult } from "./search.ts";

type Shared<Fields> = Titled<Fields & { readonly truncated: boolean }>;

export interface HistoryTools {
  readonly history: { readonly input: HistoryInput; readonly output: Shared<HistoryResult> };
  readonly rewind: { readonly input: RewindInput; readonly output: Shared<RewindResult> };
}

export interface OutlineTools {
  readonly outline: { readonly input: OutlineInput; readonly output: ReadResult };
}

/** Tools that are worded once for all dialects. */
export interface SharedTools {
  readonly lsp: { readonly input: LspInput; readonly output: Shared<LspResult> };
  readonly editlines: { readonly input: EditLinesInput; readonly output: ChangeResult };
  readonly editfiles: { readonly input: EditFilesInput; readonly output: ChangeResult };
  readonly delete: { readonly input: DeleteInput; readonly output: ChangeResult };
  readonly move: { readonly input: MoveInput; readonly output: ChangeResult };
  readonly copy: { readonly input: CopyInput; readonly output: ChangeResult };
  readonly makefolder: { readonly input: MakeFolderInput; readonly output: ChangeResult };
  readonly rename: { readonly input: RenameInput; readonly output: ChangeResult };
}

export interface Forms extends Pick<Dialect, "name" | "profile" | "specs"> {
  /** The number of the first line in calls. */
  readonly first: 0 | 1;
  readonly numbers: NumberStyle;
  readonly textResult: (outcome: TextOutcome) => ReadResult;
  readonly directoryResult: (outcome: DirectoryOutcome) => ReadResult;
}

type Result = ReadResult | ChangeResult | Shared<HistoryResult | RewindResult | LspResult> | SearchResult | GrepResult;

export function dialectOf({ name, profile, specs, first, numbers, textResult, directoryResult }: Forms): Dialect {
  const names = namesWith(first, numbers);
  const sentenceOf = sentencesFor(names);
  const change = (outcome: ChangeOutcome, facts: Facts) => renderChange(outcome, numbers, facts);
  const render = byKind<Reply<Result>>({
    text: (outcome) => replyOf(textResult(outcome), cutNotes(outcome.pages[0], first)),
    directory: (outcome) => replyOf(directoryResult(outcome)),
    lsp: (outcome, facts) => sharedReply(lspAnswer(outcome, names, facts)),
    outline: (outcome) => renderOutline(outcome, names),
    grep: (outcome) => renderGrep(outcome, names),
    rewind: (outcome) => sharedReply(rewindAnswer(outcome, sentenceOf, names)),
    history: (outcome) => sharedReply(historyAnswer(outcome, names)),
    glob: renderGlob,
    tree: renderTree,
    edit: change,
    write: change,
    "notebook-edit": change,
    patch: change,
    image: renderMedia,
    pdf: renderMedia,
    notebook: renderMedia,
    unchanged: renderMedia,
  });
  return {
    name,
    lineNumbers: "fixed",
    failures: "thrown",
    numbers: "lenient",
    profile,
    specs,
    render,
    renderLate: (reports) => lateBlocks(reports).join("\n"),
    renderForeign: foreignWords,
    renderProblem: (problem, { verb }) => failureReply(problem.code, sentenceOf(problem, verb ?? "read")),
  };
}

const sharedReply = <Fields>({ text, title, fields, truncated }: SharedAnswer<Fields>): Reply<Shared<Fields>> =>
  successReply(text, { title, output: text, metadata: { ...fields, truncated } });

function replyOf(result: ReadResult, notes: Reply["content"] = []): Reply<ReadResult> {
  const reply = successReply(result.output, result);
  return notes.length === 0 ? reply : { ...reply, content: [...reply.content, ...notes] };
}
