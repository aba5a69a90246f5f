/** Why a permission is given or denied, in words for people. */

import type { Explanation, Remedy, RuleText, Verdict } from "../../contract/permission.ts";
import { escapeName } from "../../text/text.ts";

export const meanings = {
  allow: "allowed, nobody is asked",
  ask: "asked about first",
  deny: "refused",
} as const satisfies Record<Verdict, string>;

export const ruleText = ({ verdict, text, source }: Pick<RuleText, "verdict" | "text" | "source">): string =>
  `${verdict} ${escapeName(text)} (${source})`;

export function reasonText({ by, verdict, permission, mode }: Explanation): string {
  switch (by) {
    case "own file":
      return "Filehand's own settings and state are no tool's to touch";
    case "rule":
      return verdict === "allow"
        ? "a rule allows it, and none that is stronger speaks of it"
        : verdict === "ask"
          ? "a rule asks, and ask is stronger than allow"
          : "a rule denies it, and deny is stronger than everything";
    case "rule about a link to it":
      return "a rule denies a link that leads here";
    case "mode":
      return verdict === "allow"
        ? `in ${mode} mode files in the roots are changed without asking`
        : `in ${mode} mode nothing is written, whatever rules say`;
    case "protected":
      return "what can run code later is asked about every time, whatever is allowed";
    case "secret":
      return "files of this name commonly hold secrets";
    case "external directory":
      return "it lies in a folder outside the roots that a rule speaks of";
    case "outside":
      return "it lies outside all roots";
    case "path":
      return "it is no path that can be worked with";
    case "no rule":
      return permission === "read"
        ? "no rule speaks of it, and reading in the roots is free"
        : "no rule speaks of it, and changes are asked about";
  }
}

export function remedyText(remedy: Remedy, by: Explanation["by"]): string {
  switch (remedy.do) {
    case "add":
      return `add the allow rule ${escapeName(remedy.rule)} (--allow, or your settings)`;
    case "remove":
      return `take out the rule ${ruleText(remedy.rule)}`;
    case "switch mode":
      return `--mode ${remedy.to}`;
    case "add a root":
      return `name its folder as a root: --root ${escapeName(remedy.folder)}`;
    case "nothing":
      return by === "protected" ? "nothing: somebody must be asked each time" : "nothing does";
  }
}

/** The same as a few lines: what holds, why, by which rule, and what would allow it. */
export function verdictWords(explanation: Explanation): readonly string[] {
  const { verdict, rule, remedy, by } = explanation;
  return [
    meanings[verdict],
    reasonText(explanation),
    ...(rule === undefined ? [] : [`rule: ${ruleText(rule)}`]),
    ...(remedy === undefined ? [] : [`to allow it: ${remedyText(remedy, by)}`]),
  ];
}
