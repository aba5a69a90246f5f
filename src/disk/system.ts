/**
 * The system calls that this room makes, as one object that is handed in: a fault test replaces it to fail the n-th
 * call. Sync calls serve lookups and local reads (a few microseconds each); `readLater` is for file systems that may
 * not answer, because a sync read on a hung mount stops the whole process.
 */

import * as fs from "node:fs";

export interface System {
  readonly platform: NodeJS.Platform;
  open(path: string, flags: number): number;
  close(fd: number): void;
  stat(fd: number): fs.BigIntStats;
  statPath(path: string): fs.BigIntStats;
  readLink(path: string): Buffer;
  realPath(path: string): string;
  fileSystemType(path: string): number;
  read(fd: number, into: Uint8Array, offset: number, length: number, at: number): number;
  readLater(fd: number, into: Uint8Array, offset: number, length: number, at: number): Promise<number>;
  folder(path: string): Promise<fs.Dirent[]>;
  /** The same entry by entry, for local folders: it needs no thread of the pool, which hanging reads may have used up. */
  folderNow(path: string): Iterable<fs.Dirent>;
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
  stat: (fd) => fs.fstatSync(fd, { bigint: true }),
  statPath: (path) => fs.statSync(path, { bigint: true }),
  readLink: (path) => fs.readlinkSync(path, { encoding: "buffer" }),
  realPath: (path) => fs.realpathSync.native(path),
  fileSystemType: (path) => fs.statfsSync(path).type,
  read: (fd, into, offset, length, at) => fs.readSync(fd, into, offset, length, at),
  readLater: (fd, into, offset, length, at) =>
    new Promise((resolve, reject) => {
      fs.read(fd, into, offset, length, at, (error, bytes) => (error ? reject(error) : resolve(bytes)));
    }),
  folderNow: entriesNow,
  folder: (path) =>
    new Promise((resolve, reject) => {
      fs.readdir(path, { withFileTypes: true }, (error, entries) => (error ? reject(error) : resolve(entries)));
    }),
};
