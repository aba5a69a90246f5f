/**
 * Deny rules that name one path outright (`Read(/settings)`). If that name is a link, what it leads to is denied under
 * its own name too: who denies the link means the content. Rules with wildcards name no single link and are left out.
 */

import * as nodePath from "node:path";
import type { RuleText } from "../contract/rule.ts";
import type { Disk } from "../disk/disk.ts";

export interface NamedLinks {
  /** The rule whose link leads to this real path, or to a folder above it. */
  deny(permission: "read" | "edit", real: string): RuleText | undefined;
}

/** Each costs a lookup per call, so there is an end to them. */
const namedMax = 100;

const readTool = /^(?:read|glob|grep|ls)$/i;
const ruleForm = /^\s*([a-z]+)\(([^*?[\]!\\]+)\)\s*$/i;

export function namedLinks(rules: readonly RuleText[], disk: Disk, home: string | undefined): NamedLinks {
  const named = rules
    .filter(({ verdict }) => verdict === "deny")
    .flatMap((rule) => {
      const [, tool = "", pattern = ""] = ruleForm.exec(rule.text) ?? [];
      return pathsOf(pattern, disk, home).map((path) => ({ rule, path, reading: readTool.test(tool) }));
    })
    .slice(0, namedMax);
  return {
    deny(permission, real) {
      for (const { rule, path, reading } of named) {
        if (permission === "read" && !reading) continue;
        const look = disk.look(path);
        if (look.seen !== "node") continue;
        look.held.close();
        if (look.real !== path && (real === look.real || real.startsWith(`${look.real}${nodePath.sep}`))) return rule;
      }
      return undefined;
    },
  };
}

function pathsOf(pattern: string, disk: Disk, home: string | undefined): readonly string[] {
  const name = pattern.replace(/\/+$/, "");
  if (name === "") return [];
  if (name.startsWith("//")) return [name.slice(1)];
  if (name.startsWith("~/")) return home === undefined ? [] : [nodePath.join(home, name.slice(2))];
  return disk.roots.map((root) => nodePath.join(root.real, name));
}
