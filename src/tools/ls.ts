/** Ls: the entries of a folder, and of the folders in it as far as there is room. */

import { limits } from "../contract/limits.ts";
import { Problem } from "../contract/problem.ts";
import type { LsRequest } from "../contract/read.ts";
import { newGlobBudget, parseGlob } from "../text/glob/glob.ts";
import { startState } from "../text/glob/glob-state.ts";
import { locatePermitted } from "./locate.ts";
import { listTree, type LeaveOut } from "./ls-tree.ts";
import type { Tool } from "./tool.ts";

export const ls: Tool<"ls"> = async (request, bench) => {
  const leaveOut = patternsOf(request);
  const located = await locatePermitted(request.path, "anything", bench);
  try {
    if (located.found.kind !== "directory") throw new Problem({ code: "NOT_DIRECTORY", place: located.target });
    return await listTree(located, request, leaveOut, bench);
  } finally {
    located.found.held.close();
  }
};

function patternsOf({ ignore = [] }: LsRequest): readonly LeaveOut[] {
  const budget = newGlobBudget();
  return ignore.slice(0, limits.listIgnoreMax + 1).map((pattern, index) => {
    const parsed = index < limits.listIgnoreMax ? parseGlob(pattern, budget) : { fault: "too many choices" as const };
    if ("fault" in parsed)
      throw new Problem({ code: "INVALID_PARAM", reason: "pattern", pattern, fault: parsed.fault });
    return { state: startState(parsed), foldersOnly: parsed.foldersOnly };
  });
}
