/**
 * What is known of the files at each moment of a recorded conversation: whole texts, or single lines. A line that no call showed is
 * an empty line in the scratch file, so that all others have their right numbers. Pure.
 */

import type { Hunk } from "../../contract/edit.ts";
import type { FileFact } from "./conversation.ts";

/** Of one file; a larger one is not replayed. */
const fileCharsMax = 8_388_608;
const fileLinesMax = 200_000; // each takes a slot of a list, known or not
/** Of all files of a conversation; those that were not used for the longest time are forgotten. */
const allCharsMax = 134_217_728;

/** `lines`: as `split("\n")` gives them; undefined where no call showed the line. */
type Known =
  | { readonly is: "absent" }
  | { readonly is: "lines"; readonly lines: (string | undefined)[]; chars: number; isWhole: boolean };

export type KnownFiles = ReturnType<typeof knowFiles>;

export function knowFiles() {
  const files = new Map<string, Known>();
  let chars = 0;
  const forget = (path: string): void => {
    const known = files.get(path);
    if (known?.is === "lines") chars -= known.chars;
    files.delete(path);
  };
  const keep = (path: string, known: Known): void => {
    forget(path);
    if (known.is === "lines") {
      if (known.chars > fileCharsMax || known.lines.length > fileLinesMax) return;
      chars += known.chars;
    }
    files.set(path, known);
    for (const oldest of files.keys()) {
      if (chars <= allCharsMax) break;
      forget(oldest);
    }
  };
  const set = (path: string, text: string | null): void => {
    if (text === null) return keep(path, { is: "absent" });
    if (text.length > fileCharsMax) return forget(path);
    return keep(path, { is: "lines", lines: text.split("\n"), chars: text.length, isWhole: true });
  };
  /** Puts lines at their place; what is known of the others stays, although a change may have moved them. */
  const show = (path: string, from: number, lines: readonly string[], linesTotal: number | undefined): void => {
    const old = files.get(path);
    const known = old?.is === "lines" ? [...old.lines] : [];
    if (from + lines.length > fileLinesMax || (linesTotal ?? 0) > fileLinesMax) return forget(path);
    const differs = lines.some((line, at) => known[from - 1 + at] !== undefined && known[from - 1 + at] !== line);
    if (linesTotal !== undefined && linesTotal >= from - 1 + lines.length) known.length = linesTotal;
    while (known.length < from - 1 + lines.length) known.push(undefined);
    for (const [at, line] of lines.entries()) known[from - 1 + at] = line;
    // The last line ends with a newline, as in nearly every text.
    if (linesTotal === undefined && known.at(-1) !== "" && old?.is !== "lines") known.push("");
    if (linesTotal !== undefined && known.length === linesTotal && known.at(-1) === undefined)
      known[linesTotal - 1] = "";
    let isWhole = !differs && linesTotal !== undefined;
    let sum = known.length;
    for (let at = 0; at < known.length; at += 1) {
      const line = known[at];
      if (line === undefined) isWhole = false;
      sum += line?.length ?? 0;
    }
    const stays = old?.is === "lines" && old.isWhole && !differs && old.lines.length === known.length;
    keep(path, { is: "lines", lines: known, chars: sum, isWhole: isWhole || stays });
  };
  return {
    /** Takes in what a call shows of a file as it was before the call. */
    learn(fact: FileFact): void {
      if (fact.at === "after") return;
      const { path } = fact;
      switch (fact.is) {
        case "whole":
          return set(path, fact.text);
        case "absent":
          return set(path, null);
        case "lines":
          return show(path, fact.from, fact.lines, fact.linesTotal);
        case "hunks":
          for (const hunk of fact.hunks) {
            const lines = sideOf(hunk, "-");
            if (lines.length > 0 && hunk.oldStart > 0) show(path, hunk.oldStart, lines, undefined);
          }
      }
    },
    set,
    forget,
    /** The content as far as it is known; null where there is no file, undefined where nothing is known. */
    text(path: string): string | null | undefined {
      const known = files.get(path);
      if (known === undefined) return undefined;
      return known.is === "absent" ? null : known.lines.map((line) => line ?? "").join("\n");
    },
    /** Is every line of it known? */
    isWhole(path: string): boolean {
      const known = files.get(path);
      return known !== undefined && (known.is === "absent" || known.isWhole);
    },
    /** After a change. Lines that were unknown before and are not part of the change stay unknown. */
    change(path: string, after: string | null): void {
      const known = files.get(path);
      if (after === null || known?.is !== "lines" || known.isWhole) return set(path, after);
      const [old, made] = [known.lines, after.split("\n")];
      const most = Math.min(old.length, made.length);
      let head = 0;
      while (head < most && (old[head] ?? "") === made[head]) head += 1;
      let tail = 0;
      while (tail < most - head && (old[old.length - 1 - tail] ?? "") === made[made.length - 1 - tail]) tail += 1;
      const lines = [...old.slice(0, head), ...made.slice(head, made.length - tail), ...old.slice(old.length - tail)];
      keep(path, { is: "lines", lines, chars: after.length, isWhole: false });
    },
  };
}

/** The lines of one side of a hunk: `-` the old one, `+` the new one. */
const sideOf = ({ lines }: Hunk, side: "-" | "+"): readonly string[] =>
  lines.filter((line) => line.startsWith(" ") || line.startsWith(side)).map((line) => line.slice(1));

/** The text after the change that the hunks are; undefined if they do not fit it. */
export function withHunks(before: string, hunks: readonly Hunk[]): string | undefined {
  const lines = before.split("\n");
  for (const hunk of hunks) {
    const start = Math.max(0, hunk.oldStart - 1);
    if (hunk.oldStart > 0 && sideOf(hunk, "-").some((line, at) => lines[start + at] !== line)) return undefined;
  }
  return patched(lines, hunks).join("\n");
}

function patched(lines: readonly string[], hunks: readonly Hunk[]): readonly string[] {
  const made: string[] = [];
  let at = 0;
  for (const hunk of hunks) {
    const old = sideOf(hunk, "-").length;
    // A hunk without old lines names the line before it.
    const start = Math.max(0, old === 0 ? hunk.oldStart : hunk.oldStart - 1);
    for (; at < start && at < lines.length; at += 1) made.push(lines[at] ?? "");
    for (const line of sideOf(hunk, "+")) made.push(line);
    at = Math.max(at, start + old);
  }
  for (; at < lines.length; at += 1) made.push(lines[at] ?? "");
  return made;
}
