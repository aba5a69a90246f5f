/** A target's names as rules are compared with them. */

import * as nodePath from "node:path";
import type { Target } from "../contract/target.ts";
import type { PathName } from "./group.ts";
import { relativeTo } from "./paths.ts";
import { escapePattern } from "./patterns.ts";

/** A folder's name ends in a slash, so that a rule for files (`.env`) does not speak of it. */
export function nameOf(absolute: string, relative: string | undefined, is: "file" | "folder"): PathName {
  const mark = is === "folder" && relative !== "" ? "/" : "";
  return { absolute: absolute + mark, relative: relative === undefined ? undefined : relative + mark };
}

/** The names of files below a folder, which takes no look at each of their paths unless a root lies in between. */
export function namesBeneath(folder: string, roots: readonly string[]): (below: string) => PathName {
  const start = folder.endsWith(nodePath.sep) ? folder : folder + nodePath.sep;
  if (roots.some((root) => root.startsWith(start))) {
    return (below) => nameOf(start + below, relativeTo(start + below, roots, nodePath), "file");
  }
  const relative = relativeTo(folder, roots, nodePath);
  const between = relative === "" ? "" : `${relative}/`;
  return (below) => nameOf(start + below, relative === undefined ? undefined : between + below, "file");
}

/** What lies in a folder that is no root, though somebody let the session in, has no name below a root. */
export const realNameOf = (target: Target, isExternal: boolean): PathName =>
  nameOf(target.real, isExternal ? undefined : target.realRelative, target.is);

/** Both names of a target: a rule may speak of the link or of what it leads to. */
export function namesOf(target: Target, isExternal: boolean): readonly PathName[] {
  const real = realNameOf(target, isExternal);
  if (target.absolute === target.real) return [real];
  const below = target.relative === target.absolute ? undefined : target.relative;
  return [nameOf(target.absolute, below, target.is), real];
}

/** `//` and the path with every character literal. */
export function absolutePattern(path: string): string {
  const slashed = nodePath.sep === "\\" ? path.replaceAll("\\", "/") : path;
  return `//${escapePattern(slashed.replace(/^\/+/, ""))}`;
}
