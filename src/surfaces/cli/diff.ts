/** Diffs for people at a terminal: coloured lines, and inside them the words that changed. */

import type { Hunk } from "../../contract/edit.ts";
import { escapeName, hunkHeader, lineDiff, visibleText } from "../../text/text.ts";
import { shortened } from "../questions.ts";
import type { Host } from "./command.ts";
import type { VersionDiff } from "./past.ts";
import { coloured, type Style, styled } from "./print.ts";

export interface DiffPaint {
  readonly colour: boolean;
  /** Emphasise changed words, and make blanks visible that are the change. On unless said otherwise. */
  readonly words?: boolean;
  readonly totals?: { readonly additions: number; readonly deletions: number };
}

/** Longer lines are coloured as a whole: comparing their words costs too much. */
const wordLineCharsMax = 5_000;
/** Of the letters of two lines so many must be common, or they are not two states of one line. */
const commonShareMin = 0.3;

/** The file's name, how much changed, and the hunks. No newline at the end. */
export function paintDiff(path: string, hunks: readonly Hunk[], paint: DiffPaint): string {
  const style = paint.colour ? styled : plain;
  const shown = { additions: countOf(hunks, "+"), deletions: countOf(hunks, "-") };
  const { additions, deletions } = paint.totals ?? shown;
  const hidden = additions + deletions - shown.additions - shown.deletions;
  return [
    paintName(path, paint.colour),
    `${style("green", `+${additions}`)} ${style("red", `-${deletions}`)}`,
    ...hunks.flatMap((hunk) => [style("cyan", hunkHeader(hunk)), ...hunkLines(hunk, style, paint.words ?? true)]),
    ...(hidden > 0 ? [style("dim", `(${hidden} more changed lines not shown)`)] : []),
  ].join("\n");
}

export const paintName = (path: string, colour: boolean): string => (colour ? styled : plain)("bold", escapeName(path));

const plain: Style = (_, text) => text;

function countOf(hunks: readonly Hunk[], sign: "+" | "-"): number {
  return hunks.reduce((total, hunk) => total + hunk.lines.filter((line) => line.startsWith(sign)).length, 0);
}

interface Part {
  readonly text: string;
  readonly changed: boolean;
}

function hunkLines({ lines }: Hunk, style: Style, words: boolean): readonly string[] {
  const partsByLine = words ? partsIn(lines) : new Map<number, readonly Part[]>();
  return lines.map((line, at) => {
    const sign = line.slice(0, 1);
    // In a hunk with mixed line ends unchanged lines include theirs; that is not a change.
    if (sign === " ") return visibleText(line.replace(/\r$/, ""));
    if (sign !== "-" && sign !== "+") return style("dim", visibleText(line));
    const colour = sign === "-" ? "red" : "green";
    const parts = partsByLine.get(at);
    if (parts === undefined) return style(colour, visibleText(line));
    const painted = parts.map(({ text, changed }, index) =>
      changed ? style([colour, "inverse"], marked(text, index === parts.length - 1)) : style(colour, visibleText(text)),
    );
    return style(colour, sign) + painted.join("");
  });
}

/** In a run of `-` lines and the run of `+` lines after it, the first belongs to the first, and so on. */
function partsIn(lines: readonly string[]): ReadonlyMap<number, readonly Part[]> {
  const partsByLine = new Map<number, readonly Part[]>();
  let dropped: number[] = [];
  let taken = 0;
  for (const [at, line] of lines.entries()) {
    if (line.startsWith("-")) {
      if (taken > 0) dropped = [];
      taken = 0;
      dropped.push(at);
    } else if (line.startsWith("+")) {
      const partner = dropped[taken];
      taken += 1;
      const pair = partner === undefined ? undefined : partsOf(lines[partner]?.slice(1) ?? "", line.slice(1));
      if (partner !== undefined && pair !== undefined) partsByLine.set(partner, pair.before).set(at, pair.after);
    } else if (line.startsWith(" ")) dropped = [];
  }
  return partsByLine;
}

/** Words, and any other character by itself. */
const tokens = /[\p{L}\p{N}\p{M}_]+|[^]/gu;

/** Undefined if the two have too little in common. */
function partsOf(before: string, after: string): { before: readonly Part[]; after: readonly Part[] } | undefined {
  if (Math.max(before.length, after.length) > wordLineCharsMax) return undefined;
  const a = before.match(tokens) ?? [];
  const b = after.match(tokens) ?? [];
  const { changed } = lineDiff(a, b);
  const [inA, inB] = [changed.map(({ aFrom, aTo }) => [aFrom, aTo]), changed.map(({ bFrom, bTo }) => [bFrom, bTo])];
  const parts = { before: cut(a, inA), after: cut(b, inB) };
  const common = lettersIn(parts.before.map((part) => (part.changed ? "" : part.text)).join(""));
  return common < commonShareMin * Math.max(lettersIn(before), lettersIn(after)) ? undefined : parts;
}

function cut(all: readonly string[], changed: readonly (readonly number[])[]): readonly Part[] {
  const parts: Part[] = [];
  let at = 0;
  for (const [from = 0, to = 0] of changed) {
    parts.push({ text: all.slice(at, from).join(""), changed: false });
    parts.push({ text: all.slice(from, to).join(""), changed: true });
    at = to;
  }
  parts.push({ text: all.slice(at).join(""), changed: false });
  return parts.filter((part) => part.text !== "");
}

function lettersIn(text: string): number {
  return text.replace(/\s+/g, "").length;
}

/** A change of only whitespace, or of trailing whitespace, would be invisible. */
function marked(text: string, last: boolean): string {
  const whitespace = last ? /[ \t]+$/ : /^[ \t]+$/;
  return visibleText(text.replace(whitespace, (run) => run.replaceAll(" ", "·").replaceAll("\t", "→\t")));
}

// Diffs between versions on the screen: the changed lines, or one line that says why there are none.

/** Diff lines of one file on the screen; `--json` has them all. */
const diffLinesMax = 2_000;

export function paintVersions(
  name: string,
  diff: VersionDiff,
  host: Host,
  {
    stream = "stdout",
    linesMax = diffLinesMax,
  }: { readonly stream?: "stdout" | "stderr"; readonly linesMax?: number } = {},
): string {
  const title = diff.became === null ? name : `${name} (${diff.became})`;
  if (diff.note !== null) return `${escapeName(title)}\n(${escapeName(diff.note)})`;
  const { hunks } = shortened(diff.hunks, linesMax);
  const { additions, deletions } = diff;
  return paintDiff(title, hunks, { colour: coloured(host, stream), totals: { additions, deletions } });
}
