/** The verbs of the engine, each with its request and its outcome. */

import type {
  DeleteRequest,
  EditOutcome,
  EditRequest,
  MoveRequest,
  NotebookEditOutcome,
  NotebookEditRequest,
  PatchOutcome,
  PatchRequest,
  WriteOutcome,
  WriteRequest,
} from "./edit.ts";
import type { GrepOutcome, GrepRequest } from "./grep.ts";
import type { LspOutcome, LspRequest, RenameRequest } from "./lsp.ts";
import type { HistoryOutcome, HistoryRequest } from "./looking-back.ts";
import type { GlobOutcome, GlobRequest } from "./glob.ts";
import type { OutlineOutcome, OutlineRequest } from "./outline.ts";
import type { RewindOutcome, RewindRequest } from "./rewind.ts";
import type { LsOutcome, LsRequest, ReadOutcome, ReadRequest } from "./read.ts";

export interface Verbs {
  readonly read: { readonly request: ReadRequest; readonly outcome: ReadOutcome };
  readonly ls: { readonly request: LsRequest; readonly outcome: LsOutcome };
  readonly glob: { readonly request: GlobRequest; readonly outcome: GlobOutcome };
  readonly grep: { readonly request: GrepRequest; readonly outcome: GrepOutcome };
  readonly outline: { readonly request: OutlineRequest; readonly outcome: OutlineOutcome };
  readonly lsp: { readonly request: LspRequest; readonly outcome: LspOutcome };
  readonly rename: { readonly request: RenameRequest; readonly outcome: PatchOutcome };
  readonly edit: { readonly request: EditRequest; readonly outcome: EditOutcome };
  readonly write: { readonly request: WriteRequest; readonly outcome: WriteOutcome };
  readonly "notebook-edit": { readonly request: NotebookEditRequest; readonly outcome: NotebookEditOutcome };
  readonly rewind: { readonly request: RewindRequest; readonly outcome: RewindOutcome };
  readonly history: { readonly request: HistoryRequest; readonly outcome: HistoryOutcome };
  readonly patch: { readonly request: PatchRequest; readonly outcome: PatchOutcome };
  readonly delete: { readonly request: DeleteRequest; readonly outcome: PatchOutcome };
  readonly move: { readonly request: MoveRequest; readonly outcome: PatchOutcome };
}

export type Verb = keyof Verbs;
export type Request = Verbs[Verb]["request"];
export type Outcome = Verbs[Verb]["outcome"];
