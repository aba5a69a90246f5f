/**
 * Permission rules: which rule decides about a path. Paths come in normalised and are never looked at on the disk; folders
 * that a rule names may be, once, by who hands in `realPrefix`.
 *
 * A rule is `Tool(pattern)`, or `Tool` for everything. Patterns are those of gitignore, anchored by how they begin:
 * `//x` at the file system's root, `~/x` at home, `/x` at the workspace root, `x` within the workspace. As in
 * gitignore a pattern covers what lies beneath a matching folder, and `!` takes paths out again, but only out of
 * earlier rules of the same verdict and source: a project cannot lift what its user denied.
 */

import * as nodePath from "node:path";
import type { RuleFault, RuleText, Verdict } from "../contract/rule.ts";
import type { RealPrefix } from "../disk/real-prefix.ts";
import { Group, type PathName } from "./group.ts";
import {
  belowSystemRoot,
  escapePattern,
  type Parsed,
  type Pattern,
  parseRule,
  type RulePermission,
} from "./patterns.ts";

export { escapePattern } from "./patterns.ts";
export type { RuleFault };

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

export interface RuleOptions {
  readonly home: string | undefined;
  /** Where the folders that a rule names really are. Without it a rule holds for the path as it is written. */
  readonly realPrefix?: RealPrefix | undefined;
}

export function compileRules(texts: readonly RuleText[], options: RuleOptions): Rules {
  const shelves: Shelves = { deny: shelvesOf("deny"), ask: shelvesOf("ask"), allow: shelvesOf("allow") };
  const faults: RuleFault[] = [];
  let deniesReading = false;

  for (const rule of texts) {
    const parsed = anchoredTwice(parseRule(rule, options.home), rule.verdict, options.realPrefix);
    if (!("why" in parsed) && rule.verdict === "deny") deniesReading ||= parsed.permission === "read";
    const why = "why" in parsed ? parsed.why : shelves[rule.verdict][parsed.permission].add(rule, parsed.pattern);
    const stops = "why" in parsed && rule.verdict !== "allow" && parsed.isForeign === undefined;
    if (why === undefined) continue;
    faults.push({ verdict: rule.verdict, text: rule.text, source: rule.source, why, ...(stops ? { stops } : {}) });
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

/**
 * A rule that begins at the file system's root or at home may spell its folders through a link, and a file is asked for by
 * either spelling: what narrows access holds for both. Folders are resolved up to the first wildcard.
 */
export function anchoredTwice(parsed: Parsed, verdict: Verdict, realPrefix: RealPrefix | undefined): Parsed {
  if ("why" in parsed || parsed.pattern === undefined || realPrefix === undefined) return parsed;
  const { pattern } = parsed;
  if (pattern.base !== "absolute" || verdict === "allow") return parsed;
  const lines = [...new Set(pattern.lines.flatMap((line) => [line, resolvedLine(line, realPrefix)]))];
  return { ...parsed, pattern: { ...pattern, lines } };
}

function resolvedLine(line: string, realPrefix: RealPrefix): string {
  const names = line.split("/");
  const wild = names.findIndex((name) => /(?:^|[^\\])(?:\\\\)*[*?[]/.test(name));
  const literal = wild === -1 ? names : names.slice(0, wild);
  const written = literal
    .join("/")
    .replace(/\\(.)/gs, "$1")
    .replace(/\[([\r\n\t])\]/g, "$1");
  const absolute = nodePath.sep === "\\" ? written.replace(/^\/([a-z])(?=\/|$)/i, "$1:") : written;
  if (absolute === "" || !nodePath.isAbsolute(absolute)) return line;
  const real = escapePattern(belowSystemRoot(realPrefix(absolute)));
  const rest = wild === -1 ? [] : names.slice(wild);
  const end = wild === -1 && line.endsWith("/") ? "/" : "";
  return `/${[real, ...rest].filter((name) => name !== "").join("/")}${end}`;
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
    if (this.#verdict !== "allow" && !pattern.negated) return undefined;
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
      const rule = group.match(name) ?? this.#matchBelowOthers(group, name);
      if (rule !== undefined) return rule;
    }
    return undefined;
  }

  #matchBelowOthers(group: Group, { absolute, others = [] }: PathName): RuleText | undefined {
    for (const relative of others) {
      const rule = group.match({ absolute, relative });
      if (rule !== undefined) return rule;
    }
    return undefined;
  }
}
