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
