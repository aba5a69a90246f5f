/** A folder as an indented list, with sizes and kinds, and what is not shown of it. */

import type { TreeEntry, TreeOutcome } from "../contract/read.ts";
import { escapeName } from "../text/escape.ts";

/** `mark` stands before each name. */
export function treeLines(entries: readonly TreeEntry[], mark: string, indent = "  "): readonly string[] {
  return entries.flatMap((entry) => {
    const more = (entry.entriesTotal ?? 0) - (entry.entries?.length ?? 0);
    const below = entry.entries === undefined ? [] : treeLines(entry.entries, mark, `${indent}  `);
    return [
      `${indent}${mark}${entryLine(entry)}`,
      ...below,
      ...(below.length > 0 && more > 0 ? [`${indent}  ${mark}(${more} more)`] : []),
    ];
  });
}

function entryLine(entry: TreeEntry): string {
  const name = escapeName(entry.name);
  switch (entry.kind) {
    case "directory":
      return `${name}/${folderNote(entry)}`;
    case "link":
      if (entry.linkText === undefined) return `${name} (link)`;
      return `${name} -> ${escapeName(entry.linkText)}${entry.leadsTo === "directory" ? "/" : ""}`;
    case "file":
      return entry.sizeBytes === undefined ? name : `${name} (${sizeOf(entry.sizeBytes)})`;
    case "special":
      return `${name} (pipe, socket or device)`;
    case "unknown":
      return `${name} (cannot be looked at)`;
  }
}

function folderNote({ closed, entriesTotal, entriesLeftOut = 0 }: TreeEntry): string {
  if (closed === "unreadable") return " (cannot be read)";
  const notes: string[] = [];
  if (closed !== undefined && entriesTotal !== undefined) {
    notes.push(`${entriesTotal} ${entriesTotal === 1 ? "entry" : "entries"}`);
  }
  if (closed === "ignored") notes.push("ignored");
  if (entriesLeftOut > 0) notes.push(`${entriesLeftOut} left out`);
  else if (entriesTotal === 0) notes.push("empty");
  return notes.length === 0 ? "" : ` (${notes.join(", ")})`;
}

/** Whole numbers up to four digits, so that columns need no care. */
function sizeOf(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  const units = ["kB", "MB", "GB", "TB"];
  let value = bytes / 1_000;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1_000;
    unit += 1;
  }
  return `${value < 9.95 ? value.toFixed(1) : Math.round(value)} ${units[unit] ?? ""}`;
}

/** What the lines alone do not tell, a sentence each, without mark and period. `next`: how to go on. */
export function treeNotes(outcome: TreeOutcome, next: (from: number) => string): readonly string[] {
  const notes: string[] = [];
  const { from, entries, entriesTotal } = outcome;
  if (outcome.next !== undefined) {
    notes.push(`Entries ${from} to ${from + entries.length - 1} of ${entriesTotal}, ${next(outcome.next)}`);
  }
  const rest = outcome.leftOut - (outcome.next === undefined ? 0 : entriesTotal - outcome.next + 1);
  if (rest > 0) {
    const what = rest === 1 ? "1 entry of a folder below is" : `${rest} entries of folders below are`;
    notes.push(`${what} not shown, list those folders by themselves`);
  }
  if (outcome.ignored > 0) notes.push(`${several(outcome.ignored, "entry", "entries")} left out as asked by ignore`);
  if (outcome.withheld > 0) notes.push(`${several(outcome.withheld, "entry", "entries")} withheld by permission rules`);
  return notes;
}

const several = (count: number, one: string, more: string): string =>
  `${count} ${count === 1 ? `${one} is` : `${more} are`}`;
