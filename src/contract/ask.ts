/** Ports: what a host brings. The world is handed in, so that replies repeat to the byte. */

export interface Question {
  readonly permission: "read" | "edit" | "external_directory";
  /** Absolute paths or patterns the question is about. */
  readonly patterns: readonly string[];
  /** Rules that would answer this question for good, narrowest first. */
  readonly always: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>>;
}

export type Answer =
  | { readonly reply: "once" }
  | { readonly reply: "always"; readonly rule?: string }
  | { readonly reply: "reject"; readonly feedback?: string };

/** Asks whoever decides. MUST settle; a rejected promise counts as a bug of the host. */
export type Asker = (question: Question, signal: AbortSignal) => Promise<Answer>;

export interface Clock {
  nowMs(): number;
}

export interface Ids {
  next(): string;
}
