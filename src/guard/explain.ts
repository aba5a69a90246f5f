/** Explains a judgement as data: the rule, its source, the names it was compared with, and the remedy. */

import * as nodePath from "node:path";
import type { Explanation, Mode, Permission, Remedy } from "../contract/permission.ts";
import type { PathName } from "./group.ts";
import { absolutePattern } from "./paths.ts";
import type { Judgement } from "./policy.ts";
import type { Decision } from "./rules.ts";

export interface Explained {
  readonly tool: string;
  readonly permission: Permission;
  readonly path: string;
  readonly names: readonly PathName[];
  readonly exists: boolean;
  readonly mode: Mode;
  /** Judges some of the names by rules and mode. */
  readonly judge: (names: readonly PathName[]) => Judgement;
  /** The rule for exactly this file. */
  readonly narrow: string | undefined;
}

export function explanationOf(asked: Explained): Explanation {
  const { tool, permission, path, names, exists, mode, judge } = asked;
  const { verdict, rule, by } = judge(names);
  const shown = names.map((name) => name.absolute.replace(/(?<=.)\/$/, ""));
  const isPartial = names.length > 1 && verdict !== "allow" && rule !== undefined;
  const matched = isPartial ? names.findIndex((name) => judge([name]).rule === rule) : -1;
  return {
    tool,
    permission,
    path,
    verdict,
    by,
    rule,
    names: shown,
    matched: shown[matched],
    exists,
    mode,
    remedy: verdict === "allow" ? undefined : remedyFor({ verdict, rule, by }, asked.narrow),
  };
}

/** For a path that no rule was compared with: it is outside, or malformed. */
export function refusedExplanation(
  { tool, permission, path, mode }: Pick<Explained, "tool" | "permission" | "path" | "mode">,
  by: "outside" | "path",
  absolute: string,
): Explanation {
  const remedy: Remedy =
    by === "path" ? { do: "nothing" } : { do: "add a root", folder: nodePath.dirname(nodePath.resolve(absolute)) };
  const names = by === "path" ? [] : [absolute];
  return {
    tool,
    permission,
    path,
    verdict: "deny",
    by,
    rule: undefined,
    names,
    matched: undefined,
    exists: false,
    mode,
    remedy,
  };
}

/** For a path in a folder outside that the session may be admitted to. */
export function externalExplanation(
  { tool, permission, path, mode }: Pick<Explained, "tool" | "permission" | "path" | "mode">,
  { verdict, rule }: Decision,
  names: readonly [asked: string, folder: string],
): Explanation {
  const by = "external directory";
  const narrow = `external_directory(${absolutePattern(names[1])}/**)`;
  const lifted: Remedy = rule === undefined ? { do: "add", rule: narrow } : { do: "remove", rule };
  const remedy = verdict === "allow" ? undefined : lifted;
  return { tool, permission, path, verdict, by, rule, names, matched: undefined, exists: false, mode, remedy };
}

function remedyFor({ verdict, rule, by }: Judgement, narrow: string | undefined): Remedy {
  switch (by) {
    case "mode":
      return { do: "switch mode", to: "default" };
    case "rule":
    case "rule about a link to it":
    case "external directory":
      // Deny and ask override allow, so the only remedy is to remove that rule.
      return rule === undefined || verdict === "allow" ? { do: "nothing" } : { do: "remove", rule };
    case "secret":
    case "no rule":
      return narrow === undefined ? { do: "nothing" } : { do: "add", rule: narrow };
    case "own file":
    case "protected":
    case "outside":
    case "path":
      return { do: "nothing" };
  }
}
