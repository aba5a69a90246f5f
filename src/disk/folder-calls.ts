/**
 * Folders by descriptor: list one, open one in it, look at a name in it. Node reaches a folder that is held only by way of
 * `/proc/self/fd`, and makes several objects of every name; in a tree of a hundred thousand files that is a quarter of
 * the time. `koffi`, an optional package, reaches the calls of the C library. It takes 10 ms to load, so only large walks load it.
 */

import { constants as fileConstants } from "node:fs";
import { endianness, constants as osConstants } from "node:os";
import { lazilyIfThere } from "./loading.ts";
import type { Glance, WalkEntry } from "./walk.ts";

/** Each call throws an error with `errno`, as Node's own do. */
export interface FolderCalls {
  /** A descriptor of a folder in a folder, to list it. Nothing but a folder is opened, and no link is followed. */
  enter(folder: number, name: string): number;
  /** From where the descriptor stands; `entriesMax`: stops some time after so many. */
  entries(folder: number, entriesMax?: number): readonly WalkEntry[];
  /** A link's own, not its target's; undefined if there is no such name. */
  glance(folder: number, name: string): Glance | undefined;
}

const loaded = lazilyIfThere(load);

/** Undefined off Linux (other systems have other calls), where `koffi` is not installed, and where a call is missing. */
export const loadFolderCalls = async (): Promise<FolderCalls | undefined> =>
  process.platform === "linux" && endianness() === "LE" ? loaded().catch(() => undefined) : undefined;

/** What a folder must be opened with to be listed. Node's own `open` adds the last of them by itself. */
export const listFlags = fileConstants.O_RDONLY | (fileConstants.O_DIRECTORY ?? 0) | (fileConstants.O_NOFOLLOW ?? 0);
const closeOnExec = 0o2000000;
/** Of `statx`: no link is followed, nothing is mounted; kind, time of change and size are wanted. */
const atThisVeryName = 0x100 | 0x800;
const kindTimeSize = 0x1 | 0x40 | 0x200;
const anywhere = -100;

/** Where the kernel's `struct linux_dirent64` and `struct statx` have what, on all processors of this order of bytes. */
const entryLength = 16;
const entryType = 18;
const entryName = 19;
const entriesAlign = 8;
const statMode = 28;
const statSize = 40;
const statSeconds = 112;
const statNanoseconds = 120;
const statBytes = 256;

/** As much as the C library asks for. */
const listBytes = 32_768;

async function load(): Promise<FolderCalls> {
  const { load: open, errno } = await import("koffi");
  const library = open(null); // the C library that Node itself is linked with
  const openAt = library.func("int openat(int folder, const char *name, int flags)");
  const list = library.func("long getdents64(int folder, uint8_t *into, size_t size)");
  const look = library.func("int statx(int folder, const char *name, int flags, unsigned int mask, uint32_t *into)");

  const failed = (call: string, number: number): Error =>
    Object.assign(new Error(`${call} failed with errno ${number}`), { errno: -number, syscall: call });
  // One piece of memory for all: no call begins before another has ended.
  const stat = new Uint32Array(statBytes / 4);
  const space = Buffer.alloc(listBytes);
  /** Fills `stat`; the number of the error, 0 if there is none. */
  const lookAt = (folder: number, name: string): number =>
    look(folder, name, atThisVeryName, kindTimeSize, stat) === 0 ? 0 : errno();

  // Some sandboxes know the call and forbid it.
  const forbidden = lookAt(anywhere, "/");
  if (forbidden !== 0) throw failed("statx", forbidden);
  return {
    enter: (folder, name) => {
      const fd: number = openAt(folder, name, listFlags | closeOnExec);
      if (fd < 0) throw failed("openat", errno());
      return fd;
    },
    glance: (folder, name) => {
      const error = lookAt(folder, name);
      if (error === 0) return glanceOf(stat);
      if (error === osConstants.errno.ENOENT) return undefined;
      throw failed("statx", error);
    },
    entries: (folder, entriesMax = Number.POSITIVE_INFINITY) => {
      const entries: QuickEntry[] = [];
      while (entries.length <= entriesMax) {
        const bytes = Number(list(folder, space, listBytes));
        if (bytes < 0) throw failed("getdents64", errno());
        if (bytes === 0) break;
        takeEntries(space, bytes, entries);
      }
      // Some file systems do not say in a list what an entry is.
      for (const entry of entries) {
        if (entry.type === types.unknown && lookAt(folder, entry.name) === 0) entry.type = typeOf(stat);
      }
      return entries;
    },
  };
}

/** As the kernel numbers them; the same as the uppermost bits of a mode. */
const types = { unknown: 0, pipe: 1, characters: 2, folder: 4, blocks: 6, file: 8, link: 10, socket: 12 };

class QuickEntry implements WalkEntry {
  readonly name: string;
  type: number;
  constructor(name: string, type: number) {
    this.name = name;
    this.type = type;
  }
  isDirectory(): boolean {
    return this.type === types.folder;
  }
  isFile(): boolean {
    return this.type === types.file;
  }
  isSymbolicLink(): boolean {
    return this.type === types.link;
  }
  isFIFO(): boolean {
    return this.type === types.pipe;
  }
  isSocket(): boolean {
    return this.type === types.socket;
  }
  isCharacterDevice(): boolean {
    return this.type === types.characters;
  }
  isBlockDevice(): boolean {
    return this.type === types.blocks;
  }
}

function takeEntries(space: Buffer, bytes: number, into: QuickEntry[]): void {
  // One text for all names: a call for each would take longer than all else that is done here.
  const text = space.toString("latin1", 0, bytes);
  for (let at = 0; at < bytes; ) {
    const length = (space[at + entryLength] ?? 0) | ((space[at + entryLength + 1] ?? 0) << 8);
    const start = at + entryName;
    // The zero behind a name lies in the last bytes, and what comes behind it may be anything.
    let end = Math.max(start, at + length - entriesAlign);
    while (space[end] !== 0) end += 1;
    const type = space[at + entryType] ?? 0;
    const raw = text.slice(start, end);
    // Names of ASCII letters alone, nearly all, are taken as they are. Those of folders are remembered for long, and a part of
    // a text keeps all of it in memory.
    // oxlint-disable-next-line no-control-regex
    const isPart = type === types.file && !/[^\0-\x7f]/.test(raw);
    if (raw !== "." && raw !== "..") into.push(new QuickEntry(isPart ? raw : space.toString("utf8", start, end), type));
    at += length;
  }
}

const word = (stat: Uint32Array, at: number): number => stat[at / 4] ?? 0;

const typeOf = (stat: Uint32Array): number => (word(stat, statMode) & 0xffff) >> 12;

function glanceOf(stat: Uint32Array): Glance {
  const type = typeOf(stat);
  const kind =
    type === types.file ? "file" : type === types.folder ? "directory" : type === types.link ? "link" : "special";
  // The upper half has the sign: files can be older than 1970.
  const seconds = (word(stat, statSeconds + 4) | 0) * 0x1_0000_0000 + word(stat, statSeconds);
  // In the very way in which Node makes milliseconds of it.
  const mtimeMs = seconds * 1_000 + word(stat, statNanoseconds) / 1_000_000;
  return { kind, mtimeMs, sizeBytes: word(stat, statSize + 4) * 0x1_0000_0000 + word(stat, statSize) };
}
