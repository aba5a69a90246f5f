/** Headings of Markdown, each with the lines of its section. */

import type { Steps } from "../steps.ts";
import { eachLine, type ItemCollector } from "./items.ts";

/** Longer prefixes of a line are no heading. */
const headCharsMax = 1_000;

export function* scanMarkdown(text: string, items: ItemCollector): Steps<undefined> {
  const levels: number[] = [];
  const matterEnd = frontMatterLines(text);
  let lastFilled = 0;
  let fence: string | undefined;
  let isComment = false;
  /** The first line of the paragraph above, which an underline makes a heading. */
  let paragraph: { readonly line: number; readonly text: string; readonly filledBefore: number } | undefined;

  const closeTo = (level: number): void => {
    while ((levels.at(-1) ?? 0) >= level) {
      levels.pop();
      items.close(lastFilled);
    }
  };
  const heading = (level: number, line: number, name: string): void => {
    closeTo(level);
    levels.push(level);
    items.open(`h${level}`, line, () => name);
  };

  const visit = (whole: string, number: number): void => {
    const line = whole.slice(0, headCharsMax);
    const above = paragraph;
    paragraph = undefined;
    if (line.trim() === "") return;
    const isMatter = number <= matterEnd;
    const [, opened] = /^ {0,3}(`{3,}|~{3,})/.exec(line) ?? [];
    const [, marks, name = ""] = /^ {0,3}(#{1,6})(?:[ \t]+(.*))?$/.exec(line) ?? [];
    const [, underline] = /^ {0,3}(=+|-+)[ \t]*$/.exec(line) ?? [];
    if (isMatter) {
      // The front matter is no part of a section.
    } else if (fence !== undefined) {
      if (opened !== undefined && opened.startsWith(fence) && line.trim() === opened) fence = undefined;
    } else if (isComment) {
      isComment = !whole.includes("-->");
    } else if (opened !== undefined) {
      fence = opened;
    } else if (/^ {0,3}<!--/.test(line)) {
      isComment = !whole.includes("-->");
    } else if (marks !== undefined) {
      heading(marks.length, number, withoutClosingMarks(name));
    } else if (underline !== undefined && above !== undefined) {
      // The lines of the paragraph are no part of the section before.
      lastFilled = above.filledBefore;
      heading(underline.startsWith("=") ? 1 : 2, above.line, above.text);
    } else if (!/^(?: {4}|\t| {0,3}(?:[>|]|[-*+][ \t]|\d{1,9}[.)][ \t]|<))/.test(line) && underline === undefined) {
      paragraph = above ?? { line: number, text: line.trim(), filledBefore: lastFilled };
    }
    lastFilled = number;
  };
  yield* eachLine(text, visit);
  closeTo(0.5);
  return undefined;
}

function withoutClosingMarks(name: string): string {
  const trimmed = name.trimEnd();
  let end = trimmed.length;
  while (end > 0 && trimmed[end - 1] === "#") end -= 1;
  return end === 0 || /[ \t]/.test(trimmed[end - 1] ?? "") ? trimmed.slice(0, end).trimEnd() : trimmed;
}

/** The last line of the block of YAML or TOML that a file may begin with; 0 without one. */
function frontMatterLines(text: string): number {
  const [, mark] = /^(---|\+\+\+)[ \t]*\r?\n/.exec(text.slice(0, 100)) ?? [];
  if (mark === undefined) return 0;
  const end = text.indexOf(`\n${mark}`);
  if (end === -1) return 0;
  let lines = 2;
  for (let at = text.indexOf("\n"); at !== -1 && at < end; at = text.indexOf("\n", at + 1)) lines += 1;
  return lines;
}
