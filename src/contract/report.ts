/**
 * What a process tells an inspector in another process of this machine, and what it hears: JSON, a line each, over a socket
 * that is the user's alone. Nothing of it is written to a disk.
 */

import type { Answer, Question } from "./ask.ts";
import type { CallDetail, CallEvent } from "./event.ts";

/** Raised when a message changes its meaning: who speaks another one does not connect. */
export const reportProtocol = 1;

/** Where an inspector listens, as its file in the state folder says it. */
export interface LookoutPlace {
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

export interface FromLookout {
  readonly type: "answer";
  readonly id: number;
  readonly answer: Answer;
}
