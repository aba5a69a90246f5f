/** The verbs `lsp` and `rename`, diagnostics, and the port to language servers. */

import type { Profile } from "./profile.ts";
import type { Target } from "./target.ts";

export const lspOperations = [
  "definition",
  "references",
  "implementation",
  "hover",
  "documentSymbol",
  "workspaceSymbol",
  "incomingCalls",
  "outgoingCalls",
] as const;
export type LspOperation = (typeof lspOperations)[number];

/** A symbol as the caller names it. A model cannot count columns, so a name on a line, or in the file, is enough. */
export interface AskedPlace {
  readonly line: number | undefined;
  readonly column: number | undefined;
  readonly symbol: string | undefined;
}

/** The symbol that was found. Lines and columns count from 1, columns in UTF-16 units. */
export interface FoundPlace {
  readonly line: number;
  readonly column: number;
  readonly symbol: string;
  /** It was found on another line than the call named. */
  readonly elsewhere: boolean;
}

export interface LspRequest {
  readonly verb: "lsp";
  readonly operation: LspOperation;
  /** The file to ask about; for `workspaceSymbol` any file of the language. */
  readonly path: string;
  readonly at: AskedPlace;
  /** The name of a workspace symbol, or a part of it. */
  readonly query: string | undefined;
  /** The first result to show, counted from 1. */
  readonly from: number;
  readonly profile: Profile;
}

/** A place in code. Of a file outside the workspace only the path is filled in. */
export interface CodePlace {
  readonly absolute: string;
  /** Relative to its root; undefined outside the roots. */
  readonly relative: string | undefined;
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  /** The trimmed source line. */
  readonly text: string | undefined;
}

/** One result. Fields that an operation does not provide are undefined. */
export interface CodeResult {
  readonly place: CodePlace;
  readonly name: string | undefined;
  readonly kind: string | undefined;
  readonly detail: string | undefined;
  readonly container: string | undefined;
  /** 0 at the top level. */
  readonly depth: number;
  /** Of a call: the lines of the call sites, in the caller's file. */
  readonly lines: readonly number[];
}

export interface LspOutcome {
  readonly kind: "lsp";
  readonly operation: LspOperation;
  readonly target: Target;
  readonly server: string;
  readonly at: FoundPlace | undefined;
  readonly query: string | undefined;
  readonly results: readonly CodeResult[];
  /** The first result shown, and the number of all, without those hidden by rules. */
  readonly from: number;
  readonly total: number;
  readonly next: number | undefined;
  readonly hiddenByRules: number;
  readonly text: string | undefined;
  readonly textCut: boolean;
}

export interface RenameRequest {
  readonly verb: "rename";
  readonly path: string;
  readonly at: AskedPlace;
  readonly newName: string;
  readonly profile: Profile;
}

// The code model of language servers in neutral types, and the port through which the engine queries them.

/** A place in a text. Lines and columns count from 1, columns in UTF-16 units. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** From `start` (inclusive) to `end` (exclusive). */
export interface TextRange {
  readonly start: Position;
  readonly end: Position;
}

/** A file to send to a server. The caller MUST have checked that the session may read it. */
export interface SourceFile {
  /** Absolute, symlinks resolved. */
  readonly path: string;
  /** The whole text, without a byte order mark. */
  readonly text: string;
  /** Changes whenever the content does. */
  readonly fingerprint: string;
  readonly created?: boolean;
}

export type Severity = "error" | "warning" | "information" | "hint";

export interface Diagnostic {
  readonly path: string;
  readonly range: TextRange;
  readonly severity: Severity;
  /** The server's wording, truncated; control characters are escaped when it is shown. */
  readonly message: string;
  readonly code: string | undefined;
  /** The reporting program: `ts`, `Pyright`. */
  readonly source: string | undefined;
}

/** Diagnostics of one file in its current version, or the fact that they are still pending. */
export interface DiagnosticsReport {
  readonly path: string;
  /** Errors that were unknown before the change. */
  readonly newErrors: readonly Diagnostic[];
  readonly knownErrors: readonly Diagnostic[];
  readonly warnings: readonly Diagnostic[];
  /** No server had checked the file before the change, so all errors count as new. */
  readonly isFirstLook: boolean;
  /** The time limit ended before a server had checked this version; its diagnostics come with a later reply. */
  readonly pending: boolean;
  /** Errors and warnings beyond the limits of a reply. */
  readonly errorsLeftOut: number;
  readonly warningsLeftOut: number;
  /** Servers that failed, with the reason; this never means that the change failed. */
  readonly unavailable: readonly { readonly server: string; readonly why: string }[];
}

/** A change that servers were notified of. */
export interface NotifiedChange {
  /** Waits, within the limit, for diagnostics; one report for each file that a server handles. Never rejects. */
  report(signal: AbortSignal): Promise<readonly DiagnosticsReport[]>;
}

export interface Location {
  readonly path: string;
  readonly range: TextRange;
}

interface NamedCode extends Location {
  readonly name: string;
  /** `class`, `enum member`: as the protocol names it. */
  readonly kind: string;
  /** Its type or signature, if the server provides it. */
  readonly detail: string | undefined;
  /** Of the name, inside `range`. */
  readonly nameRange: TextRange;
}

export interface CodeSymbol extends NamedCode {
  /** The name of the enclosing symbol, if the server provides no more than that. */
  readonly container: string | undefined;
  readonly children: readonly CodeSymbol[];
}

export interface CallHierarchyItem extends NamedCode {
  /** The server's own item, to be sent back unchanged. */
  readonly handle: unknown;
}

export interface HierarchyCall {
  readonly item: CallHierarchyItem;
  /** The call sites, in the caller's file. */
  readonly ranges: readonly TextRange[];
}

/** Edits of one file. Every range is one of the text that the server was sent. */
export interface FileEdits {
  readonly path: string;
  readonly edits: readonly { readonly range: TextRange; readonly text: string }[];
}

export interface RenameEdits {
  readonly files: readonly FileEdits[];
  /** Files that the server wants to create, move or delete as well; Filehand does not do that. */
  readonly fileOperations: readonly string[];
  /** False: a part of the response was malformed or over a limit, and is missing. */
  readonly whole: boolean;
}

export type LanguageAnswer<Value> =
  | { readonly answer: "given"; readonly value: Value; readonly server: string }
  | { readonly answer: "no server" }
  /** It could not be started, has exited, or returned an error. */
  | { readonly answer: "failed"; readonly server: string; readonly why: string }
  | { readonly answer: "not offered"; readonly server: string }
  | { readonly answer: "too slow"; readonly server: string; readonly waitedMs: number };

export interface AskOptions {
  readonly signal: AbortSignal;
  /** Milliseconds to wait for the answer; the toolkit's limit by default. */
  readonly waitMsMax?: number;
}

/** A query of the servers that handle `file`; for a workspace symbol any file of the language. */
type Ask<Asked extends readonly unknown[], Value> = (
  file: SourceFile,
  ...asked: [...Asked, options: AskOptions]
) => Promise<LanguageAnswer<Value>>;

/** A change by another program: a shell, git. */
export interface WatchedChange {
  readonly path: string;
  readonly did: "created" | "changed" | "deleted";
}

/** A server that is not installed, and how to install it, if known. */
export interface ServerRemedy {
  readonly server: string;
  readonly command: string;
  readonly install: string | undefined;
}

export interface Questions {
  readonly definition: Ask<[at: Position], readonly Location[]>;
  readonly implementation: Ask<[at: Position], readonly Location[]>;
  /** Including the declaration. */
  readonly references: Ask<[at: Position], readonly Location[]>;
  /** Plain text or Markdown; undefined if there is none. */
  readonly hover: Ask<[at: Position], string | undefined>;
  readonly documentSymbols: Ask<[], readonly CodeSymbol[]>;
  readonly workspaceSymbols: Ask<[query: string], readonly CodeSymbol[]>;
  readonly callHierarchy: Ask<[at: Position], readonly CallHierarchyItem[]>;
  readonly incomingCalls: Ask<[item: CallHierarchyItem], readonly HierarchyCall[]>;
  readonly outgoingCalls: Ask<[item: CallHierarchyItem], readonly HierarchyCall[]>;
  readonly renameEdits: Ask<[at: Position, newName: string], RenameEdits>;
  /** What else has to change when files or folders are moved; `file` is one of those that are moved. */
  readonly moveEdits: Ask<[moves: readonly { readonly from: string; readonly to: string }[]], RenameEdits>;
}

/**
 * The language servers of a toolkit. They start when first needed. Nothing here fails a call: the answer reports what a
 * server does wrong. Callers MUST check results with the guard: only files that the session may read are shown.
 */
export interface Languages extends Questions {
  /** Is a server configured for files of this name? Starts nothing. */
  serves(path: string): boolean;
  remedies(path: string): readonly ServerRemedy[];
  /** A file was read: starts its server and opens the file there. Does not wait. */
  touched(file: SourceFile): void;
  /**
   * Files were changed: sends `didOpen` or `didChange`, and `didSave`. MUST be called in the order of the changes.
   * `session` gets the diagnostics that arrive too late for the reply.
   */
  changed(files: readonly SourceFile[], session: string): NotifiedChange;
  removed(paths: readonly string[]): void;
  /** Diagnostics that arrived after the replies of a session, once. Those that are outdated by now are dropped. */
  late(session: string): readonly DiagnosticsReport[];
  watchedFilesChanged(changes: readonly WatchedChange[]): void;
  /** Current diagnostics of a file. `waitMsMax`: as for other queries. */
  diagnostics(file: SourceFile, options: AskOptions): Promise<DiagnosticsReport | undefined>;
  /** Stops every server and waits for its exit. */
  close(): Promise<void>;
}

/** An operator's settings for a language server; the defaults come from the table of known servers, if it has this name. */
export interface LanguageServerOptions {
  /** The program and its arguments; a bare name is looked up in PATH, never run by a shell. */
  readonly command?: readonly string[];
  /** Extensions with their dot, and the language ids of the protocol. */
  readonly extensions?: Readonly<Record<string, string>>;
  /** File names that mark the root of a project. */
  readonly rootMarkers?: readonly string[];
  readonly initializationOptions?: unknown;
  /** The reply to the server's `workspace/configuration`. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Environment variables, besides the few that every server gets. */
  readonly env?: Readonly<Record<string, string>>;
  readonly enabled?: boolean;
}

export interface LanguageFault {
  readonly name: string;
  readonly why: string;
}

/** Which language servers are used, and how. Without this, none. */
export interface LanguageOptions {
  /** Changes to the table of known servers, by name: `false` disables one, other names are added. */
  readonly servers?: Readonly<Record<string, boolean | LanguageServerOptions>>;
  /** Milliseconds that the reply to a change waits for diagnostics; 1,500 by default. 0: it never waits. */
  readonly waitMsMax?: number;
  /** Report warnings as well; off by default. */
  readonly warnings?: boolean;
  /** Roots whose own `node_modules` may provide programs to run. */
  readonly trustedRoots?: readonly string[];
}
