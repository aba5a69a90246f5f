/** Paths as text: which are refused before any system call, and how they are shown. No disk access. */

import * as nodePath from "node:path";
import { leadsOut } from "../contract/common.ts";
import { limits } from "../contract/limits.ts";
import type { PathFault } from "../contract/problem.ts";
import type { Place, Target } from "../contract/target.ts";
import type { PathName } from "./group.ts";
import { escapePattern } from "./patterns.ts";

/** Device names that Windows reserves, with or without an extension. */
const reservedName = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(\..*)?$/i;

/** Network and device paths are refused on every system: on Windows, opening one sends the user's credentials. */
export function pathFault(path: string, flavour: nodePath.PlatformPath): PathFault | undefined {
  if (path === "") return "empty";
  if (path.includes("\0")) return "nul";
  // The system call would replace it by another character, and so name another file.
  if (/\p{Surrogate}/u.test(path)) return "half character";
  if (/^[\\/]{2}[?.][\\/]|^\\\?\?\\/.test(path) && (path.includes("\\") || flavour.sep === "\\"))
    return "device namespace";
  if (path.startsWith("\\\\") || (flavour.sep === "\\" && /^[\\/]{2}/.test(path))) return "network";
  if (path.length > limits.pathBytesMax || Buffer.byteLength(path) > limits.pathBytesMax) return "too long";
  return flavour.sep === "\\" ? windowsFault(path) : undefined;
}

/** What a path was written for, a shell or another system. Asked only if no file has that name. */
export function foreignForm(path: string, flavour: nodePath.PlatformPath): PathFault | undefined {
  if (/^(?:\$\w+|\$\{\w+\}|%\w+%)(?:[\\/]|$)/.test(path)) return "variable";
  if (/^~[\w.-]+\//.test(path)) return "home of another";
  return flavour.sep === "/" && /^[a-z]:[\\/]/i.test(path) ? "drive" : undefined;
}

export function atHome(path: string, home: string | undefined, flavour: nodePath.PlatformPath): string {
  if (!path.startsWith("~") || home === undefined || home === "") return path;
  if (path.length > 1 && path[1] !== "/" && path[1] !== flavour.sep) return path;
  return path.length === 1 ? home : `${home.replace(/[\\/]+$/, "")}${flavour.sep}${path.slice(2)}`;
}

function windowsFault(path: string): PathFault | undefined {
  if (/^[a-z]:($|[^\\/])/i.test(path)) return "drive relative";
  const names = path.replace(/^[a-z]:/i, "").split(/[\\/]/);
  if (names.some((name) => name.includes(":"))) return "stream";
  // Windows drops trailing dots and spaces, so such a name is an alias of a file that a rule may protect.
  if (names.some((name) => /[. ]$/.test(name) && name !== "." && name !== "..")) return "reserved";
  return names.some((name) => reservedName.test(name)) ? "reserved" : undefined;
}

/** `asked` as the caller sees the tree: absolute, and relative to the first root that contains it. */
export function placeOf(asked: string, base: string, roots: readonly string[], flavour: nodePath.PlatformPath): Place {
  const absolute = flavour.resolve(base, asked);
  return { asked, absolute, relative: relativeTo(absolute, roots, flavour) ?? absolute };
}

/** Has no empty names, `.` or `..`, so `resolve` would not change it. */
const isPlain = (path: string): boolean => !/(?:^|\/)\.{0,2}(?:\/|$)/.test(path.startsWith("/") ? path.slice(1) : path);

/** Each `..` after a name costs a lookup of its own. */
const turnsMax = 32;

/** Where a path turns back with `..`: `a/b` and `a/b/../c` of `a/b/../c/../d`. */
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

export function relativeTo(
  absolute: string,
  roots: readonly string[],
  flavour: nodePath.PlatformPath,
): string | undefined {
  const isQuick = isQuickToCompare(absolute, flavour);
  for (const root of roots) {
    const relative = relativeIn(root, absolute, isQuick, flavour);
    if (relative !== undefined) return relative;
  }
  return undefined;
}

/** Most paths are plain and below the first root; `relative` would scan every character of both. */
const isQuickToCompare = (absolute: string, flavour: nodePath.PlatformPath): boolean =>
  flavour.sep === "/" && absolute.startsWith("/") && isPlain(absolute);

function relativeIn(
  root: string,
  absolute: string,
  isQuick: boolean,
  flavour: nodePath.PlatformPath,
): string | undefined {
  if (isQuick && absolute.startsWith(root) && absolute[root.length] === "/") return absolute.slice(root.length + 1);
  const rest = flavour.relative(root, absolute);
  if (leadsOut(rest, flavour)) return undefined;
  return flavour.sep === "\\" ? rest.replaceAll("\\", "/") : rest;
}

/** The same for every root that contains it, without duplicates. */
export function relativesTo(
  absolute: string,
  roots: readonly string[],
  flavour: nodePath.PlatformPath,
): readonly string[] {
  const isQuick = isQuickToCompare(absolute, flavour);
  const relatives: string[] = [];
  for (const root of roots) {
    if (isQuick && !absolute.startsWith(root)) continue;
    const relative = relativeIn(root, absolute, isQuick, flavour);
    if (relative !== undefined && !relatives.includes(relative)) relatives.push(relative);
  }
  return relatives;
}

/** A folder's name ends in a slash, so that a rule for files (`.env`) does not match it. */
export function nameOf(absolute: string, relatives: readonly string[], is: "file" | "folder"): PathName {
  if (is === "file" && relatives.length < 2) return { absolute, relative: relatives[0] };
  const marked = (path: string): string => (is === "folder" && path !== "" ? `${path}/` : path);
  const [relative, ...others] = relatives.map(marked);
  const isOnlyRoot = relative === "" && others.length === 0;
  const name = { absolute: isOnlyRoot ? absolute : marked(absolute), relative };
  return others.length === 0 ? name : { ...name, others };
}

/** The names of paths below a folder. Compares roots once for all of them, unless a root is below the folder. */
export function namesBeneath(
  folder: string,
  roots: readonly string[],
): (below: string, is: "file" | "folder") => PathName {
  const start = folder.endsWith(nodePath.sep) ? folder : folder + nodePath.sep;
  if (roots.some((root) => root.startsWith(start))) {
    return (below, is) => nameOf(start + below, relativesTo(start + below, roots, nodePath), is);
  }
  const between = relativesTo(folder, roots, nodePath).map((relative) => (relative === "" ? "" : `${relative}/`));
  const relatives = (below: string): readonly string[] => between.map((prefix) => prefix + below);
  return (below, is) => nameOf(start + below, relatives(below), is);
}

/** A file in an admitted folder outside has no name relative to a root. */
export const realNameOf = (target: Target, roots: readonly string[]): PathName =>
  nameOf(target.real, relativesTo(target.real, roots, nodePath), target.is);

/** All names of a target: a rule may match the symlink, its target, or a symlink on the way there. */
export function namesOf(target: Target, roots: readonly string[]): readonly PathName[] {
  const real = realNameOf(target, roots);
  if (target.absolute === target.real) return [real];
  const named = (path: string): PathName => nameOf(path, relativesTo(path, roots, nodePath), target.is);
  return [named(target.absolute), real, ...(target.through ?? []).map(named)];
}

export function absolutePattern(path: string): string {
  const slashed = nodePath.sep === "\\" ? path.replaceAll("\\", "/") : path;
  return `//${escapePattern(slashed.replace(/^\/+/, ""))}`;
}
