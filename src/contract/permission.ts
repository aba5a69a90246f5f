/** What can be told about permissions: the rules in force and who wrote them, and why a path is judged as it is. */

export type Permission = "read" | "edit";

/** What decided. `no rule`: nothing speaks of the path, so what holds for reading or editing in general does. */
export type Decider =
  | "own file"
  | "rule"
  /** A deny rule names a link that leads to this file. */
  | "rule about a link to it"
  | "mode"
  | "protected"
  | "secret"
  | "external directory"
  | "outside"
  | "path"
  | "no rule";

/** What would have to change for this to be done without asking. */
export type Remedy =
  | { readonly do: "add"; readonly rule: string }
  | { readonly do: "remove"; readonly rule: RuleText }
  | { readonly do: "switch mode"; readonly to: Mode }
  | { readonly do: "add a root"; readonly folder: string }
  /** It is asked about or refused whatever rules say. */
  | { readonly do: "nothing" };

export interface Explanation {
  readonly tool: string;
  readonly permission: Permission;
  readonly path: string;
  readonly verdict: Verdict;
  readonly by: Decider;
  /** The rule that decided, if one did. */
  readonly rule: RuleText | undefined;
  /** The names that rules were compared with: as asked for, and what it really is if that is another one. */
  readonly names: readonly string[];
  /** Which of the names the rule matched, where it did not need to match all of them. */
  readonly matched: string | undefined;
  readonly exists: boolean;
  readonly mode: Mode;
  /** Undefined where it is allowed already. */
  readonly remedy: Remedy | undefined;
}

/** A rule in a list. */
export interface ListedRule extends RuleText {
  /** Why it is not in force, or can never decide. */
  readonly fault?: string;
}

export interface PermissionList {
  readonly mode: Mode;
  readonly locked: readonly Lock[];
  readonly roots: readonly string[];
  /** Every rule that somebody wrote, in the order of its source. */
  readonly rules: readonly ListedRule[];
  /** Those that are built in: secrets, protected files, Filehand's own. */
  readonly builtIn: readonly RuleText[];
  readonly faults: readonly RuleFault[];
}

export interface Permissions {
  /** Why a tool may, or may not, do something to a path. Asks nobody. Throws a FilehandError for an unknown tool. */
  explain(tool: string, path: string): Explanation;
  /** May the tool do it to all of these paths without anybody being asked? */
  check(tool: string, paths: readonly string[]): boolean;
  list(): PermissionList;
}

// Modes: what a session may do at all, before any rule is looked at.

/** From the strictest to the most generous. */
export const modes = ["read-only", "plan", "default", "accept-edits"] as const;

export type Mode = (typeof modes)[number];

/** The modes in which nothing is written, whatever rules say. */
export type NoWriteMode = "read-only" | "plan";

/** What the operator has fixed: no project, no session and no command line can make it more generous. */
export type Lock = "mode" | "rules";

export const isNoWrite = (mode: Mode): mode is NoWriteMode => mode === "read-only" || mode === "plan";

/** Does `mode` let a session do more than `than` does? */
export const isWider = (mode: Mode, than: Mode): boolean => modes.indexOf(mode) > modes.indexOf(than);

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
