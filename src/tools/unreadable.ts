/** A store that cannot be read is bad luck that can be told, not a bug. */

import { Problem } from "../contract/problem.ts";
import { StoreFailed } from "../disk/store-file.ts";

export async function orUnreadable<Result>(asked: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof StoreFailed) throw new Problem({ code: "NO_TURN", asked, reason: "unreadable" });
    throw error;
  }
}
