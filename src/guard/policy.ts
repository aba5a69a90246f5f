/** The decision of all rules together, compiled once for a toolkit. The guard adds what differs between sessions. */

import * as nodePath from "node:path";
import { type Disk, realPrefixes, withHandleClosed } from "../disk/disk.ts";
import type { Decider, Lock, Permission, RuleFault, RuleText } from "../contract/permission.ts";
import type { PathName } from "./group.ts";
import { nameOf, relativesTo } from "./paths.ts";
import { finish, type Steps } from "../text/text.ts";
import { eachOf, firstOf, toolPermission } from "./patterns.ts";
import { defaultRules, ownRules, protectedRules } from "./protected.ts";
import { compileRules, type Decision } from "./rules.ts";

export interface Judgement extends Decision {
  readonly by: Decider;
}

export type Policy = ReturnType<typeof createPolicy>;

export interface PolicyOptions {
  readonly rules: readonly RuleText[];
  readonly secrets: "ask" | "allow";
  readonly home: string | undefined;
  readonly stateDir?: string | undefined;
  readonly trustProject?: boolean | undefined;
  readonly locked?: readonly Lock[] | undefined;
}

/** Whether one of the two folders contains the other. Rules ignore letter case. */
function isNear(root: string, stateDir: string): boolean {
  const [a, b] = [root, stateDir].map((path) => `${path.replaceAll("\\", "/").toLowerCase().replace(/\/+$/, "")}/`);
  return a !== undefined && b !== undefined && (a.startsWith(b) || b.startsWith(a));
}

export function createPolicy(options: PolicyOptions) {
  const { home, stateDir } = options;
  const realPrefix = realPrefixes();
  const stateDirs = stateDir === undefined ? [] : [stateDir, realPrefix(stateDir)];
  const keepsNear = (root: string): boolean => stateDirs.some((folder) => isNear(root, folder));
  const uncounted: RuleFault[] = [];
  const effective = options.rules.filter((rule) => {
    const why = whyNotCounted(rule, options);
    if (why !== undefined) uncounted.push({ verdict: rule.verdict, text: rule.text, source: rule.source, why });
    return why === undefined;
  });
  /** A rule that was reported as a fault must have no effect. */
  const keyOf = ({ verdict, text, source }: Pick<RuleText, "verdict" | "text" | "source">): string =>
    `${verdict} ${source} ${text}`;
  const soundRules = (): readonly RuleText[] => {
    if (rules.faults.length === 0) return effective;
    const faulty = new Set(rules.faults.map(keyOf));
    return effective.filter((rule) => !faulty.has(keyOf(rule)));
  };
  const ownTexts = ownRules(stateDir);
  const rules = compileRules(effective, { home, realPrefix });
  const secrets = compileRules(defaultRules, { home });
  const protectedOnes = compileRules(protectedRules, { home });
  const own = compileRules(ownTexts, { home, realPrefix });
  /** Sessions on the same disk share their links. */
  const linksByDisk = new WeakMap<Disk, NamedLinks>();
  const linksOn = (disk: Disk): NamedLinks => {
    const holds = (permission: Permission, name: PathName): boolean => rules.denied(permission, [name]) !== undefined;
    const links = linksByDisk.get(disk) ?? namedLinks(soundRules(), disk, home, undefined, holds);
    linksByDisk.set(disk, links);
    return links;
  };

  return {
    /** Makes the first judgements on this disk quick, in steps. */
    *prepare(disk: Disk): Steps<void> {
      yield* rules.prepare();
      yield* linksOn(disk).prepare();
    },
    /** The rules in effect, in the given order; and the built-in ones. */
    rules: effective as readonly RuleText[],
    builtIn: [
      ...ownTexts,
      ...protectedRules,
      ...(options.secrets === "ask" ? defaultRules : []),
    ] as readonly RuleText[],
    faults: [...uncounted, ...rules.faults] as readonly RuleFault[],
    /** Whether a listing may have to omit something. */
    denies: rules.deniesReading || own.deniesReading,
    /** A quick test of paths below a root: if false, reading is not denied. It spares large searches most rules. */
    mayDenyBelow: (root: string): ((relative: string) => boolean) => {
      if (rules.deniesReading || keepsNear(root)) return () => true;
      // Only the rules about Filehand's own files remain, and their names all contain "filehand".
      return (relative) => /filehand/i.test(relative);
    },
    keepsNear,
    /** Where the paths that deny rules name lead, looked up anew as needed. */
    linksOn,
    isSecret: (names: readonly PathName[]): boolean => secrets.decide("read", names).rule !== undefined,
    /** Whether a session may be admitted to a folder outside the roots. `names`: those of the folder. */
    judgeExternal: (names: readonly PathName[]): Decision => rules.decide("external_directory", names),
    speaksOfExternal: effective.some(({ text }) => aboutExternal.test(text)),

    /** The rule that denies it, if one does: cheaper than `judge`. */
    denied: (permission: Permission, names: readonly PathName[], links: LinkDenials): RuleText | undefined =>
      own.denied(permission, names) ?? rules.denied(permission, names) ?? linkDenial(permission, names, links),

    /** A rule decides; else a secret asks; else a file inside the roots may be read. */
    judge(permission: Permission, names: readonly PathName[], links: LinkDenials): Judgement {
      const ownFile = own.decide(permission, names);
      if (ownFile.verdict === "deny") return { ...ownFile, by: "own file" };
      const decision = rules.decide(permission, names);
      if (decision.verdict === "deny") return { ...decision, by: "rule" };
      const byLink = linkDenial(permission, names, links);
      if (byLink !== undefined) return { verdict: "deny", rule: byLink, by: "rule about a link to it" };
      const asksAlways = permission === "edit" ? protectedOnes.decide(permission, names) : undefined;
      if (asksAlways?.rule !== undefined) return { ...asksAlways, by: "protected" };
      const by = decision.rule === undefined ? "no rule" : "rule";
      // No project, trusted or not, can release the user's secrets: only the operator's own rules can.
      const isFirm = decision.verdict !== "allow" || (decision.rule && decision.rule.source !== "project settings");
      const { verdict, rule } = decision;
      if (isFirm || options.secrets === "allow") return { verdict, rule, by };
      const secret = secrets.decide(permission, names);
      return secret.rule === undefined ? { verdict, rule, by } : { ...secret, by: "secret" };
    },
  };
}

const linkDenial = (permission: Permission, names: readonly PathName[], links: LinkDenials): RuleText | undefined =>
  firstOf(names, ({ absolute }) => links.deny(permission, absolute.replace(/\/$/, "")));

const aboutExternal = /^\s*external[_-]?directory\b/i;

/** Sources that count even if the rules are locked. */
const operators: readonly string[] = ["user settings", "options"];

/** A rule that widens access counts only from sources that may widen it; a rule that narrows access always counts. */
function whyNotCounted(
  { verdict, text, source }: RuleText,
  { trustProject = false, locked = [] }: PolicyOptions,
): string | undefined {
  // Without an ask rule about folders outside, sessions do not ask for them at all.
  const widens = verdict === "allow" || (verdict === "ask" && aboutExternal.test(text));
  if (!widens) return undefined;
  if (source === "project settings" && !trustProject) {
    return "a project may not allow itself anything, add its folder to trustedProjects in your own settings if you trust it";
  }
  return locked.includes("rules") && !operators.includes(source)
    ? "the operator has locked the rules, so only the user's own settings may allow something"
    : undefined;
}

// Deny rules that name one path (`Read(/settings)`) or the content of one folder (`Read(/private/**)`). If that path is
// a symlink, its target is denied under its own name too, because the rule means the content. Rules with other
// wildcards name no single path.

type LinkDenials = Pick<NamedLinks, "deny">;

interface NamedLinks {
  /** The rule whose symlink leads to this real path, or to a folder above it. */
  deny(permission: "read" | "edit", real: string): RuleText | undefined;
  /** The same with the symlinks as of now, without lookups. `leads`: whether any of the names is a symlink. */
  now(): LinkDenials & { readonly leads: boolean };
  /** Makes the first answer quick, in steps. */
  prepare(): Steps<void>;
}

/**
 * A lookup opens every folder on its way (30 µs), so no call makes more than these. Of more names only those that are
 * symlinks are looked up, and of more symlinks none: their goals are those of the last scan.
 */
const lookupsMax = 16;
/**
 * A scan costs an `lstat` (3 µs) for each name. After the first, which takes all, it takes the next `scannedMax` names;
 * it runs at most this often, and for at most 1 / `scanShare` of the time.
 */
const scannedMax = 2_500;
/** Local, like `scanShare`: only this scan knows it. */
const scanEveryMs = 250;
const scanShare = 20;

const ruleForm = /^\s*([\w-]+)\(([^*?[\]!\\]+?)(\/\*\*\/?)?\)\s*$/;

interface Named {
  readonly rule: RuleText;
  readonly path: string;
  readonly reading: boolean;
  /** `folder/**` covers the content of the folder, not the folder. */
  readonly contents: boolean;
}

export function namedLinks(
  rules: readonly RuleText[],
  disk: Disk,
  home: string | undefined,
  nowMs: () => number = () => performance.now(),
  /** Whether a file in a linked folder is denied under that name: an exception may have released it. */
  holds: (permission: "read" | "edit", name: PathName) => boolean = () => true,
): NamedLinks {
  const roots = disk.roots.flatMap(({ given, real }) => [given, real as string]);
  let made: readonly Named[] | undefined;
  function* readNames(): Steps<readonly Named[]> {
    if (made !== undefined) return made;
    const named: Named[] = [];
    yield* eachOf(rules, (rule) => {
      if (rule.verdict === "deny") named.push(...namedBy(rule, disk, home));
    });
    return (made = named);
  }
  const goalOf = ({ path }: Named): string | undefined => {
    const lookup = withHandleClosed(disk.lookup(path));
    if (lookup.seen !== "node") return undefined;
    return lookup.real === path ? undefined : lookup.real;
  };
  /** The names that are symlinks, with their goals, as of the last scan. A dangling one has a goal too. */
  const scanned = new Map<Named, string>();
  let nextScanMs = Number.NEGATIVE_INFINITY;
  let nextName = 0;
  function* scan(named: readonly Named[]): Steps<void> {
    const beganMs = nowMs();
    const realPrefix = realPrefixes();
    yield* eachOf(named, (one) => {
      // No lookup finds what is outside the roots, so nothing there is touched.
      const real = roots.some((root) => one.path.startsWith(root)) ? realPrefix(one.path) : one.path;
      if (real === one.path) scanned.delete(one);
      else scanned.set(one, real);
    });
    const endedMs = nowMs();
    nextScanMs = endedMs + Math.max(scanEveryMs, (endedMs - beganMs) * scanShare);
  }
  function* prepare(): Steps<void> {
    const named = yield* readNames();
    if (named.length > lookupsMax && nextScanMs === Number.NEGATIVE_INFINITY) yield* scan(named);
  }
  const current = (): readonly Named[] => {
    if (made?.length === 0) return made;
    finish(prepare());
    const named = finish(readNames());
    if (named.length <= lookupsMax) return named;
    if (nowMs() >= nextScanMs) {
      finish(scan(named.slice(nextName, nextName + scannedMax)));
      nextName = nextName + scannedMax < named.length ? nextName + scannedMax : 0;
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
    prepare,
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
  let end = pattern.length;
  while (pattern[end - 1] === "/") end -= 1;
  const name = pattern.slice(0, end);
  if (name === "") return [];
  if (name.startsWith("//")) return [name.slice(1)];
  if (name.startsWith("~/")) return home === undefined ? [] : [nodePath.join(home, name.slice(2))];
  return disk.roots.map((root) => nodePath.join(root.real, name));
}
