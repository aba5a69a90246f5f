/**
 * Gives a file new content: at every moment, whatever fails, its name shows the old content or the new one, whole.
 * The new content is written beside it, synced, made like it and renamed over it; where that cannot be done it is
 * written in place, with a journal (`in-place.ts`). The caller holds the lock; this asks once more whether the file
 * is what was read, since editors take no locks.
 */

import type { BigIntStats } from "node:fs";
import * as nodePath from "node:path";
import type { Piece } from "../../contract/edit.ts";
import { HandleStack } from "../descriptor.ts";
import {
  type FolderSync,
  folderOf,
  type FolderHandle,
  noSync,
  patiently,
  prepareSync,
  unlinkQuietly,
  type WriteContext,
} from "../lookup/folder-handle.ts";
import type { FileNode, Identity } from "../lookup/lookup.ts";
import { type OpenFile, ownBits } from "../lookup/open-file.ts";
import type { Member } from "./change-set.ts";
import { type Content, contentOf, type Moving, syncsAtOnce } from "./content.ts";
import { writeInPlace } from "./in-place.ts";
import { CannotKeep, keepMetadata } from "./metadata.ts";
import { checkBytes, type Comparison, refuseReadOnly, stillThere } from "./same-file.ts";
import { sweepAgain, sweepOnce } from "./sweep.ts";
import { freshOf, NoTempFile, type TempFile, writeTemp } from "./temp-file.ts";
import {
  during,
  FileChanged,
  identityOf,
  nothingDone,
  type NothingDone,
  unconfirmed,
  type Unconfirmed,
  WriteFailed,
  type WriteNote,
} from "./write-failed.ts";

export type WriteWay = "renamed" | "in place";

export interface ReplaceInput {
  /** The file as it was looked up; held by the caller, who closes it. */
  readonly node: FileNode;
  /** Opened from it and still open. Its identity is what was read. */
  readonly file: OpenFile;
  readonly pieces: readonly Piece[];
  /** What copied pieces are copied from, such as a kept version; by default the file itself. */
  readonly source?: OpenFile | undefined;
  /** The whole file as it was read, if the caller has it: it decides where times are too coarse to. */
  readonly readBytes?: Uint8Array | undefined;
  /** A file with other names: separate it from them by the rename, or keep them and write in place. */
  readonly hardLinks: "separate" | "keep";
  /** The mode that it shall have from then on; the one it has by default. */
  readonly mode?: number | undefined;
  /** Asked until right before the swap, which is the last moment at which stopping leaves the file as it was. */
  readonly signal: AbortSignal;
  /**
   * Called when all is prepared and checked, right before the swap, to keep the old content. It may link the file to
   * keep it only if `how` is "renamed": what is written in place changes under every name. If the rename turns out to
   * be impossible it is called a second time, with "in place". What it throws stops the change. `at` is the file's
   * name in its folder held open: whoever links it must not go by the path, which may lead elsewhere by now.
   */
  readonly beforeSwap?: ((how: WriteWay, at: string) => Promise<void> | void) | undefined;
  /**
   * Work that need not wait for the disk, done while another thread waits for it. It may not be called at all, and what
   * it throws stops the change: whoever wants what it makes MUST be able to make it later.
   */
  readonly meanwhile?: (() => void) | undefined;
  /**
   * Called when the old file has lost its name, to let go of it: the system then takes its bytes away, which costs time.
   * It is waited for only together with a sync in another thread. It may not be called at all.
   */
  readonly letGo?: (() => Promise<void> | undefined) | undefined;
}

export type Replaced =
  | {
      readonly did: "replaced";
      readonly how: WriteWay;
      readonly identity: Identity;
      /** True if the file had other names, which still show the old content. */
      readonly separated: boolean;
      readonly notes: readonly WriteNote[];
    }
  | NothingDone
  | Unconfirmed
  /**
   * Writing in place failed half way, and so did putting the old bytes back. They are in the journal, from which the
   * next sweep of a later process restores them.
   */
  | { readonly did: "damaged"; readonly errno: string; readonly during: string; readonly journal: string };

/** Throws only what `beforeSwap` or the signal throws, and bugs. */
export async function replaceFile(input: ReplaceInput, context: WriteContext, member?: Member): Promise<Replaced> {
  using handles = new HandleStack();
  // Those of a set wait for each other, and are written one by one.
  if (member === undefined) context.underWay.count += 1;
  try {
    input.signal.throwIfAborted();
    const folder = member?.hold(nodePath.dirname(input.node.real)) ?? handles.use(folderOf(input.node, context));
    const compare = await sweepOnce(folder, context);
    return await replaceIn(folder, input, compare, context, member);
  } catch (error) {
    return nothingDone(error);
  } finally {
    if (member === undefined) context.underWay.count -= 1;
  }
}

async function replaceIn(
  folder: FolderHandle,
  input: ReplaceInput,
  compare: Comparison,
  context: WriteContext,
  member: Member | undefined,
): Promise<Replaced> {
  const { system } = context;
  const { node, file, hardLinks } = input;
  const name = nodePath.basename(node.real);
  // Whether the name still says so is asked before the swap.
  const known = compare === "all" ? file.stat : undefined;
  const there = known ?? stillThere(folder, name, file.identity, system, compare);
  refuseReadOnly(node, there, system);
  const before = input.mode === undefined ? there : withMode(there, input.mode);
  const content = contentOf(input.pieces, input.source ?? file, input.source === undefined);
  const inPlace = async (linked: boolean): Promise<Replaced> => {
    // The other names may lie outside the workspace, and only a rename leaves them alone.
    if (before.nlink > 1n && hardLinks === "separate") {
      throw new WriteFailed("EMLINK", "writing in place: it has other names, which would change with it");
    }
    // Since this process swept the folder another one may have died in the middle of writing the very file.
    const { removed, restored } = await sweepAgain(folder, context);
    if (restored.includes(node.real)) throw new FileChanged();
    const unlinked = removed > 0 || compare === "all but ctime";
    const isLinked = linked || unlinked || member !== undefined;
    return writeInPlace({ ...input, folder, name, before, content, linked: isLinked, undo: member?.undo }, context);
  };
  const ready = async (temp?: TempFile): Promise<void> => {
    const fresh = temp && freshOf(temp, system);
    await member?.ready({ path: node.real, does: "replace", before: there, file, node, ...(fresh && { fresh }) });
  };

  if (before.nlink > 1n && hardLinks === "keep") {
    await ready();
    return inPlace(false);
  }
  // On a quick disk little is synced before another thread has begun. Where several files are replaced, one thread each
  // lets the disk take them together.
  const atOnce = syncsAtOnce(content.sizeBytes, context.system) && context.underWay.count <= 1;
  const prepared = await prepare(folder, input, content, before, atOnce ? undefined : input.meanwhile, context);
  if (prepared === "in place") {
    await ready();
    return inPlace(false);
  }
  if (member !== undefined) {
    try {
      await ready(prepared.temp);
    } catch (error) {
      unlinkQuietly(prepared.temp.path, system);
      throw error;
    }
  }
  // The second names of the files of a set move their ctime.
  const comparison = member === undefined ? compare : "all but ctime";
  const swapped = await swap(folder, name, prepared.temp, input, content, atOnce, comparison, context, member);
  if (swapped === "in place") return inPlace(input.beforeSwap !== undefined);
  return "did" in swapped
    ? swapped
    : {
        did: "replaced",
        how: "renamed",
        identity: swapped.identity,
        separated: before.nlink > 1n,
        notes: [...prepared.notes, ...swapped.notes],
      };
}

/** The same with another mode; set-user-id and set-group-id of another owner are not ours to change. */
function withMode(stat: BigIntStats, mode: number): BigIntStats {
  const kept = stat.mode & ~BigInt(0o1777 | ownBits(stat));
  return Object.defineProperty(Object.create(stat) as BigIntStats, "mode", { value: kept | BigInt(mode) }); // all but the mode is the stat's
}

/** Folders that take no new file; the file itself may still be writable. */
const noNewFile = ["EACCES", "EPERM", "EROFS"];

/** The new content beside the file and like it in all but the name. */
async function prepare(
  folder: FolderHandle,
  { node, signal }: ReplaceInput,
  content: Content,
  before: BigIntStats,
  meanwhile: ReplaceInput["meanwhile"],
  context: WriteContext,
): Promise<{ readonly temp: TempFile; readonly notes: readonly WriteNote[] } | "in place"> {
  let notes: readonly WriteNote[] = [];
  const dress = async (fd: number, fresh: BigIntStats): Promise<void> => {
    notes = await keepMetadata(fd, fresh, before, node.handle.handlePath, context.system);
  };
  try {
    return { temp: await writeTemp(folder, { content, mode: 0o600, signal, dress, meanwhile }, context), notes };
  } catch (error) {
    if (error instanceof CannotKeep) return "in place";
    if (error instanceof NoTempFile && noNewFile.includes(error.errno)) return "in place";
    throw error;
  }
}

/** Names that cannot be renamed over: a mount point, or a file in a folder with the sticky bit. */
const noRename = ["EBUSY", "EXDEV", "EPERM", "EACCES"];

/** From here on the temporary file has an owner: it gets the file's name or is removed. */
async function swap(
  folder: FolderHandle,
  name: string,
  temp: TempFile,
  { file, readBytes, signal, beforeSwap, letGo }: ReplaceInput,
  content: Content,
  atOnce: boolean,
  compare: Comparison,
  { system }: WriteContext,
  member: Member | undefined,
): Promise<{ readonly identity: Identity; readonly notes: readonly WriteNote[] } | "in place" | Unconfirmed> {
  const moving: Moving = { system, reads: folder.reads, signal };
  using handles = new HandleStack();
  let folderSync: FolderSync;
  try {
    folderSync = handles.use(member === undefined ? prepareSync(folder, system) : noSync);
    await checkBytes(file, readBytes, moving);
    stillThere(folder, name, file.identity, system, compare);
    signal.throwIfAborted();
    if (beforeSwap !== undefined) {
      await beforeSwap("renamed", folder.at(name));
      signal.throwIfAborted();
      stillThere(folder, name, file.identity, system, "all but ctime");
    }
    const rename = (): void => system.rename(temp.path, folder.at(name));
    const recheck = (): void => {
      signal.throwIfAborted();
      stillThere(folder, name, file.identity, system, "all but ctime");
    };
    await patiently("renaming", rename, recheck, system);
  } catch (error) {
    unlinkQuietly(temp.path, system);
    const cannot = error instanceof WriteFailed && error.during === "renaming" && noRename.includes(error.errno);
    if (cannot && system.platform !== "win32") return "in place";
    throw error;
  }
  try {
    const look = () => confirm(folder, name, temp.inode, content.sizeBytes, note, system);
    const { note } = folderSync;
    if (letGo === undefined || atOnce) {
      await folderSync.sync();
      const confirmed = look();
      void letGo?.();
      return confirmed;
    }
    let confirmed: ReturnType<typeof confirm> | undefined;
    await folderSync.sync(() => {
      const gone = letGo();
      confirmed = look();
      return gone;
    });
    return confirmed ?? look();
  } catch (error) {
    return unconfirmed(error);
  }
}

/** The name shows the file that was written, and the folder is where it was. */
export function confirm(
  folder: FolderHandle,
  name: string,
  inode: bigint,
  sizeBytes: number,
  note: WriteNote | undefined,
  system: WriteContext["system"],
): { readonly identity: Identity; readonly notes: readonly WriteNote[] } {
  const after = during("reading back what was written", () => system.statLink(folder.at(name)));
  if (after.ino !== inode || Number(after.size) !== sizeBytes) {
    throw new WriteFailed("EIO", "reading back what was written");
  }
  const notes: WriteNote[] = note === undefined ? [] : [note];
  if (folder.hasMoved()) notes.push("folder moved");
  return { identity: identityOf(after), notes };
}
