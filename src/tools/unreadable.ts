/** What cannot be read, in a store or on the disk, is bad luck that can be told, not a bug. */

import { Problem } from "../contract/problem.ts";
import type { Place } from "../contract/target.ts";
import { ReadFailed } from "../disk/open-file.ts";
import { FileCut } from "../disk/scan.ts";
import { StoreFailed } from "../disk/store-file.ts";
import { refusal } from "../guard/guard.ts";

export async function orUnreadable<Result>(asked: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof StoreFailed) throw new Problem({ code: "NO_TURN", asked, reason: "unreadable" });
    throw error;
  }
}

/** The same for work on one file of the workspace, which may fail to be read as well. */
export async function orFileUnreadable<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  const place: Place = { asked: path, absolute: path, relative: path };
  try {
    return await orUnreadable(path, work);
  } catch (error) {
    if (error instanceof ReadFailed) throw refusal(place, error.errno, "reading it");
    if (error instanceof FileCut) throw new Problem({ code: "STALE", place, reason: "while changing it" });
    throw error;
  }
}
