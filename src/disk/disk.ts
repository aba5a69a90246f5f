/** The workspace file system: look up paths beneath the roots, open and list what was found, walk folders, change files. */

import { constants } from "node:fs";
import * as nodePath from "node:path";
import { setTimeout } from "node:timers/promises";
import type { RealPath } from "../contract/target.ts";
import { lookupBeneath } from "./lookup/beneath.ts";
import { lookupByRealpath } from "./lookup/by-realpath.ts";
import { type ChangeSet, createChangeSet, removeWhole, type TreeRemoved } from "./write/change-set.ts";
import { type Created, type CreateInput, createFile } from "./write/create.ts";
import { type FolderEntry, kindOfEntry, type WriteContext } from "./lookup/folder-handle.ts";
import { Descriptor, ignoreFailedClose, quietly } from "./descriptor.ts";
import { attempt, orErrno } from "./errno.ts";
import { isKernelType, isLocalType, kernelMounts } from "./lookup/file-systems.ts";
import {
  type Border,
  type FileNode,
  handlePathOf,
  type Handle,
  type Lookup,
  type LookupAlso,
  type Root,
} from "./lookup/lookup.ts";
import type { HeldLocks, Locks } from "./lock/lock.ts";
import { type OpenFile, openFile } from "./lookup/open-file.ts";
import { type Removed, removeFile, type RemoveInput } from "./write/remove.ts";
import {
  copyTree,
  type CopyInput,
  entryNow,
  type EntryMade,
  type EntryRemoved,
  type ListInput,
  listTree,
  makeEntry,
  type MoveInput,
  moveTree,
  changeFolderMode,
  removeEntry,
  type RemoveTreeInput,
  type Tree,
  type TreeCopied,
  type TreeEntry,
  type TreeFault,
  type TreeMoved,
} from "./write/whole-tree.ts";
import { type Replaced, type ReplaceInput, replaceFile } from "./write/replace.ts";
import { recoverSets } from "./write/set-journal.ts";
import { isStill, isStillMissing, refuseReadOnly } from "./write/same-file.ts";
import { nodeSystem, type System } from "./system.ts";
import { WriteFailed, type WriteStep } from "./write/write-failed.ts";
import { eachEntry, type Quick, type WalkEntry, type WalkFolder, walkFrom } from "./lookup/walk.ts";

export { bufferBytes, giveBuffer, takeBuffer } from "./buffers.ts";
export { Descriptor, HandleStack, noFollow } from "./descriptor.ts";
export { attempt, errnoName } from "./errno.ts";
export { mapInSlices, runInSlices, timeSlices, type TimeSlices, yieldToEventLoop } from "./event-loop.ts";
export { findInFile, type Hit } from "./lines/find-in-file.ts";
export { createIndexStore, hashOf, hashOfText, type IndexStore } from "./lines/index-store.ts";
export { IndexWrong, type LineSource, sourceInFile, sourceInMemory } from "./lines/line-source.ts";
export { FileTruncated } from "./lines/scan.ts";
export { isOutOfDescriptors, lazily, lazilyIfInstalled, partFile } from "./loading.ts";
export { loadKernelLock } from "./lock/folder-lock.ts";
export { lockReach } from "./lock/lock-beside.ts";
export { defaultLockFolders, lockFolderStates } from "./lock/lock-folder.ts";
export { createLocks, type HeldLocks, LockFailed, type LockKey, type Locks, LockTimeout } from "./lock/lock.ts";
export { lifeOf, processIdentity } from "./lock/process-identity.ts";
export { orAborted } from "./lock/queue.ts";
export { blobBytesMax, type Git, openGit, pointerBytesMax, type Tracked } from "./git.ts";
export { folderFacts } from "./lookup/folder-facts.ts";
export { type FolderEntry, kindOfEntry } from "./lookup/folder-handle.ts";
export {
  lookupEnd,
  type FileNode,
  type Handle,
  type Identity,
  type Lookup,
  type LookupAlso,
  type Nearest,
  withHandleClosed,
  type Root,
} from "./lookup/lookup.ts";
export {
  contentHash,
  fullHash,
  gitBlobId,
  hashOfContent,
  type OpenFile,
  ReadFailed,
  wholeFile,
} from "./lookup/open-file.ts";
export { existAbove, type OuterFolder, outerFolder, type RealPrefix, realPrefixes } from "./lookup/outside.ts";
export { type Glance, statFields, type WalkEntry, type WalkFolder } from "./lookup/walk.ts";
export {
  argumentsAreUtf8,
  cleanEnvironment,
  programIn,
  programOnPath,
  programsOnPath,
  realProgram,
  trustedPath,
  whyNotStarted,
} from "./programs.ts";
export { runFilter } from "./filter.ts";
export { privateFile, scratchFile, scratchPrefix } from "./store/private-file.ts";
export { readSmallFile, readSmallText, writeSmallFile } from "./store/small-file.ts";
export { openStoreFolder, type Stored, type StoredFile, StoreFailed, type StoreFolder } from "./store/store-folder.ts";
export { loadAttributeCalls, nodeSystem } from "./system.ts";
export { isAtRest, isCoarse, isRacy } from "./time-grain.ts";
export { type Watching, watchPath } from "./watch.ts";
export type { Staged } from "./write/change-set.ts";
export { lengthOf } from "./write/content.ts";
export { makeFolders } from "./write/make-folders.ts";
export { parseTempName } from "./write/temp-file.ts";
export type { Tree, TreeEntry, TreeFault } from "./write/whole-tree.ts";
export { WriteFailed, type WriteStep } from "./write/write-failed.ts";

export interface Disk {
  readonly roots: readonly Root[];
  /** Resolves an absolute path. Touches nothing outside the roots; the caller closes the returned handles. */
  lookup(path: string, also?: LookupAlso): Lookup;
  /** True if the file and its folder are still what the name leads to. Cheaper than another lookup; in doubt, false. */
  isStill(node: FileNode): boolean;
  isStillMissing(folder: Handle, real: string): boolean;
  open(node: FileNode): OpenFile | { readonly errno: string };
  list(node: FileNode): Promise<readonly FolderEntry[] | { readonly errno: string }>;
  /** Walks a folder, folder by folder, through handles and without following symlinks. Closing it calls `close`. */
  walk(node: FileNode, close?: () => void): WalkFolder;
  /** The error that `replace` and `remove` would fail with, as far as it can be known beforehand. */
  refusesWriting(node: FileNode, file: OpenFile): { readonly errno: string; readonly during: WriteStep } | undefined;
  /** True if the name exists, even as a dangling symlink. */
  hasName(real: string): boolean;
  /** Replaces a file's content atomically; the caller has its lock. */
  replace(input: ReplaceInput): Promise<Replaced>;
  create(input: CreateInput): Promise<Created>;
  remove(input: RemoveInput): Promise<Removed>;
  together(paths: readonly string[], locks: HeldLocks): ChangeSet;
  /** Recovers the change sets of killed processes. Runs once, however many callers await it; never fails. */
  settled(locks: Locks): Promise<void>;
  /** What a name is, without following a symlink; undefined if there is nothing, or a device and the like. */
  entryAt(real: string): TreeEntry | undefined;
  /** A file, a symlink or a folder with everything in it. Follows no symlink and enters no other mount. */
  listTree(input: ListInput): Promise<Tree | { readonly fault: TreeFault }>;
  /** All of it or nothing; the caller has its lock. */
  removeTree(input: RemoveTreeInput, locks: HeldLocks): Promise<TreeRemoved>;
  /** With one system call. EXDEV for another file system: `copyTree`, then `removeTree`. */
  moveTree(input: MoveInput): Promise<TreeMoved>;
  copyTree(input: CopyInput): Promise<TreeCopied>;
  /** One folder or symlink. */
  makeEntry(input: Parameters<typeof makeEntry>[0]): Promise<EntryMade>;
  removeEntry(input: Parameters<typeof removeEntry>[0]): Promise<EntryRemoved>;
  changeFolderMode(input: Parameters<typeof changeFolderMode>[0]): ReturnType<typeof changeFolderMode>;
  /** The same disk with one more root. Throws a RootError. */
  including(folder: string): Disk;
}

export interface DiskOptions {
  /** For undo journals that have no place beside their file; without it such a file cannot be written. */
  readonly stateDir?: string | undefined;
  readonly border?: Border | undefined;
}

export class RootError extends Error {
  override readonly name = "RootError";
  readonly root: string;
  constructor(root: string, message: string) {
    super(message);
    this.root = root;
  }
}

export function createDisk(
  rootPaths: readonly string[],
  given: System = nodeSystem,
  { stateDir, border }: DiskOptions = {},
): Disk {
  const { system, freed } = closingQuietly(given);
  const strong = system.platform === "linux" && hasProc(system);
  const on = (roots: readonly Root[]): Disk => {
    const lookup = (path: string, also?: LookupAlso): Lookup =>
      strong
        ? lookupBeneath(path, roots, system, border, also)
        : lookupByRealpath(path, roots, system, undefined, border);
    // Writing uses the given system: for a written file the error of closing counts.
    const writing: WriteContext = { system: given, lookup, stateDir, swept: new Map(), underWay: { count: 0 }, freed };
    const closedBeneath = strong ? kernelMounts(system) : () => new Set<string>();
    let settled: Promise<void> | undefined;
    const quick: Quick = { calls: undefined };
    const walking = { system, lookup, strong, closedBeneath, sameDevice: border?.sameDevice === true, quick };
    return {
      roots,
      lookup,
      isStill: (node) => isStill(node, system),
      isStillMissing: (folder, real) => isStillMissing(folder, real, system),
      refusesWriting: (node, { stat }) => {
        try {
          if (stat !== undefined) refuseReadOnly(node, stat, system);
          return undefined;
        } catch (error) {
          if (error instanceof WriteFailed) return { errno: error.errno, during: error.during };
          throw error;
        }
      },
      hasName: (real) => {
        const folder = lookup(nodePath.dirname(real));
        if (folder.seen !== "node") return false;
        using handle = folder.handle;
        return system.glance(`${handle.handlePath}/${nodePath.basename(real)}`) !== undefined;
      },
      including: (folder) => on([...roots, rootAt(folder, system, strong)]),
      replace: (input) => replaceFile(input, writing),
      create: (input) => createFile(input, writing),
      remove: (input) => removeFile(input, writing),
      together: (paths, locks) => createChangeSet(paths, locks, roots, writing),
      settled: (locks) => (settled ??= recoverSets(roots, locks, writing)),
      entryAt: (real) => entryNow(real, writing),
      listTree: (input) => listTree(input, writing),
      removeTree: (input, locks) => removeWhole(input, locks, roots, writing),
      moveTree: (input) => moveTree(input, writing),
      copyTree: (input) => copyTree(input, writing),
      makeEntry: (input) => makeEntry(input, writing),
      removeEntry: (input) => removeEntry(input, writing),
      changeFolderMode: (input) => changeFolderMode(input, writing),
      open: (node) => openFile(node, system),
      walk: (node, close) => walkFrom(node, walking, close),
      list: (node) => listFolder(node.handle, system),
    };
  };
  return on(rootPaths.map((path) => rootAt(path, system, strong)));
}

/** For descriptors that were only read from. `freed` waits for those that are being closed in other threads. */
function closingQuietly(system: System): { readonly system: System; readonly freed: WriteContext["freed"] } {
  const close = (fd: number): void => quietly(() => system.close(fd));
  const closing = new Set<Promise<void>>();
  const closeLater = async (fd: number): Promise<void> => {
    if (closing.size >= closingMax) return close(fd);
    const closed = system.closeLater(fd).catch(ignoreFailedClose);
    closing.add(closed);
    try {
      await closed;
    } finally {
      closing.delete(closed);
    }
  };
  const freed = async (): Promise<boolean> => {
    if (closing.size === 0) return false;
    const stop = new AbortController();
    const patience = setTimeout(freedMsMax, undefined, { signal: stop.signal }).catch(() => undefined);
    await Promise.race([Promise.allSettled(closing), patience]);
    stop.abort();
    return true;
  };
  return { system: { ...system, close, closeLater }, freed };
}

/** A hung thread pool must not accumulate open descriptors; above this, closing is synchronous. */
const closingMax = 16;
/** The pool frees 1 GB in a third of this; a thread that takes longer hangs. */
const freedMsMax = 1_000;

function rootAt(given: string, system: System, strong: boolean): Root {
  const absolute = nodePath.resolve(given);
  const refused = (why: string): RootError => new RootError(given, `Cannot use "${given}" as a root: ${why}`);
  const open = (): Root => {
    const path = system.realPath(absolute);
    using opened = new Descriptor(system.open(path, constants.O_RDONLY | (constants.O_DIRECTORY ?? 0)), system);
    const { fd } = opened;
    const stat = system.stat(fd);
    if (!stat.isDirectory()) throw refused("it is not a folder");
    // The kernel's own spelling, comparable with that of open files.
    const real = strong ? system.pathOfHandle(handlePathOf(fd)) : path;
    const type = strong ? system.fileSystemType(handlePathOf(fd)) : undefined;
    if (type !== undefined && isKernelType(type)) throw refused("it belongs to the kernel, not to a disk");
    const reads = type !== undefined && isLocalType(type) ? "at once" : "later";
    const birthNs = hasBirthTimes(path, system) ? stat.birthtimeNs : undefined;
    return { given: absolute, real: real as RealPath, device: stat.dev, inode: stat.ino, birthNs, reads };
  };
  return orErrno(open, (errno) => {
    const known: Record<string, string> = { ENOENT: "it does not exist", ENOTDIR: "it is not a folder" };
    throw refused(`${known[errno] ?? `the system says ${errno}`}, name an existing folder`);
  });
}

/** Old kernels report ctime as the birth time. The two always differ for the topmost folder otherwise. */
function hasBirthTimes(path: string, system: System): boolean {
  const { birthtimeNs, ctimeNs } = system.statPath(nodePath.parse(path).root);
  return birthtimeNs !== ctimeNs;
}

async function listFolder({ handlePath, reads }: Handle, system: System): ReturnType<Disk["list"]> {
  const entries: FolderEntry[] = [];
  const add = (entry: WalkEntry): undefined => void entries.push({ name: entry.name, kind: kindOfEntry(entry) });
  return (await eachEntry(handlePath, reads === "later", system, add)) ?? entries;
}

const hasProc = (system: System): boolean =>
  attempt(() => isKernelType(system.fileSystemType("/proc/self/fd"))) ?? false;
