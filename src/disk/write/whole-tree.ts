/**
 * A file, a symlink, or a folder with everything in it, as one: listed, removed, moved and copied. Symlinks are never followed,
 * and every name is reached through the open folder that it is in. A tree gets or loses its name with one system call, so it is
 * never seen half done; what that call leaves to clean up has a name of ours (`temp-file.ts`).
 */

import { constants, type BigIntStats } from "node:fs";
import * as nodePath from "node:path";
import { compareCodePoints } from "../../text/text.ts";
import { Descriptor, HandleStack, quietly } from "../descriptor.ts";
import { attempt, errnoName, orErrno } from "../errno.ts";
import { timeSlices } from "../event-loop.ts";
import {
  type FolderHandle,
  openFolder,
  prepareSync,
  retryWhileBlocked,
  unlinkQuietly,
  type WriteContext,
} from "../lookup/folder-handle.ts";
import { handlePathOf, type Identity, identityOf, kindOfMode, mountOf } from "../lookup/lookup.ts";
import { modeOf, openFile } from "../lookup/open-file.ts";
import { eachEntry } from "../lookup/walk.ts";
import { listFlags, type System } from "../system.ts";
import type { Member } from "./change-set.ts";
import { contentOf } from "./content.ts";
import {
  FileExists,
  type MadeFolder,
  noLinkErrnos,
  openOrMake,
  refuseExisting,
  removeMade,
  setMode,
} from "./create.ts";
import { sweepOnce } from "./sweep.ts";
import { tempName, writeTemp } from "./temp-file.ts";
import {
  asWriteFailed,
  during,
  FileChanged,
  nothingDone,
  type NothingDone,
  orUnconfirmed,
  unconfirmed,
  type Unconfirmed,
  WriteFailed,
  type WriteNote,
} from "./write-failed.ts";

export interface TreeEntry {
  /** Its path below the top; empty for the top itself. */
  readonly below: string;
  readonly is: "file" | "link" | "folder";
  readonly identity: Identity;
  /** Permission bits. */
  readonly mode: number;
  readonly links: number;
  /** The bytes of a symlink, as they are. */
  readonly leadsTo?: Buffer;
}

/** `other mount`: something is mounted on it or in it. */
export type TreeFault = "special" | "too many" | "unreadable" | "other mount" | "missing";

/** Each folder before its content, names in order. */
export type Tree = readonly [TreeEntry, ...TreeEntry[]];

class TreeRefused extends Error {
  override readonly name = "TreeRefused";
  readonly fault: TreeFault;
  constructor(fault: TreeFault) {
    super(fault);
    this.fault = fault;
  }
}

export interface ListInput {
  readonly real: string;
  readonly entriesMax: number;
  readonly signal: AbortSignal;
}

export async function listTree(
  { real, entriesMax, signal }: ListInput,
  context: WriteContext,
): Promise<Tree | { readonly fault: TreeFault }> {
  try {
    using folder = openFolder(nodePath.dirname(real), context);
    return await entriesAt(folder, nodePath.basename(real), { entriesMax, signal }, context.system);
  } catch (error) {
    if (error instanceof TreeRefused) return { fault: error.fault };
    if (error instanceof FileChanged) return { fault: "missing" };
    if (error instanceof WriteFailed) return { fault: "unreadable" };
    throw error;
  }
}

/** Undefined if there is nothing, or no file, symlink or folder. */
export function entryNow(real: string, context: WriteContext): TreeEntry | undefined {
  try {
    using folder = openFolder(nodePath.dirname(real), context);
    return attemptEntry(folder, nodePath.basename(real), context.system);
  } catch (error) {
    if (error instanceof FileChanged || error instanceof WriteFailed) return undefined;
    throw error;
  }
}

type InFolder = Pick<FolderHandle, "at" | "reads" | "path">;

/** An open folder of a tree; where folders cannot be reached by handle, its path. */
interface OpenedFolder extends Disposable, InFolder {
  readonly fd: number | undefined;
}

/** For descriptors that are only read from: an error of closing one means nothing. */
const closingQuietly = (system: System): System => ({ ...system, close: (fd) => quietly(() => system.close(fd)) });

/** Throws FileChanged if the name leads to another folder than `seen`. */
function enter(parent: InFolder, name: string, seen: Identity, given: System): OpenedFolder {
  const system = closingQuietly(given);
  const path = parent.at(name);
  const { reads } = parent;
  if (system.platform === "win32") {
    return { fd: undefined, path, reads, at: (below) => nodePath.join(path, below), [Symbol.dispose]() {} };
  }
  using handles = new HandleStack();
  const opened = handles.use(
    new Descriptor(
      during("looking at the folder", () => system.open(path, listFlags)),
      system,
    ),
  );
  const { fd } = opened;
  const { dev, ino } = during("looking at the folder", () => system.stat(fd));
  if (dev !== seen.device || ino !== seen.inode) throw new FileChanged();
  handles.move();
  // The handles of the parent show whether this system reaches files through them.
  const base = path.startsWith("/proc/self/fd/") ? handlePathOf(fd) : path;
  return { fd, path, reads, at: (below) => `${base}/${below}`, [Symbol.dispose]: () => opened[Symbol.dispose]() };
}

interface Walk {
  readonly entriesMax: number;
  readonly signal: AbortSignal | undefined;
}

async function entriesAt(parent: InFolder, name: string, { entriesMax, signal }: Walk, system: System): Promise<Tree> {
  const slices = timeSlices(signal);
  const top = entryAt(parent, name, "", system);
  const entries: [TreeEntry, ...TreeEntry[]] = [top];
  const mount = mountOfFolder(parent, system);
  const into = async (above: InFolder, one: TreeEntry, ofName: string): Promise<void> => {
    if (one.identity.device !== top.identity.device) throw new TreeRefused("other mount");
    using folder = enter(above, ofName, one.identity, system);
    const { fd } = folder;
    const isOther = mount !== undefined && fd !== undefined && mountNow(fd, system) !== mount;
    if (isOther) throw new TreeRefused("other mount");
    for (const below of await namesIn(folder, entriesMax, system)) {
      const entry = entryAt(folder, below, one.below === "" ? below : nodePath.join(one.below, below), system);
      entries.push(entry);
      if (entries.length > entriesMax) throw new TreeRefused("too many");
      if (entry.is === "folder") await into(folder, entry, below);
      else if (entry.identity.device !== top.identity.device) throw new TreeRefused("other mount");
      if (slices.isOver()) await slices.next();
    }
  };
  if (top.is === "folder") await into(parent, top, name);
  return entries;
}

/** The id of the mount that a folder is on: a bind mount has the device of its source. */
function mountOfFolder(parent: InFolder, given: System): string | undefined {
  const system = closingQuietly(given);
  const here = parent.at(".");
  if (system.platform !== "linux" || !here.startsWith("/proc/self/fd/")) return undefined;
  using opened = new Descriptor(
    during("looking at the folder", () => system.open(here, listFlags & ~(constants.O_NOFOLLOW ?? 0))),
    system,
  );
  return mountNow(opened.fd, system);
}

const mountNow = (fd: number, system: System): string =>
  during("looking at the folder", () => mountOf(fd, closingQuietly(system)));

function entryAt(parent: InFolder, name: string, below: string, system: System): TreeEntry {
  const at = parent.at(name);
  const stat = orErrno(
    () => system.statLink(at),
    (errno) => {
      // A name that is not UTF-8 cannot be reached either.
      throw errno === "ENOENT"
        ? new TreeRefused(below === "" ? "missing" : "unreadable")
        : new WriteFailed(errno, "looking at the file");
    },
  );
  const kind = kindOfMode(stat.mode);
  const shared = { below, identity: identityOf(stat), mode: modeOf(stat), links: Number(stat.nlink) };
  if (kind === "link")
    return { ...shared, is: "link", leadsTo: during("looking at the file", () => system.readLink(at)) };
  if (kind === "directory") return { ...shared, is: "folder" };
  if (kind !== "file") throw new TreeRefused("special");
  return { ...shared, is: "file" };
}

async function namesIn(folder: InFolder, entriesMax: number, system: System): Promise<readonly string[]> {
  const names: string[] = [];
  const add = ({ name }: { readonly name: string }): "enough" | undefined =>
    names.push(name) > entriesMax ? "enough" : undefined;
  const failed = await eachEntry(folder.at("."), folder.reads === "later", system, add);
  if (failed !== undefined) throw new WriteFailed(failed.errno, "looking at the folder");
  return names.sort(compareCodePoints);
}

/** The same content, name by name; ctime does not count, since a hard link by the history moves it. */
function isSameTree(then: Tree, now: Tree): boolean {
  if (then.length !== now.length) return false;
  const byPath = new Map(now.map((entry) => [entry.below, entry]));
  return then.every((entry) => {
    const other = byPath.get(entry.below);
    return other !== undefined && isSameEntry(entry, other);
  });
}

function isSameEntry(a: TreeEntry, b: TreeEntry): boolean {
  const isSameInode = a.is === b.is && a.identity.device === b.identity.device && a.identity.inode === b.identity.inode;
  if (!isSameInode || a.is === "folder") return isSameInode;
  return a.identity.sizeBytes === b.identity.sizeBytes && a.identity.mtimeNs === b.identity.mtimeNs;
}

const requireSame = (seen: TreeEntry, folder: InFolder, name: string, system: System): void => {
  const now = attemptEntry(folder, name, system);
  if (now === undefined || !isSameEntry({ ...seen, below: "" }, now)) throw new FileChanged();
};

function attemptEntry(folder: InFolder, name: string, system: System): TreeEntry | undefined {
  try {
    return entryAt(folder, name, "", system);
  } catch (error) {
    if (error instanceof TreeRefused) return undefined;
    throw error;
  }
}

// Removing. The tree gets a name of ours first: until the journal of its set says "done" it can get its own name back.

export interface RemoveTreeInput {
  readonly real: string;
  /** As it was listed: a tree that has changed since stays. */
  readonly entries: Tree;
  readonly signal: AbortSignal;
  /** Called when all is checked, right before the removal, to keep the contents. Its error stops the change. */
  readonly beforeSwap?: (() => Promise<void>) | undefined;
}

/** A step of a change set. Throws only what `beforeSwap` or the signal throws, and bugs. */
export async function removeTree(
  { real, entries, signal, beforeSwap }: RemoveTreeInput,
  context: WriteContext,
  member: Member,
): Promise<{ readonly did: "removed"; readonly notes: readonly WriteNote[] } | NothingDone | Unconfirmed> {
  const { system } = context;
  const name = nodePath.basename(real);
  const [top] = entries;
  try {
    signal.throwIfAborted();
    const folder = member.open(nodePath.dirname(real));
    await sweepOnce(folder, context);
    refuseClosedFolders(entries, folder, name, system);
    const check = (): void => {
      signal.throwIfAborted();
      if (folder.hasMoved()) throw new FileChanged();
      requireSame(top, folder, name, system);
    };
    check();
    const before: BigIntStats = during("looking at the file", () => system.statLink(folder.at(name)));
    await member.ready({ path: real, does: "remove", before });
    check();
    await beforeSwap?.();
    check();
    await retryWhileBlocked("removing", () => system.rename(folder.at(name), folder.at(member.old)), check, system);
    // Nobody finds it by its name any more: a file that was changed or added until now is seen here.
    const now = await entriesAt(folder, member.old, { entriesMax: entries.length, signal: undefined }, system);
    if (!isSameTree(entries, now)) throw new FileChanged();
    return { did: "removed", notes: [] };
  } catch (error) {
    return nothingDone(error instanceof TreeRefused ? new FileChanged() : error);
  }
}

/** Refuses a tree that could be renamed but not removed, and one that its owner made read-only. */
function refuseClosedFolders(entries: Tree, parent: InFolder, name: string, system: System): void {
  for (const { is, mode } of entries) {
    if (is === "file" && (mode & 0o222) === 0) throw new WriteFailed("EACCES", "writing: it is read-only");
    if (is === "folder" && (mode & 0o222) === 0) throw new WriteFailed("EACCES", "writing: it is read-only");
  }
  if (entries[0].is === "folder") during("removing", () => system.checkWritable(parent.at(name)));
}

/** Removes what has a name of ours, with everything in it; true if it is gone. Never fails. */
export async function clearTree(parent: InFolder, name: string, given: System): Promise<boolean> {
  const system = closingQuietly(given);
  if (unlinkQuietly(parent.at(name), system)) return true;
  const slices = timeSlices();
  const clear = async (above: InFolder, one: string): Promise<void> => {
    const { dev: device, ino: inode } = system.statLink(above.at(one));
    const seen: Identity = { device, inode, sizeBytes: 0, mtimeNs: 0n, ctimeNs: 0n };
    {
      using folder = enter(above, one, seen, system);
      for (const below of await namesIn(folder, Number.POSITIVE_INFINITY, system)) {
        const { isFolder } = { isFolder: system.glance(folder.at(below))?.isDirectory() === true };
        if (isFolder) await clear(folder, below);
        else system.unlink(folder.at(below));
        if (slices.isOver()) await slices.next();
      }
    }
    system.removeFolder(above.at(one));
  };
  for (let tries = 1; tries <= 2; tries += 1) {
    try {
      await clear(parent, name);
      return true;
    } catch (error) {
      const isBadLuck = errnoName(error) !== undefined || error instanceof WriteFailed || error instanceof FileChanged;
      if (!isBadLuck) throw error;
    }
  }
  return false;
}

// Moving within one file system.

export interface MoveInput {
  readonly real: string;
  /** The top as it was listed. */
  readonly top: TreeEntry;
  /** Absolute, beneath a root, and without symlinks as far as it exists. Missing folders above it are created. */
  readonly to: string;
  readonly signal: AbortSignal;
  /** Called when all is checked, right before the tree gets its new name. Its error stops the change. */
  readonly beforeSwap: () => Promise<void>;
}

export type TreeMoved =
  | { readonly did: "moved" }
  | { readonly did: "nothing"; readonly why: "exists" }
  | NothingDone
  | Unconfirmed;

/** Throws only what `beforeSwap` or the signal throws, and bugs. EXDEV: it has to be copied. */
export async function moveTree(input: MoveInput, context: WriteContext): Promise<TreeMoved> {
  const { real, top, to, signal, beforeSwap } = input;
  const { system } = context;
  using handles = new HandleStack();
  const made: MadeFolder[] = [];
  let moved = false;
  try {
    signal.throwIfAborted();
    const from = handles.use(openFolder(nodePath.dirname(real), context));
    const goal = await openOrMake(nodePath.dirname(to), (one) => handles.use(one), made, context);
    const syncs = [from, goal].map((folder) => handles.use(prepareSync(folder, system)));
    const [oldName, newName] = [nodePath.basename(real), nodePath.basename(to)];
    const [oldPath, newPath] = [from.at(oldName), goal.at(newName)];
    if (from.identity.device !== goal.identity.device) throw new WriteFailed("EXDEV", "renaming");
    const check = (): void => {
      signal.throwIfAborted();
      requireSame(top, from, oldName, system);
      if (from.hasMoved() || goal.hasMoved()) throw new FileChanged();
      // The system would silently replace a file or an empty folder.
      refuseExisting(newPath, context);
    };
    check();
    await beforeSwap();
    check();
    await rename(oldPath, newPath, top, check, system);
    moved = true;
    try {
      requireSame(top, goal, newName, system);
    } catch (error) {
      if (!(error instanceof FileChanged)) return unconfirmed(error);
      // Another entry took the name at the last moment and was moved instead: move it back.
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

/** A file gets a second name before it loses the first: unlike a rename, a link never replaces what is there. */
async function rename(
  from: string,
  to: string,
  { is, links }: TreeEntry,
  check: () => void,
  system: System,
): Promise<void> {
  if (is === "file" && links === 1) {
    const failed = orErrno(
      () => system.link(from, to),
      (errno) => errno,
    );
    if (failed === undefined) {
      try {
        system.unlink(from);
        return;
      } catch (error) {
        unlinkQuietly(to, system);
        throw asWriteFailed(error, "renaming");
      }
    }
    if (failed === "EEXIST") throw new FileExists();
    if (!noLinkErrnos.includes(failed)) throw new WriteFailed(failed, "renaming");
  }
  await retryWhileBlocked("renaming", () => system.rename(from, to), check, system);
}

// Copying: beside its goal under a name of ours, until all of it is there.

export interface CopyInput {
  readonly real: string;
  readonly entries: Tree;
  /** As in `MoveInput`. */
  readonly to: string;
  readonly signal: AbortSignal;
  /** Called when all is copied, right before the copy gets its name. Its error stops the change. */
  readonly beforeSwap: () => Promise<void>;
  /** Files get the times of their source, as for a move to another file system. */
  readonly keepsTimes?: boolean;
}

export type TreeCopied =
  | { readonly did: "copied"; readonly notes: readonly WriteNote[] }
  | { readonly did: "nothing"; readonly why: "exists" }
  | NothingDone
  | Unconfirmed;

/** Throws only what `beforeSwap` or the signal throws, and bugs. */
export async function copyTree(input: CopyInput, context: WriteContext): Promise<TreeCopied> {
  const { real, entries, to, signal, beforeSwap } = input;
  const { system } = context;
  const [top] = entries;
  using handles = new HandleStack();
  const made: MadeFolder[] = [];
  const temp = tempName("new");
  let goal: FolderHandle | undefined;
  let isNamed = false;
  try {
    signal.throwIfAborted();
    const from = handles.use(openFolder(nodePath.dirname(real), context));
    goal = await openOrMake(nodePath.dirname(to), (one) => handles.use(one), made, context);
    const sync = handles.use(prepareSync(goal, system));
    const name = nodePath.basename(to);
    refuseExisting(goal.at(name), context);
    await sweepOnce(goal, context);
    const notes: WriteNote[] = [];
    await copyEntries(from, nodePath.basename(real), goal, temp, input, notes, context);
    const check = (): void => {
      signal.throwIfAborted();
      if (goal === undefined || goal.hasMoved()) throw new FileChanged();
      refuseExisting(goal.at(name), context);
    };
    check();
    await beforeSwap();
    check();
    await rename(goal.at(temp), goal.at(name), { ...top, links: 1 }, check, system);
    isNamed = true;
    return await orUnconfirmed(async () => {
      await sync.sync();
      return { did: "copied", notes: [...new Set(notes)] };
    });
  } catch (error) {
    if (error instanceof FileExists) return { did: "nothing", why: "exists" };
    return nothingDone(error instanceof TreeRefused ? new FileChanged() : error);
  } finally {
    if (!isNamed) {
      if (goal !== undefined) await clearTree(goal, temp, system);
      removeMade(made, context);
    }
  }
}

async function copyEntries(
  from: InFolder,
  fromName: string,
  to: InFolder,
  toName: string,
  { entries, signal, keepsTimes = false }: CopyInput,
  notes: WriteNote[],
  context: WriteContext,
): Promise<void> {
  const { system } = context;
  const slices = timeSlices(signal);
  let next = 0;
  /** Copies the entry at `next` and, as the list has them right after it, those below it. */
  const copy = async (source: InFolder, sourceName: string, target: InFolder, targetName: string): Promise<void> => {
    const entry = entries[next];
    next += 1;
    if (entry === undefined) throw new FileChanged();
    requireSame(entry, source, sourceName, system);
    if (entry.is === "link") {
      during("linking", () => system.symlink(entry.leadsTo ?? Buffer.alloc(0), target.at(targetName)));
      return;
    }
    if (entry.is === "file") {
      notes.push(...(await copyFile(entry, source.at(sourceName), target, targetName, signal, keepsTimes, context)));
      return;
    }
    during("making a folder", () => system.makeFolder(target.at(targetName), 0o700));
    const { dev: device, ino: inode } = during("looking at the folder", () => system.statLink(target.at(targetName)));
    using inner = enter(target, targetName, { ...entry.identity, device, inode }, system);
    using outer = enter(source, sourceName, entry.identity, system);
    const prefix = entry.below === "" ? "" : entry.below + nodePath.sep;
    for (let child = entries[next]; child !== undefined && child.below.startsWith(prefix); child = entries[next]) {
      const name = child.below.slice(prefix.length);
      await copy(outer, name, inner, name);
      if (slices.isOver()) await slices.next();
    }
    const { fd } = inner;
    if (fd !== undefined) during("carrying over owner, mode and attributes", () => system.changeMode(fd, entry.mode));
    if (fd !== undefined)
      orErrno(
        () => system.sync(fd),
        () => undefined,
      );
  };
  await copy(from, fromName, to, toName);
}

async function copyFile(
  { identity, mode }: TreeEntry,
  at: string,
  target: InFolder,
  name: string,
  signal: AbortSignal,
  keepsTimes: boolean,
  context: WriteContext,
): Promise<readonly WriteNote[]> {
  const { system } = context;
  const handle = { identity, reads: target.reads, handlePath: at, close() {}, [Symbol.dispose]() {} };
  const opened = openFile({ handle }, closingQuietly(system)); // compares the inode
  if ("errno" in opened) {
    throw ["ESTALE", "ENOENT"].includes(opened.errno)
      ? new FileChanged()
      : new WriteFailed(opened.errno, "reading the old content");
  }
  using file = opened;
  const notes: WriteNote[] = [];
  const setMetadata = async (fd: number, fresh: BigIntStats): Promise<void> => {
    notes.push(...setMode(fd, fresh, mode, context));
    if (keepsTimes) during("carrying over owner, mode and attributes", () => system.changeTime(fd, identity.mtimeNs));
  };
  const content = contentOf(file.sizeBytes === 0 ? [] : [{ from: 0, to: file.sizeBytes }], file);
  await writeTemp(target, { content, mode: 0o600, signal, setMetadata, name }, context);
  if (during("looking at the file", () => file.changed()) !== "no") throw new FileChanged();
  return notes;
}

// Single folders and symlinks.

export type EntryMade =
  | { readonly did: "made" }
  | { readonly did: "nothing"; readonly why: "exists" }
  | NothingDone
  | Unconfirmed;

/** Makes a folder (with this mode; by default as the system makes new ones) or a symlink, and the missing folders above it. */
export async function makeEntry(
  {
    real,
    leadsTo,
    mode,
    beforeSwap,
  }: {
    readonly real: string;
    readonly leadsTo?: Uint8Array | undefined;
    readonly mode?: number | undefined;
    readonly beforeSwap: () => Promise<void>;
  },
  context: WriteContext,
): Promise<EntryMade> {
  const { system } = context;
  using handles = new HandleStack();
  const made: MadeFolder[] = [];
  let isMade = false;
  try {
    const folder = await openOrMake(nodePath.dirname(real), (one) => handles.use(one), made, context);
    const sync = handles.use(prepareSync(folder, system));
    const path = folder.at(nodePath.basename(real));
    refuseExisting(path, context);
    await beforeSwap();
    if (folder.hasMoved()) throw new FileChanged();
    if (leadsTo === undefined) {
      orExists(() => system.makeFolder(path, mode === undefined ? 0o777 : 0o700), "making a folder");
    } else orExists(() => system.symlink(Buffer.from(leadsTo), path), "linking");
    isMade = true;
    try {
      if (leadsTo === undefined) setFolderMode(path, mode, system);
    } catch (error) {
      // A folder without its mode is removed again; if that fails too, it is there.
      isMade = attempt(() => system.removeFolder(path) ?? true) !== true;
      if (!isMade) throw error;
      return unconfirmed(error);
    }
    return await orUnconfirmed(async () => {
      await sync.sync();
      return { did: "made" };
    });
  } catch (error) {
    if (error instanceof FileExists) return { did: "nothing", why: "exists" };
    return nothingDone(error);
  } finally {
    if (!isMade) removeMade(made, context);
  }
}

/** Gives a folder another mode, if it is still the listed one. */
export async function changeFolderMode(
  {
    real,
    entry,
    mode,
    beforeSwap,
  }: {
    readonly real: string;
    readonly entry: TreeEntry;
    readonly mode: number;
    readonly beforeSwap: () => Promise<void>;
  },
  context: WriteContext,
): Promise<{ readonly did: "changed" } | NothingDone | Unconfirmed> {
  const { system } = context;
  try {
    using folder = openFolder(nodePath.dirname(real), context);
    const name = nodePath.basename(real);
    const check = (): void => {
      if (folder.hasMoved()) throw new FileChanged();
      requireSame(entry, folder, name, system);
    };
    check();
    await beforeSwap();
    check();
    setFolderMode(folder.at(name), mode, system);
    return { did: "changed" };
  } catch (error) {
    return nothingDone(error);
  }
}

function setFolderMode(path: string, mode: number | undefined, system: System): void {
  if (mode === undefined || system.platform === "win32") return;
  using opened = new Descriptor(
    during("making a folder", () => system.open(path, listFlags)),
    system,
  );
  during("carrying over owner, mode and attributes", () => system.changeMode(opened.fd, mode));
}

function orExists(call: () => void, step: "linking" | "making a folder"): void {
  try {
    call();
  } catch (error) {
    if (errnoName(error) === "EEXIST") throw new FileExists();
    throw asWriteFailed(error, step);
  }
}

export type EntryRemoved = { readonly did: "removed" } | NothingDone | Unconfirmed;

/** Removes an empty folder (ENOTEMPTY if it is not) or a symlink, if it is still the listed one. */
export async function removeEntry(
  {
    real,
    entry,
    beforeSwap,
  }: {
    readonly real: string;
    readonly entry: TreeEntry;
    readonly beforeSwap: () => Promise<void>;
  },
  context: WriteContext,
): Promise<EntryRemoved> {
  const { system } = context;
  try {
    using folder = openFolder(nodePath.dirname(real), context);
    using sync = prepareSync(folder, system);
    const name = nodePath.basename(real);
    const check = (): void => {
      if (folder.hasMoved()) throw new FileChanged();
      requireSame(entry, folder, name, system);
    };
    check();
    await beforeSwap();
    check();
    if (entry.is === "folder") during("removing", () => system.removeFolder(folder.at(name)));
    else during("removing", () => system.unlink(folder.at(name)));
    return await orUnconfirmed(async () => {
      await sync.sync();
      return { did: "removed" };
    });
  } catch (error) {
    return nothingDone(error);
  }
}
