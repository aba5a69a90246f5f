/** Calls: the reply, the definition of a tool, and every verb with its request and its outcome. */

import type {
  CopyRequest,
  DeleteRequest,
  EditFilesRequest,
  EditLinesRequest,
  EditOutcome,
  EditRequest,
  MakeFolderRequest,
  MoveRequest,
  NotebookEditOutcome,
  NotebookEditRequest,
  PatchOutcome,
  PatchRequest,
  WriteOutcome,
  WriteRequest,
} from "./edit.ts";
import type { GlobOutcome, GlobRequest } from "./glob.ts";
import type { GrepOutcome, GrepRequest } from "./grep.ts";
import type { HistoryOutcome, HistoryRequest, RewindOutcome, RewindRequest } from "./history.ts";
import type { DiagnosticsReport, LspOutcome, LspRequest, RenameRequest } from "./lsp.ts";
import type { OutlineOutcome, OutlineRequest } from "./outline.ts";
import type { LineSpan, ProblemData } from "./problem.ts";
import type { LsOutcome, LsRequest, ReadOutcome, ReadRequest } from "./read.ts";

export type ReplyPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image"; readonly data: string; readonly mimeType: string };

/** What somebody else did to a file that the session was shown. */
export interface ForeignChange {
  /** The real path. */
  readonly path: string;
  readonly did: "changed" | "deleted";
  /** The changed lines as they are numbered now, if known. */
  readonly lines?: readonly LineSpan[];
  /** Shown lines that are gone. */
  readonly removed?: number;
  /** The changed lines themselves, if they are few and short. */
  readonly now?: readonly { readonly line: number; readonly text: string }[] | undefined;
}

/** A line that an answer shows in its full length, without its line end. */
export interface DeliveredLine {
  /** The real path. */
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

export interface Reply<Structured = unknown> {
  /** For the model. */
  readonly content: readonly ReplyPart[];
  /** For programs; null where the dialect has no structured failure. */
  readonly structured: Structured | null;
  readonly isError: boolean;
  readonly error?: { readonly code: string; readonly message: string };
  /** Diagnostics that arrived after the reply to their change; `content` has them too. */
  readonly late?: readonly DiagnosticsReport[];
}

/** The subset of JSON Schema that the tools use. */
export interface JsonSchema {
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly items?: JsonSchema;
  readonly enum?: readonly (string | number | boolean)[];
  readonly anyOf?: readonly JsonSchema[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly minItems?: number;
  readonly default?: unknown;
}

export interface ToolDefinition {
  readonly name: string;
  /** The same in all dialects. */
  readonly verb: Verb;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly readOnly: boolean;
  execute(input: unknown, options?: { readonly signal?: AbortSignal }): Promise<Reply>;
}

export interface Verbs {
  readonly read: { readonly request: ReadRequest; readonly outcome: ReadOutcome };
  readonly ls: { readonly request: LsRequest; readonly outcome: LsOutcome };
  readonly glob: { readonly request: GlobRequest; readonly outcome: GlobOutcome };
  readonly grep: { readonly request: GrepRequest; readonly outcome: GrepOutcome };
  readonly outline: { readonly request: OutlineRequest; readonly outcome: OutlineOutcome };
  readonly lsp: { readonly request: LspRequest; readonly outcome: LspOutcome };
  readonly rename: { readonly request: RenameRequest; readonly outcome: PatchOutcome };
  readonly edit: { readonly request: EditRequest; readonly outcome: EditOutcome };
  readonly "edit-lines": { readonly request: EditLinesRequest; readonly outcome: EditOutcome };
  readonly "edit-files": { readonly request: EditFilesRequest; readonly outcome: PatchOutcome };
  readonly write: { readonly request: WriteRequest; readonly outcome: WriteOutcome };
  readonly "notebook-edit": { readonly request: NotebookEditRequest; readonly outcome: NotebookEditOutcome };
  readonly rewind: { readonly request: RewindRequest; readonly outcome: RewindOutcome };
  readonly history: { readonly request: HistoryRequest; readonly outcome: HistoryOutcome };
  readonly patch: { readonly request: PatchRequest; readonly outcome: PatchOutcome };
  readonly delete: { readonly request: DeleteRequest; readonly outcome: PatchOutcome };
  readonly move: { readonly request: MoveRequest; readonly outcome: PatchOutcome };
  readonly copy: { readonly request: CopyRequest; readonly outcome: PatchOutcome };
  readonly "make-folder": { readonly request: MakeFolderRequest; readonly outcome: PatchOutcome };
}

export type Verb = keyof Verbs;
export type Request = Verbs[Verb]["request"];
export type Outcome = Verbs[Verb]["outcome"];

/** The result of a neutral request: as data (an outcome, or the problem that prevented it) and in the words of the dialect. */
export type RunResult<V extends Verb = Verb> =
  | { readonly outcome: Verbs[V]["outcome"]; readonly problem?: undefined; readonly reply: Reply }
  | { readonly outcome?: undefined; readonly problem: ProblemData; readonly reply: Reply };
