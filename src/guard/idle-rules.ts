/**
 * Rules that are well formed and can still never decide anything: a stronger rule covers all that they match, or what
 * they match lies outside every root. Only what is certain is told. Pure.
 */

import * as nodePath from "node:path";
import type { RuleText, Verdict } from "../contract/rule.ts";
import type { PathName } from "./group.ts";
import { belowSystemRoot, parseRule } from "./patterns.ts";
import { relativeTo } from "./paths.ts";
import { anchoredTwice, compileRules, type RuleOptions, type Rules } from "./rules.ts";

/** Why a rule is idle; undefined if it is not, or nobody can tell. */
export function idleRules(
  rules: readonly RuleText[],
  roots: readonly string[],
  options: RuleOptions,
): (rule: RuleText) => string | undefined {
  const { home, realPrefix } = options;
  const originals = new Map<RuleText, RuleText>();
  /** `beneath`: what lies in a folder is covered by `folder/**` too, though the folder itself is not. */
  const only = (verdict: Verdict, beneath: boolean): Rules => {
    const some = rules.filter((rule) => rule.verdict === verdict);
    const folders = some.map((rule) => ({ ...rule, text: rule.text.replace(/\/\*\*\/?\)\s*$/, "/)") }));
    for (const [at, folder] of folders.entries()) originals.set(folder, some[at] ?? folder);
    // Out of `folder/**` something may be taken again, out of the folder nothing.
    const hasExceptions = some.some(({ text }) => text.includes("(!"));
    return compileRules(beneath && !hasExceptions ? folders : some, options);
  };
  const strongerThan = [
    { word: "deny", itself: only("deny", false), beneath: only("deny", true) },
    { word: "ask", itself: only("ask", false), beneath: only("ask", true) },
  ] as const;
  return (rule) => {
    const parsed = anchoredTwice(parseRule(rule, home), rule.verdict, realPrefix);
    if ("why" in parsed || parsed.permission === "external_directory") return undefined;
    const { permission, pattern } = parsed;
    if (pattern?.negated === true) return undefined;
    const lines = pattern?.lines ?? [];
    const [line = ""] = lines;
    if (pattern?.base === "absolute" && !lines.some((one) => touchesRoot(one, roots))) {
      return "what it names lies outside all roots, and nothing out there is ever opened";
    }
    if (rule.verdict === "deny") return undefined;
    const covered = pattern === undefined ? [] : literalNames(line, pattern.base, roots);
    for (const { word, itself, beneath } of strongerThan) {
      if (word === rule.verdict) break;
      const stronger = covered.every(({ absolute }) => absolute.endsWith("/")) ? beneath : itself;
      const by = coveredBy(stronger, word, permission, covered) ?? everythingBy(rules, word, permission, home);
      if (by === undefined) continue;
      const { text, source } = originals.get(by) ?? by;
      return `the ${word} rule ${text} (${source}) covers all of it and is stronger`;
    }
    return undefined;
  };
}

/** A rule without a pattern covers every other rule. */
function everythingBy(
  rules: readonly RuleText[],
  verdict: Verdict,
  permission: "read" | "edit",
  home: string | undefined,
): RuleText | undefined {
  return rules.find((rule) => {
    if (rule.verdict !== verdict || rule.text.includes("(")) return false;
    const parsed = parseRule(rule, home);
    if ("why" in parsed) return false;
    // What may not be read may not be edited either.
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

/** The path or folder that everything matching a pattern is or lies in, in each root; none if there is no such folder. */
function literalNames(line: string, base: "absolute" | "root" | "anywhere", roots: readonly string[]): PathName[] {
  if (base === "anywhere" || line.startsWith("**")) return [];
  const names = line.replace(/^\//, "").replace(/\/$/, "").split("/");
  const wild = names.findIndex((name) => /[*?[\]\\]/.test(name));
  const literal = wild === -1 ? names : names.slice(0, wild);
  if (literal.length === 0) return [];
  // A rule about a folder is one about what lies in it; so is the end of the pattern, unless it names a file.
  const path = literal.join("/") + (wild === -1 ? "" : "/");
  if (base === "root") return roots.map((root) => ({ absolute: `${root}/${path}`, relative: path }));
  const absolute = `/${path}`;
  return [{ absolute, relative: relativeTo(absolute, roots, nodePath) }];
}

/** May a path below a root match? The literal beginning of the pattern must lead to a root, or lie in one. */
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
