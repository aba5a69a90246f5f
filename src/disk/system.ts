/**
 * The system calls that this room makes, as one object that is handed in: a fault test replaces it to fail the n-th
 * call. Sync calls serve lookups and local reads (a few microseconds each); `readLater` is for file systems that may
 * not answer, because a sync read on a hung mount stops the whole process.
 */

import * as fs from "node:fs";
import { setTimeout } from "node:timers/promises";
import { type AttributeCalls, loadAttributeCalls } from "./attributes.ts";
import { type CopyCalls, loadCopyCalls } from "./copy-calls.ts";
import { type FolderCalls, loadFolderCalls } from "./folder-calls.ts";

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
  heldAt(handlePath: string): string;
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
  heldAt: (handlePath) => fs.readlinkSync(handlePath),
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
