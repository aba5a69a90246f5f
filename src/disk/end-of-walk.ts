/** The end of a walk beneath the roots: what the walk holds becomes what was found, or is closed. */

import type { RealPath } from "../contract/brand.ts";
import { refusedAtBorder } from "./border.ts";
import { errnoName } from "./errno.ts";
import { isKernelType, isLocalType } from "./file-systems.ts";
import { handlePathOf, hold, O_PATH } from "./held.ts";
import { type Border, type Held, kindOfMode, type Look, type Root } from "./look.ts";
import type { System } from "./system.ts";

/** A walk that stands in a folder of a root, or at its end. All descriptors are its own. */
export interface Inside {
  readonly root: Root;
  readonly names: string[];
  readonly fd: number;
  readonly rootFd: number;
  /** At the end of the walk the folder before it, if it is wanted; may be `rootFd`. */
  readonly aboveFd?: number | undefined;
  /** What was opened last, if it was looked at. */
  readonly stat?: ReturnType<System["stat"]> | undefined;
}

export function closeAll({ fd, rootFd, aboveFd = rootFd }: Inside, system: System): void {
  if (fd !== rootFd) system.close(fd);
  if (aboveFd !== rootFd) system.close(aboveFd);
  system.close(rootFd);
}

/**
 * The end of the walk: is the inode that we hold still beneath the root, and what is it? If the answer is a node other
 * than a kernel file, it has taken over or closed all that the walk held.
 */
export function judge(at: Inside, bent: boolean, system: System, border: Border): Look | "start over" {
  const stat = at.stat ?? system.stat(at.fd);
  if (stat.nlink === 0n) return "start over";
  const real = system.heldAt(handlePathOf(at.fd));
  // A folder on the way was moved out of the root while we held it.
  if (!isBeneath(real, at.root.real)) return { seen: "outside" };
  if (isGone(real, at.names)) return "start over";
  const kind = kindOfMode(stat.mode);
  if (kind === "link") return "start over";
  const refused = refusedAtBorder(at.fd, at.rootFd, stat, border, system);
  if (refused !== undefined) return refused;
  let reads = at.root.reads;
  if (stat.dev !== at.root.device) {
    const type = system.fileSystemType(handlePathOf(at.fd));
    if (isKernelType(type)) return specialAt(at, system);
    reads = isLocalType(type) ? "at once" : "later";
  }
  const { root, fd, rootFd, aboveFd } = at;
  const folder = folderOf(at, stat.dev, border, system);
  if (folder === undefined) {
    if (aboveFd !== undefined && aboveFd !== rootFd) system.close(aboveFd);
    if (fd !== rootFd) system.close(rootFd);
  } else if (aboveFd !== rootFd) system.close(rootFd);
  const held = hold(fd, stat, reads, system, folder);
  // Name by name and always the same ones: to add one to a copy of an object costs V8 as much as a system call.
  return {
    seen: "node",
    kind,
    real: real as RealPath,
    root,
    bent,
    held,
    folder,
    letGo: folder === undefined ? undefined : held.closeLater,
  };
}

/**
 * The kernel marks a name that was removed, or given to another file, since we looked at it. A mark is no part of a name:
 * no rule would match it. Whoever asked for a file that is really called so gets it.
 */
const isGone = (real: string, names: readonly string[]): boolean =>
  real.endsWith(" (deleted)") && names.length > 0 && !real.endsWith(`/${names.at(-1)}`);

/** Undefined where another look must tell more about the folder. */
function folderOf({ root, aboveFd }: Inside, device: bigint, border: Border, system: System): Held | undefined {
  if (aboveFd === undefined || border.sameDevice === true || device !== root.device) return undefined;
  const stat = system.stat(aboveFd);
  return stat.dev === root.device ? hold(aboveFd, stat, root.reads, system) : undefined;
}

/** The folder in which the walk stands, as something that is held; undefined where another look must tell more about it. */
export function heldAbove({ root, fd, rootFd }: Inside, system: System): Held | undefined {
  try {
    const stat = system.stat(fd);
    if (stat.dev !== root.device || stat.nlink === 0n) return undefined;
    if (fd !== rootFd) system.close(rootFd);
    return hold(fd, stat, root.reads, system);
  } catch (error) {
    if (errnoName(error) === undefined) throw error;
    return undefined;
  }
}

/** A file or link of the kernel's own file systems: held only to name it in the refusal. */
export function specialAt(at: Inside, system: System): Look {
  const stat = system.stat(at.fd);
  const real = system.heldAt(handlePathOf(at.fd)) as RealPath;
  const fd = system.open(handlePathOf(at.fd), O_PATH);
  const held = hold(fd, stat, "later", system);
  return { seen: "node", kind: "kernel file", real, root: at.root, bent: false, held };
}

/** Is `path` the folder or below it? Whole names are compared, never string prefixes. */
export const isBeneath = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);
