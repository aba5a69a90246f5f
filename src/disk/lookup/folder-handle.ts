/**
 * The folder in which a file is changed, held open: whatever happens to the names above it, every name in it is
 * reached through the same folder.
 */

import { constants, type Dirent } from "node:fs";
import * as nodePath from "node:path";
import type { EntryKind } from "../../contract/read.ts";
import { Descriptor } from "../descriptor.ts";
import { errnoName } from "../errno.ts";
import type { System } from "../system.ts";
import type { Swept } from "../write/sweep.ts";
import { asFailure, asWriteFailed, during, FileChanged, WriteFailed, type WriteNote } from "../write/write-failed.ts";
import type { FileNode, Handle, Identity, Lookup, ReadMode } from "./lookup.ts";

/** What changing files needs of the disk. */
export interface WriteContext {
  /** Closing tells its errors here. */
  readonly system: System;
  lookup(path: string): Lookup;
  /** Where undo journals go if the file's own folder takes none. */
  readonly stateDir: string | undefined;
  /** Folders that this process has swept already; a promise while it still does. */
  readonly swept: Map<string, Promise<Swept> | undefined>;
  /** Files that are being replaced at the moment. */
  readonly underWay: { count: number };
  /** Waits, but not for long, until what is closed in other threads has given back its room. False if there is nothing. */
  freed(): Promise<boolean>;
}

const noRoom = ["ENOSPC", "EDQUOT"];

/**
 * Work that takes room on the disk and leaves nothing behind if it fails. Old files are freed by threads that nobody waits
 * for; who finds the disk full waits for them, and tries once more.
 */
export async function withRoom<Result>(context: WriteContext, work: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const isFull = error instanceof WriteFailed && noRoom.includes(error.errno);
    if (!isFull || !(await context.freed())) throw error;
    return work();
  }
}

export interface FolderHandle extends Disposable {
  readonly path: string;
  readonly reads: ReadMode;
  readonly identity: Identity;
  /** The path of a name in it. */
  at(name: string): string;
  /** Is it still where it was? Only the kernel's own account of it can tell. */
  hasMoved(): boolean;
  close(): void;
}

/** Throws WriteFailed, or FileChanged if the folder is not there or only by way of a link. */
export const openFolder = (path: string, context: WriteContext): FolderHandle =>
  folderHandle(context.lookup(path), path, context);

/** The folder of a file that was found. If it came with the file it stays held as long as that. */
export function folderOf({ real, folder }: FileNode, context: WriteContext): FolderHandle {
  const path = nodePath.dirname(real);
  return folder === undefined ? openFolder(path, context) : borrowedFolder(folder, path, context);
}

/** A folder that somebody else holds and closes. */
export const borrowedFolder = (handle: Handle, path: string, context: WriteContext): FolderHandle =>
  folderAt(handle, path, context, () => undefined);

/** What was seen at `path`, as a folder; held until it is closed. */
export function folderHandle(lookup: Lookup, path: string, context: WriteContext): FolderHandle {
  if (lookup.seen !== "node") throw asFailure(lookup);
  const { handle } = lookup;
  if (lookup.kind !== "directory" || lookup.real !== path) {
    handle.close();
    throw new FileChanged();
  }
  return folderAt(handle, path, context);
}

function folderAt(
  handle: Handle,
  path: string,
  { system }: WriteContext,
  close: () => void = () => handle.close(),
): FolderHandle {
  return {
    path,
    reads: handle.reads,
    identity: handle.identity,
    at: (name) => `${handle.handlePath}${nodePath.sep}${name}`,
    hasMoved: () =>
      handle.handlePath !== path &&
      during("looking at the folder", () => system.pathOfHandle(handle.handlePath)) !== path,
    close,
    [Symbol.dispose]: close,
  };
}

/** A folder that is ready to be synced: opening it may fail, so it is opened before anything is changed. */
export interface FolderSync extends Disposable {
  readonly note: WriteNote | undefined;
  /** Other work is done while the disk is busy, if there is any. */
  sync(meanwhile?: () => void | Promise<void>): Promise<void>;
  close(): void;
}

/** Where nothing is to be synced, or another does it. */
export const noSync: FolderSync = {
  note: undefined,
  sync: async (meanwhile) => meanwhile?.(),
  close() {},
  [Symbol.dispose]() {},
};

export function prepareSync(folder: FolderHandle, system: System): FolderSync {
  if (system.platform === "win32") return noSync; // Windows cannot open a folder, and journals names by itself
  let opened: Descriptor;
  try {
    opened = new Descriptor(system.open(folder.at("."), constants.O_RDONLY | constants.O_DIRECTORY), system);
  } catch (error) {
    if (errnoName(error) === "EACCES") return { ...noSync, note: "folder not synced" };
    throw asWriteFailed(error, "syncing the folder");
  }
  const { fd } = opened;
  const close = (): void => opened[Symbol.dispose]();
  return {
    note: undefined,
    sync: async (meanwhile) => {
      const sync = async (): Promise<void> => {
        try {
          if (meanwhile === undefined && folder.reads === "at once") system.sync(fd);
          else await system.syncLater(fd);
        } catch (error) {
          // Some file systems have nothing to sync for a folder, and say so in this way.
          if (["EINVAL", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"].includes(errnoName(error) ?? "")) return;
          throw asWriteFailed(error, "syncing the folder");
        }
      };
      const other = async (): Promise<void> => meanwhile?.();
      const [synced, done] = await Promise.allSettled([sync(), other()]);
      if (synced.status === "rejected") throw synced.reason;
      if (done.status === "rejected") throw done.reason;
    },
    close,
    [Symbol.dispose]: close,
  };
}

/** Takes a file of ours away. True if it is gone; a failure is tried once more and then left to the sweep. */
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

const triesMax = 10;
const blockedErrnos = ["EPERM", "EACCES", "EBUSY"];

/**
 * On Windows a scanner or an editor that has the file open blocks a rename or a removal for a moment: it is tried again,
 * some 1.5 seconds in all. Whoever blocked it may have changed the file meanwhile, so `recheck` asks again each time;
 * what it throws stops the change.
 */
export async function patiently(
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

// A name in a folder, as the folder itself tells it.

/** Links are not followed. */
export interface FolderEntry {
  readonly name: string;
  readonly kind: EntryKind;
}

/** What a list tells of a name. */
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
