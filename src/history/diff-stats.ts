/** Lines that a turn added and took away. */

import type { ChangeRecord, DiffStats, FileVersion } from "../contract/history.ts";
import { wholeFile } from "../disk/whole-file.ts";
import { hunksOfTexts } from "../text/hunks.ts";
import { smallBytesMax } from "./blob-code.ts";
import { othersTurn } from "../disk/others-turn.ts";
import { byPath } from "./snapshots.ts";
import type { HistoryStore } from "./store.ts";
import { isSurelySame } from "./versions.ts";

/** Files that are counted in one go. */
const turnEvery = 64;

/** Of the changes of one turn. */
export async function diffStats(changes: readonly ChangeRecord[], store: HistoryStore): Promise<DiffStats> {
  let [insertions, deletions, filesChanged, uncounted] = [0, 0, 0, 0];
  for (const [index, list] of [...byPath(changes).values()].entries()) {
    if (index % turnEvery === turnEvery - 1) await othersTurn();
    const [before, after] = [list[0]?.before, list.at(-1)?.after];
    if (before === undefined || after === undefined || isSurelySame(before, after)) continue;
    filesChanged += 1;
    const [a, b] = [await textOf(before, store), await textOf(after, store)];
    if (a === undefined || b === undefined) {
      uncounted += 1;
      continue;
    }
    const diff = hunksOfTexts(a, b, { context: 0 });
    insertions += diff.additions;
    deletions += diff.deletions;
  }
  return { insertions, deletions, filesChanged, uncounted };
}

/** Undefined if it is not text or not there. Bytes that are no UTF-8 stand for themselves: only lines are counted. */
async function textOf(version: FileVersion, store: HistoryStore): Promise<string | undefined> {
  if (version.kind === "absent") return "";
  if (version.content === undefined || version.sizeBytes > smallBytesMax) return undefined;
  const file = await store.openBlob(version.content);
  if (typeof file === "string") return undefined;
  try {
    const bytes = await wholeFile(file, smallBytesMax);
    return bytes === undefined || bytes.includes(0) ? undefined : bytes.toString("latin1");
  } finally {
    file.close();
  }
}
