/**
 * Resolves the symlinks of an absolute path as far as it exists; missing names stay as written. For rules and folders that the
 * operator names: nothing is opened, and the result is only compared.
 */

import * as nodePath from "node:path";
import { limits } from "../../contract/limits.ts";
import { errnoName } from "../errno.ts";
import { nodeSystem, type System } from "../system.ts";

export type RealPrefix = (path: string) => string;

/** Resolves many paths, and caches the folders it has resolved. */
export function realPrefixes(
  system: Pick<System, "glance" | "readLink" | "realPath" | "platform"> = nodeSystem,
): RealPrefix {
  const known = new Map<string, string>();

  const resolve = (path: string, links: number): string => {
    const folder = nodePath.dirname(path);
    if (folder === path) return path;
    const found = known.get(path);
    if (found !== undefined) return found;
    const plain = nodePath.join(resolve(folder, links), nodePath.basename(path));
    const real = entry(plain, links);
    known.set(path, real);
    return real;
  };

  /** `path` is one name in a folder without symlinks. */
  const entry = (path: string, links: number): string => {
    try {
      const stat = system.glance(path);
      if (stat === undefined) return path;
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
