/**
 * Resolves the symlinks of an absolute path as far as it exists; missing names stay as written. For rules and folders that the
 * operator names: nothing is opened, and the result is only compared.
 */

import * as nodePath from "node:path";
import { limits } from "../../contract/limits.ts";
import { errnoName } from "../errno.ts";
import { nodeSystem, type System } from "../system.ts";

export type RealPrefix = (path: string) => string;

/** Resolves many paths, and caches the folders it has resolved. A name costs one `lstat` (3 µs). */
export function realPrefixes(
  system: Pick<System, "glance" | "readLink" | "realPath" | "platform"> = nodeSystem,
): RealPrefix {
  const realFolders = new Map<string, string>();
  /** Real paths of folders that do not exist: nothing in them does. */
  const missing = new Set<string>();

  const resolve = (path: string, links: number): string => {
    const cut = path.lastIndexOf("/");
    const folder = nodePath.sep === "/" && cut > 0 ? path.slice(0, cut) : nodePath.dirname(path);
    if (folder === path) return path;
    let realFolder = realFolders.get(folder);
    if (realFolder === undefined) {
      realFolder = resolve(folder, links);
      realFolders.set(folder, realFolder);
    }
    const plain = realFolder === folder ? path : nodePath.join(realFolder, nodePath.basename(path));
    if (!missing.has(realFolder)) return entry(plain, links);
    missing.add(plain);
    return plain;
  };

  /** `path` is one name in a folder without symlinks. */
  const entry = (path: string, links: number): string => {
    try {
      const stat = system.glance(path);
      if (stat === undefined) {
        missing.add(path);
        return path;
      }
      if (stat.isSymbolicLink() && links < limits.linkHopsMax) {
        return resolve(nodePath.resolve(nodePath.dirname(path), String(system.readLink(path))), links + 1);
      }
      // Windows has a second, short name for a long one.
      return system.platform === "win32" ? system.realPath(path) : path;
    } catch (error) {
      if (errnoName(error) === undefined) throw error;
      return path;
    }
  };

  return (path) => resolve(nodePath.resolve(path), 0);
}
