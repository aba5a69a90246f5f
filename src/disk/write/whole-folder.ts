/**
 * A folder as a whole: taken away when nothing is left in it, or given another name with all that is in it, in one step of the
 * system. Through the folders above, held open, and never what is behind a link.
 */

import * as nodePath from "node:path";
import { HandleStack } from "../descriptor.ts";
import { openFolder, noSync, patiently, prepareSync, type WriteContext } from "../lookup/folder-handle.ts";
import type { FileNode, Identity } from "../lookup/lookup.ts";
import type { Member } from "./change-set.ts";
import { FileExists, holdOrMake, type Made, refuseExisting, removeMade } from "./create.ts";
import { refuseReadOnly, stillThere } from "./same-file.ts";
import { sweepOnce } from "./sweep.ts";
import {
  asWriteFailed,
  during,
  FileChanged,
  nothingDone,
  type NothingDone,
  unconfirmed,
  type Unconfirmed,
  type WriteNote,
} from "./write-failed.ts";

export type FolderRemoved = { readonly did: "removed" } | NothingDone | Unconfirmed;

/** Only an empty one: the system sees to that. Nothing is thrown but bugs. */
export async function removeFolder(real: string, context: WriteContext): Promise<FolderRemoved> {
  const { system } = context;
  try {
    using folder = openFolder(nodePath.dirname(real), context);
    using sync = prepareSync(folder, system);
    if (folder.hasMoved()) throw new FileChanged();
    try {
      system.removeFolder(folder.at(nodePath.basename(real)));
    } catch (error) {
      throw asWriteFailed(error, "removing");
    }
    try {
      await sync.sync();
      return { did: "removed" };
    } catch (error) {
      return unconfirmed(error);
    }
  } catch (error) {
    return nothingDone(error);
  }
}

export interface MoveInput {
  /** The folder as it was looked up; held by the caller, who closes it. */
  readonly node: FileNode;
  /** Absolute, beneath a root, and free of links as far as it exists. Folders that are missing above it are made. */
  readonly to: string;
  readonly signal: AbortSignal;
  /** Called when all is checked, right before the folder gets its new name. What it throws stops the change. */
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
  const made: Made[] = [];
  let moved = false;
  try {
    signal.throwIfAborted();
    const from = handles.use(openFolder(nodePath.dirname(node.real), context));
    const goal = await holdOrMake(nodePath.dirname(to), (one) => handles.use(one), made, context);
    const syncs = [from, goal].map((folder) => handles.use(prepareSync(folder, system)));
    const [oldPath, newPath] = [from.at(nodePath.basename(node.real)), goal.at(nodePath.basename(to))];
    const isIt = (path: string): boolean => {
      const stat = during("looking at the folder", () => system.statLink(path));
      const { device, inode } = node.handle.identity;
      return stat.isDirectory() && stat.dev === device && stat.ino === inode;
    };
    /** Who cannot look knows nothing against it. */
    const isOther = (path: string): boolean => {
      try {
        return !isIt(path);
      } catch {
        return false;
      }
    };
    const check = (): void => {
      signal.throwIfAborted();
      if (!isIt(oldPath) || from.hasMoved() || goal.hasMoved()) throw new FileChanged();
      // The system would put it in the place of an empty folder.
      refuseExisting(newPath, context);
    };
    check();
    await beforeSwap();
    check();
    await patiently("renaming", () => system.rename(oldPath, newPath), check, system);
    moved = true;
    // What took its name in the last moment was moved in its place, and goes back.
    if (isOther(newPath)) {
      refuseExisting(oldPath, context);
      during("renaming", () => system.rename(newPath, oldPath));
      moved = false;
      throw new FileChanged();
    }
    try {
      for (const sync of syncs) await sync.sync();
      return { did: "moved" };
    } catch (error) {
      return unconfirmed(error);
    }
  } catch (error) {
    if (error instanceof FileExists) return { did: "nothing", why: "exists" };
    return nothingDone(error);
  } finally {
    if (!moved) removeMade(made, context);
  }
}

// Takes a file away: the very one that was found, through its folder held open, and never what is behind a link.

export interface RemoveInput {
  /** The file as it was looked up; held by the caller, who closes it. */
  readonly node: FileNode;
  /** The state in which it was read. */
  readonly identity: Identity;
  readonly signal: AbortSignal;
  /** Called when all is checked, right before the file goes, to keep its content. It may link it, by `at`. */
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
    const folder = member?.hold(above) ?? handles.use(openFolder(above, context));
    const compare = await sweepOnce(folder, context);
    const folderSync = handles.use(member === undefined ? prepareSync(folder, system) : noSync);
    const before = stillThere(folder, name, identity, system, compare);
    refuseReadOnly(node, before, system);
    await member?.ready({ path: node.real, does: "remove", before });
    signal.throwIfAborted();
    await beforeSwap?.(folder.at(name));
    signal.throwIfAborted();
    stillThere(folder, name, identity, system, "all but ctime");
    const path = folder.at(name);
    const recheck = (): void => {
      signal.throwIfAborted();
      stillThere(folder, name, identity, system, "all but ctime");
    };
    // In a set it keeps a name, until all is done.
    const remove = (): void =>
      member === undefined ? system.unlink(path) : system.rename(path, folder.at(member.old));
    await patiently("removing", remove, recheck, system);
    try {
      await folderSync.sync();
      return { did: "removed", notes: folderSync.note === undefined ? [] : [folderSync.note] };
    } catch (error) {
      return unconfirmed(error);
    }
  } catch (error) {
    return nothingDone(error);
  }
}
