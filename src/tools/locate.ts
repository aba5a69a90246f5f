/** The first steps of every tool that works on something that exists: find it, or suggest similar names. */

import { type FileNode, HandleStack, withHandleClosed, type WalkEntry } from "../disk/disk.ts";
import { limits } from "../contract/limits.ts";
import { Problem } from "../contract/problem.ts";
import type { Target } from "../contract/target.ts";
import { deniedBy, type Resolved } from "../guard/guard.ts";
import { similarPaths, type Surroundings, type Wanted } from "../search/search.ts";
import type { ToolContext } from "./tool.ts";

export interface Located {
  readonly target: Target;
  /** The caller closes `node.handle`. */
  readonly node: FileNode;
}

export async function locate(asked: string, wants: Wanted, context: ToolContext): Promise<Located> {
  const resolved = context.guard.resolve(asked);
  if (resolved.seen === "node") return resolved;
  throw await notFound(resolved, wants, context);
}

/**
 * Also throws unless the session may read it. A person may take minutes to answer: if the path names another file by then, the
 * question is asked again.
 */
export async function locatePermitted(asked: string, wants: Wanted, context: ToolContext): Promise<Located> {
  for (let tries = 1; ; tries += 1) {
    const located = await locate(asked, wants, context);
    using then = new HandleStack();
    then.use(located.node.handle);
    if ((await context.guard.permit("read", located.target, context.signal)) === "free") {
      then.move();
      return located;
    }
    const now = await locate(asked, wants, context);
    if (isSame(located, now)) return now;
    now.node.handle.close();
    if (tries >= limits.lookupTriesMax) throw new Problem({ code: "CHANGED", place: located.target });
  }
}

function isSame(then: Located, now: Located): boolean {
  const [a, b] = [then.node.handle.identity, now.node.handle.identity];
  return then.target.real === now.target.real && a.device === b.device && a.inode === b.inode;
}

/** The Problem for a path that is missing or outside the roots, with similar names. */
export async function notFound(
  resolved: Exclude<Resolved, { readonly seen: "node" }>,
  wants: Wanted,
  context: ToolContext,
): Promise<Problem> {
  const { place } = resolved;
  const rule = resolved.seen === "missing" ? context.guard.denied("read", [place.absolute], "file") : undefined;
  // The answer must not show whether a denied path exists.
  if (rule !== undefined) throw deniedBy(rule, place);
  const suggestions = await similarPaths(place, wants, surroundings(context));
  if (resolved.seen === "missing") {
    return new Problem({ code: "NOT_FOUND", place, reason: resolved.reason, suggestions });
  }
  const roots = context.disk.roots.map((root) => root.given);
  // The Problem lists the roots anyway.
  const below = suggestions.filter(({ relative }) => relative !== "");
  return new Problem({ code: "ACCESS_DENIED", reason: "outside", place, roots, suggestions: below });
}

function surroundings(context: ToolContext): Surroundings {
  const seen = (path: string): "file" | "directory" | undefined => {
    const lookup = withHandleClosed(context.disk.lookup(path));
    if (lookup.seen !== "node") return undefined;
    if (lookup.kind !== "file" && lookup.kind !== "directory") return undefined;
    const is = lookup.kind === "directory" ? "folder" : "file";
    return context.guard.denied("read", [path, lookup.real], is) === undefined ? lookup.kind : undefined;
  };
  const untilMs = performance.now() + limits.suggestionMsMax;
  return {
    roots: context.disk.roots.map((root) => root.given),
    lookup: async (path) => seen(path),
    list: async (folder, take) => {
      const lookup = context.disk.lookup(folder);
      if (lookup.seen !== "node") return false;
      using _handle = lookup.handle;
      if (lookup.kind !== "directory") return false;
      const visit = (entry: WalkEntry): "enough" | undefined => {
        take({ name: entry.name, kind: entry.isDirectory() ? "directory" : "file" });
        return performance.now() > untilMs ? "enough" : undefined;
      };
      return (await context.disk.walk(lookup).each(visit, context.signal)) === undefined;
    },
  };
}
