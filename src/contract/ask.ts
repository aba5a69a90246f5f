/** Ports that a host provides: a person to ask, a place for rules, the clock and ids. */

/** Where an "always" is saved: in the session, or in the settings of the project or of the user. */
export type Keep = "session" | "project" | "user";

export interface Question {
  readonly permission: "read" | "edit" | "external_directory";
  /** The real path that the question is about; outside the roots, the folder. */
  readonly patterns: readonly string[];
  /** Rules that would answer this question permanently, narrowest first; empty if Filehand asks every time. */
  readonly always: readonly string[];
  /** Where such a rule can be saved. */
  readonly keep: readonly Keep[];
  /** `path`: as the caller wrote it. `rule`: the rule that asks. `diff`: the change. `caution`: a warning. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /**
   * The parts of the change that can be accepted one by one, in the order of the diffs; an answer names them by their index
   * here. Undefined if the question can only be answered as a whole. A hunk that the diff leaves out is not offered.
   */
  readonly hunks?: readonly OfferedHunk[];
}

/** A part of a change that a person can accept by itself. */
export interface OfferedHunk {
  /** The file, counted from 0 as in `metadata.files`; 0 if the question is about one file. */
  readonly file: number;
  /** The hunk of that file's diff, counted from 0. Undefined for a file that is created, deleted, moved or changed as a whole. */
  readonly hunk?: number;
}

export type Answer =
  /** `hunks`: only these parts of the change, as indexes of the question's `hunks`; by default all of it. */
  | { readonly reply: "once"; readonly hunks?: readonly number[] }
  /** `rule`: by default the narrowest; one that does not cover the question is not saved. `keep`: by default the session. */
  | { readonly reply: "always"; readonly rule?: string; readonly keep?: Keep }
  /** The model reads `feedback`. */
  | { readonly reply: "reject"; readonly feedback?: string }
  /** Nobody is connected who could answer. `closed`: the question was shown, and closed or lost without an answer. */
  | { readonly reply: "nobody"; readonly closed?: boolean };

/**
 * Asks the person or program that decides. MUST settle; a rejected promise is a bug of the host, unless its error has
 * the field `leavesCall`: that ends the call before anything is changed, because the host will repeat the call with the
 * answer.
 */
export type Asker = (question: Question, signal: AbortSignal) => Promise<Answer>;

/** Checks a field, not a class: a host may be bundled with its own copy of the class. */
export const isLeaving = (error: unknown): boolean =>
  error instanceof Error && "leavesCall" in error && error.leavesCall === true;

/**
 * Saves an allow rule in settings. Returns why it could not; then the rule applies to the session only. MUST NOT be
 * reachable for a model: it widens access without a question.
 */
export type KeepRule = (rule: string, where: "project" | "user") => Promise<{ readonly why: string } | undefined>;

export interface Clock {
  nowMs(): number;
}

export interface Ids {
  next(): string;
}
