/** A permission rule as someone wrote it, before it is known whether it can be understood. */

export type Verdict = "allow" | "ask" | "deny";

export interface RuleText {
  readonly verdict: Verdict;
  /** `Tool(pattern)`, or `Tool` for everything. */
  readonly text: string;
  /**
   * Who wrote it: "default", "user settings", "project settings", "options", "command line" or "session"; and those of
   * Filehand's own that nobody can change, "protected" and "Filehand itself".
   */
  readonly source: string;
}

/** A rule that is not in force, or may not mean what it says. */
export interface RuleFault {
  readonly verdict: Verdict;
  readonly text: string;
  readonly source: string;
  readonly why: string;
  /** It would narrow access and cannot be understood: nothing starts with such a rule, unless its host wants them listed. */
  readonly stops?: true;
}

/** The source of rules about Filehand's own files. Nobody can change them. */
export const ownSource = "Filehand itself";
