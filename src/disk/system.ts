/** The system calls of this room as one object, which fault tests replace. `…Later` calls may hang or take long. */

import * as fs from "node:fs";
import { constants as os, endianness } from "node:os";
import { setTimeout } from "node:timers/promises";
import { errnoName } from "./errno.ts";
import { lazilyIfInstalled } from "./loading.ts";
import type { Glance, WalkEntry } from "./lookup/walk.ts";

/** The C library that Node itself is linked with, called by the optional package `koffi`, which takes 10 to 20 ms to load. */
export async function loadCLibrary() {
  const { load, errno } = await import("koffi");
  const failed = (call: string, number = errno()): Error =>
    Object.assign(new Error(`${call} failed with errno ${number}`), { errno: -number, syscall: call });
  return { library: load(null), errno, failed };
}

/** Loads calls on first use; undefined off Linux (other systems have other calls) and where `koffi` is not installed. */
function onLinux<Calls>(bind: () => Promise<Calls>): () => Promise<Calls | undefined> {
  const load = lazilyIfInstalled(bind);
  return async () => (process.platform === "linux" ? load() : undefined);
}

const later = <Result>(call: (done: (error: Error | null, result: Result) => void) => void): Promise<Result> =>
  new Promise((resolve, reject) => {
    call((error, result) => (error ? reject(error) : resolve(result)));
  });

/** Copies between files in the kernel, in another thread, with a fifth of the processor time of reading and writing. */
type CopyCalls = Awaited<ReturnType<typeof bindCopyCalls>>;

const loadCopyCalls = onLinux(bindCopyCalls);

/** SYNC_FILE_RANGE_WRITE: begin to write, wait for nothing. */
const syncRangeWrite = 2;

async function bindCopyCalls() {
  const { library } = await loadCLibrary();
  const copyRange = library.func(
    "int64_t copy_file_range(int from, _Inout_ int64_t *fromAt, int to, _Inout_ int64_t *toAt, size_t bytes, unsigned int flags)",
  );
  const syncRange = library.func("int sync_file_range(int fd, int64_t at, int64_t bytes, unsigned int flags)");
  const inThread = (call: typeof copyRange, ...given: readonly unknown[]): Promise<number> =>
    later((done) => call.async(...given, done)).then(Number);
  return {
    /** Bytes copied: maybe fewer than asked for, 0 at the end of the source. Undefined: not possible, or failed. */
    copy: async (from: number, fromAt: number, to: number, toAt: number, bytes: number) => {
      const copied = await inThread(copyRange, from, [fromAt], to, [toAt], bytes, 0);
      return copied < 0 ? undefined : copied;
    },
    /** Begins to flush a part of a file, so that a later sync waits for less. That sync reports any error. */
    startWriting: async (fd: number, at: number, bytes: number): Promise<void> =>
      void (await inThread(syncRange, fd, at, bytes, syncRangeWrite)),
  };
}

/** Folders by descriptor: a quarter less time than `/proc/self/fd` for 100,000 files. For large walks only. */
export type FolderCalls = Awaited<ReturnType<typeof bindFolderCalls>>;

const loadFolderCalls = onLinux(bindFolderCalls);

/** Flags to open a folder for listing. Node's own `open` adds `closeOnExec` by itself. */
export const listFlags = fs.constants.O_RDONLY | (fs.constants.O_DIRECTORY ?? 0) | (fs.constants.O_NOFOLLOW ?? 0);
const closeOnExec = 0o2000000;
/** For `statx`: follow no symlink, trigger no automount; ask for kind, mtime and size. */
const noFollowNoAutomount = 0x100 | 0x800;
const typeMtimeSize = 0x1 | 0x40 | 0x200;
/** All that `lstat` says. */
const basicStats = 0x7ff;
/** AT_FDCWD. */
const currentFolder = -100;

/** Offsets in the kernel's `struct linux_dirent64` and `struct statx`, the same on all little-endian processors. */
const entryLength = 16;
const entryType = 18;
const entryName = 19;
const entriesAlign = 8;
const statMode = 28;
const statInode = 32;
const statSize = 40;
const statChangeSeconds = 96;
const statChangeNanoseconds = 104;
const statSeconds = 112;
const statNanoseconds = 120;
const statBytes = 256;

const listBytes = 32_768;

async function bindFolderCalls() {
  const { library, errno, failed } = await loadCLibrary();
  const openAt = library.func("int openat(int folder, const char *name, int flags)");
  const list = library.func("long getdents64(int folder, uint8_t *into, size_t size)");
  const look = library.func("int statx(int folder, const char *name, int flags, unsigned int mask, uint32_t *into)");
  // Shared memory is safe: these calls are synchronous.
  const stat = new Uint32Array(statBytes / 4);
  const space = Buffer.alloc(listBytes);
  /** Fills `stat`; returns the errno, 0 for success. */
  const lookAt = (folder: number, name: string, mask = typeMtimeSize): number =>
    look(folder, name, noFollowNoAutomount, mask, stat) === 0 ? 0 : errno();

  // Some sandboxes have the call and forbid it.
  const forbidden = lookAt(currentFolder, "/");
  if (forbidden !== 0) throw failed("statx", forbidden);
  return {
    enter: (folder: number, name: string): number => {
      const fd: number = openAt(folder, name, listFlags | closeOnExec);
      if (fd < 0) throw failed("openat");
      return fd;
    },
    glance: (folder: number, name: string): Glance | undefined => {
      const error = lookAt(folder, name);
      if (error === 0) return glanceOf(stat);
      if (error === os.errno.ENOENT) return undefined;
      throw failed("statx", error);
    },
    /** Fills `into` in the order of `statFields`; false if there is no such name. */
    stat: (folder: number, name: string, into: Float64Array): boolean => {
      const error = lookAt(folder, name, basicStats);
      if (error === os.errno.ENOENT || error === os.errno.ENOTDIR) return false;
      if (error !== 0) throw failed("statx", error);
      into[0] = word(stat, statMode) & 0xffff;
      into[1] = word(stat, statSize + 4) * 0x1_0000_0000 + word(stat, statSize);
      into[2] = timeMs(stat, statSeconds, statNanoseconds);
      into[3] = timeMs(stat, statChangeSeconds, statChangeNanoseconds);
      into[4] = word(stat, statInode + 4) * 0x1_0000_0000 + word(stat, statInode);
      return true;
    },
    /** Reads on from the descriptor's position; stops soon after `entriesMax`. */
    entries: (folder: number, entriesMax = Number.POSITIVE_INFINITY): readonly WalkEntry[] => {
      const entries: QuickEntry[] = [];
      while (entries.length <= entriesMax) {
        const bytes = Number(list(folder, space, listBytes));
        if (bytes < 0) throw failed("getdents64");
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

/** Computed exactly as Node computes its milliseconds. */
function timeMs(stat: Uint32Array, atSeconds: number, atNanoseconds: number): number {
  // The upper half carries the sign: a file can be older than 1970.
  const seconds = (word(stat, atSeconds + 4) | 0) * 0x1_0000_0000 + word(stat, atSeconds);
  return seconds * 1_000 + word(stat, atNanoseconds) / 1_000_000;
}

function glanceOf(stat: Uint32Array): Glance {
  const type = typeOf(stat);
  const kind =
    type === types.file ? "file" : type === types.folder ? "directory" : type === types.link ? "link" : "special";
  const mtimeMs = timeMs(stat, statSeconds, statNanoseconds);
  return { kind, mtimeMs, sizeBytes: word(stat, statSize + 4) * 0x1_0000_0000 + word(stat, statSize) };
}

/** Extended attributes, which contain ACLs, security labels and users' own data. Only replacing a file loads these calls. */
export type AttributeCalls = Awaited<ReturnType<typeof bindAttributeCalls>>;

export const loadAttributeCalls = onLinux(bindAttributeCalls);

/** The kernel's limits: 64 KiB for one value and for the list of names. */
const valueBytesMax = 65_536;

async function bindAttributeCalls() {
  const { library, errno, failed } = await loadCLibrary();
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
    throw failed(call);
  };
  const space = Buffer.allocUnsafeSlow(valueBytesMax);
  const names = (call: () => unknown): readonly string[] => {
    const length = Number(call());
    // A file system without attributes loses none.
    if (length < 0 && errno() === os.errno.ENOTSUP) return [];
    return space.toString("utf8", 0, checked("listxattr", length)).split("\0").filter(Boolean);
  };
  return {
    /** Follows symlinks: pass the path of a handle. */
    list: (path: string) => names(() => listNames(path, space, space.length)),
    listOf: (fd: number) => names(() => listNamesOf(fd, space, space.length)),
    get: (path: string, name: string): Uint8Array =>
      Uint8Array.from(space.subarray(0, checked("getxattr", getValue(path, name, space, space.length)))),
    set: (fd: number, name: string, value: Uint8Array): void =>
      void checked("fsetxattr", setValue(fd, name, value, value.length, 0)),
    remove: (fd: number, name: string): void => void checked("fremovexattr", removeValue(fd, name)),
  };
}

export type System = Readonly<typeof nodeSystem>;

function* entriesNow(path: string): Iterable<fs.Dirent> {
  const folder = fs.opendirSync(path, { bufferSize: 1_024 });
  try {
    for (let entry = folder.readSync(); entry !== null; entry = folder.readSync()) yield entry;
  } finally {
    folder.closeSync();
  }
}

/** Deno judges a symlink by the mode of the link itself, and one in `/proc/self/fd` has the mode of its descriptor: read-only. */
const followedFor = (path: string): string =>
  process.versions["deno"] === undefined ? path : fs.realpathSync.native(path);

export const nodeSystem = {
  platform: process.platform,
  open: (path: string, flags: number): number => fs.openSync(path, flags),
  close: (fd: number): void => fs.closeSync(fd),
  /** For the last descriptor of an unlinked large file: freeing its bytes may take a while. */
  closeLater: (fd: number): Promise<void> => later((done) => fs.close(fd, done)),
  stat: (fd: number): fs.BigIntStats => fs.fstatSync(fd, { bigint: true }),
  statPath: (path: string): fs.BigIntStats => fs.statSync(path, { bigint: true }),
  readLink: (path: string): Buffer => fs.readlinkSync(path, { encoding: "buffer" }),
  pathOfHandle: (handlePath: string): string => fs.readlinkSync(handlePath),
  realPath: (path: string): string => fs.realpathSync.native(path),
  fileSystemType: (path: string): number => fs.statfsSync(path).type,
  read: (fd: number, into: Uint8Array, offset: number, length: number, at: number): number =>
    fs.readSync(fd, into, offset, length, at),
  readLater: (fd: number, into: Uint8Array, offset: number, length: number, at: number): Promise<number> =>
    later((done) => fs.read(fd, into, offset, length, at, done)),
  folder: (path: string): Promise<fs.Dirent[]> => later((done) => fs.readdir(path, { withFileTypes: true }, done)),
  /** Entry by entry, for local folders: it needs no thread of the pool, which hung reads may have used up. */
  folderNow: entriesNow,
  /** All at once: half the cost, for walks of whole trees. */
  folderWhole: (path: string): readonly fs.Dirent[] => fs.readdirSync(path, { withFileTypes: true }),
  /** The stat of a name, without following symlinks; undefined if it is gone. Times in fractional milliseconds. */
  glance: (path: string): fs.Stats | undefined => fs.lstatSync(path, { throwIfNoEntry: false }),
  glanceLater: (path: string): Promise<fs.Stats | undefined> =>
    later<fs.Stats>((done) => fs.lstat(path, done)).catch((error: unknown) => {
      if (errnoName(error) === "ENOENT") return undefined;
      throw error;
    }),
  folderCalls: async (): Promise<FolderCalls | undefined> =>
    endianness() === "LE" ? loadFolderCalls().catch(() => undefined) : undefined,

  // Changing files. Every call that can take long has an asynchronous twin.
  make: (path: string, flags: number, mode: number): number => fs.openSync(path, flags, mode),
  write: (fd: number, from: Uint8Array, offset: number, length: number, at: number): number =>
    fs.writeSync(fd, from, offset, length, at),
  writeLater: (fd: number, from: Uint8Array, offset: number, length: number, at: number): Promise<number> =>
    later((done) => fs.write(fd, from, offset, length, at, done)),
  copyCalls: (): Promise<CopyCalls | undefined> => loadCopyCalls().catch(() => undefined),
  sync: (fd: number): void => fs.fsyncSync(fd),
  /** How long the last sync of a small file took. Process-wide: it only decides which thread syncs. */
  syncPace: { lastMs: Number.POSITIVE_INFINITY },
  syncLater: (fd: number): Promise<void> => later((done) => fs.fsync(fd, done)),
  truncate: (fd: number, sizeBytes: number): void => fs.ftruncateSync(fd, sizeBytes),
  changeOwner: (fd: number, user: number, group: number): void => fs.fchownSync(fd, user, group),
  changeMode: (fd: number, mode: number): void => fs.fchmodSync(fd, mode),
  /** Sets atime and mtime, to the microsecond. */
  changeTime: (fd: number, timeNs: bigint): void => {
    const seconds = Number(timeNs / 1_000n) / 1_000_000;
    fs.futimesSync(fd, seconds, seconds);
  },
  statLink: (path: string): fs.BigIntStats => fs.lstatSync(path, { bigint: true }),
  /** Throws if the file is not writable. Root may write almost anything: check the mode as well. */
  checkWritable: (path: string): void => fs.accessSync(followedFor(path), fs.constants.W_OK),
  rename: (from: string, to: string): void => fs.renameSync(from, to),
  link: (existing: string, added: string): void => fs.linkSync(existing, added),
  unlink: (path: string): void => fs.unlinkSync(path),
  symlink: (leadsTo: Buffer, path: string): void => fs.symlinkSync(leadsTo, path),
  makeFolder: (path: string, mode: number): void => fs.mkdirSync(path, { mode }),
  removeFolder: (path: string): void => fs.rmdirSync(path),
  pause: async (ms: number): Promise<void> => setTimeout(ms),
  attributes: loadAttributeCalls,
};
