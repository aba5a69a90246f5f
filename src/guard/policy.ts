/**
 * What all rules together say about a path, whoever wrote them. Compiled once and shared by all sessions of a toolkit;
 * what differs between sessions (mode, answers that are kept) is the guard's.
 */

import * as nodePath from "node:path";
import { type Disk, realPrefixes, released } from "../disk/disk.ts";
import type { Decider, Lock, Permission, RuleFault, RuleText } from "../contract/permission.ts";
import type { PathName } from "./group.ts";
import { nameOf, relativesTo } from "./paths.ts";
import { toolPermission } from "./patterns.ts";
import { ownRules, protectedRules } from "./protected.ts";
import { compileRules, type Decision } from "./rules.ts";
import { defaultRules } from "./secrets.ts";

export interface Judgement extends Decision {
  readonly by: Decider;
}

export interface Policy {
  judge(permission: Permission, names: readonly PathName[], links: Pick<NamedLinks, "deny">): Judgement;
  /** The rule that denies it outright, if one does: less work than a judgement. */
  denied(permission: Permission, names: readonly PathName[], links: Pick<NamedLinks, "deny">): RuleText | undefined;
  /** May a session be let into a folder outside the roots? The names are the folder's. */
  judgeExternal(names: readonly PathName[]): Decision;
  /** Is there any rule about such folders? */
  readonly speaksOfExternal: boolean;
  /** Is it commonly a secret, whatever rules say? */
  isSecret(names: readonly PathName[]): boolean;
  /** Looks up again what deny rules that name a path outright lead to. */
  linksOn(disk: Disk): NamedLinks;
  /** Is there a rule by which a listing may have to leave something out? */
  readonly denies: boolean;
  /** A quick test of paths below a root: where it says no, reading is not denied. It spares large searches nearly all rules. */
  mayDenyBelow(root: string): (relative: string) => boolean;
  /** May files of a root be those that Filehand keeps, whatever they are called? */
  keepsNear(root: string): boolean;
  readonly faults: readonly RuleFault[];
  /** The rules that count, in the order in which they were given; and those that are built in. */
  readonly rules: readonly RuleText[];
  readonly builtIn: readonly RuleText[];
}

export interface PolicyOptions {
  readonly rules: readonly RuleText[];
  /** What is done about secrets that no rule speaks of. */
  readonly secrets: "ask" | "allow";
  readonly home: string | undefined;
  /** Where Filehand keeps its own files: no tool may touch them. */
  readonly stateDir?: string | undefined;
  /** Do allow rules of the project's own settings count? */
  readonly trustProject?: boolean | undefined;
  readonly locked?: readonly Lock[] | undefined;
}

/** Does one of the two folders hold the other? Rules know no letter case. */
function isNear(root: string, stateDir: string): boolean {
  const [a, b] = [root, stateDir].map((path) => `${path.replaceAll("\\", "/").toLowerCase().replace(/\/+$/, "")}/`);
  return a !== undefined && b !== undefined && (a.startsWith(b) || b.startsWith(a));
}

export function createPolicy(options: PolicyOptions): Policy {
  const { home, stateDir } = options;
  const realPrefix = realPrefixes();
  const stateDirs = stateDir === undefined ? [] : [stateDir, realPrefix(stateDir)];
  const keepsNear = (root: string): boolean => stateDirs.some((folder) => isNear(root, folder));
  const left: RuleFault[] = [];
  const counting = options.rules.filter((rule) => {
    const why = whyNotCounted(rule, options);
    if (why !== undefined) left.push({ verdict: rule.verdict, text: rule.text, source: rule.source, why });
    return why === undefined;
  });
  /** A rule that was told to be without effect has none. */
  const keyOf = ({ verdict, text, source }: Pick<RuleText, "verdict" | "text" | "source">): string =>
    `${verdict} ${source} ${text}`;
  const soundOnes = (): readonly RuleText[] => {
    const faulty = new Set(rules.faults.map(keyOf));
    return counting.filter((rule) => !faulty.has(keyOf(rule)));
  };
  const ownTexts = ownRules(stateDir);
  const rules = compileRules(counting, { home, realPrefix });
  const secrets = compileRules(defaultRules, { home });
  const protectedOnes = compileRules(protectedRules, { home });
  const own = compileRules(ownTexts, { home, realPrefix });
  /** Sessions that see the same disk see the same links. */
  const linksByDisk = new WeakMap<Disk, NamedLinks>();

  return {
    rules: counting,
    builtIn: [...ownTexts, ...protectedRules, ...(options.secrets === "ask" ? defaultRules : [])],
    faults: [...left, ...rules.faults],
    denies: rules.deniesReading || own.deniesReading,
    mayDenyBelow: (root) => {
      if (rules.deniesReading || keepsNear(root)) return () => true;
      // What is left are rules about files of our own, and those all carry our name.
      return (relative) => /filehand/i.test(relative);
    },
    keepsNear,
    linksOn: (disk) => {
      const holds = (permission: Permission, name: PathName): boolean => rules.denied(permission, [name]) !== undefined;
      const links = linksByDisk.get(disk) ?? namedLinks(soundOnes(), disk, home, undefined, holds);
      linksByDisk.set(disk, links);
      return links;
    },
    isSecret: (names) => secrets.decide("read", names).rule !== undefined,
    judgeExternal: (names) => rules.decide("external_directory", names),
    speaksOfExternal: counting.some(({ text }) => aboutExternal.test(text)),

    denied: (permission, names, links) =>
      own.denied(permission, names) ?? rules.denied(permission, names) ?? linkDenial(permission, names, links),

    /** A rule decides; else a secret asks; else a file inside the roots is free to read. */
    judge(permission, names, links) {
      const ownFile = own.decide(permission, names);
      if (ownFile.verdict === "deny") return { ...ownFile, by: "own file" };
      const decision = rules.decide(permission, names);
      if (decision.verdict === "deny") return { ...decision, by: "rule" };
      const byLink = linkDenial(permission, names, links);
      if (byLink !== undefined) return { verdict: "deny", rule: byLink, by: "rule about a link to it" };
      const asksAlways = permission === "edit" ? protectedOnes.decide(permission, names) : undefined;
      if (asksAlways?.rule !== undefined) return { ...asksAlways, by: "protected" };
      const by = decision.rule === undefined ? "no rule" : "rule";
      // A project may not talk its reader's secrets free, trusted or not: only the operator's own rules lift the default.
      const isFirm = decision.verdict !== "allow" || (decision.rule && decision.rule.source !== "project settings");
      const { verdict, rule } = decision;
      if (isFirm || options.secrets === "allow") return { verdict, rule, by };
      const secret = secrets.decide(permission, names);
      return secret.rule === undefined ? { verdict, rule, by } : { ...secret, by: "secret" };
    },
  };
}

function linkDenial(
  permission: Permission,
  names: readonly PathName[],
  links: Pick<NamedLinks, "deny">,
): RuleText | undefined {
  for (const { absolute } of names) {
    const rule = links.deny(permission, absolute.endsWith("/") ? absolute.slice(0, -1) : absolute);
    if (rule !== undefined) return rule;
  }
  return undefined;
}

const aboutExternal = /^\s*external[_-]?directory\b/i;

/** Sources that the operator answers for, whatever is locked. */
const operators: readonly string[] = ["user settings", "options"];

/** What widens access counts only from those who may widen it; what narrows it counts from anybody. */
function whyNotCounted(
  { verdict, text, source }: RuleText,
  { trustProject = false, locked = [] }: PolicyOptions,
): string | undefined {
  // An ask rule about folders outside is what makes sessions ask for them at all.
  const widens = verdict === "allow" || (verdict === "ask" && aboutExternal.test(text));
  if (!widens) return undefined;
  if (source === "project settings" && !trustProject) {
    return "a project may not allow itself anything, add its folder to trustedProjects in your own settings if you trust it";
  }
  return locked.includes("rules") && !operators.includes(source)
    ? "the operator has locked the rules, so only the user's own settings may allow something"
    : undefined;
}

// Deny rules that name one path outright (`Read(/settings)`), or all that lies in one folder (`Read(/private/**)`). If that
// name is a link, what it leads to is denied under its own name too: who denies the link means the content. Rules with other
// wildcards name no single link and are left out.

interface NamedLinks {
  /** The rule whose link leads to this real path, or to a folder above it. */
  deny(permission: "read" | "edit", real: string): RuleText | undefined;
  /** The same as of now, for very many paths: nothing is looked up any more. `leads`: is any of those names a link? */
  now(): Pick<NamedLinks, "deny"> & { readonly leads: boolean };
}

/**
 * A lookup opens every folder on its way (30 µs), so no call makes more than these. Of more names only those that are
 * symlinks are looked up, and of more symlinks none: their goals are those of the last scan.
 */
const lookupsMax = 16;
/** A scan costs an `lstat` (3 µs) for each name. It runs at most this often, and for at most 1 / `scanShare` of the time. */
const scanEveryMs = 250;
const scanShare = 20;

const ruleForm = /^\s*([\w-]+)\(([^*?[\]!\\]+?)(\/\*\*\/?)?\)\s*$/;

interface Named {
  readonly rule: RuleText;
  readonly path: string;
  readonly reading: boolean;
  /** Only what lies in it: `folder/**` does not speak of the folder. */
  readonly contents: boolean;
}

export function namedLinks(
  rules: readonly RuleText[],
  disk: Disk,
  home: string | undefined,
  nowMs: () => number = () => performance.now(),
  /** Is what a linked folder holds denied under that name? Another rule may have taken it out again. */
  holds: (permission: "read" | "edit", name: PathName) => boolean = () => true,
): NamedLinks {
  const roots = disk.roots.flatMap(({ given, real }) => [given, real as string]);
  let made: readonly Named[] | undefined;
  const all = (): readonly Named[] =>
    (made ??= rules.filter(({ verdict }) => verdict === "deny").flatMap((rule) => namedBy(rule, disk, home)));
  /** Where a name leads, if it is another one. */
  const goalOf = ({ path }: Named): string | undefined => {
    const lookup = released(disk.lookup(path));
    if (lookup.seen !== "node") return undefined;
    return lookup.real === path ? undefined : lookup.real;
  };
  /** The names that are symlinks, with their goals, as of the last scan. A dangling one has a goal too. */
  let scanned: ReadonlyMap<Named, string> = new Map();
  let nextScanMs = Number.NEGATIVE_INFINITY;
  const current = (): readonly Named[] => {
    const named = all();
    if (named.length <= lookupsMax) return named;
    const beganMs = nowMs();
    if (beganMs >= nextScanMs) {
      const realPrefix = realPrefixes();
      scanned = new Map(
        named
          // No lookup finds what is outside the roots, so nothing there is touched.
          .filter(({ path }) => roots.some((root) => path.startsWith(root)))
          .map((one) => [one, realPrefix(one.path)] as const)
          .filter(([{ path }, real]) => real !== path),
      );
      const endedMs = nowMs();
      nextScanMs = endedMs + Math.max(scanEveryMs, (endedMs - beganMs) * scanShare);
    }
    return [...scanned.keys()];
  };
  const currentGoal = (one: Named): string | undefined => (scanned.size > lookupsMax ? scanned.get(one) : goalOf(one));
  const denying =
    (ones: () => readonly Named[], goals: (one: Named) => string | undefined): NamedLinks["deny"] =>
    (permission, real) => {
      for (const one of ones()) {
        if (permission === "read" && !one.reading) continue;
        const goal = goals(one);
        if (goal === undefined) continue;
        const isGoal = real === goal && !one.contents;
        if (!isGoal && !real.startsWith(`${goal}${nodePath.sep}`)) continue;
        const alias = one.path + real.slice(goal.length);
        if (!one.contents || holds(permission, nameOf(alias, relativesTo(alias, roots, nodePath), "file")))
          return one.rule;
      }
      return undefined;
    };
  return {
    deny: denying(current, currentGoal),
    now: () => {
      const goals = new Map(current().map((one) => [one, currentGoal(one)] as const));
      const links = [...goals.keys()].filter((one) => goals.get(one) !== undefined);
      return {
        leads: links.length > 0,
        deny: denying(
          () => links,
          (one) => goals.get(one),
        ),
      };
    },
  };
}

function namedBy(rule: RuleText, disk: Disk, home: string | undefined): readonly Named[] {
  const [, tool = "", pattern = "", contents] = ruleForm.exec(rule.text) ?? [];
  const permission = toolPermission(tool);
  if (permission !== "read" && permission !== "edit") return [];
  return pathsOf(pattern, disk, home).map((path) => ({
    rule,
    path,
    reading: permission === "read",
    contents: contents !== undefined,
  }));
}

function pathsOf(pattern: string, disk: Disk, home: string | undefined): readonly string[] {
  const name = pattern.replace(/\/+$/, "");
  if (name === "") return [];
  if (name.startsWith("//")) return [name.slice(1)];
  if (name.startsWith("~/")) return home === undefined ? [] : [nodePath.join(home, name.slice(2))];
  return disk.roots.map((root) => nodePath.join(root.real, name));
}
