/**
 * Adds an entry to a YAML text, or removes it: all other lines stay. Pure. There is no parser of YAML here: only the plain block
 * form is changed, which programs write (a key at the margin, its entries on indented lines); anything else is refused.
 */

import type { Entry, EntryValue, EntryWish, Merged } from "./client-file.ts";

const refused = (why: string): Merged => ({ merged: "refused", why });

export function withYamlEntry(text: string, entry: Entry, wish: EntryWish): Merged {
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const lines = text.split(/(?<=\n)/);
  const fault = unclear(lines);
  if (fault !== undefined) return refused(fault);
  const heads = lines.flatMap((line, at) => (keyAt(line)?.name === entry.under && indentOf(line) === 0 ? [at] : []));
  if (heads.length > 1) return refused(`it has "${entry.under}" twice`);
  const [head] = heads;
  if (head === undefined) {
    if (wish === "remove") return { merged: "same" };
    const gap = text === "" || text.endsWith("\n") ? "" : eol;
    return { merged: "text", text: text + gap + yamlOf(entry, eol) };
  }
  const rest = keyAt(lines[head] ?? "")?.rest ?? "";
  const isEmpty = /^(\{\s*\}|null|~)?\s*(#.*)?$/.test(rest);
  if (!isEmpty) return refused(`"${entry.under}" in it is on one line, change it by hand`);
  const end = blockEnd(lines, head);
  const indent = lines.slice(head + 1, end).find((line) => !isBlank(line));
  const unit = indent === undefined ? "  " : " ".repeat(indentOf(indent));
  const own = lines
    .map((line, at) => ({ line, at }))
    .filter(({ line, at }) => at > head && at < end && indentOf(line) === unit.length)
    .filter(({ line }) => keyAt(line.trimStart())?.name === entry.name)
    .map(({ at }) => at);
  if (own.length > 1) return refused(`it has "${entry.under}.${entry.name}" twice`);
  const [at] = own;
  const block = linesOf(entry, unit, eol);
  if (at === undefined) {
    if (wish === "remove") return { merged: "same" };
    const before = lines.slice(0, end);
    const last = before.at(-1) ?? "";
    if (!last.endsWith("\n")) before[before.length - 1] = last + eol;
    // An empty table on one line makes room for entries on lines.
    if (rest !== "") before[head] = `${entry.under}:${eol}`;
    return { merged: "text", text: [...before, ...block, ...lines.slice(end)].join("") };
  }
  const to = blockEnd(lines, at);
  if (wish !== "remove" && lines.slice(at, to).join("").trimEnd() === block.join("").trimEnd())
    return { merged: "same" };
  if (wish === "put") return { merged: "other" };
  const after = [...lines.slice(0, at), ...(wish === "remove" ? [] : block), ...lines.slice(to)];
  const others = lines.slice(head + 1, end).filter((line, index) => {
    const place = head + 1 + index;
    return !isBlank(line) && (place < at || place >= to);
  });
  if (wish === "remove" && others.length === 0) after[head] = `${entry.under}: {}${eol}`;
  return { merged: "text", text: after.join("") };
}

export const yamlOf = (entry: Entry, eol = "\n"): string =>
  [`${entry.under}:${eol}`, ...linesOf(entry, "  ", eol)].join("");

/** Values as JSON, which is YAML as well. */
function linesOf({ name, value }: Entry, unit: string, eol: string): readonly string[] {
  const keys = Object.entries(value).map(([key, one]) => `${unit}${unit}${key}: ${flow(one)}${eol}`);
  return [`${unit}${name}:${eol}`, ...keys];
}

const flow = (value: EntryValue): string => JSON.stringify(value);

const isBlank = (line: string): boolean => /^\s*(#[^]*)?$/.test(line);
const indentOf = (line: string): number => /^ */.exec(line)?.[0].length ?? 0;

function keyAt(line: string): { readonly name: string; readonly rest: string } | undefined {
  const found = /^(?:([A-Za-z0-9_.-]+)|"([^"\\]*)"|'([^']*)'):(?:[ \t]+(.*))?\s*$/.exec(line.trimEnd());
  if (found === null) return undefined;
  return { name: found[1] ?? found[2] ?? found[3] ?? "", rest: (found[4] ?? "").trim() };
}

/** The first line after a block that is not indented deeper than its head; blank lines before it are not of the block. */
function blockEnd(lines: readonly string[], head: number): number {
  const depth = indentOf(lines[head] ?? "");
  let end = head + 1;
  for (let at = head + 1; at < lines.length; at += 1) {
    const line = lines[at] ?? "";
    if (/^\s*$/.test(line)) continue;
    if (indentOf(line) <= depth) break;
    end = at + 1;
  }
  return end;
}

function unclear(lines: readonly string[]): string | undefined {
  for (const [at, line] of lines.entries()) {
    if (/^ *\t/.test(line)) return `it has a tab before line ${at + 1}, mend it first`;
    const isMargin = indentOf(line) === 0 && !isBlank(line);
    const isFirstMark = line.trimEnd() === "---" && lines.slice(0, at).every(isBlank);
    // Lists at the margin belong to the key before them; anything else there must be a key.
    if (isMargin && keyAt(line) === undefined && !isFirstMark && !line.startsWith("- ")) {
      return `it is not YAML of the plain form (line ${at + 1}), change it by hand`;
    }
  }
  return undefined;
}
