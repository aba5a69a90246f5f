/** Takes a file away: the very one that was found, through its folder held open, and never what is behind a link. */

import * as nodePath from "node:path";
import {
  type FolderSync,
  type HeldFolder,
  holdFolder,
  noSync,
  patiently,
  prepareSync,
  type WriteContext,
} from "./held-folder.ts";
import type { Member } from "./change-set.ts";
import type { Found, Identity } from "./look.ts";
import { refuseReadOnly, stillThere } from "./same-file.ts";
import { sweepOnce } from "./sweep.ts";
import { type NothingDone, nothingDone, type Unconfirmed, unconfirmed, type WriteNote } from "./write-failed.ts";

export interface RemoveInput {
  /** The file as it was looked up; held by the caller, who closes it. */
  readonly found: Found;
  /** The state in which it was read. */
  readonly identity: Identity;
  readonly signal: AbortSignal;
  /** Called when all is checked, right before the file goes, to keep its content. It may link it, by `at`. */
  readonly beforeSwap?: ((at: string) => Promise<void> | void) | undefined;
}

export type Removed = { readonly did: "removed"; readonly notes: readonly WriteNote[] } | NothingDone | Unconfirmed;

/** Throws only what `beforeSwap` or the signal throws, and bugs. */
export async function removeFile(input: RemoveInput, context: WriteContext, member?: Member): Promise<Removed> {
  const { found, identity, signal, beforeSwap } = input;
  const { system } = context;
  const name = nodePath.basename(found.real);
  let folder: HeldFolder | undefined;
  let folderSync: FolderSync | undefined;
  try {
    signal.throwIfAborted();
    const above = nodePath.dirname(found.real);
    folder = member === undefined ? holdFolder(above, context) : member.hold(above);
    const compare = await sweepOnce(folder, context);
    folderSync = member === undefined ? prepareSync(folder, system) : noSync;
    const before = stillThere(folder, name, identity, system, compare);
    refuseReadOnly(found, before, system);
    await member?.ready({ path: found.real, does: "remove", before });
    signal.throwIfAborted();
    await beforeSwap?.(folder.at(name));
    signal.throwIfAborted();
    stillThere(folder, name, identity, system, "all but ctime");
    const held = folder;
    const path = held.at(name);
    const recheck = (): void => {
      signal.throwIfAborted();
      stillThere(held, name, identity, system, "all but ctime");
    };
    // In a set it keeps a name, until all is done.
    const remove = (): void => (member === undefined ? system.unlink(path) : system.rename(path, held.at(member.old)));
    await patiently("removing", remove, recheck, system);
    try {
      await folderSync.sync();
      return { did: "removed", notes: folderSync.note === undefined ? [] : [folderSync.note] };
    } catch (error) {
      return unconfirmed(error);
    }
  } catch (error) {
    return nothingDone(error);
  } finally {
    folderSync?.close();
    if (member === undefined) folder?.close();
  }
}
