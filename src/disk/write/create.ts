/** Creates a file and the folders above it. A link gives it its name: a rename could overwrite another program's file. */

import { type BigIntStats, constants } from "node:fs";
import * as nodePath from "node:path";
import type { Piece } from "../../contract/edit.ts";
import { limits } from "../../contract/limits.ts";
import { Descriptor, HandleStack } from "../descriptor.ts";
import { errnoName, orErrno } from "../errno.ts";
import { timeSlices } from "../event-loop.ts";
import {
  borrowedFolder,
  type FolderSync,
  folderHandle,
  type FolderHandle,
  openFolder,
  noSync,
  retryWhileBlocked,
  prepareSync,
  unlinkQuietly,
  retryWhenDiskFull,
  type WriteContext,
} from "../lookup/folder-handle.ts";
import type { FileNode, Handle, Identity } from "../lookup/lookup.ts";
import { type OpenFile, ownBits } from "../lookup/open-file.ts";
import type { Member } from "./change-set.ts";
import { type Content, contentOf } from "./content.ts";
import { changeMode, copyMetadata, MetadataRefused } from "./metadata.ts";
import { confirm, withMode } from "./replace.ts";
import { sweepOnce } from "./sweep.ts";
import { freshOf, makeFlags, type TempFile, writeTemp } from "./temp-file.ts";
import {
  asWriteFailed,
  during,
  FileChanged,
  nothingDone,
  type NothingDone,
  orUnconfirmed,
  type Unconfirmed,
  WriteFailed,
  type WriteNote,
} from "./write-failed.ts";

export interface CreateInput {
  /** Absolute, beneath a root, and without symlinks as far as it exists. */
  readonly real: string;
  /** Its folder, if the caller has it open; the caller closes it. */
  readonly folder?: Handle | undefined;
  readonly pieces: readonly Piece[];
  /** The source of copied pieces, such as a version from history; none if all bytes are new. */
  readonly source?: OpenFile | undefined;
  readonly mode?: number | undefined;
  /** Programs may run the file, as far as the umask permits. */
  readonly executable?: boolean | undefined;
  /** A file whose owner and attributes it gets, and its mode if none is given; the caller keeps both open. */
  readonly like?: { readonly node: FileNode; readonly file: OpenFile } | undefined;
  readonly signal: AbortSignal;
  /** Called when all is prepared, right before the file gets its name. Its error stops the change. */
  readonly beforeSwap?: (() => Promise<void> | void) | undefined;
}

export type Created =
  | {
      readonly did: "created";
      readonly identity: Identity;
      readonly folders: readonly string[];
      readonly notes: readonly WriteNote[];
    }
  | { readonly did: "nothing"; readonly why: "exists" }
  | NothingDone
  | Unconfirmed;

export class FileExists extends Error {
  override readonly name = "FileExists";
}

/** Throws only what `beforeSwap` or the signal throws, and bugs. */
export async function createFile(input: CreateInput, context: WriteContext, member?: Member): Promise<Created> {
  using handles = new HandleStack();
  const made: MadeFolder[] = [];
  let created: Created | undefined;
  try {
    input.signal.throwIfAborted();
    const path = nodePath.dirname(input.real);
    const folder =
      member !== undefined
        ? await member.openOrMake(path)
        : input.folder === undefined
          ? await openOrMake(path, (one) => handles.use(one), made, context)
          : borrowedFolder(input.folder, path, context);
    await sweepOnce(folder, context);
    created = await createIn(folder, input, made, context, member);
    return created;
  } catch (error) {
    if (error instanceof FileExists) return { did: "nothing", why: "exists" };
    return nothingDone(error);
  } finally {
    if (created === undefined) removeMade(made, context);
  }
}

export interface MadeFolder {
  readonly parent: FolderHandle;
  readonly name: string;
}

/** Opens the folder at `path` and creates what is missing, each in its open parent. `keep` receives every opened folder. */
export async function openOrMake(
  path: string,
  keep: (folder: FolderHandle) => FolderHandle,
  made: MadeFolder[],
  context: WriteContext,
): Promise<FolderHandle> {
  const { system } = context;
  const slices = timeSlices();
  const missing: string[] = [];
  let at = path;
  let lookup = context.lookup(at);
  while (lookup.seen === "missing" && lookup.reason === "missing" && at !== nodePath.dirname(at)) {
    missing.push(nodePath.basename(at));
    if (missing.length > limits.foldersMadeMax) throw new WriteFailed("ENAMETOOLONG", "making a folder");
    at = nodePath.dirname(at);
    if (slices.isOver()) await slices.next();
    lookup = context.lookup(at);
  }
  if (lookup.seen === "node" && lookup.kind !== "directory") {
    lookup.handle.close();
    throw new WriteFailed("ENOTDIR", "looking at the folder");
  }
  let folder = keep(folderHandle(lookup, at, context));
  for (const name of missing.reverse()) {
    const parent = folder;
    using parentSync = prepareSync(parent, system);
    if (await retryWhenDiskFull(context, () => makeFolder(parent.at(name), context))) made.push({ parent, name });
    await parentSync.sync();
    at = nodePath.join(at, name);
    folder = keep(openFolder(at, context));
    if (slices.isOver()) await slices.next();
  }
  return folder;
}

/** False if it exists: another process was quicker, or a sync client presents a folder that it hides from lookups. */
function makeFolder(path: string, { system }: WriteContext): boolean {
  try {
    system.makeFolder(path, 0o777);
    return true;
  } catch (error) {
    if (errnoName(error) === "EEXIST") return false;
    throw asWriteFailed(error, "making a folder");
  }
}

/** The lowest first. A folder that another program has put something into stays. */
export function removeMade(made: readonly MadeFolder[], { system }: WriteContext): void {
  for (const { parent, name } of made.toReversed()) {
    const remove = (): void => system.removeFolder(parent.at(name));
    orErrno(remove, () => orErrno(remove, () => undefined));
  }
}

async function createIn(
  folder: FolderHandle,
  input: CreateInput,
  made: readonly MadeFolder[],
  context: WriteContext,
  member: Member | undefined,
): Promise<Created> {
  const { system } = context;
  const { signal } = input;
  const name = nodePath.basename(input.real);
  refuseExisting(folder.at(name), context);
  const content: Content = contentOf(input.pieces, input.source);
  const { like, mode, executable } = input;
  const stat = like?.file.stat;
  const old = stat === undefined || mode === undefined ? stat : withMode(stat, mode);
  let kept: readonly WriteNote[] = [];
  const setMetadata = async (fd: number, fresh: BigIntStats): Promise<void> => {
    if (like !== undefined && old !== undefined) kept = await keepOrNote(fd, fresh, old, like.node, context);
    else if (mode !== undefined) kept = setMode(fd, fresh, mode, context);
  };
  const plan =
    old === undefined && mode === undefined
      ? { mode: executable === true ? 0o777 : 0o666 }
      : { mode: 0o600, setMetadata };
  const temp = await writeTemp(folder, { content, signal, ...plan }, context);
  using handles = new HandleStack();
  let folderSync: FolderSync;
  try {
    folderSync = handles.use(member === undefined ? prepareSync(folder, system) : noSync);
    await member?.ready({ path: input.real, does: "create", fresh: freshOf(temp, system) });
    signal.throwIfAborted();
    await input.beforeSwap?.();
    signal.throwIfAborted();
    if (folder.hasMoved()) throw new FileChanged();
    await giveName(temp, folder.at(name), context);
  } catch (error) {
    unlinkQuietly(temp.path, system);
    throw error;
  }
  return await orUnconfirmed(async () => {
    if (!unlinkQuietly(temp.path, system)) throw new WriteFailed("EIO", "removing the temporary file");
    await folderSync.sync();
    const { identity, notes } = confirm(folder, name, temp.inode, content.sizeBytes, folderSync.note, system);
    const folders = made.map(({ parent, name: below }) => nodePath.join(parent.path, below));
    return { did: "created", identity, folders, notes: [...kept, ...notes] };
  });
}

export function setMode(fd: number, fresh: BigIntStats, mode: number, { system }: WriteContext): readonly WriteNote[] {
  // Some folders give their own group to new files.
  return changeMode(fd, mode & (0o1777 | ownBits(fresh)), mode, system);
}

/** With no file to write in place, a note reports what cannot be kept. */
async function keepOrNote(
  fd: number,
  fresh: BigIntStats,
  old: BigIntStats,
  { handle }: FileNode,
  { system }: WriteContext,
): Promise<readonly WriteNote[]> {
  try {
    return await copyMetadata(fd, fresh, old, handle.handlePath, system);
  } catch (error) {
    if (!(error instanceof MetadataRefused)) throw error;
    // Set-user-id for another owner would grant a right that its owner never gave.
    during("carrying over owner, mode and attributes", () => system.changeMode(fd, Number(old.mode) & 0o777));
    return ["owner or attributes not kept"];
  }
}

/** Checked before anything is written; linking checks again. A dangling symlink counts as existing. */
export function refuseExisting(path: string, { system }: WriteContext): void {
  if (during("looking at the file", () => system.glance(path)) !== undefined) throw new FileExists();
}

/** Errors of file systems without hard links and of mounts that forbid them. Linux has one number for both "not supported". */
export const noLinkErrnos = ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK", "EXDEV", "EINVAL"];

async function giveName(temp: TempFile, path: string, context: WriteContext): Promise<void> {
  const { system } = context;
  try {
    system.link(temp.path, path);
    return;
  } catch (error) {
    const errno = errnoName(error);
    if (errno === "EEXIST") throw new FileExists();
    if (errno === undefined || !noLinkErrnos.includes(errno)) throw asWriteFailed(error, "linking");
  }
  // Reserve the name with an empty file, which fails if the name exists, and rename the content over it.
  let placeholder: bigint;
  try {
    using made = new Descriptor(system.make(path, makeFlags | (constants.O_NONBLOCK ?? 0), 0o666), system);
    placeholder = system.stat(made.fd).ino;
  } catch (error) {
    if (errnoName(error) === "EEXIST") throw new FileExists();
    throw asWriteFailed(error, "linking");
  }
  try {
    const recheck = (): void => {
      if (during("linking", () => system.statLink(path)).ino !== placeholder) throw new FileChanged();
    };
    recheck();
    await retryWhileBlocked("renaming", () => system.rename(temp.path, path), recheck, system);
  } catch (error) {
    if (!(error instanceof FileChanged)) unlinkQuietly(path, system);
    throw error;
  }
}
