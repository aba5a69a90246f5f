/** The verbs `lsp` and `rename`: what is asked of language servers, and what a session is told of their answers. */

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

/**
 * Where something stands, as the caller says it. A model sees lines and names but cannot count columns, so a name on a line, or
 * in the file, will do.
 */
export interface AskedPlace {
  readonly line: number | undefined;
  readonly column: number | undefined;
  readonly symbol: string | undefined;
}

/** What was asked about. Lines and columns count from 1; a column counts UTF-16 units. */
export interface FoundPlace {
  readonly line: number;
  readonly column: number;
  readonly symbol: string;
  /** Was it found on another line than the one that was named? */
  readonly elsewhere: boolean;
}

export interface LspRequest {
  readonly verb: "lsp";
  readonly operation: LspOperation;
  /** The file that is asked about; for symbols of the workspace one whose language server is asked. */
  readonly path: string;
  readonly at: AskedPlace;
  /** What symbols of the workspace are called, or a part of that. */
  readonly query: string | undefined;
  /** First of the results that are shown, counted from 1. */
  readonly from: number;
  readonly profile: Profile;
}

/** A place in the code. Of a file outside of the workspace nothing but the path is told. */
export interface CodePlace {
  readonly absolute: string;
  /** Below its root; undefined outside. */
  readonly relative: string | undefined;
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  /** The line's own text, without blanks around it. */
  readonly text: string | undefined;
}

/** One result. What an operation does not tell is undefined. */
export interface CodeResult {
  readonly place: CodePlace;
  readonly name: string | undefined;
  readonly kind: string | undefined;
  readonly detail: string | undefined;
  /** What it lies in. */
  readonly container: string | undefined;
  /** 0 for what stands by itself. */
  readonly depth: number;
  /** Of a call: the lines where it is made, in the caller's file. */
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
  /** Of what is shown the first, and how many there are, those withheld not among them. */
  readonly from: number;
  readonly total: number;
  /** Where to go on, if there are more. */
  readonly next: number | undefined;
  /** Results in files that rules hide. */
  readonly withheld: number;
  /** What a hover says; undefined where it says nothing, and for other operations. */
  readonly text: string | undefined;
  /** Is that only its beginning? */
  readonly textCut: boolean;
}

export interface RenameRequest {
  readonly verb: "rename";
  readonly path: string;
  readonly at: AskedPlace;
  readonly newName: string;
  readonly profile: Profile;
}

// What language servers know about code, in neutral nouns, and the port through which the engine asks them.

/** A place in a text. Lines and columns count from 1; a column counts UTF-16 units. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** From `start` up to `end`, which is no part of it. */
export interface TextRange {
  readonly start: Position;
  readonly end: Position;
}

/** A file as a server shall know it. Whoever names it has seen to it that the session may read it. */
export interface SourceFile {
  /** Absolute, links resolved. */
  readonly path: string;
  /** All of its text, without a byte order mark. */
  readonly text: string;
  /** A sign of this state of the file: it is another one when the file is. */
  readonly fingerprint: string;
  /** Was there no such file before? */
  readonly created?: boolean;
}

export type Severity = "error" | "warning" | "information" | "hint";

export interface Diagnostic {
  readonly path: string;
  readonly range: TextRange;
  readonly severity: Severity;
  /** As the server worded it, cut to a limit; control characters are escaped where it is shown. */
  readonly message: string;
  readonly code: string | undefined;
  /** Who says so: `ts`, `Pyright`. */
  readonly source: string | undefined;
}

/** What servers say of one file in the state in which it is, or that they have not said it yet. */
export interface DiagnosticsReport {
  readonly path: string;
  /** Errors that were not known before the change. */
  readonly newErrors: readonly Diagnostic[];
  /** Errors that were there before. */
  readonly knownErrors: readonly Diagnostic[];
  readonly warnings: readonly Diagnostic[];
  /** No server had looked at the file before the change, so nobody can tell which errors are its work; all count as new. */
  readonly isFirstLook: boolean;
  /** Time was up before a server had looked at this state; what it says then comes with a later answer. */
  readonly pending: boolean;
  /** How many errors and warnings are left out here because there are too many. */
  readonly errorsLeftOut: number;
  readonly warningsLeftOut: number;
  /** Servers that should have said something and could not, with the reason; never a reason to doubt the change. */
  readonly unavailable: readonly { readonly server: string; readonly why: string }[];
}

/** A change that servers were told about. */
export interface NotifiedChange {
  /** Waits, within the limit, for what servers say of its files; one report for each that a server is in charge of. Never rejects. */
  report(signal: AbortSignal): Promise<readonly DiagnosticsReport[]>;
}

export interface Location {
  readonly path: string;
  readonly range: TextRange;
}

export type SymbolKind =
  | "file"
  | "module"
  | "namespace"
  | "package"
  | "class"
  | "method"
  | "property"
  | "field"
  | "constructor"
  | "enum"
  | "interface"
  | "function"
  | "variable"
  | "constant"
  | "string"
  | "number"
  | "boolean"
  | "array"
  | "object"
  | "key"
  | "null"
  | "enum member"
  | "struct"
  | "event"
  | "operator"
  | "type parameter"
  | "other";

/** Something that has a name in the code. */
export interface CodeSymbol {
  readonly name: string;
  readonly kind: SymbolKind;
  /** Its type or signature, where the server tells it. */
  readonly detail: string | undefined;
  readonly path: string;
  /** All of it, and the part that is its name. */
  readonly range: TextRange;
  readonly nameRange: TextRange;
  /** What it lies in, where only the name of that is told. */
  readonly container: string | undefined;
  readonly children: readonly CodeSymbol[];
}

export interface CallHierarchyItem {
  readonly name: string;
  readonly kind: SymbolKind;
  readonly detail: string | undefined;
  readonly path: string;
  readonly range: TextRange;
  readonly nameRange: TextRange;
  /** The server's own item, to be handed back as it is. */
  readonly handle: unknown;
}

export interface HierarchyCall {
  readonly item: CallHierarchyItem;
  /** Where the calls stand: in the caller's file. */
  readonly ranges: readonly TextRange[];
}

/** What a file shall become: every range is one of the text that the server was shown. */
export interface FileEdits {
  readonly path: string;
  readonly edits: readonly { readonly range: TextRange; readonly text: string }[];
}

export interface RenameEdits {
  readonly files: readonly FileEdits[];
  /** Files that the server wants to make, move or delete as well; nobody does that for it. */
  readonly fileOperations: readonly string[];
  /** False: something of the answer was malformed or too much, and is not here. */
  readonly whole: boolean;
}

/** A question to a server has an answer, or a reason why not. */
export type LanguageAnswer<Value> =
  | { readonly answer: "given"; readonly value: Value; readonly server: string }
  /** No server is configured for this file. */
  | { readonly answer: "no server" }
  /** There is one, and it could not be started, has ended, or answered with an error. */
  | { readonly answer: "failed"; readonly server: string; readonly why: string }
  /** It does not offer this. */
  | { readonly answer: "not offered"; readonly server: string }
  | { readonly answer: "too slow"; readonly server: string; readonly waitedMs: number };

export interface AskOptions {
  readonly signal: AbortSignal;
  /** Milliseconds to wait for the answer; the toolkit's own limit by default. */
  readonly waitMsMax?: number;
}

/** A change that came from outside: a shell, git, another program. */
export interface WatchedChange {
  readonly path: string;
  readonly did: "created" | "changed" | "deleted";
}

/** A server that is not there, and how to get it, where that is known. */
export interface ServerRemedy {
  readonly server: string;
  readonly command: string;
  readonly install: string | undefined;
}

/**
 * The language servers of a toolkit. They start when they are first needed. Nothing here fails a call: what a server does
 * wrong is told in an answer. The guard's judgement is the caller's: of what comes back, only what the session may read is shown.
 */
export interface Languages {
  /** Is there a server for files of this name? Nothing is started. */
  serves(path: string): boolean;
  /** Servers that would look at a file of this name, were their programs there. */
  remedies(path: string): readonly ServerRemedy[];
  /** A file was read: its server starts and gets to know it. Nobody waits. */
  touched(file: SourceFile): void;
  /**
   * Files were changed, and servers hear it now: `didOpen` or `didChange`, `didSave`. To be called in the order of the changes.
   * `session`: who will be told later what is not known in time.
   */
  changed(files: readonly SourceFile[], session: string): NotifiedChange;
  /** Files were deleted or moved away. */
  removed(paths: readonly string[]): void;
  /** What came for a session after its answers had been given; told once. What the disk contradicts by now is left out. */
  late(session: string): readonly DiagnosticsReport[];
  /** Files that somebody else changed. */
  watchedFilesChanged(changes: readonly WatchedChange[]): void;
  /** What servers say of a file as it is. `waitMsMax`: as for other questions. */
  diagnostics(file: SourceFile, options: AskOptions): Promise<DiagnosticsReport | undefined>;
  definition(file: SourceFile, at: Position, options: AskOptions): Promise<LanguageAnswer<readonly Location[]>>;
  implementation(file: SourceFile, at: Position, options: AskOptions): Promise<LanguageAnswer<readonly Location[]>>;
  /** With the declaration itself. */
  references(file: SourceFile, at: Position, options: AskOptions): Promise<LanguageAnswer<readonly Location[]>>;
  /** Plain text or Markdown; undefined where there is nothing to say. */
  hover(file: SourceFile, at: Position, options: AskOptions): Promise<LanguageAnswer<string | undefined>>;
  documentSymbols(file: SourceFile, options: AskOptions): Promise<LanguageAnswer<readonly CodeSymbol[]>>;
  /** `near`: a file whose server is asked. */
  workspaceSymbols(
    query: string,
    near: SourceFile,
    options: AskOptions,
  ): Promise<LanguageAnswer<readonly CodeSymbol[]>>;
  callHierarchy(
    file: SourceFile,
    at: Position,
    options: AskOptions,
  ): Promise<LanguageAnswer<readonly CallHierarchyItem[]>>;
  /** `file`: the one that the item was found from; its server is asked. */
  incomingCalls(
    file: SourceFile,
    item: CallHierarchyItem,
    options: AskOptions,
  ): Promise<LanguageAnswer<readonly HierarchyCall[]>>;
  outgoingCalls(
    file: SourceFile,
    item: CallHierarchyItem,
    options: AskOptions,
  ): Promise<LanguageAnswer<readonly HierarchyCall[]>>;
  renameEdits(
    file: SourceFile,
    at: Position,
    newName: string,
    options: AskOptions,
  ): Promise<LanguageAnswer<RenameEdits>>;
  /** Ends every server and waits until they are gone. */
  close(): Promise<void>;
}

/** A language server as an operator describes it; what is left out is as in the table of known servers, if it has one of that name. */
export interface LanguageServerOptions {
  /** The program and its arguments; a bare name is looked for, never a shell. */
  readonly command?: readonly string[];
  /** Extensions with their dot, and what the protocol calls the language. */
  readonly extensions?: Readonly<Record<string, string>>;
  /** Names of files that mark the root of a project. */
  readonly rootMarkers?: readonly string[];
  readonly initializationOptions?: unknown;
  /** What the server gets when it asks for its configuration. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Variables of its environment, besides the few that every program gets. */
  readonly env?: Readonly<Record<string, string>>;
  /** False: this one is not used. */
  readonly enabled?: boolean;
}

/** Why a server that an operator named cannot be used. */
export interface LanguageFault {
  readonly name: string;
  readonly why: string;
}

/** Which language servers are used and how: none unless this is given. */
export interface LanguageOptions {
  /** Changes to the table of known servers, by name: `false` leaves one out, other names are added. */
  readonly servers?: Readonly<Record<string, boolean | LanguageServerOptions>>;
  /** Milliseconds that an answer to a change waits for diagnostics; 1,500 by default. 0: it never waits. */
  readonly waitMsMax?: number;
  /** Are warnings told as well? They are not by default. */
  readonly warnings?: boolean;
  /** May programs in a project's own `node_modules` be run? Only those of the roots named here. */
  readonly trustedRoots?: readonly string[];
}
