/**
 * Permission rules: which rule decides about a path. Pure: paths come in normalised and are never looked at on the disk.
 *
 * A rule is `Tool(pattern)`, or `Tool` for everything. Patterns are those of gitignore, anchored by how they begin:
 * `//x` at the file system's root, `~/x` at home, `/x` at the workspace root, `x` within the workspace. As in
 * gitignore a pattern covers what lies beneath a matching folder, and `!` takes paths out again, but only out of
 * earlier rules of the same verdict and source: a project cannot lift what its user denied.
 */

import type { RuleFault, RuleText, Verdict } from "../contract/rule.ts";
import { Group, type PathName } from "./group.ts";
import { type Pattern, parseRule, type RulePermission } from "./patterns.ts";

export { escapePattern } from "./patterns.ts";
export type { PathName, RuleFault };

export interface Decision {
  readonly verdict: Verdict;
  /** Undefined when no rule matched; then reading is allowed and anything else has to be asked for. */
  readonly rule: RuleText | undefined;
}

export interface Rules {
  /** `names`: the path as asked for and as it really is. Deny and ask if any name matches, allow only if all do. */
  decide(permission: RulePermission, names: readonly PathName[]): Decision;
  /** The rule that denies it, if one does: less work than a decision. */
  denied(permission: RulePermission, names: readonly PathName[]): RuleText | undefined;
  /** Is there a rule that denies reading? */
  readonly deniesReading: boolean;
  readonly faults: readonly RuleFault[];
}

type Shelves = Readonly<Record<Verdict, Readonly<Record<RulePermission, Shelf>>>>;

export function compileRules(texts: readonly RuleText[], options: { readonly home: string | undefined }): Rules {
  const shelves: Shelves = { deny: shelvesOf("deny"), ask: shelvesOf("ask"), allow: shelvesOf("allow") };
  const faults: RuleFault[] = [];
  let deniesReading = false;

  for (const rule of texts) {
    const parsed = parseRule(rule, options.home);
    if (!("why" in parsed) && rule.verdict === "deny") deniesReading ||= parsed.permission === "read";
    const why = "why" in parsed ? parsed.why : shelves[rule.verdict][parsed.permission].add(rule, parsed.pattern);
    if (why !== undefined) faults.push({ verdict: rule.verdict, text: rule.text, source: rule.source, why });
  }

  // What may not be read may not be edited either: a diff or an error text would show it.
  const denied: Rules["denied"] = (permission, names) =>
    shelves.deny[permission].any(names) ?? (permission === "edit" ? shelves.deny.read.any(names) : undefined);

  return {
    faults,
    deniesReading,
    denied,
    decide: (permission, names) => {
      const rule = denied(permission, names);
      if (rule !== undefined) return { verdict: "deny", rule };
      const asking = shelves.ask[permission].any(names);
      if (asking !== undefined) return { verdict: "ask", rule: asking };
      const allowing = shelves.allow[permission].all(names);
      if (allowing !== undefined) return { verdict: "allow", rule: allowing };
      return { verdict: permission === "read" ? "allow" : "ask", rule: undefined };
    },
  };
}

const shelvesOf = (verdict: Verdict): Readonly<Record<RulePermission, Shelf>> => ({
  read: new Shelf(verdict),
  edit: new Shelf(verdict),
  external_directory: new Shelf(verdict),
});

/** All rules of one verdict about one permission. */
class Shelf {
  readonly #verdict: Verdict;
  #everything: RuleText | undefined;
  readonly #groups = new Map<string, Group>();

  constructor(verdict: Verdict) {
    this.#verdict = verdict;
  }

  /** Without a pattern the rule covers everything. Returns what is wrong with the rule, if anything is. */
  add(rule: RuleText, pattern: Pattern | undefined): string | undefined {
    if (pattern === undefined) {
      this.#everything ??= rule;
      return undefined;
    }
    const key = `${pattern.base} ${rule.source}`; // a group per source: `!` must not reach into another one
    let group = this.#groups.get(key);
    if (group === undefined) {
      if (pattern.negated) return `it takes nothing out: no earlier "${rule.verdict}" rule is anchored like it`;
      group = new Group(pattern.base, this.#verdict === "allow" ? "exact" : "any letter case");
      this.#groups.set(key, group);
    }
    group.add(rule, pattern);
    // Kept in force all the same: such names exist, in project templates for one.
    return pattern.lines.some((line) => /\{[^{},/]*,[^{}/]*\}/.test(line))
      ? "braces are compared literally, write a rule for each alternative"
      : undefined;
  }

  any(names: readonly PathName[]): RuleText | undefined {
    for (const name of names) {
      const rule = this.#match(name);
      if (rule !== undefined) return rule;
    }
    return undefined;
  }

  all(names: readonly PathName[]): RuleText | undefined {
    let first: RuleText | undefined;
    for (const name of names) {
      const rule = this.#match(name);
      if (rule === undefined) return undefined;
      first ??= rule;
    }
    return first;
  }

  #match(name: PathName): RuleText | undefined {
    // Everything means the workspace: a folder outside it that somebody let the session into is no part of that.
    const covers = this.#verdict !== "allow" || name.relative !== undefined;
    if (this.#everything !== undefined && covers) return this.#everything;
    for (const group of this.#groups.values()) {
      const rule = group.match(name);
      if (rule !== undefined) return rule;
    }
    return undefined;
  }
}
