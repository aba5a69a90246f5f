/** Questions as a screen shows them: the files that they are about, and no more hunks than a person reads. */

import type { Question } from "../contract/ask.ts";
import { isRecord } from "../contract/common.ts";
import type { Hunk } from "../contract/edit.ts";
import { cutChars } from "../text/text.ts";

/** What a question says of one file. */
export interface AskedFile {
  /** As the call names it, made absolute. */
  readonly path: string;
  readonly diff: string | undefined;
  readonly deletes: boolean;
  /** Undefined if that does not change. */
  readonly executable: boolean | undefined;
  readonly movedFrom: string | undefined;
  readonly movedTo: string | undefined;
}

/** The files of a question: usually one; all files of a patch are asked about together. */
export function filesAsked({ metadata, patterns: [first = ""] }: Question): readonly AskedFile[] {
  const { files } = metadata;
  const several = Array.isArray(files) ? files.filter(isRecord) : [];
  return (several.length === 0 ? [{ path: first, ...metadata }] : several).map(askedFile);
}

const askedFile = ({
  path,
  diff,
  deletes,
  executable,
  movedFrom,
  movedTo,
}: Readonly<Record<string, unknown>>): AskedFile => ({
  path: textIn(path) ?? "",
  diff: textIn(diff),
  deletes: deletes === true,
  executable: typeof executable === "boolean" ? executable : undefined,
  movedFrom: textIn(movedFrom),
  movedTo: textIn(movedTo),
});

/** A change of the mode is in no hunk, so a question says it in words. */
export const modeWords = ({ executable }: AskedFile): string =>
  executable === undefined ? "" : executable ? "becomes executable" : "is no longer executable";

const textIn = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

/** Characters of one line of a diff in a question: more than a screen shows. */
const lineCharsMax = 2_000;

export interface Totals {
  readonly additions: number;
  readonly deletions: number;
}

/** The first `linesMax` lines of the hunks, each cut where it is too long, and what changed in all. */
export function shortened(
  hunks: readonly Hunk[],
  linesMax: number,
): { readonly hunks: readonly Hunk[]; readonly totals: Totals; readonly lines: number } {
  const shown: Hunk[] = [];
  let lines = 0;
  const totals = { additions: 0, deletions: 0 };
  for (const hunk of hunks) {
    for (const line of hunk.lines) {
      if (line.startsWith("+")) totals.additions += 1;
      else if (line.startsWith("-")) totals.deletions += 1;
    }
    const some = hunk.lines.slice(0, Math.max(0, linesMax - lines));
    if (some.length > 0) shown.push({ ...hunk, lines: cutAll(some) });
    lines += some.length;
  }
  return { hunks: shown, totals, lines };
}

/** A long line is cut around what changed in it: nobody shall say yes to a change that is not on the screen. */
export function cutAll(lines: readonly string[], charsMax: number = lineCharsMax): readonly string[] {
  if (lines.every((line) => line.length <= charsMax)) return lines;
  return lines.map((line, at) =>
    line.length > charsMax ? cut(line, changeIn(line, partnerOf(lines, at)), charsMax) : line,
  );
}

/** The line that another took the place of: in a run of `-` lines and the `+` lines after it, the first of the first. */
function partnerOf(lines: readonly string[], at: number): string | undefined {
  const sign = lines[at]?.charAt(0);
  if (sign !== "-" && sign !== "+") return undefined;
  let start = at;
  while (start > 0 && /^[-+]/.test(lines[start - 1] ?? "")) start -= 1;
  let middle = start;
  while (lines[middle]?.startsWith("-")) middle += 1;
  const partner = lines[sign === "-" ? middle + at - start : start + at - middle];
  return partner !== undefined && /^[-+]/.test(partner) && !partner.startsWith(sign) ? partner : undefined;
}

/** Where the two begin to differ, behind their marks. */
function changeIn(line: string, partner: string | undefined): number {
  if (partner === undefined) return 0;
  let at = 1;
  while (at < line.length && line.charCodeAt(at) === partner.charCodeAt(at)) at += 1;
  return at;
}

function cut(line: string, changeAt: number, charsMax: number): string {
  const from = changeAt > charsMax / 2 ? changeAt - charsMax / 10 : 1;
  const part = cutChars(line.slice(from).replace(/^[\udc00-\udfff]/, ""), charsMax);
  const more = line.length - from - part.length;
  return `${line.charAt(0)}${from > 1 ? "…" : ""}${part}${more > 0 ? `… (${more} more characters)` : ""}`;
}

// What a person should know of a file before they let it be changed.

/** Undefined where there is nothing to say. A caution of which we know no words is said as it is. */
export function cautionWords(caution: unknown): string | undefined {
  switch (caution) {
    case "build":
      return "This file names commands that are run when the project is built or installed";
    case "instructions":
      return "Agents take what stands in this file for their instructions";
    default:
      return typeof caution === "string" && caution !== "" ? caution : undefined;
  }
}
