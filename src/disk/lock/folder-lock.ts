/**
 * Kernel locks: `flock` on the folder of a file. It excludes all processes that reach the folder through the same kernel, whatever
 * their user, container or device number, and ends with its process. Where `koffi` is missing, or the file system refuses or is
 * shared with other kernels, a lock beside the file (lock-beside.ts) does this.
 */

import * as fs from "node:fs";
import { constants } from "node:os";
import { Descriptor } from "../descriptor.ts";
import { errnoName, orErrno } from "../errno.ts";
import { isOutOfDescriptors, lazilyIfInstalled } from "../loading.ts";
import { listFlags, loadCLibrary } from "../system.ts";

export interface KernelLockCalls {
  /** One attempt, without waiting. Closing the descriptor releases the lock. Throws an error with `errno`, as Node's calls do. */
  tryLock(fd: number): "locked" | "busy";
}

const kernelLockLoaded = lazilyIfInstalled(bindKernelLock);

/** Undefined on Windows and without `koffi`. Throws when descriptors are too short to load it. */
export const loadKernelLock = async (): Promise<KernelLockCalls | undefined> =>
  process.platform === "win32" ? undefined : kernelLockLoaded();

/** LOCK_EX | LOCK_NB, the same on all systems that have them. */
const exclusiveNonBlocking = 2 | 4;

async function bindKernelLock(): Promise<KernelLockCalls> {
  const { library, errno, failed } = await loadCLibrary();
  const flock = library.func("int flock(int fd, int operation)");
  return {
    tryLock: (fd) => {
      if (flock(fd, exclusiveNonBlocking) === 0) return "locked";
      const number = errno();
      if (number === constants.errno.EWOULDBLOCK || number === constants.errno.EINTR) return "busy";
      throw failed("flock", number);
    },
  };
}

export interface LockedFolder {
  readonly device: bigint;
  readonly inode: bigint;
  /** The folder is opened here and compared by inode. Without a path there is no kernel lock. */
  readonly path?: string | undefined;
  /** False on a file system that other machines may share (network, FUSE): a kernel lock does not reach them. */
  readonly isLocal?: boolean;
}

export interface FolderLocks {
  /**
   * One attempt, without waiting. Returns the release function, `busy` if another process has the lock, or undefined where
   * kernel locks do not work. Throws when descriptors are short. Calls of this process share a folder's lock; the queue
   * separates their work on one file.
   */
  take(folder: LockedFolder, calls: KernelLockCalls): (() => void) | "busy" | undefined;
}

/** A lock older than this accepts no further sharers, so that other processes get their turn. */
const sharedMsMax = 200;

export function createFolderLocks(nowMs: () => number = () => performance.now()): FolderLocks {
  interface HeldFolderLock {
    readonly folder: Descriptor;
    readonly sinceMs: number;
    users: number;
  }
  const held = new Map<string, HeldFolderLock>();
  const releaser = (id: string, one: HeldFolderLock): (() => void) => {
    one.users += 1;
    return () => {
      one.users -= 1;
      if (one.users > 0) return;
      held.delete(id);
      one.folder[Symbol.dispose]();
    };
  };
  return {
    take(folder, calls) {
      if (folder.path === undefined) return undefined;
      const id = `${folder.device}:${folder.inode}`;
      const ours = held.get(id);
      if (ours !== undefined) return nowMs() - ours.sinceMs > sharedMsMax ? "busy" : releaser(id, ours);
      try {
        using opened = openIfSame(folder, folder.path);
        const attempt = opened && calls.tryLock(opened.fd);
        if (opened === undefined || attempt !== "locked") return attempt === "busy" ? attempt : undefined;
        const one: HeldFolderLock = { folder: opened.move(), sinceMs: nowMs(), users: 0 };
        held.set(id, one);
        return releaser(id, one);
      } catch (error) {
        if (errnoName(error) === undefined || isOutOfDescriptors(error)) throw error;
        return undefined;
      }
    },
  };
}

/** The folder, if its path still leads to it. Throws the errors of the system. */
export function openIfSame({ device, inode }: LockedFolder, path: string): Descriptor | undefined {
  using opened = openFolder(path);
  const { dev, ino } = fs.fstatSync(opened.fd, { bigint: true });
  return dev === device && ino === inode ? opened.move() : undefined;
}

const openFolder = (path: string): Descriptor => new Descriptor(fs.openSync(path, listFlags));

export function canLockFolder(path: string, calls: KernelLockCalls): boolean | undefined {
  using folder = orErrno(
    () => openFolder(path),
    () => undefined,
  );
  return (
    folder &&
    orErrno(
      () => calls.tryLock(folder.fd) !== undefined,
      () => false,
    )
  );
}
