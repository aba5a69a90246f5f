/**
 * Locks that the kernel keeps: `flock` on the folder of a file. It needs no file of its own, only a folder that can be read, and
 * it holds between all processes that reach the same folder on the same kernel, whatever their user, their container, or the
 * number that the device has for them. When a process ends, however it ends, the kernel gives its locks back.
 *
 * Node has no such call; `koffi`, an optional package, reaches that of the C library. Without it, and on file systems that refuse,
 * lock files alone (lock-file.ts) keep processes of one user apart.
 */

import * as fs from "node:fs";
import { constants } from "node:os";
import { Descriptor } from "../descriptor.ts";
import { errnoName } from "../errno.ts";
import { isOutOfDescriptors, lazilyIfThere } from "../loading.ts";

export interface KernelLockCalls {
  /** One attempt, without waiting. Closing the descriptor gives the lock back. Throws an error with `errno`, as Node's own calls do. */
  tryLock(fd: number): "locked" | "busy";
}

const loaded = lazilyIfThere(load);

/** Undefined on Windows, and where `koffi` is not installed. Throws where there are no descriptors to load it. */
export const loadKernelLock = async (): Promise<KernelLockCalls | undefined> =>
  process.platform === "win32" ? undefined : loaded();

/** LOCK_EX and LOCK_NB, the same on all systems that have them. */
const exclusiveAtOnce = 2 | 4;

async function load(): Promise<KernelLockCalls> {
  const { load: open, errno } = await import("koffi");
  const flock = open(null).func("int flock(int fd, int operation)"); // of the C library that Node itself is linked with
  return {
    tryLock: (fd) => {
      if (flock(fd, exclusiveAtOnce) === 0) return "locked";
      const number = errno();
      if (number === constants.errno.EWOULDBLOCK || number === constants.errno.EINTR) return "busy";
      throw Object.assign(new Error(`flock failed with errno ${number}`), { errno: -number, syscall: "flock" });
    },
  };
}

export interface LockedFolder {
  readonly device: bigint;
  readonly inode: bigint;
  /** Where it can be opened; what is opened there is compared. Without it there is no lock of this kind. */
  readonly path?: string | undefined;
}

export interface FolderLocks {
  /**
   * One attempt, without waiting: the way to give it back; `busy` if another process has it; undefined where there is no such
   * lock; throws where there are no descriptors. Calls of this process share the lock of a folder: what they do to one file is kept apart by the queue.
   */
  take(folder: LockedFolder, calls: KernelLockCalls): (() => void) | "busy" | undefined;
}

/** After so long no further call joins in: other processes want their turn. */
const sharedMsMax = 200;

export function createFolderLocks(nowMs: () => number = () => performance.now()): FolderLocks {
  interface HeldFolderLock {
    readonly folder: Descriptor;
    readonly sinceMs: number;
    users: number;
  }
  const held = new Map<string, HeldFolderLock>();
  const giver = (id: string, one: HeldFolderLock): (() => void) => {
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
      if (ours !== undefined) return nowMs() - ours.sinceMs > sharedMsMax ? "busy" : giver(id, ours);
      try {
        using opened = openFolder(folder.path);
        const { dev, ino } = fs.fstatSync(opened.fd, { bigint: true });
        const isSame = dev === folder.device && ino === folder.inode;
        const came = isSame ? calls.tryLock(opened.fd) : undefined;
        if (came !== "locked") return came;
        const one: HeldFolderLock = { folder: opened.move(), sinceMs: nowMs(), users: 0 };
        held.set(id, one);
        return giver(id, one);
      } catch (error) {
        const errno = errnoName(error);
        if (errno === undefined || isOutOfDescriptors(error)) throw error;
        return undefined;
      }
    },
  };
}

const folderFlags = fs.constants.O_RDONLY | (fs.constants.O_DIRECTORY ?? 0) | (fs.constants.O_NOFOLLOW ?? 0);

const openFolder = (path: string): Descriptor => new Descriptor(fs.openSync(path, folderFlags));

/** Can the folder be locked in this way? Tried and given back at once; undefined if it cannot even be opened. */
export function canLockFolder(path: string, calls: KernelLockCalls): boolean | undefined {
  let opened: Descriptor;
  try {
    opened = openFolder(path);
  } catch (error) {
    if (errnoName(error) === undefined) throw error;
    return undefined;
  }
  using folder = opened;
  try {
    calls.tryLock(folder.fd);
    return true;
  } catch (error) {
    if (errnoName(error) === undefined) throw error;
    return false;
  }
}
