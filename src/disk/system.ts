/**
 * The system calls of this room as one injected object: a fault test replaces it to fail the n-th call. Sync calls serve
 * lookups and local reads (a few microseconds each); `readLater` serves file systems that may hang, where a sync read would
 * stop the whole process.
 */

import * as fs from "node:fs";
import { constants as fileConstants } from "node:fs";
import { constants as osConstants, constants, endianness } from "node:os";
import { setTimeout } from "node:timers/promises";
import { lazilyIfInstalled } from "./loading.ts";
import type { Glance, WalkEntry } from "./lookup/walk.ts";

// Copying between files inside the kernel, in another thread; Node offers that for whole files only. It takes a fifth of the
// processor time of reading and writing, and leaves the event loop free. The optional package `koffi` calls the C library.

interface CopyCalls {
  /** Bytes copied: maybe fewer than asked for, 0 at the end of the source. Undefined: not possible, or failed. */
  copy(from: number, fromAt: number, to: number, toAt: number, bytes: number): Promise<number | undefined>;
  /** Begins to flush a part of a file, so that a later sync waits for less. That sync reports any error. */
  startWriting(fd: number, at: number, bytes: number): Promise<void>;
}

const copyCallsLoaded = lazilyIfInstalled(bindCopyCalls);

/** Undefined off Linux (other systems have other calls) and where `koffi` is not installed. */
const loadCopyCalls = async (): Promise<CopyCalls | undefined> =>
  process.platform === "linux" ? copyCallsLoaded().catch(() => undefined) : undefined;

/** SYNC_FILE_RANGE_WRITE: begin to write, wait for nothing. */
const syncRangeWrite = 2;

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
    startWriting: async (fd, at, bytes) => void (await inThread(syncRange, fd, at, bytes, syncRangeWrite)),
  };
}

// Folders by descriptor: list one, open one in it, stat a name in it. Node reaches an open folder only through
// `/proc/self/fd` and creates several objects per name, a quarter of the time in a tree of a hundred thousand files.
// `koffi` takes 10 ms to load, so only large walks load it.

/** Each call throws an error with `errno`, as Node's own do. */
export interface FolderCalls {
  /** Opens a folder in a folder for listing; fails for anything else, symlinks included. */
  enter(folder: number, name: string): number;
  /** Reads on from the descriptor's position; stops soon after `entriesMax`. */
  entries(folder: number, entriesMax?: number): readonly WalkEntry[];
  /** Does not follow a symlink; undefined if the name does not exist. */
  glance(folder: number, name: string): Glance | undefined;
}

const folderCallsLoaded = lazilyIfInstalled(bindFolderCalls);

/** Undefined off Linux (other systems have other calls), where `koffi` is not installed, and where a call is missing. */
const loadFolderCalls = async (): Promise<FolderCalls | undefined> =>
  process.platform === "linux" && endianness() === "LE" ? folderCallsLoaded().catch(() => undefined) : undefined;

/** Flags to open a folder for listing. Node's own `open` adds `closeOnExec` by itself. */
export const listFlags = fileConstants.O_RDONLY | (fileConstants.O_DIRECTORY ?? 0) | (fileConstants.O_NOFOLLOW ?? 0);
const closeOnExec = 0o2000000;
/** For `statx`: follow no symlink, trigger no automount; ask for kind, mtime and size. */
const noFollowNoAutomount = 0x100 | 0x800;
const typeMtimeSize = 0x1 | 0x40 | 0x200;
/** AT_FDCWD. */
const currentFolder = -100;

/** Offsets in the kernel's `struct linux_dirent64` and `struct statx`, the same on all little-endian processors. */
const entryLength = 16;
const entryType = 18;
const entryName = 19;
const entriesAlign = 8;
const statMode = 28;
const statSize = 40;
const statSeconds = 112;
const statNanoseconds = 120;
const statBytes = 256;

/** The C library's own buffer size. */
const listBytes = 32_768;

async function bindFolderCalls(): Promise<FolderCalls> {
  const { load: open, errno } = await import("koffi");
  const library = open(null); // the C library that Node itself is linked with
  const openAt = library.func("int openat(int folder, const char *name, int flags)");
  const list = library.func("long getdents64(int folder, uint8_t *into, size_t size)");
  const look = library.func("int statx(int folder, const char *name, int flags, unsigned int mask, uint32_t *into)");

  const failed = (call: string, number: number): Error =>
    Object.assign(new Error(`${call} failed with errno ${number}`), { errno: -number, syscall: call });
  // Shared memory is safe: these calls are synchronous.
  const stat = new Uint32Array(statBytes / 4);
  const space = Buffer.alloc(listBytes);
  /** Fills `stat`; returns the errno, 0 for success. */
  const lookAt = (folder: number, name: string): number =>
    look(folder, name, noFollowNoAutomount, typeMtimeSize, stat) === 0 ? 0 : errno();

  // Some sandboxes have the call and forbid it.
  const forbidden = lookAt(currentFolder, "/");
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
      // Some file systems list entries without their kind.
      for (const entry of entries) {
        if (entry.type === types.unknown && lookAt(folder, entry.name) === 0) entry.type = typeOf(stat);
      }
      return entries;
    },
  };
}

/** The kernel's numbers; the same as the top bits of a mode. */
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
  // One decoded string for all names: decoding each would take longer than everything else here.
  const text = space.toString("latin1", 0, bytes);
  for (let at = 0; at < bytes; ) {
    const length = (space[at + entryLength] ?? 0) | ((space[at + entryLength + 1] ?? 0) << 8);
    const start = at + entryName;
    // The terminating zero is within the last aligned bytes; the bytes after it are undefined.
    let end = Math.max(start, at + length - entriesAlign);
    while (space[end] !== 0) end += 1;
    const type = space[at + entryType] ?? 0;
    const raw = text.slice(start, end);
    // ASCII names, nearly all, are sliced. Folder names are copied: they are kept for long, and a slice keeps the whole
    // string in memory.
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
  // The upper half carries the sign: a file can be older than 1970.
  const seconds = (word(stat, statSeconds + 4) | 0) * 0x1_0000_0000 + word(stat, statSeconds);
  // Computed exactly as Node computes its milliseconds.
  const mtimeMs = seconds * 1_000 + word(stat, statNanoseconds) / 1_000_000;
  return { kind, mtimeMs, sizeBytes: word(stat, statSize + 4) * 0x1_0000_0000 + word(stat, statSize) };
}

// Extended attributes, which contain ACLs, security labels and users' own data. Node has no call for them. `koffi` takes
// 20 ms to load, so only replacing an existing file loads it.

/** Each call throws an error with `errno`, as Node's own do. */
export interface AttributeCalls {
  /** Follows symlinks: pass the path of a handle. */
  list(path: string): readonly string[];
  listOf(fd: number): readonly string[];
  get(path: string, name: string): Uint8Array;
  set(fd: number, name: string, value: Uint8Array): void;
  remove(fd: number, name: string): void;
}

const attributeCallsLoaded = lazilyIfInstalled(bindAttributeCalls);

/** Undefined off Linux (other systems have other calls) and where `koffi` is not installed. */
export const loadAttributeCalls = async (): Promise<AttributeCalls | undefined> =>
  process.platform === "linux" ? attributeCallsLoaded() : undefined;

/** The kernel's limits: 64 KiB for one value and for the list of names. */
const valueBytesMax = 65_536;

async function bindAttributeCalls(): Promise<AttributeCalls> {
  const { load: open, errno } = await import("koffi");
  const library = open(null); // the C library that Node itself is linked with
  const listNames = library.func("long listxattr(const char *path, _Out_ uint8_t *names, size_t size)");
  const listNamesOf = library.func("long flistxattr(int fd, _Out_ uint8_t *names, size_t size)");
  const getValue = library.func("long getxattr(const char *path, const char *name, _Out_ uint8_t *value, size_t size)");
  const setValue = library.func(
    "int fsetxattr(int fd, const char *name, const uint8_t *value, size_t size, int flags)",
  );
  const removeValue = library.func("int fremovexattr(int fd, const char *name)");

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
      // A file system without attributes loses none.
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
  /** For the last descriptor of an unlinked large file: freeing its bytes may take a while. */
  closeLater(fd: number): Promise<void>;
  stat(fd: number): fs.BigIntStats;
  statPath(path: string): fs.BigIntStats;
  readLink(path: string): Buffer;
  /** The kernel's path of an open handle. */
  pathOfHandle(handlePath: string): string;
  realPath(path: string): string;
  fileSystemType(path: string): number;
  read(fd: number, into: Uint8Array, offset: number, length: number, at: number): number;
  readLater(fd: number, into: Uint8Array, offset: number, length: number, at: number): Promise<number>;
  folder(path: string): Promise<fs.Dirent[]>;
  /** Entry by entry, for local folders: it needs no thread of the pool, which hung reads may have used up. */
  folderNow(path: string): Iterable<fs.Dirent>;
  /** All at once: half the cost, for walks of whole trees. */
  folderWhole(path: string): readonly fs.Dirent[];
  /** The stat of a name, without following symlinks; undefined if it is gone. Times in fractional milliseconds. */
  glance(path: string): fs.Stats | undefined;
  glanceLater(path: string): Promise<fs.Stats | undefined>;
  /** Calls by descriptor, for large walks; undefined where they are unavailable. Loaded on first use. */
  folderCalls(): Promise<FolderCalls | undefined>;

  // Changing files. Every call that can take long has an asynchronous twin.
  /** Creates a file; the kernel removes the bits of the umask from `mode`. */
  make(path: string, flags: number, mode: number): number;
  write(fd: number, from: Uint8Array, offset: number, length: number, at: number): number;
  writeLater(fd: number, from: Uint8Array, offset: number, length: number, at: number): Promise<number>;
  /** Copying in another thread; undefined where it is unavailable. Loaded on first use. */
  copyCalls(): Promise<CopyCalls | undefined>;
  sync(fd: number): void;
  syncLater(fd: number): Promise<void>;
  /** How long the last sync of a small file took; infinite before the first. It only decides which thread syncs. */
  readonly syncPace: { lastMs: number };
  truncate(fd: number, sizeBytes: number): void;
  changeOwner(fd: number, user: number, group: number): void;
  changeMode(fd: number, mode: number): void;
  /** Does not follow a symlink at the end of the path. */
  statLink(path: string): fs.BigIntStats;
  /** Throws if the file is not writable. Root may write almost anything: check the mode as well. */
  checkWritable(path: string): void;
  rename(from: string, to: string): void;
  link(existing: string, added: string): void;
  unlink(path: string): void;
  makeFolder(path: string, mode: number): void;
  removeFolder(path: string): void;
  pause(ms: number): Promise<void>;
  /** Extended attributes and ACLs; undefined where they are unavailable. Loaded on first use. */
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
  // Process-wide: it measures the machine's disk and affects speed only.
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
