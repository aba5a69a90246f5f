/**
 * What rules hide, as patterns for a search that can leave files out by gitignore's rules: then it need not open them.
 * Only a help: a search asks about every file that it tells. So what cannot be said here may be left out, and nothing may
 * be said that hides more than the rules do.
 */

import type { RuleText } from "../contract/permission.ts";
import { withoutDots } from "./patterns.ts";
import { ownNames } from "./protected.ts";
import { defaultRules } from "./secrets.ts";

export interface HiddenPatterns {
  /** In the order of the rules, in any letter case; `!` takes out again. */
  readonly lines: readonly string[];
  /** `all`: no file is hidden but those that fit, and passing ones of our own. `some`: others may be. */
  readonly cover: "all" | "some";
  /**
   * Does a path hold what some rule asks for, which is always within one of its names? A quick look for who counts; it
   * decides nothing. Asked of parts of a path it says the same, if any of them holds it.
   */
  readonly mayBeHidden: (path: string) => boolean;
}

export function hiddenPatterns(
  rules: readonly RuleText[],
  where: "root" | "within",
  /** `elsewhere`: files may also be hidden for where they lie, or for a link that leads to them. */
  { asked, elsewhere = false }: { readonly asked: "ask" | "allow"; readonly elsewhere?: boolean },
): HiddenPatterns {
  const hiding = rules.filter(({ verdict }) => verdict === "deny" || (verdict === "ask" && asked === "ask"));
  // An allow rule may lift what asks by default.
  const lifted = rules.some(({ verdict }) => verdict === "allow");
  const defaults = asked === "ask" && !lifted ? defaultRules : [];
  const lines = [...defaults, ...hiding].map((rule) => lineOf(rule.text, where));
  const complete = !elsewhere && (asked === "allow" || !lifted) && lines.every((line) => line !== undefined);
  // Files of our own, which nobody looks for, are not worth a line in every search.
  const texts = [...[...defaults, ...hiding].map(({ text }) => text), ...ownNames];
  const mayBeHidden = complete ? quickLook(texts) : () => true;
  return { lines: lines.filter((line) => line !== undefined), cover: complete ? "all" : "some", mayBeHidden };
}

/** The longest plain part of each pattern that hides. */
function quickLook(rules: readonly string[]): (path: string) => boolean {
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

/** Undefined where the rule has no such form; empty if it is not about reading. */
function lineOf(text: string, where: "root" | "within"): string | undefined {
  const parts = reading.exec(text);
  if (parts === null) return /^\s*(?:edit|write|multiedit|notebookedit|patch)\b/i.test(text) ? "" : undefined;
  const [, pattern] = parts;
  if (pattern === undefined) return "*";
  const negated = pattern.startsWith("!");
  const plain = withoutDots(negated ? pattern.slice(1) : pattern);
  // Braces, brackets and escapes are where programs that read such patterns differ.
  if (/[{}\\\s]|^~|^\/\/|^[a-z]:|^#/i.test(plain) || (plain.includes("[") && !/\[[-_~]+\]/.test(plain)))
    return undefined;
  if (plain.startsWith("/") && where === "within") return undefined;
  const anchored = plain.startsWith("/") ? plain : `**/${plain}`;
  return (negated ? "!" : "") + anyCase(anchored);
}

/** Rules that hide hold in any letter case, ignore files do not. */
const anyCase = (pattern: string): string =>
  pattern.replace(/[a-z]/gi, (letter) => `[${letter.toLowerCase()}${letter.toUpperCase()}]`);
