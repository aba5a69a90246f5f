/** A path's letters: which are refused before any file system call, and how it is shown. No disk here. */

import * as nodePath from "node:path";
import { limits } from "../contract/limits.ts";
import type { PathFault } from "../contract/problem.ts";
import type { Place, Target } from "../contract/target.ts";
import type { PathName } from "./group.ts";
import { escapePattern } from "./patterns.ts";

/** The names Windows keeps for devices, with or without an extension. */
const reservedName = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(\..*)?$/i;

/**
 * What is wrong with a path's shape. Network and device paths are refused on every system: asking a Windows disk for
 * them sends the user's credentials to a stranger, and nowhere is a name that begins with two backslashes meant.
 */
export function pathFault(path: string, flavour: nodePath.PlatformPath): PathFault | undefined {
  if (path === "") return "empty";
  if (path.includes("\0")) return "nul";
  // On its way to the disk it would become another character, and the path the name of another file.
  if (/\p{Surrogate}/u.test(path)) return "half character";
  if (/^[\\/]{2}[?.][\\/]|^\\\?\?\\/.test(path) && (path.includes("\\") || flavour.sep === "\\"))
    return "device namespace";
  if (path.startsWith("\\\\") || (flavour.sep === "\\" && /^[\\/]{2}/.test(path))) return "network";
  if (path.length > limits.pathBytesMax || Buffer.byteLength(path) > limits.pathBytesMax) return "too long";
  return flavour.sep === "\\" ? windowsFault(path) : undefined;
}

/** What a path that names nothing was written for: a shell, or another system. A name of that form that exists is a name. */
export function foreignForm(path: string, flavour: nodePath.PlatformPath): PathFault | undefined {
  if (/^(?:\$\w+|\$\{\w+\}|%\w+%)(?:[\\/]|$)/.test(path)) return "variable";
  if (/^~[\w.-]+\//.test(path)) return "home of another";
  return flavour.sep === "/" && /^[a-z]:[\\/]/i.test(path) ? "drive" : undefined;
}

/** `~/x` lies at home, everything else where it says. */
export function atHome(path: string, home: string | undefined, flavour: nodePath.PlatformPath): string {
  if (home === undefined || home === "" || !/^~(?:$|\/)/.test(path.replaceAll(flavour.sep, "/"))) return path;
  return path.length === 1 ? home : `${home.replace(/[\\/]+$/, "")}${flavour.sep}${path.slice(2)}`;
}

function windowsFault(path: string): PathFault | undefined {
  if (/^[a-z]:($|[^\\/])/i.test(path)) return "drive relative";
  const names = path.replace(/^[a-z]:/i, "").split(/[\\/]/);
  if (names.some((name) => name.includes(":"))) return "stream";
  // Windows drops trailing dots and spaces, so such a name is another name for a file that a rule may protect.
  if (names.some((name) => /[. ]$/.test(name) && name !== "." && name !== "..")) return "reserved";
  return names.some((name) => reservedName.test(name)) ? "reserved" : undefined;
}

/** `asked` as the caller sees the tree: absolute, and relative to the first root that holds it. */
export function placeOf(asked: string, base: string, roots: readonly string[], flavour: nodePath.PlatformPath): Place {
  const absolute = resolved(base, asked, flavour);
  return { asked, absolute, relative: relativeTo(absolute, roots, flavour) ?? absolute };
}

/** The same as `flavour.resolve`, which goes through every character of both. `base` is absolute and has its plain form. */
export function resolved(base: string, asked: string, flavour: nodePath.PlatformPath): string {
  if (flavour.sep !== "/" || base === "/" || !isPlain(asked)) return flavour.resolve(base, asked);
  return asked.startsWith("/") ? asked : `${base}/${asked}`;
}

/** Without empty names, `.` and `..`: `resolve` would change nothing in it. */
const isPlain = (path: string): boolean => !/(?:^|\/)\.{0,2}(?:\/|$)/.test(path.startsWith("/") ? path.slice(1) : path);

/** So many times may a path go down and up again; each of them is looked at. */
const turnsMax = 32;

/** Where a path turns back with `..`: `a/b` and `a/b/../c` of `a/b/../c/../d`. What lies deeper than a turn was passed on the way. */
export function waysUp(path: string, flavour: nodePath.PlatformPath): readonly string[] | "too many" {
  const ways: string[] = [];
  if (!path.includes("..")) return ways;
  const names = path.split(flavour.sep === "\\" ? /[\\/]/ : "/");
  const isName = (name: string | undefined): boolean => name !== undefined && name !== "" && name !== ".";
  let before: string | undefined;
  for (const [at, name] of names.entries()) {
    if (!isName(name)) continue;
    if (name === ".." && before !== undefined && before !== "..") {
      if (ways.push(names.slice(0, at).join(flavour.sep)) > turnsMax) return "too many";
    }
    before = name;
  }
  return ways;
}

/** Below its root with forward slashes; undefined if no root holds it. */
export function relativeTo(
  absolute: string,
  roots: readonly string[],
  flavour: nodePath.PlatformPath,
): string | undefined {
  // Most paths are plain and lie below the first root; `relative` would go through every character of both.
  const isQuick = flavour.sep === "/" && absolute.startsWith("/") && isPlain(absolute);
  for (const root of roots) {
    if (isQuick && absolute.startsWith(root) && absolute[root.length] === "/") return absolute.slice(root.length + 1);
    const rest = flavour.relative(root, absolute);
    const outside = rest === ".." || rest.startsWith(`..${flavour.sep}`) || flavour.isAbsolute(rest);
    if (!outside) return flavour.sep === "\\" ? rest.replaceAll("\\", "/") : rest;
  }
  return undefined;
}

/** The same below every root that holds it, each spelling once. */
export function relativesTo(
  absolute: string,
  roots: readonly string[],
  flavour: nodePath.PlatformPath,
): readonly string[] {
  const found: string[] = [];
  const isQuick = flavour.sep === "/" && absolute.startsWith("/") && isPlain(absolute);
  for (const root of roots) {
    if (isQuick && !absolute.startsWith(root)) continue;
    const relative = relativeTo(absolute, [root], flavour);
    if (relative !== undefined && !found.includes(relative)) found.push(relative);
  }
  return found;
}

// A target's names as rules are compared with them.

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
