/** Ports: what a host brings. The world is handed in, so that replies repeat to the byte. */

/** How long an "always" is kept: as long as the session, or in the settings of the project or of the user. */
export type Keep = "session" | "project" | "user";

export interface Question {
  readonly permission: "read" | "edit" | "external_directory";
  /** The real path that the question is about; for a folder outside the roots, that folder. */
  readonly patterns: readonly string[];
  /** Rules that would answer this question for good, narrowest first; none for what is asked about each time. */
  readonly always: readonly string[];
  /** Where such a rule can be kept. */
  readonly keep: readonly Keep[];
  /** `path`: as it was asked for. `rule`: the one that asks. `diff`: the change. `caution`: what else should be known. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

export type Answer =
  | { readonly reply: "once" }
  /**
   * `rule`: the narrowest one by default. One that does not cover what was asked about is not kept. `keep`: the session
   * by default; where that cannot be, it is the session too.
   */
  | { readonly reply: "always"; readonly rule?: string; readonly keep?: Keep }
  /** `feedback` reaches the model. */
  | { readonly reply: "reject"; readonly feedback?: string }
  /** There turned out to be nobody who could answer. `closed`: the question was shown, and closed or lost without an answer. */
  | { readonly reply: "nobody"; readonly closed?: boolean };

/**
 * Asks whoever decides. MUST settle; a rejected promise counts as a bug of the host, but for an error with the field
 * `leavesCall`: that ends the call before anything was done, because the host will make it again with the answer.
 */
export type Asker = (question: Question, signal: AbortSignal) => Promise<Answer>;

/** By a field and not by a class: hosts may be bundled apart from the engine. */
export const isLeaving = (error: unknown): boolean =>
  error instanceof Error && "leavesCall" in error && error.leavesCall === true;

/**
 * Keeps an allow rule in settings. Says why it could not; then the rule holds for the session only.
 * MUST NOT be reachable for a model: it widens what may be done without asking.
 */
export type RuleKeeper = (rule: string, where: "project" | "user") => Promise<{ readonly why: string } | undefined>;

export interface Clock {
  nowMs(): number;
}

export interface Ids {
  next(): string;
}
