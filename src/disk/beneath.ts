/**
 * Finds what a path names without ever leaving the roots (Linux, through `/proc/self/fd`).
 *
 * The path is walked one name at a time, each opened with O_PATH|O_NOFOLLOW relative to the folder held open before
 * it, and links are followed by hand. So nothing outside the roots is touched, no link that is swapped in meanwhile
 * can lead out, and nothing is opened for reading: a FIFO or device is only looked at. The walk ends with a
 * descriptor of the very inode that was judged; reading reopens that descriptor, never the name.
 *
 * Outside the roots there is only text: the folders above a root are known to be real folders (the root's path has
 * its links resolved), so `/work/../work/a` can be followed by letters, and any other name out there is "outside".
 */

import { isUtf8 } from "node:buffer";
import { constants } from "node:fs";
import type { RealPath } from "../contract/brand.ts";
import { limits } from "../contract/limits.ts";
import { refusedAtBorder } from "./border.ts";
import { errnoName } from "./errno.ts";
import { isKernelType, isLocalType } from "./file-systems.ts";
import { handlePathOf, hold } from "./held.ts";
import { type Border, isSameFolder, kindOfMode, type Look, lookOfErrno, type Nearest, type Root } from "./look.ts";
import type { System } from "./system.ts";

/** O_PATH has no name in Node. The value holds on every Linux architecture but alpha, parisc and sparc. */
const O_PATH = 0o10000000;
const noFollow = O_PATH | constants.O_NOFOLLOW;
const folderOnly = noFollow | constants.O_DIRECTORY;

/** `path` is absolute and may hold `.`, `..`, doubled and trailing slashes. */
export function lookBeneath(path: string, roots: readonly Root[], system: System, border: Border = {}): Look {
  for (let tries = 1; ; tries += 1) {
    const look = walk(path, roots, system, border);
    if (look !== "start over") return look;
    if (tries >= limits.lookupTriesMax) return { seen: "changed" };
  }
}

/** Where the walk stands: among the folders above the roots (text only), or in a folder of a root (held open). */
type Standing = { outside: string } | { root: Root; names: string[]; fd: number; rootFd: number };

function walk(path: string, roots: readonly Root[], system: System, border: Border): Look | "start over" {
  const todo = path.split("/").reverse();
  let at: Standing = { outside: "/" };
  let opens = 0;
  let name: string | undefined;
  /** Fewer names than this are left: they are those of the path itself, not of a link's text. */
  let askedMax = Number.POSITIVE_INFINITY;
  let hops = 0;
  let followed = false;
  let bent = false;

  const leave = (): void => {
    if (!("root" in at)) return;
    if (at.fd !== at.rootFd) system.close(at.fd);
    system.close(at.rootFd);
  };
  /** Stands at `outside`, or in the root that lies there. */
  const stand = (outside: string): "root changed" | "ok" => {
    at = { outside };
    const root = roots.find((candidate) => candidate.real === outside || candidate.given === outside);
    if (root === undefined) return "ok";
    const rootFd = openRoot(root, system);
    if (rootFd === undefined) return "root changed";
    at = { root, names: [], fd: rootFd, rootFd };
    return "ok";
  };

  try {
    if (stand("/") === "root changed") return { seen: "root changed" };
    while (todo.length > 0) {
      name = todo.pop();
      if (name === undefined || name === "" || name === ".") continue;

      if (!("root" in at)) {
        const outside: string = name === ".." ? parentOf(at.outside) : joined(at.outside, name);
        if (!leadsToRoot(outside, roots)) return { seen: "outside" };
        if (stand(outside) === "root changed") return { seen: "root changed" };
        continue;
      }

      if (name === "..") {
        bent ||= followed;
        if (at.names.length === 0) {
          const above = parentOf(at.root.real);
          leave();
          if (stand(above) === "root changed") return { seen: "root changed" };
          continue;
        }
        // Never open "..": the folder may have been moved. Walk down again from the root instead.
        const names: string[] = at.names.slice(0, -1);
        opens += names.length;
        if (opens > limits.lookupOpensMax) return { seen: "too long" };
        const fd = descend(at.rootFd, names, system);
        if (fd === undefined) return "start over";
        if (at.fd !== at.rootFd) system.close(at.fd);
        at = { ...at, names, fd };
        continue;
      }

      const last = !todo.some((rest) => rest !== "" && rest !== ".");
      const wantsFolder: boolean = !last || todo.length > 0;
      const child: string = `${handlePathOf(at.fd)}/${name}`;
      const fd = last ? system.open(child, noFollow) : openFolder(child, system);
      const isLink = fd === undefined || (last && kindOfMode(statOrClose(fd, system).mode) === "link");

      if (isLink) {
        if (fd !== undefined) system.close(fd);
        hops += 1;
        if (hops > limits.linkHopsMax) return { seen: "loop" };
        // Links of the kernel's own file systems are magic: their text is not where they lead.
        if (isKernelType(system.fileSystemType(handlePathOf(at.fd)))) return specialAt(at, system);
        const link = readLink(child, system);
        if (link === "none") {
          const isFile = fd === undefined && isNeitherFolderNorLink(child, system);
          return isFile ? { seen: "missing", reason: "file on the way" } : "start over";
        }
        const { text } = link;
        if (text === undefined) return { seen: "missing", reason: "missing" };
        followed = true;
        askedMax = Math.min(askedMax, todo.length);
        todo.push(...text.split("/").reverse());
        if (text.startsWith("/")) {
          leave();
          if (stand("/") === "root changed") return { seen: "root changed" };
        }
        continue;
      }

      if (at.fd !== at.rootFd) system.close(at.fd);
      at = { ...at, names: [...at.names, name], fd };
      if (last && wantsFolder && kindOfMode(system.stat(fd).mode) !== "directory") {
        return { seen: "missing", reason: "file on the way" };
      }
    }
    return "root" in at ? judge(at, bent, system, border) : { seen: "outside" };
  } catch (error) {
    const look = lookOfErrno(errnoName(error), error);
    if (look.seen !== "missing" || look.reason !== "missing" || !("root" in at) || todo.length >= askedMax) return look;
    const nearest = nearestOf(at, [name ?? "", ...todo.reverse()], system);
    if (nearest === "too long") return { seen: "too long" };
    return nearest === undefined ? look : { ...look, nearest };
  } finally {
    leave();
  }
}

/** The folder in which the walk stands when there is no `names[0]` in it. */
function nearestOf(
  at: Extract<Standing, { fd: number }>,
  names: readonly string[],
  system: System,
): Nearest | "too long" | undefined {
  try {
    const real = system.readLink(handlePathOf(at.fd)).toString("utf8") as RealPath;
    return isBeneath(real, at.root.real) ? { real, root: at.root, rest: names.join("/") } : undefined;
  } catch (error) {
    if (errnoName(error) === undefined) throw error;
    // Deeper than a path can say: nobody could be told where a file would be.
    return errnoName(error) === "ENAMETOOLONG" ? "too long" : undefined;
  }
}

/** The root's folder, if it is still the one that the operator meant. */
function openRoot(root: Root, system: System): number | undefined {
  let fd: number;
  try {
    fd = system.open(root.real, folderOnly);
  } catch (error) {
    // Anything else (no descriptors left, a disk that fails) says nothing about the folder.
    if (!["ENOENT", "ENOTDIR", "ELOOP"].includes(errnoName(error) ?? "")) throw error;
    return undefined;
  }
  const stat = statOrClose(fd, system);
  if (isSameFolder(stat, root)) return fd;
  system.close(fd);
  return undefined;
}

/** `fstat` of a descriptor that nobody holds yet: if it fails, the descriptor is closed. */
function statOrClose(fd: number, system: System): ReturnType<System["stat"]> {
  try {
    return system.stat(fd);
  } catch (error) {
    system.close(fd);
    throw error;
  }
}

/** A folder, or undefined if the name is something else (a link, a file): the caller finds out which. */
function openFolder(path: string, system: System): number | undefined {
  try {
    return system.open(path, folderOnly);
  } catch (error) {
    // O_DIRECTORY wins over O_NOFOLLOW: a link gives ENOTDIR, not ELOOP.
    if (errnoName(error) === "ENOTDIR") return undefined;
    throw error;
  }
}

/** Is it a file in the place of a folder, and not a link that became a folder under our hands? */
function isNeitherFolderNorLink(path: string, system: System): boolean {
  const fd = system.open(path, noFollow);
  const kind = kindOfMode(statOrClose(fd, system).mode);
  system.close(fd);
  return kind !== "directory" && kind !== "link";
}

/** Where a link leads; no text if it is not UTF-8 and so names nothing that a caller could ask for. */
function readLink(path: string, system: System): { readonly text: string | undefined } | "none" {
  let bytes: Buffer;
  try {
    bytes = system.readLink(path);
  } catch (error) {
    if (errnoName(error) === "EINVAL") return "none";
    throw error;
  }
  return { text: isUtf8(bytes) ? bytes.toString("utf8") : undefined };
}

/** Opens real folders one below the other; undefined if one of them is gone or has become a link. */
function descend(rootFd: number, names: readonly string[], system: System): number | undefined {
  let fd = rootFd;
  for (const name of names) {
    let next: number | undefined;
    try {
      next = openFolder(`${handlePathOf(fd)}/${name}`, system);
    } finally {
      if (fd !== rootFd) system.close(fd);
    }
    if (next === undefined) return undefined;
    fd = next;
  }
  return fd;
}

/** The end of the walk: is the inode that we hold still beneath the root, and what is it? */
function judge(
  at: Extract<Standing, { fd: number }>,
  bent: boolean,
  system: System,
  border: Border,
): Look | "start over" {
  const stat = system.stat(at.fd);
  if (stat.nlink === 0n) return "start over";
  const text = system.readLink(handlePathOf(at.fd));
  const real = text.toString("utf8");
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
  // The caller takes the descriptor over; `leave` must not close it.
  const fd = at.fd === at.rootFd ? system.open(handlePathOf(at.fd), folderOnly & ~constants.O_NOFOLLOW) : at.fd;
  at.fd = at.rootFd;
  return { seen: "node", kind, real: real as RealPath, root: at.root, bent, held: hold(fd, stat, reads, system) };
}

/**
 * The kernel marks a name that was removed, or given to another file, since we looked at it. A mark is no part of a name:
 * no rule would match it. Whoever asked for a file that is really called so gets it.
 */
const isGone = (real: string, names: readonly string[]): boolean =>
  real.endsWith(" (deleted)") && names.length > 0 && !real.endsWith(`/${names.at(-1)}`);

/** A file or link of the kernel's own file systems: held only to name it in the refusal. */
function specialAt(at: Extract<Standing, { fd: number }>, system: System): Look {
  const stat = system.stat(at.fd);
  const real = system.readLink(handlePathOf(at.fd)).toString("utf8") as RealPath;
  const fd = system.open(handlePathOf(at.fd), O_PATH);
  const held = hold(fd, stat, "later", system);
  return { seen: "node", kind: "kernel file", real, root: at.root, bent: false, held };
}

/** Is `path` the folder or below it? Whole names are compared, never string prefixes. */
export const isBeneath = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);

const leadsToRoot = (path: string, roots: readonly Root[]): boolean =>
  roots.some((root) => isBeneath(root.real, path) || isBeneath(root.given, path));

const joined = (folder: string, name: string): string => (folder === "/" ? `/${name}` : `${folder}/${name}`);
const parentOf = (path: string): string => path.slice(0, path.lastIndexOf("/")) || "/";
