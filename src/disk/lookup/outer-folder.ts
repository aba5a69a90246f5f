/**
 * The folder outside the roots that a path leads to, so that somebody can be asked about it. Names are resolved, nothing
 * is opened. What comes out is not yet trusted: a root is made of it, and everything is judged anew beneath that root.
 */

import * as nodePath from "node:path";
import { errnoName } from "../errno.ts";
import { nodeSystem, type System } from "../system.ts";
import { isKernelType } from "./file-systems.ts";

export interface OuterFolder {
  /** Without links. */
  readonly real: string;
  /** As the path spells it, if it does. */
  readonly given: string;
}

/** Undefined where there is nothing that could be worked with. */
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
    // A file that does not exist yet: its folder must. A link that leads nowhere is not one.
    if (isThere(path, system)) return undefined;
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

function isThere(path: string, system: System): boolean {
  try {
    system.statLink(path);
    return true;
  } catch (error) {
    if (errnoName(error) === "ENOENT") return false;
    throw error;
  }
}

/** Devices and the kernel's own files are nobody's to let in. */
function usable(folder: string | undefined, system: System): string | undefined {
  if (folder === undefined || /^\/(?:proc|sys|dev)(?:\/|$)/.test(folder)) return undefined;
  return system.platform === "linux" && isKernelType(system.fileSystemType(folder)) ? undefined : folder;
}
