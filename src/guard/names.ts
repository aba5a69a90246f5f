/** A target's names as rules are compared with them. */

import * as nodePath from "node:path";
import type { Target } from "../contract/target.ts";
import type { PathName } from "./group.ts";
import { relativesTo } from "./paths.ts";
import { escapePattern } from "./patterns.ts";

/** A folder's name ends in a slash, so that a rule for files (`.env`) does not speak of it. */
export function nameOf(absolute: string, relatives: readonly string[], is: "file" | "folder"): PathName {
  const marked = (path: string): string => (is === "folder" && path !== "" ? `${path}/` : path);
  const [relative, ...others] = relatives.map(marked);
  const isOnlyRoot = relative === "" && others.length === 0;
  const name = { absolute: isOnlyRoot ? absolute : marked(absolute), relative };
  return others.length === 0 ? name : { ...name, others };
}

/** The names of paths below a folder, which takes no look at each of them unless a root lies in between. */
export function namesBeneath(
  folder: string,
  roots: readonly string[],
): (below: string, is: "file" | "folder") => PathName {
  const start = folder.endsWith(nodePath.sep) ? folder : folder + nodePath.sep;
  if (roots.some((root) => root.startsWith(start))) {
    return (below, is) => nameOf(start + below, relativesTo(start + below, roots, nodePath), is);
  }
  const between = relativesTo(folder, roots, nodePath).map((relative) => (relative === "" ? "" : `${relative}/`));
  return (below, is) =>
    nameOf(
      start + below,
      between.map((prefix) => prefix + below),
      is,
    );
}

/** What lies in a folder that is no root, though somebody let the session in, has no name below a root. */
export const realNameOf = (target: Target, roots: readonly string[]): PathName =>
  nameOf(target.real, relativesTo(target.real, roots, nodePath), target.is);

/** All names of a target: a rule may speak of the link, of what it leads to, or of a link on the way there. */
export function namesOf(target: Target, roots: readonly string[]): readonly PathName[] {
  const real = realNameOf(target, roots);
  if (target.absolute === target.real) return [real];
  const named = (path: string): PathName => nameOf(path, relativesTo(path, roots, nodePath), target.is);
  return [named(target.absolute), real, ...(target.through ?? []).map(named)];
}

/** `//` and the path with every character literal. */
export function absolutePattern(path: string): string {
  const slashed = nodePath.sep === "\\" ? path.replaceAll("\\", "/") : path;
  return `//${escapePattern(slashed.replace(/^\/+/, ""))}`;
}
