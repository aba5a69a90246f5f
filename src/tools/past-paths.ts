/** Which files of the past a session may be told of, and which a path means. */

import * as nodePath from "node:path";
import { Problem } from "../contract/problem.ts";
import { relativeTo } from "../guard/paths.ts";
import { notFound } from "./locate.ts";
import type { Bench } from "./tool.ts";

/** What lies outside the roots of today, or is denied today, is not even named: it was recorded under other rules. */
export function mayName(bench: Bench): (path: string) => boolean {
  const roots = bench.disk.roots.map(({ real }) => real);
  const { guard } = bench;
  return (path) =>
    relativeTo(path, roots, nodePath) !== undefined &&
    (!guard.denies || guard.denied("read", [path], "file") === undefined);
}

/** The real path that a call names, whether it is still there or not. Throws a Problem for what is outside or denied. */
export async function realPathOf(
  path: string,
  bench: Bench,
): Promise<{ readonly real: string; readonly shown: string }> {
  const resolved = bench.guard.resolve(path);
  if (resolved.seen === "outside") throw await notFound(resolved, "file", bench);
  if (resolved.seen === "node") resolved.found.held.close();
  const place = resolved.seen === "node" ? resolved.target : resolved.place;
  const real = resolved.target?.real ?? place.absolute;
  const is = resolved.target?.is ?? "file";
  const rule = bench.guard.denied("read", [place.absolute, real], is);
  if (rule === undefined) return { real, shown: bench.guard.spell(place.absolute) };
  throw new Problem({ code: "ACCESS_DENIED", place, reason: "rule", rule: rule.text, source: rule.source });
}

/** Is it that file, or does it lie below that folder? */
export const isOrIsBelow = (path: string, real: string): boolean =>
  path === real || path.startsWith(real.endsWith(nodePath.sep) ? real : real + nodePath.sep);

/** May its content be shown? Whoever must be asked is asked. */
export async function mayShow(path: string, bench: Bench): Promise<boolean> {
  try {
    const resolved = bench.guard.resolve(path);
    if (resolved.seen === "node") resolved.found.held.close();
    if (resolved.seen === "outside" || resolved.target === undefined) return false;
    await bench.guard.permit("read", resolved.target, bench.signal);
    return true;
  } catch (error) {
    if (error instanceof Problem) return false;
    throw error;
  }
}
