/** The `envelope` dialect: every outcome, failures included, in one and the same envelope. */

import { foreignWords } from "../change-text.ts";
import { lateLines } from "../lsp-text.ts";
import type { Dialect } from "../dialect.ts";
import { specs } from "./tools.ts";
import type { ChangeEnvelope } from "./change-render.ts";
import type { GlobEnvelope, GrepEnvelope, LsEnvelope } from "./search-render.ts";
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
import {
  type ErrorEnvelope,
  type HistoryEnvelope,
  type LspEnvelope,
  profile,
  type ReadResult,
  render,
  renderProblem,
  type RewindEnvelope,
} from "./render.ts";

/** What a change answers, also for a failure. */
export type ChangeResult = ChangeEnvelope | ErrorEnvelope;

/** What a search answers, also for a failure. */
export type GlobResult = GlobEnvelope | ErrorEnvelope;
export type LsResult = LsEnvelope | ErrorEnvelope;
/** What `Grep` answers, also for a failure. */
export type GrepResult = GrepEnvelope | ErrorEnvelope;

export interface Tools {
  readonly Read: { readonly input: ReadInput; readonly output: ReadResult };
  readonly Outline: { readonly input: OutlineInput; readonly output: ReadResult };
  readonly Glob: { readonly input: GlobInput; readonly output: GlobResult };
  readonly LS: { readonly input: LsInput; readonly output: LsResult };
  readonly Grep: { readonly input: GrepInput; readonly output: GrepResult };
  readonly Edit: { readonly input: EditInput; readonly output: ChangeResult };
  readonly MultiEdit: { readonly input: MultiEditInput; readonly output: ChangeResult };
  readonly Write: { readonly input: WriteInput; readonly output: ChangeResult };
  readonly NotebookEdit: { readonly input: NotebookEditInput; readonly output: ChangeResult };
  readonly History: { readonly input: HistoryInput; readonly output: HistoryEnvelope | ErrorEnvelope };
  readonly Rewind: { readonly input: RewindInput; readonly output: RewindEnvelope | ErrorEnvelope };
  readonly Lsp: { readonly input: LspInput; readonly output: LspEnvelope | ErrorEnvelope };
  readonly EditLines: { readonly input: EditLinesInput; readonly output: ChangeResult };
  readonly EditFiles: { readonly input: EditFilesInput; readonly output: ChangeResult };
  readonly Patch: { readonly input: PatchInput; readonly output: ChangeResult };
  readonly Delete: { readonly input: DeleteInput; readonly output: ChangeResult };
  readonly Move: { readonly input: MoveInput; readonly output: ChangeResult };
  readonly Copy: { readonly input: CopyInput; readonly output: ChangeResult };
  readonly MakeFolder: { readonly input: MakeFolderInput; readonly output: ChangeResult };
  readonly Rename: { readonly input: RenameInput; readonly output: ChangeResult };
}

export const envelope: Dialect = {
  name: "envelope",
  lineNumbers: "fixed",
  failures: "returned",
  numbers: "literal",
  profile,
  specs,
  render,
  renderProblem,
  renderLate: (reports) => lateLines(reports).join("\n"),
  renderForeign: foreignWords,
};

export type {
  CopyInput,
  DeleteInput,
  EditFilesInput,
  EditInput,
  EditLinesInput,
  GlobInput,
  GrepInput,
  HistoryInput,
  LsInput,
  LspInput,
  MakeFolderInput,
  MoveInput,
  MultiEditInput,
  NotebookEditInput,
  OutlineInput,
  PatchInput,
  ReadInput,
  ReadResult,
  RenameInput,
  RewindInput,
  WriteInput,
};
