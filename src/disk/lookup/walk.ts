/**
 * Folders for walks of whole trees. On Linux each folder is opened through the handle of the one above: whatever is moved
 * meanwhile, the walk stays beneath its start. Elsewhere it goes by name, and enters only what is listed as a folder.
 */

import { constants, type Stats } from "node:fs";
import * as nodePath from "node:path";
import { limits } from "../../contract/limits.ts";
import { Descriptor, noFollow } from "../descriptor.ts";
import { errnoName, orErrno } from "../errno.ts";
import { yieldToEventLoop, timeSlices } from "../event-loop.ts";
import { type FolderCalls, listFlags, type System } from "../system.ts";
import { type EntryTypes, type FolderEntry, kindOfEntry } from "./folder-handle.ts";
import { type FileNode, handlePathOf, type Lookup, O_PATH } from "./lookup.ts";

type Refused = { readonly errno: string };
type Soon<Value> = Value | Promise<Value>;

/** A listed name, not copied, since there may be a hundred thousand. Symlinks are not followed. */
export interface WalkEntry extends EntryTypes {
  readonly name: string;
}

export interface Glance {
  readonly kind: FolderEntry["kind"];
  readonly mtimeMs: number;
  readonly sizeBytes: number;
}

interface WalkContext {
  readonly system: System;
  lookup(path: string): Lookup;
  readonly strong: boolean;
  /** Enters no other mount: every folder then goes through the lookup, which knows mounts. */
  readonly sameDevice: boolean;
  closedBeneath(folder: string): ReadonlySet<string>;
  readonly quick: Quick;
}

export interface Quick {
  calls: FolderCalls | undefined;
}

type Walking = WalkContext & { readonly closed: ReadonlySet<string> };

/** Nested folders open at once; deeper ones are looked up again from the root. */
const handlesMax = 100;

/** The caller keeps `node.handle` open until the walk is over, or passes the function that closes it. */
export const walkFrom = (node: FileNode, context: WalkContext, close: () => void = () => {}): WalkFolder =>
  new WalkFolder(
    {
      path: node.handle.handlePath,
      real: node.real,
      later: node.handle.reads === "later",
      depth: 0,
      close,
      sizeBytes: node.handle.identity.sizeBytes,
    },
    { ...context, closed: context.closedBeneath(node.real) },
  );

interface Place {
  readonly path: string;
  readonly real: string;
  readonly later: boolean;
  readonly depth: number;
  readonly fd?: number;
  readonly lists?: boolean;
  readonly close?: () => void;
  /** As reported when it was looked up; undefined if it was not. */
  readonly sizeBytes?: number;
}

/** A class for speed: a walk creates tens of thousands. */
export class WalkFolder implements Disposable {
  readonly real: string;
  #place: Place;
  readonly #context: Walking;
  #open = true;

  constructor(place: Place, context: Walking) {
    this.real = place.real;
    this.#place = place;
    this.#context = context;
  }

  /** Its entries, in no order. A promise for a file system that may hang, and for a huge folder. */
  entries(): Soon<readonly WalkEntry[] | Refused> {
    const { path, later, fd, lists } = this.#place;
    const { system, quick } = this.#context;
    if (later) return system.folder(path).catch(refused);
    try {
      if (lists === true && fd !== undefined && quick.calls !== undefined) {
        const first = quick.calls.entries(fd, entriesPerBlock);
        return first.length <= entriesPerBlock ? first : restOf(first, fd, quick.calls);
      }
      return this.#isHuge() ? this.#collected() : system.folderWhole(path);
    } catch (error) {
      return refused(error);
    }
  }

  /** A folder whose size is not known is listed all the same. */
  #isHuge(): boolean {
    const { path, fd, sizeBytes } = this.#place;
    const { system } = this.#context;
    if (sizeBytes !== undefined) return sizeBytes > hugeFolderBytes;
    return orErrno(
      () => (fd === undefined ? system.statPath(path) : system.stat(fd)).size > hugeFolderBytes,
      () => false,
    );
  }

  async #collected(): Promise<readonly WalkEntry[] | Refused> {
    const entries: WalkEntry[] = [];
    const add = (entry: WalkEntry): undefined => void entries.push(entry);
    return (await this.each(add)) ?? entries;
  }

  /** Visits the entries one by one, in time slices and without collecting them, until `visit` returns "enough". */
  each(visit: (entry: WalkEntry) => "enough" | undefined, signal?: AbortSignal): Promise<Refused | undefined> {
    return eachEntry(this.#place.path, this.#place.later, this.#context.system, visit, signal);
  }

  enter(name: string): WalkFolder | Refused {
    const { real } = this;
    const context = this.#context;
    const { later } = this.#place;
    // Only the root ends in a slash. Concatenated lazily by V8: most of these paths are never read.
    const below = real === nodePath.sep ? real + name : `${real}${nodePath.sep}${name}`;
    if (context.closed.size > 0 && context.closed.has(below)) return { errno: "ENOTSUP" };
    const depth = this.#place.depth + 1;
    if (context.sameDevice) return lookupAgain({ real: below, later, depth }, context);
    const failed = this.#reopen();
    if (failed !== undefined) return failed;
    if (!context.strong) return new WalkFolder({ path: this.#at(name), real: below, later, depth }, context);
    const opened = openToList(this.#place, name, context) ?? openPathOnly(this.#at(name), context.system);
    if ("errno" in opened) return opened;
    const { fd, lists } = opened;
    return new WalkFolder({ path: handlePathOf(fd), real: below, later, depth, fd, lists }, context);
  }

  glance(name: string): Soon<Glance | undefined> {
    const { later, fd } = this.#place;
    const { system, quick } = this.#context;
    if (later) return system.glanceLater(this.#at(name)).then(glanceOf, gone);
    try {
      if (fd !== undefined && quick.calls !== undefined) return quick.calls.glance(fd, name);
      return glanceOf(system.glance(this.#at(name)));
    } catch (error) {
      return gone(error);
    }
  }

  /** Fills `into` in the order of `statFields`, without following a symlink; false if there is no such name. */
  stat(name: string, into: Float64Array): Soon<boolean> {
    const { later, fd } = this.#place;
    const { system, quick } = this.#context;
    if (later) return system.glanceLater(this.#at(name)).then((stat) => fillStat(stat, into), noStat);
    try {
      if (fd !== undefined && quick.calls !== undefined) return quick.calls.stat(fd, name, into);
      return fillStat(system.glance(this.#at(name)), into);
    } catch (error) {
      return noStat(error);
    }
  }

  /** The mtime of a regular file; undefined if there is none of this exact name. */
  changedNs(name: string): bigint | undefined {
    const stat = orErrno(
      () => this.#context.system.statLink(this.#at(name)),
      () => undefined,
    );
    return stat?.isFile() === true ? stat.mtimeNs : undefined;
  }

  /** Names of its regular files; undefined if it has more than `entriesMax` entries or cannot be listed synchronously. */
  fileNames(entriesMax: number): ReadonlySet<string> | undefined {
    const { path, fd, later } = this.#place;
    const { system, quick } = this.#context;
    const { calls } = quick;
    if (later) return undefined;
    const names = new Set<string>();
    let left = entriesMax;
    try {
      const listed =
        fd === undefined || calls === undefined ? system.folderNow(path) : listedAnew(fd, entriesMax, calls, system);
      for (const entry of listed) {
        if ((left -= 1) < 0) return undefined;
        if (entry.isFile()) names.add(entry.name);
      }
      return names;
    } catch (error) {
      return gone(error);
    }
  }

  /** True if it has a descriptor: what is entered from it is then beneath it, whatever is renamed meanwhile. */
  get hasHandle(): boolean {
    return this.#context.strong;
  }

  text(name: string): Soon<string | undefined> {
    const { system } = this.#context;
    return this.#place.later ? textLater(this.#at(name), system).catch(gone) : textNow(this.#at(name), system);
  }

  /** Only its subfolders are still needed, and later: closes it if it is too deep to stay open for them. */
  leave(): void {
    if (this.#context.strong && this.#place.depth >= handlesMax) this.close();
  }

  /** After `leave`: one lookup for all subfolders that are still to be entered. */
  #reopen(): Refused | undefined {
    if (this.#open) return undefined;
    const again = lookupAgain(this.#place, this.#context);
    if ("errno" in again) return again;
    this.#place = again.#place;
    this.#open = true;
    return undefined;
  }

  /** For large trees: loads faster system calls for this and later walks, with the same results. */
  async hurry(): Promise<void> {
    const { strong, quick, system } = this.#context;
    if (strong && !this.#place.later) quick.calls ??= await system.folderCalls();
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    const { fd, close } = this.#place;
    if (fd === undefined) close?.();
    else this.#context.system.close(fd);
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #at(name: string): string {
    return `${this.#place.path}${nodePath.sep}${name}`;
  }
}

/** Numbers of a stat: the whole mode with its type, bytes, times in fractional milliseconds, the inode. */
export const statFields = { mode: 0, sizeBytes: 1, mtimeMs: 2, ctimeMs: 3, inode: 4, count: 5 } as const;

function fillStat(stat: Stats | undefined, into: Float64Array): boolean {
  if (stat === undefined) return false;
  into.set([stat.mode, stat.size, stat.mtimeMs, stat.ctimeMs, stat.ino]);
  return true;
}

function noStat(error: unknown): false {
  if (errnoName(error) === undefined) throw error;
  return false;
}

export async function eachEntry(
  path: string,
  later: boolean,
  system: System,
  visit: (entry: WalkEntry) => "enough" | undefined,
  signal?: AbortSignal,
): Promise<Refused | undefined> {
  const slices = timeSlices(signal);
  try {
    for (const entry of later ? await system.folder(path) : system.folderNow(path)) {
      if (visit(entry) === "enough") break;
      if (slices.isOver()) await slices.next();
    }
    return undefined;
  } catch (error) {
    return refused(error);
  }
}

/** Entries listed without yielding to the event loop: about 5 ms. */
const entriesPerBlock = 4_096;
/** The reported size of a folder with about that many entries. ZFS reports the number of entries, so there it may be ten times as many. */
const hugeFolderBytes = 131_072;

async function restOf(
  first: readonly WalkEntry[],
  fd: number,
  calls: FolderCalls,
): Promise<readonly WalkEntry[] | Refused> {
  const blocks = [first];
  try {
    for (let more = first; more.length > entriesPerBlock; blocks.push(more)) {
      await yieldToEventLoop();
      more = calls.entries(fd, entriesPerBlock);
    }
  } catch (error) {
    return refused(error);
  }
  return blocks.flat();
}

/** Uses a new descriptor: the existing one may be at the end after an earlier listing. */
function listedAnew(folder: number, entriesMax: number, calls: FolderCalls, system: System): readonly WalkEntry[] {
  using opened = new Descriptor(calls.enter(folder, "."), system);
  return calls.entries(opened.fd, entriesMax);
}

type Opened = { readonly fd: number; readonly lists: boolean };

/** Undefined without the fast calls, and for a folder that may be entered but not listed. */
function openToList(place: Place, name: string, { quick, system }: Walking): Opened | Refused | undefined {
  const { path, fd, later } = place;
  const { calls } = quick;
  if (calls === undefined || later) return undefined;
  const open = (): number =>
    fd === undefined ? system.open(`${path}${nodePath.sep}${name}`, listFlags) : calls.enter(fd, name);
  return orErrno(
    () => ({ fd: open(), lists: true }),
    (errno) => (errno === "EACCES" ? undefined : { errno }),
  );
}

const openPathOnly = (path: string, system: System): Opened | Refused =>
  orErrno(
    () => ({ fd: system.open(path, O_PATH | constants.O_NOFOLLOW | constants.O_DIRECTORY), lists: false }),
    (errno) => ({ errno }),
  );

/** Looks the path up from the root again, for folders too deep to keep open; only exactly this path is accepted. */
function lookupAgain(
  { real, later, depth }: Pick<Place, "real" | "later" | "depth">,
  context: Walking,
): WalkFolder | Refused {
  const lookup = context.lookup(real);
  if (lookup.seen === "refused") return { errno: lookup.errno };
  if (lookup.seen !== "node") return { errno: lookup.seen === "missing" ? "ENOENT" : "EXDEV" };
  if (lookup.kind !== "directory" || lookup.real !== real) {
    lookup.handle.close();
    return { errno: "ENOTDIR" };
  }
  const { handle } = lookup;
  return new WalkFolder({ real, later, depth, path: handle.handlePath, close: () => handle.close() }, context);
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

const glanceOf = (stats: Stats | undefined): Glance | undefined =>
  stats && { kind: kindOfEntry(stats), mtimeMs: stats.mtimeMs, sizeBytes: stats.size };

const textFlags = constants.O_RDONLY | noFollow;

function textNow(path: string, system: System): string | undefined {
  try {
    using file = new Descriptor(system.open(path, textFlags), system);
    const { fd } = file;
    const bytes = bufferFor(fd, system);
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
  }
}

async function textLater(path: string, system: System): Promise<string | undefined> {
  using file = new Descriptor(system.open(path, textFlags), system);
  const bytes = bufferFor(file.fd, system);
  if (bytes === undefined) return undefined;
  const done = await system.readLater(file.fd, bytes, 0, bytes.length, 0);
  return bytes.toString("utf8", 0, done);
}

function bufferFor(fd: number, system: System): Buffer | undefined {
  const stat = system.stat(fd);
  const fits = stat.isFile() && Number(stat.size) <= limits.ignoreFileBytesMax;
  return fits ? Buffer.alloc(Number(stat.size)) : undefined;
}
