/** The open folder in which a file is changed: whatever happens to the names above it, every name is reached through it. */

import { constants, type Dirent } from "node:fs";
import * as nodePath from "node:path";
import type { EntryKind } from "../../contract/read.ts";
import { Descriptor } from "../descriptor.ts";
import { errnoName } from "../errno.ts";
import type { System } from "../system.ts";
import type { Swept } from "../write/sweep.ts";
import { failureOf, asWriteFailed, during, FileChanged, WriteFailed, type WriteNote } from "../write/write-failed.ts";
import type { FileNode, Handle, Lookup } from "./lookup.ts";

export interface WriteContext {
  /** Its `close` throws: for a written file that error counts. */
  readonly system: System;
  lookup(path: string): Lookup;
  /** For undo journals that cannot be written beside their file. */
  readonly stateDir: string | undefined;
  readonly swept: Map<string, Promise<Swept> | undefined>;
  readonly underWay: { count: number };
  /** Waits briefly until files closed in other threads have freed their space. False if there are none. */
  freed(): Promise<boolean>;
}

const diskFullErrnos = ["ENOSPC", "EDQUOT"];

/** Runs work that leaves nothing when it fails. On a full disk it runs again after old files have been freed. */
export async function retryWhenDiskFull<Result>(
  context: WriteContext,
  work: () => Result | Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const isFull = error instanceof WriteFailed && diskFullErrnos.includes(error.errno);
    if (!isFull || !(await context.freed())) throw error;
    return work();
  }
}

export type FolderHandle = Readonly<ReturnType<typeof folderAt>>;

/** Throws WriteFailed, or FileChanged if the folder is missing or reached through a symlink. */
export const openFolder = (path: string, context: WriteContext): FolderHandle =>
  folderHandle(context.lookup(path), path, context);

/** The folder of a node. A folder that came with the node stays open as long as the node. */
export function folderOf({ real, folder }: FileNode, context: WriteContext): FolderHandle {
  const path = nodePath.dirname(real);
  return folder === undefined ? openFolder(path, context) : borrowedFolder(folder, path, context);
}

export const borrowedFolder = (handle: Handle, path: string, context: WriteContext): FolderHandle =>
  folderAt(handle, path, context, () => undefined);

export function folderHandle(lookup: Lookup, path: string, context: WriteContext): FolderHandle {
  if (lookup.seen !== "node") throw failureOf(lookup);
  const { handle } = lookup;
  if (lookup.kind !== "directory" || lookup.real !== path) {
    handle.close();
    throw new FileChanged();
  }
  return folderAt(handle, path, context);
}

function folderAt(handle: Handle, path: string, { system }: WriteContext, close: () => void = () => handle.close()) {
  return {
    path,
    reads: handle.reads,
    identity: handle.identity,
    at: (name: string): string => `${handle.handlePath}${nodePath.sep}${name}`,
    /** Compares with the kernel's path of the handle, which is the only reliable source. */
    hasMoved: (): boolean =>
      handle.handlePath !== path &&
      during("looking at the folder", () => system.pathOfHandle(handle.handlePath)) !== path,
    close,
    [Symbol.dispose]: close,
  };
}

/** A folder opened for syncing before anything is changed, because opening may fail. */
export interface FolderSync extends Disposable {
  readonly note: WriteNote | undefined;
  sync(meanwhile?: () => void | Promise<void>): Promise<void>;
}

export const noSync: FolderSync = {
  note: undefined,
  sync: async (meanwhile) => meanwhile?.(),
  [Symbol.dispose]() {},
};

export function prepareSync(folder: FolderHandle, system: System): FolderSync {
  if (system.platform === "win32") return noSync; // Windows cannot open a folder and journals names itself
  const step = "syncing the folder";
  let fd: number;
  try {
    fd = system.open(folder.at("."), constants.O_RDONLY | constants.O_DIRECTORY);
  } catch (error) {
    if (errnoName(error) === "EACCES") return { ...noSync, note: "folder not synced" };
    throw asWriteFailed(error, step);
  }
  const opened = new Descriptor(fd, system);
  const sync = async (later: boolean): Promise<void> => {
    try {
      if (later) await system.syncLater(fd);
      else system.sync(fd);
    } catch (error) {
      // The way in which some file systems say that a folder needs no sync.
      if (!["EINVAL", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"].includes(errnoName(error) ?? "")) {
        throw asWriteFailed(error, step);
      }
    }
  };
  return {
    note: undefined,
    sync: (meanwhile) => both(sync(meanwhile !== undefined || folder.reads === "later"), async () => meanwhile?.()),
    [Symbol.dispose]: () => opened[Symbol.dispose](),
  };
}

/** Ends when both have ended; the first one's error counts more. */
export async function both(first: Promise<void>, second: () => Promise<void>): Promise<void> {
  for (const one of await Promise.allSettled([first, second()])) if (one.status === "rejected") throw one.reason;
}

export async function syncFolder(folder: FolderHandle, system: System): Promise<void> {
  using folderSync = prepareSync(folder, system);
  await folderSync.sync();
}

/** Removes a file of ours; true if it is gone. A failure is tried once more, then left to the sweep. */
export function unlinkQuietly(path: string, system: System): boolean {
  for (let tries = 1; tries <= 2; tries += 1) {
    try {
      system.unlink(path);
      return true;
    } catch (error) {
      const errno = errnoName(error);
      if (errno === undefined) throw error;
      if (errno === "ENOENT") return true;
    }
  }
  return false;
}

/** With the pauses, about 1.5 seconds in all: longer than a virus scan of a source file. */
const triesMax = 10;
const blockedErrnos = ["EPERM", "EACCES", "EBUSY"];

/** Windows: a scanner or editor may block a file. `recheck` runs before each retry; its error stops the change. */
export async function retryWhileBlocked(
  step: "renaming" | "removing",
  call: () => void,
  recheck: () => void,
  system: System,
): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      call();
      return;
    } catch (error) {
      const blocked = system.platform === "win32" && blockedErrnos.includes(errnoName(error) ?? "");
      if (!blocked) throw asWriteFailed(error, step);
      if (tries === triesMax) throw asWriteFailed(error, "waiting for another program to let go of it");
    }
    await system.pause(Math.min(10 * 2 ** tries, 200));
    recheck();
  }
}

export interface FolderEntry {
  readonly name: string;
  readonly kind: EntryKind;
}

export type EntryTypes = Pick<
  Dirent,
  "isFile" | "isDirectory" | "isSymbolicLink" | "isFIFO" | "isSocket" | "isCharacterDevice" | "isBlockDevice"
>;

export function kindOfEntry(entry: EntryTypes): EntryKind {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "directory";
  if (entry.isSymbolicLink()) return "link";
  return entry.isFIFO() || entry.isSocket() || entry.isCharacterDevice() || entry.isBlockDevice()
    ? "special"
    : "unknown";
}
