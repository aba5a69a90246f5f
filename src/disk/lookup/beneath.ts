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
import * as nodePath from "node:path";
import { limits } from "../../contract/limits.ts";
import type { RealPath } from "../../contract/target.ts";
import { errnoName } from "../errno.ts";
import type { System } from "../system.ts";
import { isKernelType, isLocalType } from "./file-systems.ts";
import {
  type Border,
  handlePathOf,
  type Handle,
  createHandle,
  isSameFolder,
  kindOfMode,
  type Lookup,
  type LookupAlso,
  lookupOfErrno,
  type Nearest,
  O_PATH,
  refusedAtBorder,
  type Root,
} from "./lookup.ts";

// The end of a walk beneath the roots: what the walk holds becomes what was found, or is closed.

/** A walk that stands in a folder of a root, or at its end. All descriptors are its own. */
interface Inside {
  readonly root: Root;
  readonly names: string[];
  readonly fd: number;
  readonly rootFd: number;
  /** At the end of the walk the folder before it, if it is wanted; may be `rootFd`. */
  readonly aboveFd?: number | undefined;
  /** What was opened last, if it was looked at. */
  readonly stat?: ReturnType<System["stat"]> | undefined;
}

function closeAll({ fd, rootFd, aboveFd = rootFd }: Inside, system: System): void {
  if (fd !== rootFd) system.close(fd);
  if (aboveFd !== rootFd) system.close(aboveFd);
  system.close(rootFd);
}

/**
 * The end of the walk: is the inode that we hold still beneath the root, and what is it? If the answer is a node other
 * than a kernel file, it has taken over or closed all that the walk held.
 */
function judge(at: Inside, bent: boolean, system: System, border: Border): Lookup | "start over" {
  const stat = at.stat ?? system.stat(at.fd);
  if (stat.nlink === 0n) return "start over";
  const real = system.pathOfHandle(handlePathOf(at.fd));
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
  const handle = createHandle(fd, stat, reads, system, folder);
  // Name by name and always the same ones: to add one to a copy of an object costs V8 as much as a system call.
  return {
    seen: "node",
    kind,
    real: real as RealPath,
    root,
    bent,
    handle,
    folder,
    letGo: folder === undefined ? undefined : handle.closeLater,
  };
}

/**
 * The kernel marks a name that was removed, or given to another file, since we looked at it. A mark is no part of a name:
 * no rule would match it. Whoever asked for a file that is really called so gets it.
 */
const isGone = (real: string, names: readonly string[]): boolean =>
  real.endsWith(" (deleted)") && names.length > 0 && !real.endsWith(`/${names.at(-1)}`);

/** Undefined where another look must tell more about the folder. */
function folderOf({ root, aboveFd }: Inside, device: bigint, border: Border, system: System): Handle | undefined {
  if (aboveFd === undefined || border.sameDevice === true || device !== root.device) return undefined;
  const stat = system.stat(aboveFd);
  return stat.dev === root.device ? createHandle(aboveFd, stat, root.reads, system) : undefined;
}

/** The folder in which the walk stands, as something that is held; undefined where another look must tell more about it. */
function handleAbove({ root, fd, rootFd }: Inside, system: System): Handle | undefined {
  try {
    const stat = system.stat(fd);
    if (stat.dev !== root.device || stat.nlink === 0n) return undefined;
    if (fd !== rootFd) system.close(rootFd);
    return createHandle(fd, stat, root.reads, system);
  } catch (error) {
    if (errnoName(error) === undefined) throw error;
    return undefined;
  }
}

/** A file or link of the kernel's own file systems: held only to name it in the refusal. */
function specialAt(at: Inside, system: System): Lookup {
  const stat = system.stat(at.fd);
  const real = system.pathOfHandle(handlePathOf(at.fd)) as RealPath;
  const fd = system.open(handlePathOf(at.fd), O_PATH);
  const handle = createHandle(fd, stat, "later", system);
  return { seen: "node", kind: "kernel file", real, root: at.root, bent: false, handle };
}

/** Is `path` the folder or below it? Whole names are compared, never string prefixes. */
export const isBeneath = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);

const noFollow = O_PATH | constants.O_NOFOLLOW;
const folderOnly = noFollow | constants.O_DIRECTORY;

/** `path` is absolute and may hold `.`, `..`, doubled and trailing slashes. */
export function lookupBeneath(
  path: string,
  roots: readonly Root[],
  system: System,
  border: Border = {},
  also?: LookupAlso,
): Lookup {
  for (let tries = 1; ; tries += 1) {
    const through: string[] = [];
    const lookup = walk(path, roots, system, border, { also, through });
    if (lookup !== "start over") return through.length === 0 ? lookup : { ...lookup, through };
    if (tries >= limits.lookupTriesMax) return { seen: "changed" };
  }
}

/** Where the walk stands: among the folders above the roots (text only), or in a folder of a root (held open). */
type Standing = { outside: string } | Inside;

function walk(
  path: string,
  roots: readonly Root[],
  system: System,
  border: Border,
  { also, through }: { readonly also: LookupAlso; readonly through: string[] },
): Lookup | "start over" {
  const head = headOf(path, roots);
  const todo = path.slice(head.length).split("/").reverse();
  let at: Standing = { outside: "/" };
  let opens = 0;
  let name: string | undefined;
  /** Fewer names than this are left: they are those of the path itself, not of a link's text. */
  let askedMax = Number.POSITIVE_INFINITY;
  let hops = 0;
  let followed = false;
  let bent = false;

  const leave = (): void => {
    if ("root" in at) closeAll(at, system);
  };
  /** There is no `name` where the walk stands; the folder in which it would be is told with that. */
  const missing = (): Lookup => {
    if (!("root" in at)) return { seen: "missing", reason: "missing" };
    const isInLink = todo.length >= askedMax;
    const names = [name ?? "", ...todo.reverse()];
    const nearest = nearestOf(at, names, border, system);
    if (nearest === "too long") return { seen: "too long" };
    if (nearest === undefined) return { seen: "missing", reason: "missing" };
    const { real, root, rest, isWithin } = nearest;
    if (isInLink) return { seen: "missing", reason: "missing", leadsTo: nodePath.resolve(real, rest) };
    const handle = also !== undefined && names.length === 1 && isWithin ? handleAbove(at, system) : undefined;
    // The caller has it from now on.
    if (handle !== undefined) at = { outside: "" };
    return { seen: "missing", reason: "missing", nearest: { real, root, rest, isWithin, handle } };
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
    if (stand(head) === "root changed") return { seen: "root changed" };
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
        // Only of the path itself: most links are relative, and where their own text leads is no matter of letters.
        bent ||= followed && todo.length < askedMax;
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
        at = { ...at, names, fd, stat: undefined };
        continue;
      }

      const last = !todo.some((rest) => rest !== "" && rest !== ".");
      const wantsFolder: boolean = !last || todo.length > 0;
      const child: string = `${handlePathOf(at.fd)}/${name}`;
      // An error costs more than all other calls of a lookup.
      if (last && also === "the folder of a new file" && system.glance(child) === undefined) return missing();
      const fd = last ? system.open(child, noFollow) : openFolder(child, system);
      const stat = last && fd !== undefined ? statOrClose(fd, system) : undefined;
      const isLink = fd === undefined || (stat !== undefined && kindOfMode(stat.mode) === "link");

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
        through.push(nodePath.resolve(at.root.real, ...at.names, name, ...todo.toReversed()));
        askedMax = Math.min(askedMax, todo.length);
        todo.push(...text.split("/").reverse());
        if (text.startsWith("/")) {
          leave();
          if (stand("/") === "root changed") return { seen: "root changed" };
        }
        continue;
      }

      const keepsAbove = last && also !== undefined;
      if (!keepsAbove && at.fd !== at.rootFd) system.close(at.fd);
      const { root, rootFd } = at;
      const names: string[] = [...at.names, name];
      at = { root, names, fd, rootFd, aboveFd: keepsAbove ? at.fd : undefined, stat };
      if (wantsFolder && stat !== undefined && kindOfMode(stat.mode) !== "directory") {
        return { seen: "missing", reason: "file on the way" };
      }
    }
    if (!("root" in at)) return { seen: "outside" };
    const judged = judge(at, bent, system, border);
    // The caller has what it holds from now on; `leave` must not close it.
    if (judged !== "start over" && judged.seen === "node" && judged.kind !== "kernel file") at = { outside: "" };
    return judged;
  } catch (error) {
    const lookup = lookupOfErrno(errnoName(error), error);
    return lookup.seen === "missing" && lookup.reason === "missing" ? missing() : lookup;
  } finally {
    leave();
  }
}

/** The folder in which the walk stands when there is no `names[0]` in it. */
function nearestOf(
  at: Inside,
  names: readonly string[],
  { sameDevice = false }: Border,
  system: System,
): Nearest | "too long" | undefined {
  try {
    const real = system.pathOfHandle(handlePathOf(at.fd)) as RealPath;
    return isBeneath(real, at.root.real)
      ? { real, root: at.root, rest: names.join("/"), isWithin: !sameDevice }
      : undefined;
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

/** Where a walk along this path first comes to a root, if its letters say so: all before that is only text. */
function headOf(path: string, roots: readonly Root[]): string {
  let head = "/";
  for (const { real, given } of roots) {
    for (const root of [real, given]) {
      if (root === "/") return root;
      const leadsThere = path.startsWith(root) && (path.length === root.length || path[root.length] === "/");
      if (leadsThere && (head === "/" || root.length < head.length)) head = root;
    }
  }
  return head;
}

const leadsToRoot = (path: string, roots: readonly Root[]): boolean =>
  roots.some((root) => isBeneath(root.real, path) || isBeneath(root.given, path));

const joined = (folder: string, name: string): string => (folder === "/" ? `/${name}` : `${folder}/${name}`);
const parentOf = (path: string): string => path.slice(0, path.lastIndexOf("/")) || "/";
