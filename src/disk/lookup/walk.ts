/**
 * Folders one below the other, for walks of whole trees. On Linux each folder is opened through the one above it, which
 * is held: whatever is moved or swapped meanwhile, the walk stays beneath where it began. Elsewhere it goes by names, and
 * only into what the folder above calls a folder and no link.
 */

import { constants, type Stats } from "node:fs";
import * as nodePath from "node:path";
import { limits } from "../../contract/limits.ts";
import { Descriptor } from "../descriptor.ts";
import { errnoName } from "../errno.ts";
import { yieldToEventLoop, timeSlices } from "../event-loop.ts";
import { type FolderCalls, listFlags, type System } from "../system.ts";
import type { EntryTypes, FolderEntry } from "./folder-handle.ts";
import { type FileNode, handlePathOf, type Lookup } from "./lookup.ts";

type Refused = { readonly errno: string };
type Soon<Value> = Value | Promise<Value>;

/** A name as it is listed: of a hundred thousand no copy is made. Links are not followed. */
export interface WalkEntry extends EntryTypes {
  readonly name: string;
}

export interface WalkFolder extends Disposable {
  /** The path it had when it was entered. */
  readonly real: string;
  /** Its names, in no order. A promise where the file system may not answer, and for a folder of very many names. */
  entries(): Soon<readonly WalkEntry[] | Refused>;
  /**
   * Its names one by one, in slices of time and without holding them: for folders that may be huge. Ends early if `visit`
   * says so.
   */
  each(visit: (entry: WalkEntry) => "enough" | undefined, signal?: AbortSignal): Promise<Refused | undefined>;
  /** A folder in it. The caller closes it before this one. */
  enter(name: string): WalkFolder | Refused;
  /** When a name was last changed, and its size; undefined if it is gone. A link's own, not its target's. */
  glance(name: string): Soon<Glance | undefined>;
  /** When a regular file of this very name was last changed; undefined if there is none. */
  changedNs(name: string): bigint | undefined;
  /** The names of its regular files, in one piece; undefined if it has more entries than this, or cannot be listed at once. */
  fileNames(entriesMax: number): ReadonlySet<string> | undefined;
  /** Is it held by a descriptor? Then what is entered from it lies beneath it, whatever is renamed meanwhile. */
  readonly hasHandle: boolean;
  /** The text of a small regular file in it, such as an ignore file; undefined if it is anything else. */
  text(name: string): Soon<string | undefined>;
  /** Only folders in it are still wanted: lets go of it where it lies too deep to be held for them. */
  leave(): void;
  /** The tree turns out to be large: loads what makes this walk and later ones faster, and changes nothing else. */
  hurry(): Promise<void>;
  close(): void;
}

export interface Glance {
  readonly kind: FolderEntry["kind"];
  readonly mtimeMs: number;
  readonly sizeBytes: number;
}

interface Ways {
  readonly system: System;
  lookup(path: string): Lookup;
  /** Is there `/proc/self/fd`, so that folders can be held? */
  readonly strong: boolean;
  /** Must nothing of another mount be entered? Then the lookup, which knows mounts, goes first each time. */
  readonly sameDevice: boolean;
  /** Folders that are not entered: the kernel's own file systems. */
  closedBeneath(folder: string): ReadonlySet<string>;
  /** Once a walk was large. */
  readonly quick: Quick;
}

export interface Quick {
  calls: FolderCalls | undefined;
}

type Walking = Ways & { readonly closed: ReadonlySet<string> };

/** Folders that are held at once, one below the other; deeper ones are found anew from the root. */
const handlesMax = 100;

/** The caller keeps `found.held` open until the walk is over, or hands in what closes it. */
export const walkFrom = (node: FileNode, ways: Ways, close: () => void = () => {}): WalkFolder =>
  new Folder(
    { path: node.handle.handlePath, real: node.real, later: node.handle.reads === "later", depth: 0, close },
    { ...ways, closed: ways.closedBeneath(node.real) },
  );

interface Place {
  /** By which it is reached. */
  readonly path: string;
  readonly real: string;
  readonly later: boolean;
  readonly depth: number;
  /** A descriptor of its own, and whether it can be listed by that. */
  readonly fd?: number;
  readonly lists?: boolean;
  /** Lets go of what holds it, if that is no descriptor of its own. */
  readonly close?: () => void;
}

/** A class, since there are tens of thousands of them in a walk. */
class Folder implements WalkFolder {
  readonly real: string;
  readonly #place: Place;
  readonly #ways: Walking;
  #open = true;

  constructor(place: Place, ways: Walking) {
    this.real = place.real;
    this.#place = place;
    this.#ways = ways;
  }

  entries(): Soon<readonly WalkEntry[] | Refused> {
    const { path, later, fd, lists } = this.#place;
    const { system, quick } = this.#ways;
    if (later) return system.folder(path).catch(refused);
    try {
      if (lists === true && fd !== undefined && quick.calls !== undefined) {
        const first = quick.calls.entries(fd, entriesPerBlock);
        return first.length <= entriesPerBlock ? first : restOf(first, fd, quick.calls);
      }
      const { size } = fd === undefined ? system.statPath(path) : system.stat(fd);
      return size > hugeFolderBytes ? this.#collected() : system.folderWhole(path);
    } catch (error) {
      return refused(error);
    }
  }

  async #collected(): Promise<readonly WalkEntry[] | Refused> {
    const entries: WalkEntry[] = [];
    const add = (entry: WalkEntry): undefined => void entries.push(entry);
    return (await this.each(add)) ?? entries;
  }

  async each(visit: (entry: WalkEntry) => "enough" | undefined, signal?: AbortSignal): Promise<Refused | undefined> {
    const { path, later } = this.#place;
    const { system } = this.#ways;
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

  enter(name: string): WalkFolder | Refused {
    const { real } = this;
    const ways = this.#ways;
    const { later } = this.#place;
    // The root alone ends in a slash. Put together and not looked at: most of these texts are never needed.
    const below = real === nodePath.sep ? real + name : `${real}${nodePath.sep}${name}`;
    if (ways.closed.size > 0 && ways.closed.has(below)) return { errno: "ENOTSUP" };
    const depth = this.#place.depth + 1;
    if (ways.sameDevice || (ways.strong && depth > handlesMax)) return nodeAgain({ real: below, later, depth }, ways);
    if (!ways.strong) return new Folder({ path: this.#at(name), real: below, later, depth }, ways);
    const opened = openToList(this.#place, name, ways) ?? openToHold(this.#at(name), ways.system);
    if ("errno" in opened) return opened;
    const { fd, lists } = opened;
    return new Folder({ path: handlePathOf(fd), real: below, later, depth, fd, lists }, ways);
  }

  glance(name: string): Soon<Glance | undefined> {
    const { later, fd } = this.#place;
    const { system, quick } = this.#ways;
    if (later) return system.glanceLater(this.#at(name)).then(glanceOf, gone);
    try {
      if (fd !== undefined && quick.calls !== undefined) return quick.calls.glance(fd, name);
      return glanceOf(system.glance(this.#at(name)));
    } catch (error) {
      return gone(error);
    }
  }

  changedNs(name: string): bigint | undefined {
    try {
      const stat = this.#ways.system.statLink(this.#at(name));
      return stat.isFile() ? stat.mtimeNs : undefined;
    } catch (error) {
      return gone(error);
    }
  }

  fileNames(entriesMax: number): ReadonlySet<string> | undefined {
    const { path, fd, later } = this.#place;
    const {
      system,
      quick: { calls },
    } = this.#ways;
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

  get hasHandle(): boolean {
    return this.#ways.strong;
  }

  text(name: string): Soon<string | undefined> {
    const { system } = this.#ways;
    return this.#place.later ? undefinedIfGone(textLater(this.#at(name), system)) : textNow(this.#at(name), system);
  }

  leave(): void {
    if (this.#place.depth >= handlesMax) this.close();
  }

  async hurry(): Promise<void> {
    const { strong, quick, system } = this.#ways;
    if (strong && !this.#place.later) quick.calls ??= await system.folderCalls();
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    const { fd, close } = this.#place;
    if (fd === undefined) close?.();
    else this.#ways.system.close(fd);
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #at(name: string): string {
    return `${this.#place.path}${nodePath.sep}${name}`;
  }
}

/** Entries that are listed without yielding to the event loop: about 5 ms. */
const entriesPerBlock = 4_096;
/** The size that the file system gives a folder of about as many entries; ZFS gives the number of entries, so it may be ten times as many. */
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

/** By a descriptor of its own: the one that is held may have been listed before, and stands at the end then. */
function listedAnew(folder: number, entriesMax: number, calls: FolderCalls, system: System): readonly WalkEntry[] {
  using opened = new Descriptor(calls.enter(folder, "."), system);
  return calls.entries(opened.fd, entriesMax);
}

type Opened = { readonly fd: number; readonly lists: boolean };

/** Undefined where there is no quick way, and where a folder may be entered but not listed. */
function openToList(place: Place, name: string, { quick, system }: Walking): Opened | Refused | undefined {
  const { path, fd, later } = place;
  if (quick.calls === undefined || later) return undefined;
  try {
    const opened =
      fd === undefined ? system.open(`${path}${nodePath.sep}${name}`, listFlags) : quick.calls.enter(fd, name);
    return { fd: opened, lists: true };
  } catch (error) {
    const { errno } = refused(error);
    return errno === "EACCES" ? undefined : { errno };
  }
}

function openToHold(path: string, system: System): Opened | Refused {
  try {
    return { fd: system.open(path, O_PATH | constants.O_NOFOLLOW | constants.O_DIRECTORY), lists: false };
  } catch (error) {
    return refused(error);
  }
}

/** The kernel's own number. */
const O_PATH = 0o10000000;

/** Too deep to hold every folder above: the lookup goes down from the root again, and nothing but this very path will do. */
function nodeAgain(next: Pick<Place, "real" | "later" | "depth">, ways: Walking): WalkFolder | Refused {
  const { real } = next;
  const lookup = ways.lookup(real);
  if (lookup.seen === "refused") return { errno: lookup.errno };
  if (lookup.seen !== "node") return { errno: lookup.seen === "missing" ? "ENOENT" : "EXDEV" };
  if (lookup.kind !== "directory" || lookup.real !== real) {
    lookup.handle.close();
    return { errno: "ENOTDIR" };
  }
  return new Folder({ ...next, path: lookup.handle.handlePath, close: () => lookup.handle.close() }, ways);
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
  try {
    using file = new Descriptor(system.open(path, textFlags), system);
    const { fd } = file;
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
  }
}

async function textLater(path: string, system: System): Promise<string | undefined> {
  using file = new Descriptor(system.open(path, textFlags), system);
  const bytes = roomFor(file.fd, system);
  if (bytes === undefined) return undefined;
  const done = await system.readLater(file.fd, bytes, 0, bytes.length, 0);
  return bytes.toString("utf8", 0, done);
}

const undefinedIfGone = (text: Promise<string | undefined>): Promise<string | undefined> => text.catch(gone);

function roomFor(fd: number, system: System): Buffer | undefined {
  const stat = system.stat(fd);
  const fits = stat.isFile() && Number(stat.size) <= limits.ignoreFileBytesMax;
  return fits ? Buffer.alloc(Number(stat.size)) : undefined;
}
