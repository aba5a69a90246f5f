/**
 * Permission rules: which rule decides about a path. Paths come in normalised and are not looked up; folders that a
 * rule names are resolved once, if the caller passes `realPrefix`.
 *
 * A rule is `Tool(pattern)`, or `Tool` for everything. Patterns are those of gitignore, anchored by their beginning:
 * `//x` at the file system's root, `~/x` at home, `/x` at the workspace root, `x` within the workspace. As in gitignore
 * a pattern covers everything beneath a matching folder, and `!` makes an exception, but only to earlier rules of the
 * same verdict and source: a project cannot lift what its user denied.
 */

import * as nodePath from "node:path";
import { limits } from "../contract/limits.ts";
import type { RuleFault, RuleText, Verdict } from "../contract/permission.ts";
import { Problem } from "../contract/problem.ts";
import type { Place } from "../contract/target.ts";
import type { RealPrefix } from "../disk/disk.ts";
import type { Steps } from "../text/text.ts";
import { Group, linesAt, type PathName } from "./group.ts";
import type { Guard } from "./guard.ts";
import { relativeTo } from "./paths.ts";
import { belowSystemRoot, firstOf, type Parsed, parseRule, type Pattern, type RulePermission } from "./patterns.ts";

export { escapePattern } from "./patterns.ts";
export type { RuleFault };

export interface Decision {
  readonly verdict: Verdict;
  /** Undefined if no rule matched; then reading is allowed and everything else needs approval. */
  readonly rule: RuleText | undefined;
}

export type Rules = ReturnType<typeof compileRules>;

interface RuleOptions {
  readonly home: string | undefined;
  readonly realPrefix?: RealPrefix | undefined;
}

export function compileRules(texts: readonly RuleText[], options: RuleOptions) {
  const ruleSetsOf = (verdict: Verdict) => ({
    read: new RuleSet(verdict, options.realPrefix),
    edit: new RuleSet(verdict, options.realPrefix),
    external_directory: new RuleSet(verdict, options.realPrefix),
  });
  const ruleSets = { deny: ruleSetsOf("deny"), ask: ruleSetsOf("ask"), allow: ruleSetsOf("allow") };
  const faults: RuleFault[] = [];
  let deniesReading = false;
  let cost = 0;

  for (const rule of texts) {
    const read = cost > limits.ruleCharsMax ? tooMany : parseRule(rule, options.home);
    cost += costOf(read);
    const parsed = cost > limits.ruleCharsMax ? tooMany : read;
    if (!("why" in parsed) && rule.verdict === "deny") deniesReading ||= parsed.permission === "read";
    const why = "why" in parsed ? parsed.why : ruleSets[rule.verdict][parsed.permission].add(rule, parsed.pattern);
    const stops = "why" in parsed && rule.verdict !== "allow" && parsed.isForeign === undefined;
    if (why === undefined) continue;
    faults.push({ verdict: rule.verdict, text: rule.text, source: rule.source, why, ...(stops ? { stops } : {}) });
  }

  // An edit would reveal the content in its diff or error, so a file that may not be read may not be edited.
  const denied = (permission: RulePermission, names: readonly PathName[]): RuleText | undefined =>
    ruleSets.deny[permission].any(names) ?? (permission === "edit" ? ruleSets.deny.read.any(names) : undefined);

  return {
    faults: faults as readonly RuleFault[],
    deniesReading,
    denied,
    /** Makes the first decision quick, in steps. */
    *prepare(): Steps<void> {
      for (const sets of Object.values(ruleSets)) for (const set of Object.values(sets)) yield* set.prepare();
    },
    /** `names`: the path as asked for and its real path. Deny and ask need one matching name, allow needs all. */
    decide: (permission: RulePermission, names: readonly PathName[]): Decision => {
      const rule = denied(permission, names);
      if (rule !== undefined) return { verdict: "deny", rule };
      const asking = ruleSets.ask[permission].any(names);
      if (asking !== undefined) return { verdict: "ask", rule: asking };
      const allowing = ruleSets.allow[permission].all(names);
      if (allowing !== undefined) return { verdict: "allow", rule: allowing };
      return { verdict: permission === "read" ? "allow" : "ask", rule: undefined };
    },
  };
}

/** Characters to compare. Lines with sets, escapes, choices or other scripts take far longer to compile. */
const costOf = (parsed: Parsed): number => {
  if ("why" in parsed) return parsed.isForeign === true ? 0 : 200;
  const lines = parsed.pattern?.lines ?? [];
  const cost = (line: string): number =>
    /[^ -~]|[[{?\\]/.test(line) ? (line.includes("{") ? 100 : 40) + 4 * line.length : line.length;
  return lines.reduce((sum, line) => sum + cost(line), 0);
};

const tooMany: Parsed = {
  why: `the rules up to it have more than ${limits.ruleCharsMax} characters together, where one with ?, [, {, \\ or letters beyond ASCII counts as four`,
};

class RuleSet {
  readonly #verdict: Verdict;
  #everything: RuleText | undefined;
  readonly #groups = new Map<string, Group>();
  readonly #realPrefix: RealPrefix | undefined;

  constructor(verdict: Verdict, realPrefix: RealPrefix | undefined) {
    this.#verdict = verdict;
    this.#realPrefix = realPrefix;
  }

  /** Without a pattern the rule covers everything. Returns the fault of the rule, if it has one. */
  add(rule: RuleText, pattern: Pattern | undefined): string | undefined {
    if (pattern === undefined) {
      this.#everything ??= rule;
      return undefined;
    }
    const key = `${pattern.base} ${rule.source}`; // one group per source: `!` must not reach into another one
    let group = this.#groups.get(key);
    if (group === undefined) {
      if (pattern.negated) return `it takes nothing out: no earlier "${rule.verdict}" rule is anchored like it`;
      group = new Group(pattern.base, this.#verdict === "allow" ? "exact" : "any letter case", this.#realPrefix);
      this.#groups.set(key, group);
    }
    group.add(rule, pattern);
    if (this.#verdict !== "allow" && !pattern.negated) return undefined;
    // The rule stays in effect: project templates have such names.
    return pattern.lines.some((line) => /\{[^{},/]*,[^{}/]*\}/.test(line))
      ? "braces are compared literally, write a rule for each alternative"
      : undefined;
  }

  *prepare(): Steps<void> {
    for (const group of this.#groups.values()) yield* group.prepare();
  }

  any(names: readonly PathName[]): RuleText | undefined {
    for (const name of names) {
      const rule = this.#match(name);
      if (rule !== undefined) return rule;
    }
    return undefined;
  }

  all(names: readonly PathName[]): RuleText | undefined {
    if (this.#everything === undefined && this.#groups.size === 0) return undefined;
    const rules = names.map((name) => this.#match(name));
    return rules.includes(undefined) ? undefined : rules[0];
  }

  #match(name: PathName): RuleText | undefined {
    // Everything means the workspace, without folders outside that the session was admitted to.
    const covers = this.#verdict !== "allow" || name.relative !== undefined;
    if (this.#everything !== undefined && covers) return this.#everything;
    const { absolute, others } = name;
    for (const group of this.#groups.values()) {
      const rule = group.match(name) ?? (others && firstOf(others, (relative) => group.match({ absolute, relative })));
      if (rule !== undefined) return rule;
    }
    return undefined;
  }
}

// Rules that are well formed and still decide nothing: a stronger rule covers all that they match, or they match only
// paths outside the roots. Reported only if certain. Pure.

/** Why a rule has no effect; undefined if it has one or that is uncertain. */
export function idleRules(
  rules: readonly RuleText[],
  roots: readonly string[],
  options: RuleOptions,
): (rule: RuleText) => string | undefined {
  const { home, realPrefix } = options;
  const originals = new Map<RuleText, RuleText>();
  const withoutPattern = rules.filter(({ text }) => !text.includes("("));
  /** `beneath`: `folder/**` also covers what is in the folder, though not the folder itself. */
  const only = (verdict: Verdict, beneath: boolean): Rules => {
    const some = rules.filter((rule) => rule.verdict === verdict);
    const folders = some.map((rule) => ({ ...rule, text: rule.text.replace(/\/\*\*\/?\)\s*$/, "/)") }));
    for (const [at, folder] of folders.entries()) originals.set(folder, some[at] ?? folder);
    // `folder/**` may have exceptions, the folder itself none.
    const hasExceptions = some.some(({ text }) => text.includes("(!"));
    return compileRules(beneath && !hasExceptions ? folders : some, options);
  };
  const strongerThan = [
    { word: "deny", itself: only("deny", false), beneath: only("deny", true) },
    { word: "ask", itself: only("ask", false), beneath: only("ask", true) },
  ] as const;
  return (rule) => {
    const parsed = parseRule(rule, home);
    if ("why" in parsed || parsed.permission === "external_directory") return undefined;
    const { permission, pattern } = parsed;
    if (pattern?.negated === true) return undefined;
    const lines = pattern === undefined ? [] : linesAt(pattern, rule.verdict === "allow" ? undefined : realPrefix);
    const [line = ""] = lines;
    if (pattern?.base === "absolute" && !lines.some((one) => touchesRoot(one, roots))) {
      return "what it names lies outside all roots, and nothing out there is ever opened";
    }
    if (rule.verdict === "deny") return undefined;
    const covered = pattern === undefined ? [] : literalNames(line, pattern.base, roots);
    for (const { word, itself, beneath } of strongerThan) {
      if (word === rule.verdict) break;
      const stronger = covered.every(({ absolute }) => absolute.endsWith("/")) ? beneath : itself;
      const by = coveredBy(stronger, word, permission, covered) ?? everythingBy(withoutPattern, word, permission, home);
      if (by === undefined) continue;
      const { text, source } = originals.get(by) ?? by;
      return `the ${word} rule ${text} (${source}) covers all of it and is stronger`;
    }
    return undefined;
  };
}

/** A rule without a pattern covers every other rule. `rules`: those without one. */
function everythingBy(
  rules: readonly RuleText[],
  verdict: Verdict,
  permission: "read" | "edit",
  home: string | undefined,
): RuleText | undefined {
  return rules.find((rule) => {
    if (rule.verdict !== verdict) return false;
    const parsed = parseRule(rule, home);
    if ("why" in parsed) return false;
    return parsed.permission === permission || (verdict === "deny" && parsed.permission === "read");
  });
}

function coveredBy(
  stronger: Rules,
  verdict: Verdict,
  permission: "read" | "edit",
  names: readonly PathName[],
): RuleText | undefined {
  if (names.length === 0) return undefined;
  const rules = names.map((name) => {
    const decision = stronger.decide(permission, [name]);
    return decision.verdict === verdict ? decision.rule : undefined;
  });
  return rules.every((rule) => rule !== undefined) ? rules[0] : undefined;
}

/** The file or folder that contains everything a pattern matches, in each root; empty if there is none. */
function literalNames(line: string, base: "absolute" | "root" | "anywhere", roots: readonly string[]): PathName[] {
  if (base === "anywhere" || line.startsWith("**")) return [];
  const names = line.replace(/^\//, "").replace(/\/$/, "").split("/");
  const wild = names.findIndex((name) => /[*?[\]\\]/.test(name));
  const literal = wild === -1 ? names : names.slice(0, wild);
  if (literal.length === 0) return [];
  // A rule about a folder is about its content too, so a pattern with a wildcard ends in a folder.
  const path = literal.join("/") + (wild === -1 ? "" : "/");
  if (base === "root") return roots.map((root) => ({ absolute: `${root}/${path}`, relative: path }));
  const absolute = `/${path}`;
  return [{ absolute, relative: relativeTo(absolute, roots, nodePath) }];
}

/** Whether a path below a root may match: the literal beginning of the pattern must lead to a root or into one. */
function touchesRoot(line: string, roots: readonly string[]): boolean {
  const names = line.replace(/^\//, "").split("/");
  return roots.some((root) => {
    const parts = belowSystemRoot(root).split("/");
    for (const [at, name] of names.entries()) {
      if (at >= parts.length || /[*?[\]\\]/.test(name)) return true;
      if (name.toLowerCase() !== parts[at]?.toLowerCase()) return name === "";
    }
    return true;
  });
}

// A guard for a session restricted to some folders of the workspace. It only refuses more than the guard that it wraps.
// The folders above stay open for listing, as the way down.

/** `folders`: real absolute paths; undefined returns the guard unchanged. */
export function restrictGuard(guard: Guard, folders: readonly string[] | undefined): Guard {
  if (folders === undefined) return guard;
  const inside = (path: string): boolean => relativeTo(path, folders, nodePath) !== undefined;
  const onTheWay = (path: string): boolean =>
    folders.some((folder) => relativeTo(folder, [path], nodePath) !== undefined);
  const open = (path: string, is: "file" | "folder"): boolean => inside(path) || (is === "folder" && onTheWay(path));
  const outside = ({ asked, absolute, relative }: Place): Problem =>
    new Problem({
      code: "ACCESS_DENIED",
      place: { asked, absolute, relative },
      reason: "outside",
      roots: folders,
      suggestions: [],
    });

  return {
    ...guard,
    denies: true,
    resolve(asked, also) {
      const resolved = guard.resolve(asked, also);
      if (resolved.seen === "missing" && !inside(resolved.target?.real ?? resolved.place.absolute)) {
        resolved.folder?.close();
        return { seen: "outside", place: resolved.place };
      }
      return resolved;
    },
    async permit(permission, target, ...rest) {
      const free = permission === "read" ? open(target.real, target.is) : inside(target.real);
      if (!free) throw outside(target);
      return guard.permit(permission, target, ...rest);
    },
    hidesBeneath(names) {
      const hides = guard.hidesBeneath(names);
      return (below) => (names.every((name) => inside(nodePath.join(name, below))) ? hides(below) : "denied");
    },
    hiddenPatterns: (where) => ({ ...guard.hiddenPatterns(where), cover: "some", mayBeHidden: () => true }),
    search(root) {
      const view = guard.search(root);
      return {
        hides: (relative, is) => !open(nodePath.join(root, relative), is) || view.hides(relative, is),
        shows: (relative) => inside(nodePath.join(root, relative)) && view.shows(relative),
      };
    },
    // A restricted session is not admitted anywhere else.
    admit: async () => undefined,
    get mode() {
      return guard.mode;
    },
    denied(permission, paths, is) {
      const shut = paths.some((path) => !open(path, is));
      if (shut) return { verdict: "deny", text: "client roots", source: "client" };
      return guard.denied(permission, paths, is);
    },
  };
}
