/**
 * Deny rules that name one path outright (`Read(/settings)`), or all that lies in one folder (`Read(/private/**)`). If that
 * name is a link, what it leads to is denied under its own name too: who denies the link means the content. Rules with other
 * wildcards name no single link and are left out.
 */

import * as nodePath from "node:path";
import type { RuleText } from "../contract/rule.ts";
import type { Disk } from "../disk/disk.ts";
import type { PathName } from "./group.ts";
import { nameOf } from "./names.ts";
import { relativesTo } from "./paths.ts";
import { toolPermission } from "./patterns.ts";

export interface NamedLinks {
  /** The rule whose link leads to this real path, or to a folder above it. */
  deny(permission: "read" | "edit", real: string): RuleText | undefined;
  /** The same as of now, for very many paths: nothing is looked up any more. `leads`: is any of those names a link? */
  now(): Pick<NamedLinks, "deny"> & { readonly leads: boolean };
}

/** So many are looked at in every call. Each costs a lookup, so of more only those that are links already are. */
const everyCallMax = 16;
/** Then all of them are looked at again now and then: at most so often, and for no more than a part of the time. */
const againMs = 250;
const partOfTime = 20;

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
    const look = disk.look(path);
    if (look.seen !== "node") return undefined;
    look.held.close();
    return look.real === path ? undefined : look.real;
  };
  let links: readonly Named[] = [];
  let lookAgainMs = Number.NEGATIVE_INFINITY;
  const current = (): readonly Named[] => {
    const named = all();
    if (named.length <= everyCallMax) return named;
    const beganMs = nowMs();
    if (beganMs >= lookAgainMs) {
      // Where there is no folder there is no link in it.
      const folders = new Map<string, boolean>();
      const hasFolder = ({ path }: Named): boolean => {
        const folder = nodePath.dirname(path);
        const known = folders.get(folder) ?? isThere(folder, disk);
        folders.set(folder, known);
        return known;
      };
      links = named.filter((one) => hasFolder(one) && goalOf(one) !== undefined);
      const endedMs = nowMs();
      lookAgainMs = endedMs + Math.max(againMs, (endedMs - beganMs) * partOfTime);
    }
    return links;
  };
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
    deny: denying(current, goalOf),
    now: () => {
      const goals = new Map(current().map((one) => [one, goalOf(one)] as const));
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

function isThere(path: string, disk: Disk): boolean {
  const look = disk.look(path);
  if (look.seen === "node") look.held.close();
  return look.seen === "node";
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
