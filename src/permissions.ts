/** What the library tells about permissions: the guard's judgement, for whoever writes rules. */

import { FilehandError } from "./contract/failure.ts";
import type { Lock } from "./contract/mode.ts";
import type { ListedRule, Permissions } from "./contract/permission.ts";
import type { RuleFault, RuleText } from "./contract/rule.ts";
import { realPrefixes } from "./disk/real-prefix.ts";
import { idleRules } from "./guard/idle-rules.ts";
import type { Guard } from "./guard/guard.ts";
import { toolPermission } from "./guard/patterns.ts";
import type { Policy } from "./guard/policy.ts";

export interface PermissionsOf {
  readonly guard: () => Guard;
  readonly policy: Policy;
  /** All that were given, also those that do not count. */
  readonly rules: readonly RuleText[];
  /** Rules that this session keeps. */
  readonly kept: () => readonly RuleText[];
  readonly roots: readonly string[];
  readonly home: string | undefined;
  readonly locked: readonly Lock[];
}

export function permissionsOf({ guard, policy, rules, kept, roots, home, locked }: PermissionsOf): Permissions {
  const explain: Permissions["explain"] = (tool, path) => {
    const permission = toolPermission(tool);
    if (permission === "read" || permission === "edit") return guard().explain(tool, permission, path);
    const why = typeof permission === "object" ? permission.why.replace(/^its/, "the") : "that is no tool";
    throw new FilehandError("UNKNOWN_TOOL", `Cannot judge what "${tool}" may do: ${why}`);
  };
  return {
    explain,
    check: (tool, paths) => paths.every((path) => explain(tool, path).verdict === "allow"),
    list: () => {
      const all = [...rules, ...kept()];
      const idle = idleRules(policy.rules, roots, { home, realPrefix: realPrefixes() });
      const listed = all.map((rule): ListedRule => {
        const fault = faultOf(rule, policy.faults) ?? idle(rule);
        return fault === undefined ? rule : { ...rule, fault };
      });
      const { mode } = guard();
      return { mode, locked, roots, rules: listed, builtIn: policy.builtIn, faults: policy.faults };
    },
  };
}

const faultOf = ({ verdict, text, source }: RuleText, faults: readonly RuleFault[]): string | undefined =>
  faults.find((fault) => fault.verdict === verdict && fault.text === text && fault.source === source)?.why;
