/** Permissions as data: modes, rules and their sources, and the explanation of a verdict. */

export type Permission = "read" | "edit";

/** What decided. `no rule`: no rule matches the path, so the default for reading or editing applies. */
export type Decider =
  | "own file"
  | "rule"
  /** A deny rule matches a symlink to this file. */
  | "rule about a link to it"
  | "mode"
  | "protected"
  | "secret"
  | "external directory"
  | "outside"
  | "path"
  | "no rule";

/** What would allow this without a question. */
export type Remedy =
  | { readonly do: "add"; readonly rule: string }
  | { readonly do: "remove"; readonly rule: RuleText }
  | { readonly do: "switch mode"; readonly to: Mode }
  | { readonly do: "add a root"; readonly folder: string }
  /** No rule can: the verdict is the same whatever the rules are. */
  | { readonly do: "nothing" };

export interface Explanation {
  readonly tool: string;
  readonly permission: Permission;
  readonly path: string;
  readonly verdict: Verdict;
  readonly by: Decider;
  readonly rule: RuleText | undefined;
  /** The names that rules were matched against: the path as asked for, and the real path if it differs. */
  readonly names: readonly string[];
  /** The name that the rule matched, if one match was enough. */
  readonly matched: string | undefined;
  readonly exists: boolean;
  readonly mode: Mode;
  /** Undefined if it is allowed already. */
  readonly remedy: Remedy | undefined;
}

export interface ListedRule extends RuleText {
  /** Why it is not in force, or can never decide. */
  readonly fault?: string;
}

export interface PermissionList {
  readonly mode: Mode;
  readonly locked: readonly Lock[];
  readonly roots: readonly string[];
  /** The rules of users, projects, hosts and sessions, in the order of their source. */
  readonly rules: readonly ListedRule[];
  /** Secrets, protected files, Filehand's own files. */
  readonly builtIn: readonly RuleText[];
  readonly faults: readonly RuleFault[];
}

export interface Permissions {
  /** Why a tool may or may not access a path. Asks no question. Throws a FilehandError for an unknown tool. */
  explain(tool: string, path: string): Explanation;
  /** May the tool access all of these paths without a question? */
  check(tool: string, paths: readonly string[]): boolean;
  list(): PermissionList;
}

// Modes: what a session may do, before any rule is checked.

/** From the strictest to the widest. */
export const modes = ["read-only", "plan", "default", "accept-edits"] as const;

export type Mode = (typeof modes)[number];

/** Modes that write nothing, whatever the rules are. */
export type NoWriteMode = "read-only" | "plan";

/** Fixed by the operator: no project, session or command line can widen it. */
export type Lock = "mode" | "rules";

export const isNoWrite = (mode: Mode): mode is NoWriteMode => mode === "read-only" || mode === "plan";

export const isWider = (mode: Mode, than: Mode): boolean => modes.indexOf(mode) > modes.indexOf(than);

/** Permission rules as text, before they are parsed. */

export type Verdict = "allow" | "ask" | "deny";

export interface RuleText {
  readonly verdict: Verdict;
  /** `Tool(pattern)`, or `Tool` for everything. */
  readonly text: string;
  /**
   * "default", "user settings", "project settings", "options", "command line" or "session"; Filehand's own rules, which
   * cannot be changed, have "protected" and "Filehand itself".
   */
  readonly source: string;
}

/** A rule that is not in force, or may not mean what it says. */
export interface RuleFault {
  readonly verdict: Verdict;
  readonly text: string;
  readonly source: string;
  readonly why: string;
  /** It would narrow access and cannot be parsed: nothing starts with it, unless the host asks for the list of faults. */
  readonly stops?: true;
}

export const ownSource = "Filehand itself";
