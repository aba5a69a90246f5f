/**
 * Replaces the content of a file atomically: at every moment, whatever fails, its name shows the whole old or the whole new
 * content. The new content is written to a temporary file beside it, synced, given the same metadata and renamed over it; where
 * that is impossible it is written in place, with a journal (`in-place.ts`). The caller has the lock; the file is still compared
 * once more, because editors take no locks.
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
  retryWhileBlocked,
  prepareSync,
  unlinkQuietly,
  type WriteContext,
} from "../lookup/folder-handle.ts";
import { type FileNode, type Identity, identityOf } from "../lookup/lookup.ts";
import { type OpenFile, ownBits } from "../lookup/open-file.ts";
import type { Member } from "./change-set.ts";
import { type Content, contentOf, type IoOptions, syncsAtOnce } from "./content.ts";
import { writeInPlace } from "./in-place.ts";
import { MetadataRefused, copyMetadata } from "./metadata.ts";
import { checkBytes, type Comparison, refuseReadOnly, requireUnchanged } from "./same-file.ts";
import { sweepAgain, sweepOnce } from "./sweep.ts";
import { freshOf, NoTempFile, type TempFile, writeTemp } from "./temp-file.ts";
import {
  during,
  FileChanged,
  noNewFileErrnos,
  nothingDone,
  type NothingDone,
  orUnconfirmed,
  type Unconfirmed,
  WriteFailed,
  type WriteNote,
} from "./write-failed.ts";

export type WriteWay = "renamed" | "in place";

export interface ReplaceInput {
  readonly node: FileNode;
  /** Opened from `node` and still open. Its identity is the state that was read. */
  readonly file: OpenFile;
  readonly pieces: readonly Piece[];
  readonly source?: OpenFile | undefined;
  /** The whole file as it was read, if the caller has it: decides when times are too coarse. */
  readonly readBytes?: Uint8Array | undefined;
  /** For a file with several hard links: separate it by the rename, or keep them and write in place. */
  readonly hardLinks: "separate" | "keep";
  readonly mode?: number | undefined;
  /** Checked until right before the swap, the last moment at which stopping leaves the file unchanged. */
  readonly signal: AbortSignal;
  /**
   * Called when all is prepared and checked, right before the swap, to keep the old content. It may hard-link the file only if
   * `how` is "renamed": writing in place changes the file under every name. If the rename turns out to be impossible it is
   * called again with "in place". Its error stops the change. `at` is the file's name in its open folder: a link MUST use it and
   * not the path, which may lead elsewhere by now.
   */
  readonly beforeSwap?: ((how: WriteWay, at: string) => Promise<void> | void) | undefined;
  /** Work to do while another thread waits for the disk. It may never be called. Its error stops the change. */
  readonly meanwhile?: (() => void) | undefined;
  /** Called when the old file has lost its name, to close it, which frees its bytes. It may never be called. */
  readonly letGo?: (() => Promise<void> | undefined) | undefined;
}

export type Replaced =
  | {
      readonly did: "replaced";
      readonly how: WriteWay;
      readonly identity: Identity;
      readonly separated: boolean;
      readonly notes: readonly WriteNote[];
    }
  | NothingDone
  | Unconfirmed
  /** Writing in place failed, and so did its undo. A later process restores the old bytes from the journal. */
  | { readonly did: "damaged"; readonly errno: string; readonly during: string; readonly journal: string };

/** Throws only what `beforeSwap` or the signal throws, and bugs. */
export async function replaceFile(input: ReplaceInput, context: WriteContext, member?: Member): Promise<Replaced> {
  using handles = new HandleStack();
  // The files of a set wait for each other and are written one by one.
  if (member === undefined) context.underWay.count += 1;
  try {
    input.signal.throwIfAborted();
    const folder = member?.open(nodePath.dirname(input.node.real)) ?? handles.use(folderOf(input.node, context));
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
  // The name itself is checked before the swap.
  const known = compare === "all" ? file.stat : undefined;
  const there = known ?? requireUnchanged(folder, name, file.identity, system, compare);
  refuseReadOnly(node, there, system);
  const before = input.mode === undefined ? there : withMode(there, input.mode);
  const content = contentOf(input.pieces, input.source ?? file, input.source === undefined);
  const inPlace = async (linked: boolean): Promise<Replaced> => {
    // The other hard links may be outside the workspace, and only a rename leaves them alone.
    if (before.nlink > 1n && hardLinks === "separate") {
      throw new WriteFailed("EMLINK", "writing in place: it has other names, which would change with it");
    }
    // Since this process swept the folder, another one may have died while writing this very file.
    const { removed, restored } = await sweepAgain(folder, context);
    if (restored.includes(node.real)) throw new FileChanged();
    const unlinked = removed > 0 || compare === "all but ctime";
    const isLinked = linked || unlinked || member !== undefined;
    return writeInPlace({ ...input, folder, name, before, content, linked: isLinked, undo: member?.undo }, context);
  };
  const ready = async (temp?: TempFile): Promise<void> => {
    if (member === undefined) return;
    const fresh = temp && { fresh: freshOf(temp, system) };
    await member.ready({ path: node.real, does: "replace", before: there, file, node, ...fresh });
  };

  if (before.nlink > 1n && hardLinks === "keep") {
    await ready();
    return inPlace(false);
  }
  // On a fast disk a small sync ends before another thread has begun. When several files are replaced, one thread each lets the
  // disk take them together.
  const atOnce = syncsAtOnce(content.sizeBytes, context.system) && context.underWay.count <= 1;
  const prepared = await prepare(folder, input, content, before, atOnce ? undefined : input.meanwhile, context);
  if (prepared === "in place") {
    await ready();
    return inPlace(false);
  }
  try {
    await ready(prepared.temp);
  } catch (error) {
    unlinkQuietly(prepared.temp.path, system);
    throw error;
  }
  // The second hard links of a set's files move their ctime.
  const comparison = member === undefined ? compare : "all but ctime";
  const swapped = await swap(folder, name, prepared.temp, input, content, atOnce, comparison, context, member);
  if (swapped === "in place") return inPlace(input.beforeSwap !== undefined);
  if ("did" in swapped) return swapped;
  const notes = [...prepared.notes, ...swapped.notes];
  return { did: "replaced", how: "renamed", identity: swapped.identity, separated: before.nlink > 1n, notes };
}

/** The same stat with another mode; set-user-id and set-group-id of another owner stay unchanged. */
export function withMode(stat: BigIntStats, mode: number): BigIntStats {
  const kept = stat.mode & ~BigInt(0o1777 | ownBits(stat));
  return Object.defineProperty(Object.create(stat) as BigIntStats, "mode", { value: kept | BigInt(mode) }); // inherits all else
}

async function prepare(
  folder: FolderHandle,
  { node, signal }: ReplaceInput,
  content: Content,
  before: BigIntStats,
  meanwhile: ReplaceInput["meanwhile"],
  context: WriteContext,
): Promise<{ readonly temp: TempFile; readonly notes: readonly WriteNote[] } | "in place"> {
  let notes: readonly WriteNote[] = [];
  const setMetadata = async (fd: number, fresh: BigIntStats): Promise<void> => {
    notes = await copyMetadata(fd, fresh, before, node.handle.handlePath, context.system);
  };
  try {
    return { temp: await writeTemp(folder, { content, mode: 0o600, signal, setMetadata, meanwhile }, context), notes };
  } catch (error) {
    if (error instanceof MetadataRefused) return "in place";
    if (error instanceof NoTempFile && noNewFileErrnos.includes(error.errno)) return "in place";
    throw error;
  }
}

/** Errors of names that cannot be renamed over: a mount point, or a file in a folder with the sticky bit. */
const noRenameErrnos = ["EBUSY", "EXDEV", "EPERM", "EACCES"];

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
  const io: IoOptions = { system, reads: folder.reads, signal };
  const recheck = (): void => {
    signal.throwIfAborted();
    requireUnchanged(folder, name, file.identity, system, "all but ctime");
  };
  using handles = new HandleStack();
  let folderSync: FolderSync;
  try {
    folderSync = handles.use(member === undefined ? prepareSync(folder, system) : noSync);
    await checkBytes(file, readBytes, io);
    requireUnchanged(folder, name, file.identity, system, compare);
    signal.throwIfAborted();
    if (beforeSwap !== undefined) {
      await beforeSwap("renamed", folder.at(name));
      recheck();
    }
    await retryWhileBlocked("renaming", () => system.rename(temp.path, folder.at(name)), recheck, system);
  } catch (error) {
    unlinkQuietly(temp.path, system);
    const isRefused =
      error instanceof WriteFailed && error.during === "renaming" && noRenameErrnos.includes(error.errno);
    if (isRefused && system.platform !== "win32") return "in place";
    throw error;
  }
  const look = () => confirm(folder, name, temp.inode, content.sizeBytes, folderSync.note, system);
  return await orUnconfirmed(async () => {
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
  });
}

/** Checks that the name shows the written file and that the folder has not moved. */
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
