/** Removes an empty folder or a file, and renames a folder with its content in one system call; never through a symlink. */

import * as nodePath from "node:path";
import { HandleStack } from "../descriptor.ts";
import { attempt } from "../errno.ts";
import { openFolder, noSync, retryWhileBlocked, prepareSync, type WriteContext } from "../lookup/folder-handle.ts";
import type { FileNode, Identity } from "../lookup/lookup.ts";
import type { Member } from "./change-set.ts";
import { FileExists, openOrMake, type MadeFolder, refuseExisting, removeMade } from "./create.ts";
import { refuseReadOnly, requireUnchanged } from "./same-file.ts";
import { sweepOnce } from "./sweep.ts";
import {
  during,
  FileChanged,
  nothingDone,
  type NothingDone,
  orUnconfirmed,
  type Unconfirmed,
  type WriteNote,
} from "./write-failed.ts";

export type FolderRemoved = { readonly did: "removed" } | NothingDone | Unconfirmed;

export async function removeFolder(real: string, context: WriteContext): Promise<FolderRemoved> {
  const { system } = context;
  try {
    using folder = openFolder(nodePath.dirname(real), context);
    using sync = prepareSync(folder, system);
    if (folder.hasMoved()) throw new FileChanged();
    during("removing", () => system.removeFolder(folder.at(nodePath.basename(real))));
    return await orUnconfirmed(async () => {
      await sync.sync();
      return { did: "removed" };
    });
  } catch (error) {
    return nothingDone(error);
  }
}

export interface MoveInput {
  readonly node: FileNode;
  /** Absolute, beneath a root, and without symlinks as far as it exists. Missing folders above it are created. */
  readonly to: string;
  readonly signal: AbortSignal;
  /** Called when all is checked, right before the rename. Its error stops the change. */
  readonly beforeSwap: () => Promise<void>;
}

export type FolderMoved =
  | { readonly did: "moved" }
  | { readonly did: "nothing"; readonly why: "exists" }
  | NothingDone
  | Unconfirmed;

/** Throws only what `beforeSwap` or the signal throws, and bugs. */
export async function moveFolder(input: MoveInput, context: WriteContext): Promise<FolderMoved> {
  const { node, to, signal, beforeSwap } = input;
  const { system } = context;
  using handles = new HandleStack();
  const made: MadeFolder[] = [];
  let moved = false;
  try {
    signal.throwIfAborted();
    const from = handles.use(openFolder(nodePath.dirname(node.real), context));
    const goal = await openOrMake(nodePath.dirname(to), (one) => handles.use(one), made, context);
    const syncs = [from, goal].map((folder) => handles.use(prepareSync(folder, system)));
    const [oldPath, newPath] = [from.at(nodePath.basename(node.real)), goal.at(nodePath.basename(to))];
    const isIt = (path: string): boolean => {
      const stat = during("looking at the folder", () => system.statLink(path));
      const { device, inode } = node.handle.identity;
      return stat.isDirectory() && stat.dev === device && stat.ino === inode;
    };
    const check = (): void => {
      signal.throwIfAborted();
      if (!isIt(oldPath) || from.hasMoved() || goal.hasMoved()) throw new FileChanged();
      // The system would silently replace an empty folder.
      refuseExisting(newPath, context);
    };
    check();
    await beforeSwap();
    check();
    await retryWhileBlocked("renaming", () => system.rename(oldPath, newPath), check, system);
    moved = true;
    // Another entry took the folder's name at the last moment and was moved instead: move it back.
    if (attempt(() => isIt(newPath)) === false) {
      refuseExisting(oldPath, context);
      during("renaming", () => system.rename(newPath, oldPath));
      moved = false;
      throw new FileChanged();
    }
    return await orUnconfirmed(async () => {
      for (const sync of syncs) await sync.sync();
      return { did: "moved" };
    });
  } catch (error) {
    if (error instanceof FileExists) return { did: "nothing", why: "exists" };
    return nothingDone(error);
  } finally {
    if (!moved) removeMade(made, context);
  }
}

export interface RemoveInput {
  readonly node: FileNode;
  readonly identity: Identity;
  readonly signal: AbortSignal;
  /** Called when all is checked, right before the removal, to keep the content. It may hard-link the file by `at`. */
  readonly beforeSwap?: ((at: string) => Promise<void> | void) | undefined;
}

export type Removed = { readonly did: "removed"; readonly notes: readonly WriteNote[] } | NothingDone | Unconfirmed;

/** Throws only what `beforeSwap` or the signal throws, and bugs. */
export async function removeFile(input: RemoveInput, context: WriteContext, member?: Member): Promise<Removed> {
  const { node, identity, signal, beforeSwap } = input;
  const { system } = context;
  const name = nodePath.basename(node.real);
  using handles = new HandleStack();
  try {
    signal.throwIfAborted();
    const above = nodePath.dirname(node.real);
    const folder = member?.open(above) ?? handles.use(openFolder(above, context));
    const compare = await sweepOnce(folder, context);
    const folderSync = handles.use(member === undefined ? prepareSync(folder, system) : noSync);
    const before = requireUnchanged(folder, name, identity, system, compare);
    refuseReadOnly(node, before, system);
    await member?.ready({ path: node.real, does: "remove", before });
    signal.throwIfAborted();
    const path = folder.at(name);
    await beforeSwap?.(path);
    const recheck = (): void => {
      signal.throwIfAborted();
      requireUnchanged(folder, name, identity, system, "all but ctime");
    };
    recheck();
    // In a set the file keeps a name until all is done.
    const remove = (): void =>
      member === undefined ? system.unlink(path) : system.rename(path, folder.at(member.old));
    await retryWhileBlocked("removing", remove, recheck, system);
    return await orUnconfirmed(async () => {
      await folderSync.sync();
      return { did: "removed", notes: folderSync.note === undefined ? [] : [folderSync.note] };
    });
  } catch (error) {
    return nothingDone(error);
  }
}
