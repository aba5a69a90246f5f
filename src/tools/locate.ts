/** The first steps of every tool that works on something that exists: find it, or say what may have been meant. */

import { HandleStack } from "../disk/descriptor.ts";
import { limits } from "../contract/limits.ts";
import { Problem } from "../contract/problem.ts";
import type { Place, Target } from "../contract/target.ts";
import { type Found, released } from "../disk/lookup/look.ts";
import type { WalkEntry } from "../disk/lookup/walk.ts";
import type { Resolved } from "../guard/guard.ts";
import { similar, type Surroundings, type Wanted } from "../search/similar.ts";
import type { Bench } from "./tool.ts";

export interface Located {
  readonly target: Target;
  /** Whoever located it closes `found.held`. */
  readonly found: Found;
}

export async function locate(asked: string, wants: Wanted, bench: Bench): Promise<Located> {
  const resolved = bench.guard.resolve(asked);
  if (resolved.seen === "node") return resolved;
  throw await notFound(resolved, wants, bench);
}

/**
 * The same for something that is to be read. A question takes its time: if the path names something else when it is
 * answered, it is asked again.
 */
export async function locatePermitted(asked: string, wants: Wanted, bench: Bench): Promise<Located> {
  for (let tries = 1; ; tries += 1) {
    const located = await locate(asked, wants, bench);
    using then = new HandleStack();
    then.use(located.found.held);
    if ((await bench.guard.permit("read", located.target, bench.signal)) === "free") {
      then.move();
      return located;
    }
    const now = await locate(asked, wants, bench);
    if (isSame(located, now)) return now;
    now.found.held.close();
    if (tries >= limits.lookupTriesMax) throw new Problem({ code: "CHANGED", place: located.target });
  }
}

function isSame(then: Located, now: Located): boolean {
  const [a, b] = [then.found.held.identity, now.found.held.identity];
  return then.target.real === now.target.real && a.device === b.device && a.inode === b.inode;
}

/** What is not there, or not in the roots, and what may have been meant. */
export async function notFound(
  resolved: Exclude<Resolved, { readonly seen: "node" }>,
  wants: Wanted,
  bench: Bench,
): Promise<Problem> {
  const { place } = resolved;
  if (resolved.seen === "missing") refuseIfDenied(place, bench);
  const suggestions = await similar(place, wants, surroundings(bench));
  if (resolved.seen === "missing") {
    return new Problem({ code: "NOT_FOUND", place, reason: resolved.reason, suggestions });
  }
  const roots = bench.disk.roots.map((root) => root.given);
  // That the root is there is said anyway.
  const below = suggestions.filter(({ relative }) => relative !== "");
  return new Problem({ code: "ACCESS_DENIED", reason: "outside", place, roots, suggestions: below });
}

/** Whether a denied path exists is not told. */
function refuseIfDenied(place: Place, bench: Bench): void {
  const rule = bench.guard.denied("read", [place.absolute], "file");
  if (rule === undefined) return;
  throw new Problem({ code: "ACCESS_DENIED", reason: "rule", place, rule: rule.text, source: rule.source });
}

function surroundings(bench: Bench): Surroundings {
  const seen = (path: string): "file" | "directory" | undefined => {
    const look = released(bench.disk.look(path));
    if (look.seen !== "node") return undefined;
    if (look.kind !== "file" && look.kind !== "directory") return undefined;
    const is = look.kind === "directory" ? "folder" : "file";
    return bench.guard.denied("read", [path, look.real], is) === undefined ? look.kind : undefined;
  };
  const untilMs = performance.now() + limits.suggestionMsMax;
  return {
    roots: bench.disk.roots.map((root) => root.given),
    look: async (path) => seen(path),
    list: async (folder, take) => {
      const look = bench.disk.look(folder);
      if (look.seen !== "node") return false;
      using _held = look.held;
      if (look.kind !== "directory") return false;
      const visit = (entry: WalkEntry): "enough" | undefined => {
        take({ name: entry.name, kind: entry.isDirectory() ? "directory" : "file" });
        return performance.now() > untilMs ? "enough" : undefined;
      };
      return (await bench.disk.walk(look).each(visit, bench.signal)) === undefined;
    },
  };
}
