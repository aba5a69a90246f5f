/** The call log: what the state folder keeps of finished calls and of questions, so that people can look back. */

import type { CallChange, CallEvent, CallRange } from "./event.ts";
import type { Question } from "./ask.ts";

/** Where a record comes from. */
export interface LogOrigin {
  /** The roots of the workspace, symlinks resolved. */
  readonly roots: readonly string[];
  readonly pid: number;
  readonly session: string;
  /** When the session started. */
  readonly sessionMs: number;
  readonly principal: string | null;
  /** The program that made the call, as people know it; null if the host named none. */
  readonly client: string | null;
}

/** A finished call without arguments, patterns, replies and diffs. */
export interface LoggedCall
  extends LogOrigin,
    Pick<
      CallEvent,
      | "dialect"
      | "verb"
      | "outcome"
      | "reason"
      | "startedMs"
      | "elapsedMs"
      | "tokensGiven"
      | "tokensSaved"
      | "changesTotal"
      | "dryRun"
      | "turn"
    > {
  readonly type: "call";
  /** Null for a tool that does not exist: its name is text of a model. */
  readonly tool: string | null;
  /** Absolute, with symlinks resolved where the file exists; null if the call named none, or if a rule hides the name. */
  readonly path: string | null;
  /** A rule hides one of the names of this call. */
  readonly hidden: boolean;
  readonly range: CallRange | null;
  /** The first files that were changed; `movedFrom` is relative to its root. */
  readonly changes: readonly Omit<CallChange, "relative">[];
}

/** A call waits for an answer. */
export interface LoggedQuestion extends LogOrigin {
  readonly type: "question";
  /** Begins with the identity of its process. */
  readonly id: string;
  readonly permission: Question["permission"];
  readonly path: string | null;
  readonly hidden: boolean;
  readonly timeMs: number;
  /** After this it is no longer open; null if it is open until it is answered or its process ends. */
  readonly untilMs: number | null;
}

/** The call no longer waits. */
export interface LoggedAnswer {
  readonly type: "answer";
  readonly pid: number;
  readonly id: string;
  readonly timeMs: number;
}

/** Calls that came faster than they could be written. */
export interface LoggedGap {
  readonly type: "gap";
  readonly pid: number;
  readonly count: number;
  readonly timeMs: number;
}

export type LogRecord = LoggedCall | LoggedQuestion | LoggedAnswer | LoggedGap;

/** What to find in the log. All parts that are given must hold. */
export interface LogFilter {
  /** Only calls in workspaces that contain one of these folders, or are inside one. */
  readonly roots?: readonly string[];
  /** A session's id, or its beginning. */
  readonly session?: string;
  /** Part of the client's name, ignoring case. */
  readonly client?: string;
  readonly tool?: string;
  /** This file, or what is below this folder: absolute. */
  readonly path?: string;
  /** Part of a path, ignoring case. */
  readonly pathPart?: string;
  readonly sinceMs?: number;
  readonly failed?: boolean;
}

/** Limits of the log in the state folder. */
export interface CallLogLimits {
  /** Maximum bytes of the whole log. */
  readonly bytesMax?: number;
  /** Maximum age of what it keeps. */
  readonly ageMsMax?: number;
}
