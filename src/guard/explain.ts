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
  readonly judge: (names: readonly PathName[]) => Judgement;
  readonly narrow: string | undefined;
}

type Facts = Pick<Explained, "tool" | "permission" | "path" | "mode">;

export function explanationOf({ names, exists, judge, narrow, ...facts }: Explained): Explanation {
  const { verdict, rule, by } = judge(names);
  const shown = names.map((name) => name.absolute.replace(/(?<=.)\/$/, ""));
  const isPartial = names.length > 1 && verdict !== "allow" && rule !== undefined;
  const matched = isPartial ? names.findIndex((name) => judge([name]).rule === rule) : -1;
  const remedy = verdict === "allow" ? undefined : remedyFor({ verdict, rule, by }, narrow);
  return explained(facts, { verdict, by, rule, names: shown, matched: shown[matched], exists, remedy });
}

const explained = (
  { tool, permission, path, mode }: Facts,
  { verdict, by, rule, names, matched, exists, remedy }: Omit<Explanation, keyof Facts>,
): Explanation => ({ tool, permission, path, verdict, by, rule, names, matched, exists, mode, remedy });

const unmatched = { matched: undefined, exists: false } as const;

export function refusedExplanation(facts: Facts, by: "outside" | "path", absolute: string): Explanation {
  const remedy: Remedy =
    by === "path" ? { do: "nothing" } : { do: "add a root", folder: nodePath.dirname(nodePath.resolve(absolute)) };
  const names = by === "path" ? [] : [absolute];
  return explained(facts, { verdict: "deny", by, rule: undefined, names, ...unmatched, remedy });
}

export function externalExplanation(
  facts: Facts,
  { verdict, rule }: Decision,
  names: readonly [asked: string, folder: string],
): Explanation {
  const narrow = `external_directory(${absolutePattern(names[1])}/**)`;
  const lifted: Remedy = rule === undefined ? { do: "add", rule: narrow } : { do: "remove", rule };
  const remedy = verdict === "allow" ? undefined : lifted;
  return explained(facts, { verdict, by: "external directory", rule, names, ...unmatched, remedy });
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
