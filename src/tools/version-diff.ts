/** What differs between two versions of a file that were kept, within what one call may spend on it. */

import { isUtf8 } from "node:buffer";
import type { Hunk } from "../contract/edit.ts";
import type { FileVersion } from "../contract/history.ts";
import { limits } from "../contract/limits.ts";
import type { Uncounted } from "../contract/looking-back.ts";
import type { OpenFile } from "../disk/open-file.ts";
import { wholeFile } from "../disk/whole-file.ts";
import type { SessionHistory } from "../history/session-history.ts";
import { decideEncoding } from "../kinds/charset.ts";
import { cutChars, decode, looksBinary, sniff } from "../text/encoding.ts";
import { inTurns } from "../disk/others-turn.ts";
import { hunksBetween, type TextDiff } from "../text/hunks.ts";

/** What is left to spend. */
export interface Purse {
  bytes: number;
}

export async function versionDiff(
  before: FileVersion,
  after: FileVersion,
  past: SessionHistory,
  purse: Purse,
  signal: AbortSignal,
): Promise<TextDiff | { readonly why: Uncounted }> {
  const bytes = sizeOf(before) + sizeOf(after);
  const notKept = notKeptOf(before) ?? notKeptOf(after);
  if (notKept !== undefined) return { why: notKept };
  const isOver = Math.max(sizeOf(before), sizeOf(after)) > limits.historyVersionBytesMax || bytes > purse.bytes;
  if (isOver) return { why: "over the limit" };
  purse.bytes -= bytes;
  const a = await textOf(before, past);
  if (typeof a !== "string") return a;
  const b = await textOf(after, past);
  return typeof b === "string" ? inTurns(hunksBetween(a, b), signal) : b;
}

const sizeOf = (version: FileVersion): number => (version.kind === "absent" ? 0 : version.sizeBytes);

function notKeptOf(version: FileVersion): Uncounted | undefined {
  if (version.kind === "absent") return undefined;
  return version.notKept ?? (version.content === undefined ? "failed" : undefined);
}

export async function textOf(
  version: FileVersion,
  past: SessionHistory,
): Promise<string | { readonly why: Uncounted }> {
  if (version.kind === "absent" || version.content === undefined) return "";
  const kept = await past.open(version.content);
  if (typeof kept === "string") return { why: kept === "missing" ? "pruned" : "damaged" };
  try {
    return await textIn(kept);
  } finally {
    kept.close();
  }
}

/** The text of a file, if it is one and not too long to be compared. */
export async function textIn(file: OpenFile): Promise<string | { readonly why: Uncounted }> {
  const bytes = await wholeFile(file, limits.historyVersionBytesMax);
  if (bytes === undefined) return { why: "over the limit" };
  const form = sniff(bytes);
  const head = bytes.subarray(0, limits.headBytesMax);
  if ((form?.unitBytes ?? 1) === 1 && looksBinary(head, limits.headBytesMax)) return { why: "not text" };
  const encoding = form?.encoding ?? (isUtf8(bytes) ? "utf-8" : (await decideEncoding([bytes])).encoding);
  return decode(bytes.subarray(form?.bomBytes ?? 0), encoding).text;
}

export const charsOf = (hunks: readonly Hunk[]): number =>
  hunks.reduce(
    (sum, { lines }) =>
      sum + lines.reduce((all, line) => all + Math.min(line.length, limits.historyLineCharsMax) + 1, 40),
    0,
  );

/** As many lines as fit, each cut where it is too long. A hunk that is cut still says how long it is. */
export function fittedHunks(
  hunks: readonly Hunk[],
  charsMax: number,
): { readonly hunks: readonly Hunk[]; readonly cut: boolean } {
  let left = charsMax;
  let cut = false;
  const fitted: Hunk[] = [];
  for (const hunk of hunks) {
    const lines: string[] = [];
    for (const line of hunk.lines) {
      const isLong = line.length > limits.historyLineCharsMax;
      const shown = isLong ? `${cutChars(line, limits.historyLineCharsMax)}...` : line;
      left -= shown.length + 1;
      if (left < 0) return { hunks: lines.length === 0 ? fitted : [...fitted, { ...hunk, lines }], cut: true };
      cut ||= isLong;
      lines.push(shown);
    }
    fitted.push({ ...hunk, lines });
  }
  return { hunks: fitted, cut };
}
