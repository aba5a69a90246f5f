/**
 * A lock beside the file, for files that kernel locks do not protect: without `koffi`, and on file systems that other machines
 * may share (NFS, SMB, FUSE, 9p), where `flock` reaches no further than the mount. It exists as long as the change takes.
 * Only on Linux, where the type of a file system is known and a folder can be addressed by its descriptor.
 */

import { createHash, randomBytes } from "node:crypto";
import * as fs from "node:fs";
import type { LockReach } from "../../contract/checkup.ts";
import type { Descriptor } from "../descriptor.ts";
import { attempt, errnoName } from "../errno.ts";
import { isOutOfDescriptors } from "../loading.ts";
import { canLockFolder, type KernelLockCalls, type LockedFolder, openIfSame } from "./folder-lock.ts";
import { type GiveUp, type HeldLock, lockTaker, publishThrough, removeIfLeft, type Taken } from "./lock-file.ts";
import { LockFailed } from "./lock-folder.ts";
import { pidOf, processIdentity } from "./process-identity.ts";

const prefix = ".filehand-lock-";
/** Not the successor that a process creates beside a dead one's lock: `<lock>.<token>`. */
const shape = /^\.filehand-lock-[0-9a-f]{32}$/u;

export const isLockBeside = (name: string): boolean => shape.test(name);

/** By the name alone: device and inode of one folder differ between mounts. */
const nameOf = (name: string): string => `${prefix}${createHash("sha256").update(name).digest("hex").slice(0, 32)}`;

/** No such lock can be made here: the folder may not be written to, is gone or is full. */
const impossible: ReadonlySet<string | undefined> = new Set(
  "EACCES EPERM EROFS ENOENT ENOTDIR ELOOP ENOSPC EDQUOT".split(" "),
);

export interface LocksBeside {
  /**
   * One attempt, without waiting. Returns undefined where such locks do not work; the change then fails or goes on without one.
   * Throws LockFailed, and the system's error when descriptors are short.
   */
  take(
    folder: LockedFolder,
    name: string,
    giveUp: GiveUp,
    holder: { pid: number | undefined },
  ): HeldLock | "busy" | undefined;
}

export function createLocksBeside(): LocksBeside {
  // A local lock is a symlink, one call. Elsewhere it is a file: opening one makes a network file system ask its server.
  const takeLocal = lockTaker(fs.symlinkSync);
  const takeShared = lockTaker((line, path) => {
    // Named like the temporary file of a change, so that a sweep finds it.
    publishThrough(`.filehand-new-${processIdentity()}-${randomBytes(6).toString("hex")}`, line, path);
  });
  return {
    take(folder, name, giveUp, holder) {
      if (process.platform !== "linux" || folder.path === undefined) return undefined;
      try {
        using opened = openQuietly(folder, folder.path);
        if (opened === undefined) return undefined;
        const lock = `/proc/self/fd/${opened.fd}/${nameOf(name)}`;
        const tried = orUndefined(lock, () => (folder.isLocal === false ? takeShared : takeLocal)(lock, giveUp));
        if (tried === undefined) return undefined;
        if (tried.held !== undefined) return closing(tried.held, opened.move());
        if (tried.holder !== undefined) holder.pid = pidOf(tried.holder.owner);
        return "busy";
      } catch (cause) {
        const errno = errnoName(cause);
        if (errno === undefined || isOutOfDescriptors(cause)) throw cause;
        const path = `${folder.path}/${nameOf(name)}`;
        const fault = `"${path}" cannot be made a lock, the system says ${errno}`;
        throw new LockFailed(fault, `remove "${path}" if it is there`, { cause });
      }
    },
  };
}

function openQuietly(folder: LockedFolder, path: string): Descriptor | undefined {
  try {
    return openIfSame(folder, path);
  } catch (error) {
    if (impossible.has(errnoName(error))) return undefined;
    throw error;
  }
}

/** A lock that is there and cannot be taken over, as another user's in a folder like /tmp, is a fault and not a missing lock. */
function orUndefined(lock: string, take: () => Taken): Taken | undefined {
  try {
    return take();
  } catch (error) {
    const isThere = attempt(() => fs.lstatSync(lock, { throwIfNoEntry: false })) !== undefined;
    if (impossible.has(errnoName(error)) && !isThere) return undefined;
    throw error;
  }
}

const closing = (held: HeldLock, folder: Descriptor): HeldLock => ({
  beat: () => held.beat(),
  release() {
    held.release();
    folder[Symbol.dispose]();
  },
});

/** Removes the lock of a process that has ended, or that has given no sign of life for a day. `lock`: through a handle. */
export function sweepBeside(lock: string): void {
  attempt(() => removeIfLeft(lock, lockTaker(fs.symlinkSync)));
}

/** The lock that a change below this folder takes besides lock files; undefined if the folder cannot be opened. */
export function lockReach(
  path: string,
  isLocal: boolean | undefined,
  kernel: KernelLockCalls | undefined,
): LockReach | undefined {
  const other = process.platform === "linux" ? "beside" : "lock files";
  const canLock = kernel === undefined ? false : canLockFolder(path, kernel);
  if (canLock === undefined) return undefined;
  return canLock && isLocal !== false ? "kernel" : other;
}
