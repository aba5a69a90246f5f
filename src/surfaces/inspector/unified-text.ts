/** A diff of ours as text, taken apart into its hunks again: questions carry it so. Pure. */

import type { Hunk } from "../../contract/edit.ts";

export interface ParsedDiff {
  readonly hunks: readonly Hunk[];
  readonly additions: number;
  readonly deletions: number;
  /** False if the text says that there is more. */
  readonly complete: boolean;
}

const headerPattern = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;
/** What stands behind a diff that was too long. */
const morePattern = /^\(\+(\d+) -(\d+), not all of it is shown\)$/;

/** A hunk's header says how many lines it has, so that no line of a file can pass for a header. */
export function diffOfText(text: string): ParsedDiff {
  const lines = text.split("\n");
  const hunks: Hunk[] = [];
  let [additions, deletions, at] = [0, 0, 0];
  let more: { readonly additions: number; readonly deletions: number } | undefined;
  while (at < lines.length) {
    const line = lines[at] ?? "";
    at += 1;
    const header = headerPattern.exec(line);
    if (header === null) {
      const rest = morePattern.exec(line);
      if (rest !== null) more = { additions: Number(rest[1]), deletions: Number(rest[2]) };
      continue;
    }
    const [oldStart, oldLines, newStart, newLines] = [header[1], header[2] ?? "1", header[3], header[4] ?? "1"].map(
      Number,
    ) as [number, number, number, number]; // four in, four out
    const own: string[] = [];
    let [oldLeft, newLeft] = [oldLines, newLines];
    while (at < lines.length && (oldLeft > 0 || newLeft > 0 || (lines[at] ?? "").startsWith("\\"))) {
      const row = lines[at] ?? "";
      at += 1;
      own.push(row);
      if (row.startsWith("-")) [oldLeft, deletions] = [oldLeft - 1, deletions + 1];
      else if (row.startsWith("+")) [newLeft, additions] = [newLeft - 1, additions + 1];
      else if (!row.startsWith("\\")) [oldLeft, newLeft] = [oldLeft - 1, newLeft - 1];
    }
    hunks.push({ oldStart, oldLines, newStart, newLines, lines: own });
  }
  return { hunks, additions, deletions, ...more, complete: more === undefined };
}
