/** Where a search begins that names no folder: where relative paths start, and in all other roots. */

import * as nodePath from "node:path";
import type { Problem } from "../contract/problem.ts";
import type { Bench } from "./tool.ts";

/**
 * All roots; or, where relative paths start in a folder of one, that folder and the roots that do not hold it. None of them
 * that lies in another one. The first is always where relative paths start, as `.`, or the root that it lies in.
 */
export function searchTops({ guard }: Bench): readonly string[] {
  if (guard.roots.length < 2) return ["."];
  const here = guard.resolve(".");
  if (here.seen !== "node") return ["."];
  here.found.held.close();
  const { real: top } = here.target;
  const isRoot = guard.roots.some(({ real }) => real === top);
  // By real path, so that one that is named twice is there once.
  const tops = new Map<string, string>([[top, "."]]);
  for (const { real, given } of guard.roots) {
    if (!tops.has(real) && (isRoot || !isWithin(top, real))) tops.set(real, given);
  }
  const outermost = [...tops].filter(
    ([real]) => ![...tops.keys()].some((other) => other !== real && isWithin(real, other)),
  );
  return outermost.map(([, given]) => given);
}

/** Of the roots that cannot be searched: how many the session may not see, and how many cannot be read or are no longer there. */
export function unsearchedRoots(problems: readonly Problem[]): {
  readonly denied: number;
  readonly unreadable: number;
} {
  const denied = problems.filter(({ data }) => data.code === "ACCESS_DENIED" && !bySystem.has(data.reason)).length;
  return { denied, unreadable: problems.length - denied };
}

const bySystem: ReadonlySet<string> = new Set(["system", "root changed"]);

function isWithin(path: string, folder: string): boolean {
  const rest = nodePath.relative(folder, path);
  return !(rest === ".." || rest.startsWith(`..${nodePath.sep}`) || nodePath.isAbsolute(rest));
}
