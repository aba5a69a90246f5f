/** Events for hosts and the inspector: every finished call, and every changed file. */

import type { Answer, Question } from "./ask.ts";
import type { Reply, Verb } from "./call.ts";
import type { Hunk } from "./edit.ts";
import type { DiagnosticsReport } from "./lsp.ts";
import type { Code } from "./problem.ts";

/** The part of a file that a call was about. Lines, entries, pages and cells count from 1. */
export interface CallRange {
  readonly of: "lines" | "pages" | "cells" | "entries";
  readonly from: number;
  /** The last one, inclusive; null if unknown, as for a call that failed. */
  readonly to: number | null;
  /** Null if not counted. */
  readonly total: number | null;
}

export interface CallChange {
  /** Real and absolute; and relative to its root with forward slashes, for people. */
  readonly path: string;
  readonly relative: string;
  readonly did: "created" | "updated" | "deleted" | "moved";
  /** The old path of a moved file, relative to its root. */
  readonly movedFrom: string | null;
  readonly additions: number;
  readonly deletions: number;
}

/** One finished call. Small: input, reply and diffs are in `CallDetail`. */
export interface CallEvent {
  readonly type: "call";
  /** Counts from 1 in each toolkit. */
  readonly id: number;
  readonly session: string;
  /** The user that the session works for, if the host named one. */
  readonly principal: string | null;
  /** The program that the session works for, as people know it, if the host named one. */
  readonly client: string | null;
  readonly dialect: string;
  /** As the model wrote it. */
  readonly tool: string;
  /** Null for an unknown tool. */
  readonly verb: Verb | null;
  /** Relative to its root with forward slashes (empty: the root), or as the caller wrote it; null if none was named. */
  readonly path: string | null;
  /** Real and absolute; null if not found. */
  readonly real: string | null;
  /** The pattern of a search. */
  readonly pattern: string | null;
  readonly range: CallRange | null;
  /** `ok`, or the code of the failure. `INTERNAL`: a bug. */
  readonly outcome: "ok" | Code | "INTERNAL";
  /** Of a failure the finer reason, if its code has several; of a success the kind of outcome. */
  readonly reason: string | null;
  readonly startedMs: number;
  readonly elapsedMs: number;
  /** Estimated tokens of the reply, and tokens that a repeated read saved. */
  readonly tokensGiven: number;
  readonly tokensSaved: number;
  /** Files that were changed, or would be in a dry run: the first 1,000, and the number of all. */
  readonly changes: readonly CallChange[];
  readonly changesTotal: number;
  readonly dryRun: boolean;
  /** The history turn of the changes; null if nothing changed or history is off. */
  readonly turn: string | null;
}

/** The large parts of a call, which need not be kept for every call. */
export interface CallDetail {
  /** As the model wrote it. */
  readonly input: unknown;
  /** As the model got it; undefined after a bug. */
  readonly reply: Reply | undefined;
  /** By the index in `changes`. */
  readonly diffs: readonly CallDiff[];
}

export interface CallDiff {
  readonly hunks: readonly Hunk[];
  /** False if the diff was too long and `hunks` is only a part of it. */
  readonly complete: boolean;
}

/** MUST return at once. An exception is a bug of the host and does not fail the call. */
export type CallListener = (event: CallEvent, detail: CallDetail) => void;

export interface FileChanged {
  /** Real and absolute; of a moved file the new path. */
  readonly path: string;
  readonly did: "created" | "updated" | "deleted" | "moved";
  readonly movedFrom?: string;
  readonly session: string;
  /** If a language server handles the file. */
  readonly diagnostics?: DiagnosticsReport;
}

/** Called after the change and before its reply. Exceptions are dropped: the change stays. */
export type ChangeListener = (change: FileChanged) => void;

// The protocol between a process and the inspector in another process of this machine: JSON lines over a socket that
// only the user can open. None of it is written to disk.

/** Raised when the meaning of a message changes; processes with different versions do not connect. */
export const reportProtocol = 1;

/** Where an inspector listens: the content of its file in the state folder. */
export interface InspectorPlace {
  readonly protocol: number;
  /** Of a Unix socket, or of a named pipe on Windows. */
  readonly address: string;
  /** Proves that the reporter can read the file. */
  readonly key: string;
  readonly workspaces: readonly { readonly name: string; readonly roots: readonly string[] }[];
}

export type Program = "mcp" | "serve" | "cli";

export interface ReportHello {
  readonly type: "hello";
  readonly key: string;
  /** The inspector's name of the workspace that contains these roots. */
  readonly workspace: string;
  readonly roots: readonly string[];
  readonly pid: number;
  readonly program: Program;
}

/** Why the detail of a call is missing. */
export type NoDetail = "dropped" | "too large";

export interface ReportedCall {
  readonly type: "call";
  readonly event: CallEvent;
  readonly detail: CallDetail | NoDetail;
}

export interface ReportedQuestion {
  readonly type: "ask";
  /** Unique in its connection. */
  readonly id: number;
  readonly session: string;
  readonly principal: string | null;
  /** Older versions do not send it. */
  readonly client?: string | null;
  readonly tool: string;
  readonly question: Question;
}

export type FromReporter =
  | ReportHello
  | ReportedCall
  | ReportedQuestion
  /** The call no longer waits for the answer. */
  | { readonly type: "cancel"; readonly id: number };

export interface FromInspector {
  readonly type: "answer";
  readonly id: number;
  readonly answer: Answer;
}

/** Sums over calls. */
export interface CallTally {
  readonly calls: number;
  readonly failures: number;
  readonly tokensGiven: number;
  readonly tokensSaved: number;
}

export type MutableTally = { -readonly [Name in keyof CallTally]: CallTally[Name] };

export const emptyTally = (): MutableTally => ({ calls: 0, failures: 0, tokensGiven: 0, tokensSaved: 0 });

export function addToTally(tally: MutableTally, { outcome, tokensGiven, tokensSaved }: CallEvent): void {
  tally.calls += 1;
  if (outcome !== "ok") tally.failures += 1;
  tally.tokensGiven += tokensGiven;
  tally.tokensSaved += tokensSaved;
}

export interface SessionTally extends CallTally {
  readonly id: string;
  readonly principal: string | null;
  readonly client: string | null;
  readonly dialect: string;
  readonly firstMs: number;
  readonly lastMs: number;
}
