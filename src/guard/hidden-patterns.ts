/**
 * What the rules hide, as gitignore patterns, so that a search program need not open those files. Only an optimisation:
 * the search still asks about every file that it reports. So a rule may be missing here, but no pattern may hide more
 * than the rules do.
 */

import type { RuleText } from "../contract/permission.ts";
import { withoutDots } from "./patterns.ts";
import { defaultRules, ownNames } from "./protected.ts";

export interface HiddenPatterns {
  /** In the order of the rules, in any letter case; `!` marks exceptions. */
  readonly lines: readonly string[];
  /** `all`: only matching files are hidden, and Filehand's own temporary files. `some`: others may be. */
  readonly cover: "all" | "some";
  /** Whether a path, or a part of one, contains a text that some hiding rule requires. It decides nothing. */
  readonly mayBeHidden: (path: string) => boolean;
}

/** The patterns of more rules would cost a search more than they spare it. */
const rulesMax = 500;

export function hiddenPatterns(
  rules: readonly RuleText[],
  where: "root" | "within",
  /** `elsewhere`: files may also be hidden because of their location or a symlink to them. */
  { asked, elsewhere = false }: { readonly asked: "ask" | "allow"; readonly elsewhere?: boolean },
): HiddenPatterns {
  if (rules.length > rulesMax) return { lines: [], cover: "some", mayBeHidden: () => true };
  const hiding = rules.filter(({ verdict }) => verdict === "deny" || (verdict === "ask" && asked === "ask"));
  // An allow rule may override the default questions.
  const lifted = rules.some(({ verdict }) => verdict === "allow");
  const defaults = asked === "ask" && !lifted ? defaultRules : [];
  const lines = [...defaults, ...hiding].map((rule) => lineOf(rule.text, where));
  const complete = !elsewhere && (asked === "allow" || !lifted) && lines.every((line) => line !== undefined);
  // Filehand's own files are rare, so no search gets patterns for them.
  const texts = [...[...defaults, ...hiding].map(({ text }) => text), ...ownNames];
  const mayBeHidden = complete ? literalHints(texts) : () => true;
  return { lines: lines.filter((line) => line !== undefined), cover: complete ? "all" : "some", mayBeHidden };
}

/** Tests for the longest literal part of each hiding pattern. */
export function literalHints(rules: readonly string[]): (path: string) => boolean {
  const parts = rules.flatMap((text) => {
    const [, pattern = ""] = reading.exec(text) ?? [];
    if (pattern.startsWith("!") || !reading.test(text)) return [];
    const plain = pattern.split(/[^\w.-]+/);
    return [plain.reduce((longest, part) => (part.length > longest.length ? part : longest), "")];
  });
  const any = new RegExp([...new Set(parts)].map((part) => part.replaceAll(".", "\\.")).join("|"), "i");
  return (path) => any.test(path);
}

const reading = /^\s*(?:read|glob|grep|ls)\s*(?:\((.*)\))?\s*$/is;

/** Undefined if the rule has no gitignore form; empty if it is not about reading. */
function lineOf(text: string, where: "root" | "within"): string | undefined {
  const parts = reading.exec(text);
  if (parts === null) return /^\s*(?:edit|write|multiedit|notebookedit|patch)\b/i.test(text) ? "" : undefined;
  const [, pattern] = parts;
  if (pattern === undefined) return "*";
  const negated = pattern.startsWith("!");
  const plain = withoutDots(negated ? pattern.slice(1) : pattern);
  // Programs differ in how they read braces, brackets and escapes.
  if (/[{}\\\s]|^~|^\/\/|^[a-z]:|^#/i.test(plain) || (plain.includes("[") && !/\[[-_~]+\]/.test(plain)))
    return undefined;
  if (plain.startsWith("/") && where === "within") return undefined;
  const anchored = plain.startsWith("/") ? plain : `**/${plain}`;
  return (negated ? "!" : "") + anyCase(anchored);
}

/** Hiding rules ignore letter case, ignore files do not. */
const anyCase = (pattern: string): string =>
  pattern.replace(/[a-z]/gi, (letter) => `[${letter.toLowerCase()}${letter.toUpperCase()}]`);
