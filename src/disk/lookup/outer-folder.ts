/**
 * The folder outside the roots that a path leads to, so that a person can be asked about it. Names are resolved, nothing is
 * opened. The result is not trusted yet: it becomes a root, and everything beneath it is checked anew.
 */

import * as nodePath from "node:path";
import { errnoName } from "../errno.ts";
import { nodeSystem, type System } from "../system.ts";
import { isKernelType } from "./file-systems.ts";

export interface OuterFolder {
  /** With symlinks resolved. */
  readonly real: string;
  /** As spelled in the path, if it is part of it. */
  readonly given: string;
}

/** Undefined if the path leads to no usable folder. */
export function outerFolder(path: string, system: System = nodeSystem): OuterFolder | undefined {
  try {
    const real = usable(folderOf(path, system), system);
    if (real === undefined) return undefined;
    const spelled = [path, nodePath.dirname(path)].map((name) => nodePath.resolve(name));
    return { real, given: spelled.find((name) => leadsTo(real, name, system)) ?? real };
  } catch (error) {
    if (errnoName(error) === undefined) throw error;
    return undefined;
  }
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
    if (hasName(path, system)) return undefined;
    const above = system.realPath(nodePath.dirname(path));
    return system.statPath(above).isDirectory() ? above : undefined;
  }
}

function leadsTo(real: string, path: string, system: System): boolean {
  try {
    return system.realPath(path) === real;
  } catch (error) {
    if (errnoName(error) === undefined) throw error;
    return false;
  }
}

function hasName(path: string, system: System): boolean {
  try {
    system.statLink(path);
    return true;
  } catch (error) {
    if (errnoName(error) === "ENOENT") return false;
    throw error;
  }
}

/** Devices and kernel file systems are never allowed. */
function usable(folder: string | undefined, system: System): string | undefined {
  if (folder === undefined || /^\/(?:proc|sys|dev)(?:\/|$)/.test(folder)) return undefined;
  return system.platform === "linux" && isKernelType(system.fileSystemType(folder)) ? undefined : folder;
}
