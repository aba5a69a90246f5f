/**
 * The system calls that this room makes, as one object that is handed in: a fault test replaces it to fail the n-th
 * call. Sync calls serve lookups and local reads (a few microseconds each); `readLater` is for file systems that may
 * not answer, because a sync read on a hung mount stops the whole process.
 */

import * as fs from "node:fs";
import { constants as fileConstants } from "node:fs";
import { constants as osConstants, constants, endianness } from "node:os";
import { setTimeout } from "node:timers/promises";
import { lazilyIfThere } from "./loading.ts";
import type { Glance, WalkEntry } from "./lookup/walk.ts";

// Copying from file to file within the kernel, in another thread. Node has it for whole files only. It takes a fifth of the
// processor's time that reading and writing take, and the event loop is free meanwhile. `koffi`, an optional package,
// reaches the calls of the C library.

interface CopyCalls {
  /** How many bytes were copied: fewer than asked for, 0 at the end of the old file. Undefined: not possible, or failed. */
  copy(from: number, fromAt: number, to: number, toAt: number, bytes: number): Promise<number | undefined>;
  /** Begins to send a part of a file to the disk, so that a later sync has less to wait for. What fails is told by that sync. */
  startWriting(fd: number, at: number, bytes: number): Promise<void>;
}

const copyCallsLoaded = lazilyIfThere(bindCopyCalls);

/** Undefined off Linux (other systems have other calls) and where `koffi` is not installed. */
const loadCopyCalls = async (): Promise<CopyCalls | undefined> =>
  process.platform === "linux" ? copyCallsLoaded().catch(() => undefined) : undefined;

/** SYNC_FILE_RANGE_WRITE: begin to write, wait for nothing. */
const beginOnly = 2;

async function bindCopyCalls(): Promise<CopyCalls> {
  const { load: open } = await import("koffi");
  const library = open(null); // the C library that Node itself is linked with
  const copyRange = library.func(
    "int64_t copy_file_range(int from, _Inout_ int64_t *fromAt, int to, _Inout_ int64_t *toAt, size_t bytes, unsigned int flags)",
  );
  const syncRange = library.func("int sync_file_range(int fd, int64_t at, int64_t bytes, unsigned int flags)");
  const inThread = (call: typeof copyRange, ...given: readonly unknown[]): Promise<number> =>
    new Promise((resolve, reject) => {
      call.async(...given, (error: Error | null, answer: unknown) => {
        if (error === null) resolve(Number(answer));
        else reject(error);
      });
    });
  return {
    copy: async (from, fromAt, to, toAt, bytes) => {
      const copied = await inThread(copyRange, from, [fromAt], to, [toAt], bytes, 0);
      return copied < 0 ? undefined : copied;
    },
    startWriting: async (fd, at, bytes) => void (await inThread(syncRange, fd, at, bytes, beginOnly)),
  };
}

// Folders by descriptor: list one, open one in it, look at a name in it. Node reaches a folder that is held only by way of
// `/proc/self/fd`, and makes several objects of every name; in a tree of a hundred thousand files that is a quarter of
// the time. `koffi`, an optional package, reaches the calls of the C library. It takes 10 ms to load, so only large walks load it.

/** Each call throws an error with `errno`, as Node's own do. */
export interface FolderCalls {
  /** A descriptor of a folder in a folder, to list it. Nothing but a folder is opened, and no link is followed. */
  enter(folder: number, name: string): number;
  /** From where the descriptor stands; `entriesMax`: stops some time after so many. */
  entries(folder: number, entriesMax?: number): readonly WalkEntry[];
  /** A link's own, not its target's; undefined if there is no such name. */
  glance(folder: number, name: string): Glance | undefined;
}

const folderCallsLoaded = lazilyIfThere(bindFolderCalls);

/** Undefined off Linux (other systems have other calls), where `koffi` is not installed, and where a call is missing. */
const loadFolderCalls = async (): Promise<FolderCalls | undefined> =>
  process.platform === "linux" && endianness() === "LE" ? folderCallsLoaded().catch(() => undefined) : undefined;

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

async function bindFolderCalls(): Promise<FolderCalls> {
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

// Extended attributes of files, which hold ACLs, security labels and what users put there. Node has no call for them;
// `koffi`, an optional package, reaches those of the C library. It takes 20 ms to load, so it is loaded only when an
// existing file is replaced.

/** Each call throws an error with `errno`, as Node's own do. */
export interface AttributeCalls {
  /** Names of a file's attributes. Follows links, so give it a handle's path. */
  list(path: string): readonly string[];
  listOf(fd: number): readonly string[];
  get(path: string, name: string): Uint8Array;
  set(fd: number, name: string, value: Uint8Array): void;
  remove(fd: number, name: string): void;
}

const loaded = lazilyIfThere(load);

/** Undefined off Linux (other systems have other calls) and where `koffi` is not installed. */
export const loadAttributeCalls = async (): Promise<AttributeCalls | undefined> =>
  process.platform === "linux" ? loaded() : undefined;

/** The kernel's limits: 64 KiB for one value and for the list of names. */
const valueBytesMax = 65_536;

async function load(): Promise<AttributeCalls> {
  const { load: open, errno } = await import("koffi");
  const library = open(null); // the C library that Node itself is linked with
  const listNames = library.func("long listxattr(const char *path, _Out_ uint8_t *names, size_t size)");
  const listNamesOf = library.func("long flistxattr(int fd, _Out_ uint8_t *names, size_t size)");
  const getValue = library.func("long getxattr(const char *path, const char *name, _Out_ uint8_t *value, size_t size)");
  const setValue = library.func(
    "int fsetxattr(int fd, const char *name, const uint8_t *value, size_t size, int flags)",
  );
  const removeValue = library.func("int fremovexattr(int fd, const char *name)");

  /** Every call answers with a number, -1 for a failure. */
  const checked = (call: string, answer: unknown): number => {
    const result = Number(answer);
    if (result >= 0) return result;
    const number = errno();
    throw Object.assign(new Error(`${call} failed with errno ${number}`), { errno: -number, syscall: call });
  };
  const space = Buffer.allocUnsafeSlow(valueBytesMax);
  const names = (call: () => unknown): readonly string[] => {
    let length: number;
    try {
      length = checked("listxattr", call());
    } catch (error) {
      // A file system without attributes has none to lose.
      if (error instanceof Error && "errno" in error && error.errno === -constants.errno.ENOTSUP) return [];
      throw error;
    }
    return length === 0 ? [] : space.toString("utf8", 0, length).split("\0").filter(Boolean);
  };
  return {
    list: (path) => names(() => listNames(path, space, space.length)),
    listOf: (fd) => names(() => listNamesOf(fd, space, space.length)),
    get: (path, name) =>
      Uint8Array.from(space.subarray(0, checked("getxattr", getValue(path, name, space, space.length)))),
    set: (fd, name, value) => void checked("fsetxattr", setValue(fd, name, value, value.length, 0)),
    remove: (fd, name) => void checked("fremovexattr", removeValue(fd, name)),
  };
}

export interface System {
  readonly platform: NodeJS.Platform;
  open(path: string, flags: number): number;
  close(fd: number): void;
  /** For the last one of a large file that has no name any more: its bytes are freed, which may take a while. */
  closeLater(fd: number): Promise<void>;
  stat(fd: number): fs.BigIntStats;
  statPath(path: string): fs.BigIntStats;
  readLink(path: string): Buffer;
  /** Where the kernel says that something held is, by the path of its handle. */
  pathOfHandle(handlePath: string): string;
  realPath(path: string): string;
  fileSystemType(path: string): number;
  read(fd: number, into: Uint8Array, offset: number, length: number, at: number): number;
  readLater(fd: number, into: Uint8Array, offset: number, length: number, at: number): Promise<number>;
  folder(path: string): Promise<fs.Dirent[]>;
  /** The same entry by entry, for local folders: it needs no thread of the pool, which hanging reads may have used up. */
  folderNow(path: string): Iterable<fs.Dirent>;
  /** The same in one piece: for walks of whole trees, which cost half as much by it. */
  folderWhole(path: string): readonly fs.Dirent[];
  /** What a name in a folder is, links not followed; undefined if it is gone. Times in milliseconds, with a fraction. */
  glance(path: string): fs.Stats | undefined;
  glanceLater(path: string): Promise<fs.Stats | undefined>;
  /** The same by descriptor, for large walks; undefined where there is no way to reach them. Loaded when first asked for. */
  folderCalls(): Promise<FolderCalls | undefined>;

  // Changing files. Whatever can take long has a twin that does not hold the process.
  /** Makes a file; `mode` loses the bits of the umask, as the kernel has it. */
  make(path: string, flags: number, mode: number): number;
  write(fd: number, from: Uint8Array, offset: number, length: number, at: number): number;
  writeLater(fd: number, from: Uint8Array, offset: number, length: number, at: number): Promise<number>;
  /** Copying without holding the process; undefined where there is no way to do that. Loaded when first asked for. */
  copyCalls(): Promise<CopyCalls | undefined>;
  sync(fd: number): void;
  syncLater(fd: number): Promise<void>;
  /** How long the last sync of little took. Infinite before the first: nobody knows the disk. */
  readonly syncPace: { lastMs: number };
  truncate(fd: number, sizeBytes: number): void;
  changeOwner(fd: number, user: number, group: number): void;
  changeMode(fd: number, mode: number): void;
  /** Follows no link at the end of the path. */
  statLink(path: string): fs.BigIntStats;
  /** Throws if the file may not be written. For root it mostly may; look at the mode as well. */
  checkWritable(path: string): void;
  rename(from: string, to: string): void;
  link(existing: string, added: string): void;
  unlink(path: string): void;
  makeFolder(path: string, mode: number): void;
  removeFolder(path: string): void;
  /** Waits a moment before something is tried again. */
  pause(ms: number): Promise<void>;
  /** Extended attributes, ACLs among them; undefined where there is no way to reach them. Loaded when first asked for. */
  attributes(): Promise<AttributeCalls | undefined>;
}

function* entriesNow(path: string): Generator<fs.Dirent> {
  const folder = fs.opendirSync(path, { bufferSize: 1_024 });
  try {
    for (let entry = folder.readSync(); entry !== null; entry = folder.readSync()) yield entry;
  } finally {
    folder.closeSync();
  }
}

export const nodeSystem: System = {
  platform: process.platform,
  open: (path, flags) => fs.openSync(path, flags),
  close: (fd) => fs.closeSync(fd),
  closeLater: (fd) =>
    new Promise((resolve, reject) => {
      fs.close(fd, (error) => (error ? reject(error) : resolve()));
    }),
  stat: (fd) => fs.fstatSync(fd, { bigint: true }),
  statPath: (path) => fs.statSync(path, { bigint: true }),
  readLink: (path) => fs.readlinkSync(path, { encoding: "buffer" }),
  pathOfHandle: (handlePath) => fs.readlinkSync(handlePath),
  realPath: (path) => fs.realpathSync.native(path),
  fileSystemType: (path) => fs.statfsSync(path).type,
  read: (fd, into, offset, length, at) => fs.readSync(fd, into, offset, length, at),
  readLater: (fd, into, offset, length, at) =>
    new Promise((resolve, reject) => {
      fs.read(fd, into, offset, length, at, (error, bytes) => (error ? reject(error) : resolve(bytes)));
    }),
  folderNow: entriesNow,
  folderWhole: (path) => fs.readdirSync(path, { withFileTypes: true }),
  glance: (path) => fs.lstatSync(path, { throwIfNoEntry: false }),
  glanceLater: (path) =>
    new Promise((resolve, reject) => {
      fs.lstat(path, (error, stats) => {
        if (error === null) resolve(stats);
        else if (error.code === "ENOENT") resolve(undefined);
        else reject(error);
      });
    }),
  folderCalls: loadFolderCalls,
  folder: (path) =>
    new Promise((resolve, reject) => {
      fs.readdir(path, { withFileTypes: true }, (error, entries) => (error ? reject(error) : resolve(entries)));
    }),
  make: (path, flags, mode) => fs.openSync(path, flags, mode),
  write: (fd, from, offset, length, at) => fs.writeSync(fd, from, offset, length, at),
  writeLater: (fd, from, offset, length, at) =>
    new Promise((resolve, reject) => {
      fs.write(fd, from, offset, length, at, (error, bytes) => (error ? reject(error) : resolve(bytes)));
    }),
  copyCalls: loadCopyCalls,
  sync: (fd) => fs.fsyncSync(fd),
  syncPace: { lastMs: Number.POSITIVE_INFINITY },
  syncLater: (fd) =>
    new Promise((resolve, reject) => {
      fs.fsync(fd, (error) => (error ? reject(error) : resolve()));
    }),
  truncate: (fd, sizeBytes) => fs.ftruncateSync(fd, sizeBytes),
  changeOwner: (fd, user, group) => fs.fchownSync(fd, user, group),
  changeMode: (fd, mode) => fs.fchmodSync(fd, mode),
  statLink: (path) => fs.lstatSync(path, { bigint: true }),
  checkWritable: (path) => fs.accessSync(path, fs.constants.W_OK),
  rename: (from, to) => fs.renameSync(from, to),
  link: (existing, added) => fs.linkSync(existing, added),
  unlink: (path) => fs.unlinkSync(path),
  makeFolder: (path, mode) => fs.mkdirSync(path, { mode }),
  removeFolder: (path) => fs.rmdirSync(path),
  pause: async (ms) => setTimeout(ms),
  attributes: loadAttributeCalls,
};
