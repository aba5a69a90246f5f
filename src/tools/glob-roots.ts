/** All places where a glob begins: one, or in a workspace of several roots, if no folder is named, one in each of them. */

import * as nodePath from "node:path";
import type { GlobRequest } from "../contract/glob.ts";
import { Problem } from "../contract/problem.ts";
import { type GlobNowhere, type GlobStart, startOf } from "./glob-start.ts";
import { searchTops, unsearchedRoots } from "./search-tops.ts";
import type { Bench } from "./tool.ts";

export interface GlobStarts {
  /** Whoever asked closes `found.held` of each. */
  readonly starts: readonly [GlobStart, ...GlobStart[]];
  /** Roots that are not searched. */
  readonly denied: number;
  readonly unreadable: number;
}

export async function startsOf(request: GlobRequest, bench: Bench): Promise<GlobStarts | GlobNowhere> {
  const starts: GlobStart[] = [];
  const problems: Problem[] = [];
  let nowhere: GlobNowhere | undefined;
  for (const path of pathsOf(request, bench)) {
    try {
      const start = await startOf({ ...request, path }, bench);
      if ("missing" in start) nowhere ??= start;
      else starts.push(start);
    } catch (error) {
      if (error instanceof Problem) problems.push(error);
      else {
        for (const { found } of starts) found.held.close();
        throw error;
      }
    }
  }
  const [first, ...others] = starts;
  if (first === undefined) {
    if (nowhere !== undefined) return nowhere;
    throw problems[0];
  }
  // What is no pattern and no name in that root either, finds nothing there.
  const elsewhere = problems.filter(({ data }) => data.code !== "INVALID_PARAM");
  return { starts: [first, ...others], ...unsearchedRoots(elsewhere) };
}

const pathsOf = ({ path, pattern }: GlobRequest, bench: Bench): readonly (string | undefined)[] =>
  path !== undefined || nodePath.isAbsolute(pattern) ? [path] : searchTops(bench);
