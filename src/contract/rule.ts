/** A permission rule as someone wrote it, before it is known whether it can be understood. */

export type Verdict = "allow" | "ask" | "deny";

export interface RuleText {
  readonly verdict: Verdict;
  /** `Tool(pattern)`, or `Tool` for everything. */
  readonly text: string;
  /** Who wrote it: "default", "user settings", "project settings", "command line" or "session". */
  readonly source: string;
}
