/** All places where a glob begins: one, or in a workspace of several roots, if no folder is named, one in each of them. */

import * as nodePath from "node:path";
import type { GlobRequest } from "../contract/glob.ts";
import { Problem } from "../contract/problem.ts";
import { type GlobNowhere, type GlobStart, startOf } from "./glob-start.ts";
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
  const count = (...codes: readonly Problem["data"]["code"][]): number =>
    problems.filter(({ data }) => codes.includes(data.code)).length;
  // What is no pattern and no name in that root either, finds nothing there.
  const denied = count("ACCESS_DENIED");
  return { starts: [first, ...others], denied, unreadable: problems.length - denied - count("INVALID_PARAM") };
}

/**
 * All roots; or, where relative paths start in a folder of one, that folder and the roots that do not hold it. None of them
 * that lies in another one.
 */
function pathsOf({ path, pattern }: GlobRequest, { guard }: Bench): readonly (string | undefined)[] {
  if (path !== undefined || nodePath.isAbsolute(pattern) || guard.roots.length < 2) return [path];
  const here = guard.resolve(".");
  if (here.seen !== "node") return [path];
  here.found.held.close();
  const { real: top } = here.target;
  const isRoot = guard.roots.some(({ real }) => real === top);
  // By real path, so that one that is named twice is there once.
  const tops = new Map<string, string | undefined>([[top, undefined]]);
  for (const { real, given } of guard.roots) {
    if (!tops.has(real) && (isRoot || !isWithin(top, real))) tops.set(real, given);
  }
  const outermost = [...tops].filter(
    ([real]) => ![...tops.keys()].some((other) => other !== real && isWithin(real, other)),
  );
  return outermost.map(([, given]) => given);
}

function isWithin(path: string, folder: string): boolean {
  const rest = nodePath.relative(folder, path);
  return !(rest === ".." || rest.startsWith(`..${nodePath.sep}`) || nodePath.isAbsolute(rest));
}
