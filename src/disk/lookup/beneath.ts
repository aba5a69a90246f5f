/**
 * Resolves a path without ever leaving the roots (Linux, through `/proc/self/fd`). It is walked one name at a time, each opened
 * with O_PATH|O_NOFOLLOW relative to the open folder before it, and symlinks are followed by hand: nothing outside the roots is
 * touched, no symlink swapped in meanwhile can lead out, and nothing is opened for reading, not even a FIFO. The walk ends with a
 * descriptor of the inode that was judged; reading reopens that descriptor, never the name. Above the roots, names are only text.
 */

import { isUtf8 } from "node:buffer";
import { constants } from "node:fs";
import * as nodePath from "node:path";
import { limits } from "../../contract/limits.ts";
import type { RealPath } from "../../contract/target.ts";
import { errnoName, orErrno } from "../errno.ts";
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

interface Inside {
  readonly root: Root;
  readonly names: string[];
  readonly fd: number;
  readonly rootFd: number;
  /** At the end of the walk: the folder before it, if the caller asked for it; may be `rootFd`. */
  readonly aboveFd?: number | undefined;
  readonly stat?: ReturnType<System["stat"]> | undefined;
}

function closeAll({ fd, rootFd, aboveFd = rootFd }: Inside, system: System): void {
  if (fd !== rootFd) system.close(fd);
  if (aboveFd !== rootFd) system.close(aboveFd);
  system.close(rootFd);
}

/** Judges the open inode. A returned node other than a kernel file has taken over or closed all descriptors of the walk. */
function judge(at: Inside, bent: boolean, system: System, border: Border): Lookup | "start over" {
  const stat = at.stat ?? system.stat(at.fd);
  if (stat.nlink === 0n) return "start over";
  const real = system.pathOfHandle(handlePathOf(at.fd));
  // A folder on the way was moved out of the root meanwhile.
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
  // One literal with a fixed set of keys: adding a key to a copy costs V8 as much as a system call.
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

/** The kernel appends " (deleted)" to a name that was removed or replaced since, which no rule would match. */
const isGone = (real: string, names: readonly string[]): boolean =>
  real.endsWith(" (deleted)") && names.length > 0 && !real.endsWith(`/${names.at(-1)}`);

/** Undefined where only another lookup can judge the folder. */
function folderOf({ root, aboveFd }: Inside, device: bigint, border: Border, system: System): Handle | undefined {
  if (aboveFd === undefined || border.sameDevice === true || device !== root.device) return undefined;
  const stat = system.stat(aboveFd);
  return stat.dev === root.device ? createHandle(aboveFd, stat, root.reads, system) : undefined;
}

/** A handle of the folder that the walk is in; undefined where only another lookup can judge it. */
function handleAbove({ root, fd, rootFd }: Inside, system: System): Handle | undefined {
  const stat = orErrno(
    () => system.stat(fd),
    () => undefined,
  );
  if (stat === undefined || stat.dev !== root.device || stat.nlink === 0n) return undefined;
  if (fd !== rootFd) system.close(rootFd);
  return createHandle(fd, stat, root.reads, system);
}

function specialAt(at: Inside, system: System): Lookup {
  const stat = system.stat(at.fd);
  const real = system.pathOfHandle(handlePathOf(at.fd)) as RealPath;
  const fd = system.open(handlePathOf(at.fd), O_PATH);
  const handle = createHandle(fd, stat, "later", system);
  return { seen: "node", kind: "kernel file", real, root: at.root, bent: false, handle };
}

export const isBeneath = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);

const noFollow = O_PATH | constants.O_NOFOLLOW;
const folderOnly = noFollow | constants.O_DIRECTORY;

/** `path` is absolute and may contain `.`, `..`, doubled and trailing slashes. */
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

/** Where the walk is: in a folder above the roots (text only), or in an open folder of a root. */
type Position = { outside: string } | Inside;

function walk(
  path: string,
  roots: readonly Root[],
  system: System,
  border: Border,
  { also, through }: { readonly also: LookupAlso; readonly through: string[] },
): Lookup | "start over" {
  const head = headOf(path, roots);
  const todo = path.slice(head.length).split("/").reverse();
  let at: Position = { outside: "/" };
  let opens = 0;
  let name: string | undefined;
  /** While fewer names than this are left, they are the path's own and not from a symlink's target. */
  let askedMax = Number.POSITIVE_INFINITY;
  let hops = 0;
  let followed = false;
  let bent = false;

  const leave = (): void => {
    if ("root" in at) closeAll(at, system);
  };
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
    if (handle !== undefined) at = { outside: "" };
    return { seen: "missing", reason: "missing", nearest: { real, root, rest, isWithin, handle } };
  };
  const moveTo = (outside: string): "root changed" | "ok" => {
    at = { outside };
    const root = roots.find((candidate) => candidate.real === outside || candidate.given === outside);
    if (root === undefined) return "ok";
    const rootFd = openRoot(root, system);
    if (rootFd === undefined) return "root changed";
    at = { root, names: [], fd: rootFd, rootFd };
    return "ok";
  };

  try {
    if (moveTo(head) === "root changed") return { seen: "root changed" };
    while (todo.length > 0) {
      name = todo.pop();
      if (name === undefined || name === "" || name === ".") continue;

      if (!("root" in at)) {
        const outside: string = name === ".." ? parentOf(at.outside) : joined(at.outside, name);
        if (!leadsToRoot(outside, roots)) return { seen: "outside" };
        if (moveTo(outside) === "root changed") return { seen: "root changed" };
        continue;
      }

      if (name === "..") {
        // Only for `..` of the path itself: most symlinks are relative, and a `..` in their own target is normal.
        bent ||= followed && todo.length < askedMax;
        if (at.names.length === 0) {
          const above = parentOf(at.root.real);
          leave();
          if (moveTo(above) === "root changed") return { seen: "root changed" };
          continue;
        }
        // Never open "..": the folder may have been moved. Walk down from the root again instead.
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
      // Creating Node's ENOENT error costs more than all other calls of a lookup.
      if (last && also === "the folder of a new file" && system.glance(child) === undefined) return missing();
      const fd = last ? system.open(child, noFollow) : openFolder(child, system);
      const stat = last && fd !== undefined ? statOrClose(fd, system) : undefined;
      const isLink = fd === undefined || (stat !== undefined && kindOfMode(stat.mode) === "link");

      if (isLink) {
        if (fd !== undefined) system.close(fd);
        hops += 1;
        if (hops > limits.linkHopsMax) return { seen: "loop" };
        // Symlinks of kernel file systems are magic: they do not lead to their text.
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
          if (moveTo("/") === "root changed") return { seen: "root changed" };
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
    // The caller owns the descriptors from now on; `leave` must not close them.
    if (judged !== "start over" && judged.seen === "node" && judged.kind !== "kernel file") at = { outside: "" };
    return judged;
  } catch (error) {
    const lookup = lookupOfErrno(errnoName(error), error);
    return lookup.seen === "missing" && lookup.reason === "missing" ? missing() : lookup;
  } finally {
    leave();
  }
}

function nearestOf(
  at: Inside,
  names: readonly string[],
  { sameDevice = false }: Border,
  system: System,
): Nearest | "too long" | undefined {
  const { root, fd } = at;
  const look = (): Nearest | undefined => {
    const real = system.pathOfHandle(handlePathOf(fd)) as RealPath;
    return isBeneath(real, root.real) ? { real, root, rest: names.join("/"), isWithin: !sameDevice } : undefined;
  };
  // Deeper than any path can express, so no reply could name the file.
  return orErrno(look, (errno) => (errno === "ENAMETOOLONG" ? "too long" : undefined));
}

/** Opens the root's folder; undefined if it is no longer the folder that the operator named. */
function openRoot(root: Root, system: System): number | undefined {
  // Other errors (no descriptors left, a failing disk) say nothing about the folder.
  const fd = openUnless(["ENOENT", "ENOTDIR", "ELOOP"], root.real, system);
  if (fd === undefined) return undefined;
  const stat = statOrClose(fd, system);
  if (isSameFolder(stat, root)) return fd;
  system.close(fd);
  return undefined;
}

function statOrClose(fd: number, system: System): ReturnType<System["stat"]> {
  try {
    return system.stat(fd);
  } catch (error) {
    system.close(fd);
    throw error;
  }
}

/** Opens a folder; undefined if the name is something else, which the caller checks. A symlink gives ENOTDIR, not ELOOP. */
const openFolder = (path: string, system: System): number | undefined => openUnless(["ENOTDIR"], path, system);

function openUnless(errnos: readonly string[], path: string, system: System): number | undefined {
  try {
    return system.open(path, folderOnly);
  } catch (error) {
    if (errnos.includes(errnoName(error) ?? "")) return undefined;
    throw error;
  }
}

/** Tells a file in the place of a folder from a symlink that became a folder meanwhile. */
function isNeitherFolderNorLink(path: string, system: System): boolean {
  const fd = system.open(path, noFollow);
  const kind = kindOfMode(statOrClose(fd, system).mode);
  system.close(fd);
  return kind !== "directory" && kind !== "link";
}

/** The target of a symlink; no text if it is not UTF-8, which no caller could name. */
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

/** Opens nested real folders; undefined if one of them is gone or has become a symlink. */
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

/** The first root that the path's text leads to, or "/": everything before it is only text. */
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
