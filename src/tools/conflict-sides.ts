/** The three sides of a conflict for a model: what the session made of the old content, and what somebody else made of that. */

import { limits } from "../contract/limits.ts";
import { Problem } from "../contract/problem.ts";
import type { ConflictSides, RewoundFile } from "../contract/rewind.ts";
import type { SessionHistory } from "../history/session-history.ts";
import { inTurns } from "../disk/others-turn.ts";
import { hunksBetween } from "../text/hunks.ts";
import { standingOf } from "./lsp-places.ts";
import { release } from "./rewind-asking.ts";
import { subjectOf } from "./subject.ts";
import type { Bench } from "./tool.ts";
import { orUnreadable } from "./unreadable.ts";
import { charsOf, fittedHunks, type Purse, textIn, textOf, versionDiff } from "./version-diff.ts";

/** The same files, with their sides as far as an answer has room and the session may read them without anybody being asked. */
export async function withSides(
  files: readonly RewoundFile[],
  past: SessionHistory,
  bench: Bench,
): Promise<readonly RewoundFile[]> {
  const purse: Purse = { bytes: limits.historyBytesMax };
  let charsLeft: number = limits.historyCharsMax;
  const seen: RewoundFile[] = [];
  for (const file of files) {
    const isShown = file.came === "left" && charsLeft > 0 && standingOf(file.path, bench) === "shown";
    const sides = isShown ? await sidesOf(file, past, purse, charsLeft, bench) : undefined;
    if (sides !== undefined) charsLeft -= charsOf(sides.ours) + charsOf(sides.theirs);
    seen.push(sides === undefined ? file : { ...file, sides });
  }
  return seen;
}

async function sidesOf(
  { path, step }: RewoundFile,
  past: SessionHistory,
  purse: Purse,
  charsMax: number,
  bench: Bench,
): Promise<ConflictSides | undefined> {
  if (step.does !== "conflict" || (step.why !== "changed since" && step.why !== "changed in between")) return undefined;
  const ours = await versionDiff(step.base, step.ours, past, purse, bench.signal);
  if ("why" in ours) return undefined;
  const first = fittedHunks(ours.hunks, charsMax);
  const own = { ours: first.hunks, cut: first.cut || !ours.complete };
  if (step.why === "changed in between") return { ...own, theirs: [], removed: false };
  if (step.theirs === undefined) return { ...own, theirs: [], removed: true };
  const [left, now] = [await textOf(step.ours, past), await textNow(path, bench)];
  if (typeof left !== "string" || now === undefined) return undefined;
  const theirs = await inTurns(hunksBetween(left, now), bench.signal);
  const second = fittedHunks(theirs.hunks, Math.max(0, charsMax - charsOf(first.hunks)));
  return { ...own, theirs: second.hunks, cut: own.cut || second.cut || !theirs.complete, removed: false };
}

/** Undefined where it is no text, or gone again: an answer can do without it. */
async function textNow(path: string, bench: Bench): Promise<string | undefined> {
  return orUnreadable(path, async () => {
    const subject = await subjectOf(path, bench);
    try {
      const file = subject.is === "there" ? bench.disk.open(subject.found) : undefined;
      if (file === undefined || "errno" in file) return undefined;
      try {
        const text = await textIn(file);
        return typeof text === "string" ? text : undefined;
      } finally {
        file.close();
      }
    } finally {
      release(subject);
    }
  }).catch((error: unknown) => {
    if (error instanceof Problem) return undefined;
    throw error;
  });
}
