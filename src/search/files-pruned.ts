/** Counts files that match below folders which a search did not open, up to a number of entries. */

import { timeSlices, type TimeSlices } from "../disk/others-turn.ts";
import type { WalkFolder } from "../disk/walk.ts";
import type { GlobState } from "../text/glob/glob-state.ts";
import type { FilesTally, Pruned } from "./files.ts";

export interface PrunedCount {
  ignored: number;
  hidden: number;
  /** False if there was more to look at. */
  complete: boolean;
}

export interface PrunedWays {
  readonly entriesMax: number;
  /** Finds a folder again; undefined if it is another one by now. The caller closes it. */
  open(real: string): WalkFolder | undefined;
  hides(path: string, is: "file" | "folder"): boolean;
  /** May what a link leads to not be named? */
  hidesEnd(path: string): boolean;
  readonly signal: AbortSignal;
}

interface Left {
  readonly entries: number;
}

export async function countPruned(tally: FilesTally, ways: PrunedWays): Promise<PrunedCount> {
  const count: PrunedCount = { ignored: 0, hidden: 0, complete: !tally.prunedMore };
  let left: Left = { entries: ways.entriesMax };
  const slices = timeSlices(ways.signal);
  for (const pruned of tally.pruned) {
    if (left.entries <= 0) {
      count.complete = false;
      break;
    }
    if (ways.hides(pruned.path, "folder")) continue;
    const folder = ways.open(pruned.real);
    if (folder === undefined) continue;
    try {
      left = await countIn(folder, pruned.path, pruned.state, pruned.why, left, count, ways, slices);
    } finally {
      folder.close();
    }
  }
  return count;
}

async function countIn(
  folder: WalkFolder,
  path: string,
  state: GlobState,
  why: Pruned["why"],
  before: Left,
  count: PrunedCount,
  ways: PrunedWays,
  slices: TimeSlices,
): Promise<Left> {
  const entries = await folder.entries();
  if ("errno" in entries) return before;
  let left: Left = { entries: before.entries - entries.length };
  for (const entry of entries) {
    if (slices.isOver()) await slices.next();
    if (entry.isDirectory() || !state.accepts(entry.name.normalize(), "all")) continue;
    // A number that counted denied files by the pattern would betray their names, one letter after the other.
    const below = `${path}/${entry.name}`;
    if (!ways.hides(below, "file") && !(entry.isSymbolicLink() && ways.hidesEnd(below))) count[why] += 1;
  }
  folder.leave();
  for (const entry of entries) {
    if (slices.isOver()) await slices.next();
    const { name } = entry;
    const below = entry.isDirectory() && name !== ".git" ? state.enter(name.normalize(), "all") : undefined;
    if (below === undefined || ways.hides(`${path}/${name}`, "folder")) continue;
    if (left.entries <= 0) {
      count.complete = false;
      return left;
    }
    const next = folder.enter(name);
    if ("errno" in next) continue;
    try {
      left = await countIn(next, `${path}/${name}`, below, why, left, count, ways, slices);
    } finally {
      next.close();
    }
  }
  return left;
}
