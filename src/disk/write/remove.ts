/** Removes a file; never through a symlink. */

import * as nodePath from "node:path";
import { HandleStack } from "../descriptor.ts";
import { openFolder, noSync, retryWhileBlocked, prepareSync, type WriteContext } from "../lookup/folder-handle.ts";
import type { FileNode, Identity } from "../lookup/lookup.ts";
import type { Member } from "./change-set.ts";
import { refuseReadOnly, requireUnchanged } from "./same-file.ts";
import { sweepOnce } from "./sweep.ts";
import { nothingDone, type NothingDone, orUnconfirmed, type Unconfirmed, type WriteNote } from "./write-failed.ts";

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
