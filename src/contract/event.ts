/** What a toolkit and its sessions tell those who watch: every call when it is over, and every file that was changed, as data. */

import type { Answer, Question } from "./ask.ts";
import type { Reply, Verb } from "./call.ts";
import type { Hunk } from "./edit.ts";
import type { DiagnosticsReport } from "./lsp.ts";
import type { Code } from "./problem.ts";

/** What of a file a call was about. Lines, entries, pages and cells count from 1. */
export interface CallRange {
  readonly of: "lines" | "pages" | "cells" | "entries";
  readonly from: number;
  /** The last one, itself included; null where it is not known, as of a call that failed. */
  readonly to: number | null;
  /** How many there are in all; null where nobody counted. */
  readonly total: number | null;
}

/** What a call did to a file. */
export interface CallChange {
  /** Real and absolute; and below its root with forward slashes, for people. */
  readonly path: string;
  readonly relative: string;
  readonly did: "created" | "updated" | "deleted" | "moved";
  /** Where a moved file was, below its root. */
  readonly movedFrom: string | null;
  readonly additions: number;
  readonly deletions: number;
}

/** One call, when it is over. Small: whoever wants more keeps `detail`. */
export interface CallEvent {
  readonly type: "call";
  /** Counts from 1 in each toolkit. */
  readonly id: number;
  readonly session: string;
  /** Whom the session works for, where the host said so. */
  readonly principal: string | null;
  readonly dialect: string;
  /** As the model wrote it. */
  readonly tool: string;
  /** Null for a tool that there is not. */
  readonly verb: Verb | null;
  /** The file or folder below its root with forward slashes (empty: the root), or as it was asked for; null if none was named. */
  readonly path: string | null;
  /** Real and absolute; null where nothing was found. */
  readonly real: string | null;
  /** What was searched for. */
  readonly pattern: string | null;
  readonly range: CallRange | null;
  /** `ok`, or the code of the failure. `INTERNAL`: a bug. */
  readonly outcome: "ok" | Code | "INTERNAL";
  /** Of a failure its finer reason, where its code has several; of a success what kind of answer it was. */
  readonly reason: string | null;
  readonly startedMs: number;
  readonly elapsedMs: number;
  /** Estimated tokens of the reply, and those that a repeated read did not spend. */
  readonly tokensGiven: number;
  readonly tokensSaved: number;
  /** Files that were changed, or would have been in a dry run: the first 1,000 of them, and how many there are. */
  readonly changes: readonly CallChange[];
  readonly changesTotal: number;
  readonly dryRun: boolean;
  /** The turn of the history that the changes belong to; null where nothing was changed or no past is kept. */
  readonly turn: string | null;
}

/** What is too large to be kept for every call. */
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
  /** False where the diff would have been too long: then `hunks` is not all of it. */
  readonly complete: boolean;
}

/** MUST return at once; what it throws is a bug of the host and ends nobody's call. */
export type CallListener = (event: CallEvent, detail: CallDetail) => void;

/** A file that a call has just changed. */
export interface FileChanged {
  /** Real and absolute; of a moved file where it is now. */
  readonly path: string;
  readonly did: "created" | "updated" | "deleted" | "moved";
  readonly movedFrom?: string;
  /** The session's id. */
  readonly session: string;
  /** What language servers say of it, if one is in charge of it. */
  readonly diagnostics?: DiagnosticsReport;
}

/** Called when the change is made and before it is answered. What it throws is lost: the change stays made. */
export type ChangeListener = (change: FileChanged) => void;

// What a process tells an inspector in another process of this machine, and what it hears: JSON, a line each, over a socket
// that is the user's alone. Nothing of it is written to a disk.

/** Raised when a message changes its meaning: who speaks another one does not connect. */
export const reportProtocol = 1;

/** Where an inspector listens, as its file in the state folder says it. */
export interface InspectorPlace {
  readonly protocol: number;
  /** Of a socket, or of a pipe on Windows. */
  readonly address: string;
  /** Whoever can read the file may report. */
  readonly key: string;
  readonly workspaces: readonly { readonly name: string; readonly roots: readonly string[] }[];
}

export type Program = "mcp" | "serve" | "cli";

export interface ReportHello {
  readonly type: "hello";
  readonly key: string;
  /** The inspector's name of the workspace that these roots lie in. */
  readonly workspace: string;
  readonly roots: readonly string[];
  readonly pid: number;
  readonly program: Program;
}

/** Why a call comes without its detail. */
export type NoDetail = "dropped" | "too large";

export interface ReportedCall {
  readonly type: "call";
  readonly event: CallEvent;
  readonly detail: CallDetail | NoDetail;
}

export interface ReportedQuestion {
  readonly type: "ask";
  /** Counts up in each connection. */
  readonly id: number;
  readonly session: string;
  readonly principal: string | null;
  readonly tool: string;
  readonly question: Question;
}

export type FromReporter =
  | ReportHello
  | ReportedCall
  | ReportedQuestion
  /** Nobody waits for the answer any more. */
  | { readonly type: "cancel"; readonly id: number };

export interface FromInspector {
  readonly type: "answer";
  readonly id: number;
  readonly answer: Answer;
}
