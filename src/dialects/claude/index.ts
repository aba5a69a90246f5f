/** The `claude` dialect: Read with numbered lines and a token budget, Grep, Glob, LS, Edit, MultiEdit, Write, NotebookEdit. */

import { foreignWords } from "../change-text.ts";
import type { ProblemData } from "../../contract/problem.ts";
import type { Dialect } from "../dialect.ts";
import type { HistoryResult } from "../history-text.ts";
import { lateLines, type LspResult } from "../lsp-text.ts";
import type { RewindResult } from "../rewind-text.ts";
import { failureReply } from "../words.ts";
import { specs } from "./tools.ts";
import type { EditResult, MultiEditResult, NotebookEditResult, PatchResult, WriteResult } from "./change-render.ts";
import type { GlobResult, GrepResult, LsResult } from "./search-render.ts";
import type {
  CopyInput,
  DeleteInput,
  GlobInput,
  GrepInput,
  HistoryInput,
  LsInput,
  MakeFolderInput,
  MoveInput,
  RewindInput,
} from "../inputs.ts";
import type {
  EditFilesInput,
  EditInput,
  EditLinesInput,
  LspInput,
  MultiEditInput,
  NotebookEditInput,
  OutlineInput,
  PatchInput,
  ReadInput,
  RenameInput,
  WriteInput,
} from "./inputs.ts";
import { type OutlineResult, profile, type ReadResult, render, sentencesFor } from "./render.ts";

export interface Tools {
  readonly Read: { readonly input: ReadInput; readonly output: ReadResult };
  readonly Outline: { readonly input: OutlineInput; readonly output: OutlineResult };
  readonly Glob: { readonly input: GlobInput; readonly output: GlobResult };
  readonly LS: { readonly input: LsInput; readonly output: LsResult };
  readonly Grep: { readonly input: GrepInput; readonly output: GrepResult };
  readonly Edit: { readonly input: EditInput; readonly output: EditResult };
  readonly MultiEdit: { readonly input: MultiEditInput; readonly output: MultiEditResult };
  readonly Write: { readonly input: WriteInput; readonly output: WriteResult };
  readonly NotebookEdit: { readonly input: NotebookEditInput; readonly output: NotebookEditResult };
  readonly History: { readonly input: HistoryInput; readonly output: HistoryResult };
  readonly Rewind: { readonly input: RewindInput; readonly output: RewindResult };
  readonly Lsp: { readonly input: LspInput; readonly output: LspResult };
  readonly EditLines: { readonly input: EditLinesInput; readonly output: EditResult | MultiEditResult };
  readonly EditFiles: { readonly input: EditFilesInput; readonly output: PatchResult };
  readonly Patch: { readonly input: PatchInput; readonly output: PatchResult };
  readonly Delete: { readonly input: DeleteInput; readonly output: PatchResult };
  readonly Move: { readonly input: MoveInput; readonly output: PatchResult };
  readonly Copy: { readonly input: CopyInput; readonly output: PatchResult };
  readonly MakeFolder: { readonly input: MakeFolderInput; readonly output: PatchResult };
  readonly Rename: { readonly input: RenameInput; readonly output: PatchResult };
}

export const claude: Dialect = {
  name: "claude",
  lineNumbers: "tab",
  failures: "thrown",
  numbers: "lenient",
  profile,
  specs,
  render,
  renderLate: (reports) => lateLines(reports).join("\n"),
  renderForeign: foreignWords,
  renderProblem: (problem: ProblemData, facts) =>
    failureReply(problem.code, sentencesFor(facts)(problem, facts.verb ?? "read")),
};

export type {
  CopyInput,
  DeleteInput,
  EditFilesInput,
  EditInput,
  EditLinesInput,
  EditResult,
  GrepInput,
  GrepResult,
  HistoryInput,
  HistoryResult,
  GlobInput,
  GlobResult,
  LsInput,
  LsResult,
  LspInput,
  LspResult,
  MakeFolderInput,
  MoveInput,
  MultiEditInput,
  MultiEditResult,
  NotebookEditInput,
  NotebookEditResult,
  PatchInput,
  OutlineInput,
  OutlineResult,
  ReadInput,
  ReadResult,
  RenameInput,
  RewindInput,
  RewindResult,
  WriteInput,
  WriteResult,
};
