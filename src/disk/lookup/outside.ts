/** Names outside the roots, resolved without opening anything: folders that a person may allow, rules, ignore files above. */

import * as fs from "node:fs";
import * as nodePath from "node:path";
import { limits } from "../../contract/limits.ts";
import { attempt, errnoName, orErrno } from "../errno.ts";
import { nodeSystem, type System } from "../system.ts";
import { isKernelType } from "./file-systems.ts";

export interface OuterFolder {
  readonly real: string;
  /** As spelled in the path, if it is part of it. */
  readonly given: string;
}

/** The folder outside the roots that a path leads to. It is not trusted: everything beneath it is checked anew. */
export function outerFolder(path: string, system: System = nodeSystem): OuterFolder | undefined {
  const find = (): OuterFolder | undefined => {
    const real = usable(folderOf(path, system), system);
    if (real === undefined) return undefined;
    const spelled = [path, nodePath.dirname(path)].map((name) => nodePath.resolve(name));
    return { real, given: spelled.find((name) => leadsTo(real, name, system)) ?? real };
  };
  return orErrno(find, () => undefined);
}

function folderOf(path: string, system: System): string | undefined {
  try {
    const real = system.realPath(path);
    const stat = system.statPath(real);
    if (stat.isDirectory()) return real;
    return stat.isFile() ? nodePath.dirname(real) : undefined;
  } catch (error) {
    if (errnoName(error) !== "ENOENT") throw error;
    // A new file needs an existing folder. A dangling symlink is not a new file.
    if (system.glance(path) !== undefined) return undefined;
    const above = system.realPath(nodePath.dirname(path));
    return system.statPath(above).isDirectory() ? above : undefined;
  }
}

const leadsTo = (real: string, path: string, system: System): boolean =>
  orErrno(
    () => system.realPath(path) === real,
    () => false,
  );

function usable(folder: string | undefined, system: System): string | undefined {
  if (folder === undefined || /^\/(?:proc|sys|dev)(?:\/|$)/.test(folder)) return undefined;
  return system.platform === "linux" && isKernelType(system.fileSystemType(folder)) ? undefined : folder;
}

export type RealPrefix = (path: string) => string;

/** Resolves symlinks as far as the paths exist, and caches the folders. A name costs one `lstat` (3 µs). */
export function realPrefixes(
  system: Pick<System, "glance" | "readLink" | "realPath" | "platform"> = nodeSystem,
): RealPrefix {
  const known = new Map<string, string | undefined>();

  const resolve = (path: string, links: number): string => {
    const { root } = nodePath.parse(path);
    let real = root;
    const names = path.slice(root.length).split(nodePath.sep);
    for (const [at, name] of names.entries()) {
      if (name === "") continue;
      const plain = real.endsWith(nodePath.sep) ? real + name : real + nodePath.sep + name;
      if (!known.has(plain)) {
        const found = orErrno(
          () => entry(plain, links),
          () => plain,
        );
        known.set(plain, found);
      }
      const next = known.get(plain);
      // Nothing below a missing name exists either.
      if (next === undefined) return [plain, ...names.slice(at + 1)].join(nodePath.sep);
      real = next;
    }
    return real;
  };

  /** `path` is one name in a folder without symlinks. */
  const entry = (path: string, links: number): string | undefined => {
    const stat = system.glance(path);
    if (stat?.isSymbolicLink() === true && links < limits.linkHopsMax) {
      return resolve(nodePath.resolve(nodePath.dirname(path), String(system.readLink(path))), links + 1);
    }
    if (stat === undefined) return undefined;
    // Windows has a second, short name for a long one.
    return system.platform === "win32" ? system.realPath(path) : path;
  };

  return (path) => resolve(nodePath.resolve(path), 0);
}

/** Could a folder above contain one of these ignore files? In doubt true. */
export function existAbove(folder: string, names: readonly string[]): boolean {
  for (let at = folder, up = nodePath.dirname(at); up !== at; at = up, up = nodePath.dirname(at)) {
    if (names.some((name) => isThere(nodePath.join(up, name)))) return true;
  }
  return false;
}

const isThere = (path: string): boolean =>
  attempt(() => fs.lstatSync(path, { throwIfNoEntry: false }) !== undefined) ?? true;
