/** Questions to the person at the page, and what became of them. */

import type { Keep } from "../ask.ts";

/** `GET /api/questions`: of all workspaces; those that are open, oldest first, and the last ones that are not. */
export interface QuestionList {
  readonly open: readonly QuestionInfo[];
  /** Newest first, at most 100. */
  readonly past: readonly PastQuestion[];
}
export interface QuestionInfo {
  readonly id: string;
  readonly workspace: string;
  readonly session: string;
  readonly principal: string | null;
  readonly tool: string;
  readonly permission: "read" | "edit" | "external_directory";
  /** What it is about: real and absolute, and below its root. */
  readonly path: string;
  readonly relative: string;
  /** As it was asked for, where that is another name. */
  readonly asked: string | null;
  /** Where a file that is moved was. */
  readonly movedFrom: string | null;
  /** Where a file goes that is moved, as it was asked for. */
  readonly movedTo: string | null;
  readonly deletes: boolean;
  /** The rule that asks; null if it is asked by default. */
  readonly rule: string | null;
  readonly caution: string | null;
  /** Rules that would answer it for good, narrowest first; none for what is asked about each time. */
  readonly always: readonly string[];
  /** Where such a rule can be kept. */
  readonly keep: readonly Keep[];
  readonly askedMs: number;
  /** Then it is rejected by itself. */
  readonly deadlineMs: number;
  /** Is there a diff? `POST .../diff` with `{ question }` has it. */
  readonly diff: { readonly additions: number; readonly deletions: number } | null;
  /**
   * Who waits. `server`: the call waits here, for this page. `client`: the client shows the question too; whoever answers
   * first has answered, and the call goes on when the client comes back.
   */
  readonly waits: "server" | "client";
  /** Stands for all of what is shown above and the diff. An answer must name it. */
  readonly shown: string;
}
export interface PastQuestion extends QuestionInfo {
  readonly answered: Answered;
}
/** What became of a question. `nobody`: the time ran out, or the call was cancelled. */
export interface Answered {
  readonly reply: "once" | "always" | "reject" | "nobody";
  /** `you`: this browser (`exchange`). `page`: another one. */
  readonly by: "you" | "page" | "client" | "time" | "cancelled";
  readonly rule: string | null;
  readonly keep: Keep | null;
  readonly feedback: string | null;
  readonly timeMs: number;
}

/**
 * `POST /api/questions/<id>/answer`. Answers with `Answered`. 409 `ANSWERED` if somebody was faster (with what they said),
 * 409 `NOT_WHAT_WAS_SHOWN` if `shown` is another, 409 `NOT_OFFERED` for a rule or a place that the question did not offer.
 */
export interface AnswerGiven {
  readonly shown: string;
  readonly reply: "once" | "always" | "reject";
  /** Of `always`: one of the question's rules, the narrowest by default; and where it is kept, the session by default. */
  readonly rule?: string;
  readonly keep?: Keep;
  /** Of `reject`: at most 2,000 characters; the model reads it. */
  readonly feedback?: string;
}
