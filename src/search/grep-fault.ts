/** What ripgrep complains of: files that it cannot read, or what is wrong with the search itself. */

import type { SearchFault, Tally } from "../contract/grep.ts";

export interface Complaints {
  /** Files and folders that could not be read. */
  readonly unreadable: Tally;
  /** What is not about a file. */
  readonly rest: string;
}

/** `cut`: are these only the first of the complaints? What is hidden is not counted. */
export function sortComplaints(text: string, cut: boolean, isHidden: (path: string) => boolean): Complaints {
  let number = 0;
  let message = "";
  const rest: string[] = [];
  for (const line of text.split("\n")) {
    message = line.startsWith("rg: ") ? line : `${message}\n${line}`;
    // A name may hold newlines: only the end of such a message is looked for.
    if (/\(os error \d+\)$/.test(line)) {
      const path = pathIn(message);
      if (path === undefined || !isHidden(path)) number += 1;
      message = "";
    } else rest.push(line);
  }
  return { unreadable: { number, counted: cut ? "at least" : "all" }, rest: rest.join("\n").trim() };
}

function pathIn(message: string): string | undefined {
  const path = /^rg: \.[\\/](.*): [^:]*\(os error \d+\)$/s.exec(message)?.[1];
  return process.platform === "win32" ? path?.replaceAll("\\", "/") : path;
}

/** Undefined if this is nothing that a caller could mend. */
export function faultOf(
  complaint: string,
  pattern: string,
): SearchFault | { readonly of: "unknown type"; readonly type: string } | undefined {
  const type = /^rg: unrecognized file type: (.*)$/m.exec(complaint)?.[1];
  if (type !== undefined) return { of: "unknown type", type };
  const why = "engine" as const;
  if (/the literal .* is not allowed in a regex/.test(complaint)) {
    const message = /the literal .* is not allowed in a regex/.exec(complaint)?.[0] ?? "";
    return { of: "pattern", pattern, why, message, at: undefined, remedy: "several lines" };
  }
  const message = /^error: (.+)$/m.exec(complaint)?.[1] ?? /^rg: (.*(?:regex|pattern).*)$/m.exec(complaint)?.[1];
  if (message === undefined) return undefined;
  return { of: "pattern", pattern, why, message, at: placeIn(complaint, pattern), remedy: remedyFor(message) };
}

/** The message shows the pattern in `(?:…)`, four blanks in, and points at it below. */
function placeIn(complaint: string, pattern: string): number | undefined {
  const lines = complaint.split("\n");
  const shown = lines.findIndex((line) => line === `    (?:${pattern})`);
  const pointer = lines[shown + 1];
  if (shown < 0 || pointer === undefined || !/^ *\^+ *$/.test(pointer)) return undefined;
  const at = pointer.indexOf("^") - "    (?:".length + 1;
  return at >= 1 && at <= pattern.length ? at : undefined;
}

function remedyFor(message: string): Extract<SearchFault, { readonly why: "engine" }>["remedy"] {
  if (/look-around|backreferences/.test(message)) return "no look-around";
  if (/repetition quantifier|counted repetition|decimal/.test(message)) return "escape braces";
  return /unclosed|unopened|missing expression|unrecognized escape|invalid escape|hexadecimal|capture group/.test(
    message,
  )
    ? "escape"
    : undefined;
}

/** The names of types that ripgrep knows, from its own list: `ts: *.cts, *.mts`. */
export const typesIn = (list: string): readonly string[] =>
  list.split("\n").flatMap((line) => /^([^:\s]+): /.exec(line)?.[1] ?? []);
