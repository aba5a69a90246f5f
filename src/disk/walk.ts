/**
 * Folders one below the other, for walks of whole trees. On Linux each folder is opened through the one above it, which
 * is held: whatever is moved or swapped meanwhile, the walk stays beneath where it began. Elsewhere it goes by names, and
 * only into what the folder above calls a folder and no link.
 */

import { constants, type Dirent, type Stats } from "node:fs";
import * as nodePath from "node:path";
import { limits } from "../contract/limits.ts";
import { errnoName } from "./errno.ts";
import type { FolderEntry } from "./folder-entry.ts";
import { handlePathOf } from "./held.ts";
import type { Found, Look } from "./look.ts";
import type { System } from "./system.ts";

type Refused = { readonly errno: string };
type Soon<Value> = Value | Promise<Value>;

/** A name as Node lists it: of a hundred thousand no copy is made. Links are not followed. */
export type WalkEntry = Dirent;

export interface WalkFolder {
  /** The path it had when it was entered. */
  readonly real: string;
  /** Its names, in no order. A promise only where the file system may not answer. */
  entries(): Soon<readonly WalkEntry[] | Refused>;
  /** A folder in it. The caller closes it before this one. */
  enter(name: string): WalkFolder | Refused;
  /** When a name was last changed, and its size; undefined if it is gone. A link's own, not its target's. */
  glance(name: string): Soon<Glance | undefined>;
  /** The text of a small regular file in it, such as an ignore file; undefined if it is anything else. */
  text(name: string): Soon<string | undefined>;
  /** Only folders in it are still wanted: lets go of it where it lies too deep to be held for them. */
  leave(): void;
  close(): void;
}

export interface Glance {
  readonly kind: FolderEntry["kind"];
  readonly mtimeMs: number;
  readonly sizeBytes: number;
}

interface Ways {
  readonly system: System;
  look(path: string): Look;
  /** Is there `/proc/self/fd`, so that folders can be held? */
  readonly strong: boolean;
  /** Must nothing of another mount be entered? Then the lookup, which knows mounts, goes first each time. */
  readonly sameDevice: boolean;
  /** Folders that are not entered: the kernel's own file systems. */
  closedBeneath(folder: string): ReadonlySet<string>;
}

type Walking = Ways & { readonly closed: ReadonlySet<string> };

/** Folders that are held at once, one below the other; deeper ones are found anew from the root. */
const heldMax = 100;

/** The caller keeps `found.held` open until the walk is over. */
export const walkFrom = (found: Found, ways: Ways): WalkFolder =>
  folderAt(
    { path: found.held.handlePath, real: found.real, later: found.held.reads === "later", depth: 0, close: () => {} },
    { ...ways, closed: ways.closedBeneath(found.real) },
  );

interface Place {
  /** By which it is reached. */
  readonly path: string;
  readonly real: string;
  readonly later: boolean;
  readonly depth: number;
  close(): void;
}

function folderAt(place: Place, ways: Walking): WalkFolder {
  const { path, real, later, depth } = place;
  const { system } = ways;
  const at = (name: string): string => `${path}${nodePath.sep}${name}`;
  let open = true;
  const close = (): void => {
    if (open) place.close();
    open = false;
  };
  return {
    real,
    entries: () => {
      if (later) return system.folder(path).catch(refused);
      try {
        return system.folderWhole(path);
      } catch (error) {
        return refused(error);
      }
    },
    enter: (name) => {
      // The root alone ends in a slash. Put together and not looked at: most of these texts are never needed.
      const below = real === nodePath.sep ? real + name : `${real}${nodePath.sep}${name}`;
      if (ways.closed.size > 0 && ways.closed.has(below)) return { errno: "ENOTSUP" };
      const next = { real: below, later, depth: depth + 1 };
      if (ways.sameDevice || (ways.strong && next.depth > heldMax)) return foundAgain(below, next, ways);
      if (!ways.strong) return folderAt({ ...next, path: at(name), close: () => {} }, ways);
      let fd: number;
      try {
        fd = system.open(at(name), O_PATH | constants.O_NOFOLLOW | constants.O_DIRECTORY);
      } catch (error) {
        return refused(error);
      }
      return folderAt({ ...next, path: handlePathOf(fd), close: () => system.close(fd) }, ways);
    },
    glance: (name) => {
      if (later) return system.glanceLater(at(name)).then(glanceOf, gone);
      try {
        return glanceOf(system.glance(at(name)));
      } catch (error) {
        return gone(error);
      }
    },
    text: (name) => (later ? undefinedIfGone(textLater(at(name), system)) : textNow(at(name), system)),
    leave: () => {
      if (depth >= heldMax) close();
    },
    close,
  };
}

/** The kernel's own number. */
const O_PATH = 0o10000000;

/** Too deep to hold every folder above: the lookup goes down from the root again, and nothing but this very path will do. */
function foundAgain(real: string, next: Pick<Place, "real" | "later" | "depth">, ways: Walking): WalkFolder | Refused {
  const look = ways.look(real);
  if (look.seen === "refused") return { errno: look.errno };
  if (look.seen !== "node") return { errno: look.seen === "missing" ? "ENOENT" : "EXDEV" };
  if (look.kind !== "directory" || look.real !== real) {
    look.held.close();
    return { errno: "ENOTDIR" };
  }
  return folderAt({ ...next, path: look.held.handlePath, close: () => look.held.close() }, ways);
}

function refused(error: unknown): Refused {
  const errno = errnoName(error);
  if (errno === undefined) throw error;
  return { errno };
}

function gone(error: unknown): undefined {
  refused(error);
  return undefined;
}

function glanceOf(stats: Stats | undefined): Glance | undefined {
  if (stats === undefined) return undefined;
  const kind = stats.isFile()
    ? "file"
    : stats.isDirectory()
      ? "directory"
      : stats.isSymbolicLink()
        ? "link"
        : "special";
  return { kind, mtimeMs: stats.mtimeMs, sizeBytes: stats.size };
}

/** Never follows a link and never waits for a pipe. */
const textFlags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

function textNow(path: string, system: System): string | undefined {
  let fd: number | undefined;
  try {
    fd = system.open(path, textFlags);
    const bytes = roomFor(fd, system);
    if (bytes === undefined) return undefined;
    let done = 0;
    while (done < bytes.length) {
      const count = system.read(fd, bytes, done, bytes.length - done, done);
      if (count === 0) break;
      done += count;
    }
    return bytes.toString("utf8", 0, done);
  } catch (error) {
    return gone(error);
  } finally {
    if (fd !== undefined) system.close(fd);
  }
}

async function textLater(path: string, system: System): Promise<string | undefined> {
  const fd = system.open(path, textFlags);
  try {
    const bytes = roomFor(fd, system);
    if (bytes === undefined) return undefined;
    const done = await system.readLater(fd, bytes, 0, bytes.length, 0);
    return bytes.toString("utf8", 0, done);
  } finally {
    system.close(fd);
  }
}

const undefinedIfGone = (text: Promise<string | undefined>): Promise<string | undefined> => text.catch(gone);

function roomFor(fd: number, system: System): Buffer | undefined {
  const stat = system.stat(fd);
  const fits = stat.isFile() && Number(stat.size) <= limits.ignoreFileBytesMax;
  return fits ? Buffer.alloc(Number(stat.size)) : undefined;
}
