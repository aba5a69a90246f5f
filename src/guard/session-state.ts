/** A session's own decisions: its mode, and the rules that the user chose to keep for it. */

import type { Mode, RuleText } from "../contract/permission.ts";
import type { PathName } from "./group.ts";
import type { RulePermission } from "./patterns.ts";
import { compileRules, type Rules } from "./rules.ts";

export interface SessionState {
  mode: Mode;
  readonly kept: readonly RuleText[];
  keep(rule: string): void;
  /** Takes over the decisions of another process that serves the session. */
  restore(mode: Mode, rules: readonly string[]): void;
  /** The question named the real path, so the answer applies to it, whatever symlink the file is reached by now. */
  isAnswered(permission: RulePermission, real: PathName): boolean;
}

export function createSessionState(mode: Mode, home: string | undefined): SessionState {
  let kept: readonly RuleText[] = [];
  let compiled: Rules | undefined;
  const state: SessionState = {
    mode,
    get kept() {
      return kept;
    },
    keep(text) {
      kept = [...kept, { verdict: "allow", text, source: "session" }];
      compiled = compileRules(kept, { home });
    },
    restore(now, rules) {
      state.mode = now;
      kept = rules.map((text) => ({ verdict: "allow", text, source: "session" }));
      compiled = kept.length === 0 ? undefined : compileRules(kept, { home });
    },
    isAnswered: (permission, real) => compiled?.decide(permission, [real]).rule !== undefined,
  };
  return state;
}

/** Whether this rule covers all of these paths. A rule that does not answers nothing and must not be stored. */
export function coversAll(
  text: string,
  permission: RulePermission,
  reals: readonly PathName[],
  home: string | undefined,
): boolean {
  const rules = compileRules([{ verdict: "allow", text, source: "session" }], { home });
  return reals.every((real) => rules.decide(permission, [real]).rule !== undefined);
}
