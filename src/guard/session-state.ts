/** What a session decided for itself: its mode, and the rules that a person chose to keep for it. */

import type { Mode, RuleText } from "../contract/permission.ts";
import type { PathName } from "./group.ts";
import type { RulePermission } from "./patterns.ts";
import { compileRules, type Rules } from "./rules.ts";

export interface SessionState {
  mode: Mode;
  /** Rules that answer questions; they lift no deny. */
  readonly kept: readonly RuleText[];
  keep(rule: string): void;
  /** The question named the real path, so that is what was answered, by whatever link the file is asked for now. */
  isAnswered(permission: RulePermission, real: PathName): boolean;
}

export function createSessionState(mode: Mode, home: string | undefined): SessionState {
  let kept: readonly RuleText[] = [];
  let compiled: Rules | undefined;
  return {
    mode,
    get kept() {
      return kept;
    },
    keep(text) {
      kept = [...kept, { verdict: "allow", text, source: "session" }];
      compiled = compileRules(kept, { home });
    },
    isAnswered: (permission, real) => {
      const decision = compiled?.decide(permission, [real]);
      return decision?.rule !== undefined;
    },
  };
}

/** Does this very rule cover this path? One that does not answers nothing and must not be kept. */
export function covers(text: string, permission: RulePermission, real: PathName, home: string | undefined): boolean {
  const rules = compileRules([{ verdict: "allow", text, source: "session" }], { home });
  return rules.decide(permission, [real]).rule !== undefined;
}
