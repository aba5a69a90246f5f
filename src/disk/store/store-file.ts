/** Single files of a store folder: stat, open, and messages for system errors. */

import * as fs from "node:fs";
import { Descriptor } from "../descriptor.ts";
import { errnoName } from "../errno.ts";

/**
 * The store cannot be used; the message says why. It reaches users of the library, so it has a code like a FilehandError
 * (`contract/problem.ts`). It does not extend that class: both would then be bundled into a second file that the command line
 * loads at each start.
 */
export class StoreFailed extends Error {
  override readonly name = "StoreFailed";
  readonly code = "IO_ERROR";
  readonly reason: "full" | "not permitted" | "read-only" | "failed";
  /** The file, or the folder if no single file is concerned. */
  readonly path: string;
  constructor(reason: StoreFailed["reason"], message: string, path: string) {
    super(message);
    this.reason = reason;
    this.path = path;
  }
}

export interface Stored {
  readonly sizeBytes: number;
  /** Hard links of this inode: more than one if a workspace file was linked here and still exists. */
  readonly links: number;
  readonly device: bigint;
  readonly inode: bigint;
  readonly mtimeNs: bigint;
  /** When the file was stored or last touched; unlike mtime it is not inherited through a hard link. */
  readonly ctimeMs: number;
}

export interface StoredFile extends Stored, Disposable {
  readonly descriptor: number;
  /** Fills `into` from `at`; returns fewer bytes only at the end. */
  read(into: Uint8Array, at: number): number;
  close(): void;
}

/** Windows has neither flag. */
export const noFollow = (fs.constants.O_NOFOLLOW ?? 0) | (fs.constants.O_NONBLOCK ?? 0);

export function openStored(path: string): StoredFile | undefined {
  const fd = unlessMissing(() => fs.openSync(path, fs.constants.O_RDONLY | noFollow));
  if (fd === undefined) return undefined;
  using opened = new Descriptor(fd);
  const stored = storedOf(fs.fstatSync(fd, { bigint: true }));
  if (stored === undefined) return undefined;
  const read = (into: Uint8Array, from: number): number => {
    let done = 0;
    while (done < into.length) {
      const bytes = fs.readSync(fd, into, done, into.length - done, from + done);
      if (bytes === 0) break;
      done += bytes;
    }
    return done;
  };
  const file = opened.move();
  const close = (): void => file[Symbol.dispose]();
  return {
    ...stored,
    descriptor: fd,
    read: (into, from) => orStoreFailed(path, () => read(into, from), "read"),
    close,
    [Symbol.dispose]: close,
  };
}

export function storedOf(stat: fs.BigIntStats | undefined): Stored | undefined {
  if (stat === undefined || !stat.isFile()) return undefined;
  return {
    sizeBytes: Number(stat.size),
    links: Number(stat.nlink),
    device: stat.dev,
    inode: stat.ino,
    mtimeNs: stat.mtimeNs,
    ctimeMs: Number(stat.ctimeNs / 1_000_000n),
  };
}

export function unlessMissing<Result>(call: () => Result): Result | undefined {
  try {
    return call();
  } catch (error) {
    if (errnoName(error) === "ENOENT") return undefined;
    throw error;
  }
}

const reasons: Readonly<Record<string, StoreFailed["reason"]>> = {
  ENOSPC: "full",
  EDQUOT: "full",
  EFBIG: "full",
  EACCES: "not permitted",
  EPERM: "not permitted",
  EROFS: "read-only",
};

/** Throws a StoreFailed for a system error; any other error is a bug and passes unchanged. */
export function orStoreFailed<Result>(
  path: string,
  call: () => Result,
  doing: "store in" | "read" = "store in",
): Result {
  try {
    return call();
  } catch (error) {
    const errno = errnoName(error);
    if (errno === undefined) throw error;
    const advice = doing === "read" ? ", filehand history verify tells what is wrong" : "";
    const message = `Cannot ${doing} "${path}": the system says ${errno}${advice}`;
    throw new StoreFailed(reasons[errno] ?? "failed", message, path);
  }
}
