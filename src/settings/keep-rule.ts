/** Puts an allow rule into a settings file that people wrote: what else is in there, comments too, stays as it is. */

import { findNodeAtLocation, type ParseError, parseTree } from "jsonc-parser";
import { limits } from "../contract/limits.ts";
import { readSmallFile } from "../disk/small-file.ts";
import { writeSmallFile } from "../disk/small-file-write.ts";
import { inserted } from "./insert-text.ts";

/** Who writes at the same time is waited for so many times. */
const triesMax = 5;

/** Says why it could not be kept; undefined when it is. */
export function keepRule(path: string, rule: string, links: "follow" | "refuse"): { readonly why: string } | undefined {
  for (let tries = 1; tries <= triesMax; tries += 1) {
    const before = textOf(path);
    if (typeof before === "object") return before;
    const after = withRule(before ?? "", rule);
    if (typeof after === "object") return after;
    if (after === before) return undefined;
    const wrote = writeSmallFile({ path, before, text: after, bytesMax: limits.settingsBytesMax, links });
    if (wrote !== "changed") return wrote;
  }
  return { why: "others keep changing it" };
}

function textOf(path: string): string | undefined | { readonly why: string } {
  try {
    return readSmallFile(path, limits.settingsBytesMax, "kept");
  } catch (error) {
    return { why: error instanceof Error ? error.message : String(error) };
  }
}

/** The text with the rule among those that allow. A file that is not understood is not touched. */
export function withRule(whole: string, rule: string): string | { readonly why: string } {
  // A byte order mark stays, but is nothing to a parser.
  const mark = whole.startsWith("\ufeff") ? "\ufeff" : "";
  const after = ruleAdded(whole.slice(mark.length), rule);
  return typeof after === "string" ? mark + after : after;
}

function ruleAdded(text: string, rule: string): string | { readonly why: string } {
  if (text.trim() === "") return `${JSON.stringify({ permissions: { allow: [rule] } }, undefined, 2)}\n`;
  const errors: ParseError[] = [];
  const tree = parseTree(text, errors, { allowTrailingComma: true });
  if (errors.length > 0 || tree?.type !== "object") return { why: "it is not valid JSON with comments" };
  const permissions = findNodeAtLocation(tree, ["permissions"]);
  const allow = findNodeAtLocation(tree, ["permissions", "allow"]);
  if (permissions !== undefined && permissions.type !== "object") return { why: '"permissions" is no object' };
  if (allow !== undefined && allow.type !== "array") return { why: '"permissions.allow" is no list' };
  if (allow?.children?.some(({ value }) => value === rule) === true) return text;
  const item = JSON.stringify(rule);
  if (allow !== undefined) return inserted(text, allow, item);
  if (permissions !== undefined) return inserted(text, permissions, `"allow": [${item}]`);
  return inserted(text, tree, `"permissions": { "allow": [${item}] }`);
}
