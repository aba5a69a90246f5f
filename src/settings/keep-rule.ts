/** Adds an allow rule to a settings file that people wrote: everything else in it, comments included, stays. */

import { createScanner, findNodeAtLocation, type Node, type ParseError, parseTree } from "jsonc-parser";
import { limits } from "../contract/limits.ts";
import { readSmallFile, writeSmallFile } from "../disk/disk.ts";

/** Another program may write at the same time; each attempt reads the file again. */
const triesMax = 5;

/** Why it could not be stored; undefined if it was. */
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

/** The text with the rule in its allow list. A file that cannot be parsed is not touched. */
export function withRule(whole: string, rule: string): string | { readonly why: string } {
  // A byte order mark stays, but the parser must not see it.
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
  if (allow !== undefined) return insertChild(text, allow, item);
  if (permissions !== undefined) return insertChild(text, permissions, `"allow": [${item}]`);
  return insertChild(text, tree, `"permissions": { "allow": [${item}] }`);
}

// Adds an item to a list, or a key to an object, in a JSON text with comments: all other bytes stay. Pure.

/** `snippet` goes after the last child of the container, on a line of its own if the children have their own. */
export function insertChild(text: string, container: Node, snippet: string): string {
  const open = container.offset + 1;
  const close = container.offset + container.length - 1;
  const last = container.children?.at(-1);
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  if (last === undefined) {
    const isBare = text.slice(open, close).trim() === "";
    // A comment in an empty container stays before the new child, and may run to the end of its line.
    return isBare
      ? text.slice(0, open) + snippet + text.slice(close)
      : text.slice(0, close) + eol + snippet + eol + text.slice(close);
  }
  const end = last.offset + last.length;
  const { hasComma, lineEnd } = endOfLastChild(text, end, close);
  if (!/[\r\n]/.test(text.slice(end, close))) return `${text.slice(0, end)}, ${snippet}${text.slice(end)}`;
  const indent = /^[ \t]*/.exec(text.slice(text.lastIndexOf("\n", last.offset - 1) + 1))?.[0] ?? "";
  const comma = hasComma ? "" : ",";
  const line = `${eol}${indent}${snippet.replaceAll("\n", eol + indent)}${hasComma ? "," : ""}`;
  return text.slice(0, end) + comma + text.slice(end, lineEnd) + line + text.slice(lineEnd);
}

/** Whether a comma follows the last child, and where its line ends. Comments on that line belong to it. */
function endOfLastChild(
  text: string,
  from: number,
  close: number,
): { readonly hasComma: boolean; readonly lineEnd: number } {
  const scanner = createScanner(text, false);
  scanner.setPosition(from);
  let hasComma = false;
  let lineEnd: number | undefined;
  let at = from;
  for (;;) {
    scanner.scan();
    const offset = scanner.getTokenOffset();
    const token = text.slice(offset, offset + scanner.getTokenLength());
    if (token === "" || offset >= close) break;
    if (/^[\r\n]/.test(token)) lineEnd ??= at;
    if (token === ",") {
      hasComma = true;
      lineEnd = undefined; // a comma may be on a line of its own
    }
    at = offset + token.length;
    if (lineEnd !== undefined && hasComma) break;
  }
  return { hasComma, lineEnd: lineEnd ?? at };
}
