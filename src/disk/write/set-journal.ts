/**
 * The journal of a change set (`change-set.ts`): which files, and where their new and old contents are. It is complete and synced
 * before the first file gets its new content. While it says "open", the set can be rolled back from it, by this process or the
 * next; once it says "done", only the old files remain to be removed.
 *
 * Layout: "O" (open) or "D" (done), SHA-256 of the rest as hex, a newline, the steps as JSON.
 */

import { createHash } from "node:crypto";
import { type BigIntStats, constants } from "node:fs";
import * as nodePath from "node:path";
import { limits } from "../../contract/limits.ts";
import { Descriptor, HandleStack, noFollow } from "../descriptor.ts";
import { attempt, orErrno } from "../errno.ts";
import { type HeldLocks, LockFailed, type LockKey, type Locks, LockTimeout } from "../lock/lock.ts";
import { lifeOf } from "../lock/process-identity.ts";
import {
  type FolderHandle,
  openFolder,
  syncFolder,
  unlinkQuietly,
  type WriteContext,
} from "../lookup/folder-handle.ts";
import type { Root } from "../lookup/lookup.ts";
import type { System } from "../system.ts";
import { type IoOptions, readAll, syncFile, writeAll } from "./content.ts";
import { isOwn, openExactly, openJournal, stateFolder } from "./in-place.ts";
import { isLeftBehind, isOutside, ownNames, rollBack, sweepFolder } from "./sweep.ts";
import { makeFlags, parseTempName, type TempKind, tempName } from "./temp-file.ts";
import { clearTree } from "./whole-tree.ts";
import { during, FileChanged, isExpected, WriteFailed } from "./write-failed.ts";

export interface SetStep {
  readonly path: string;
  readonly does: "replace" | "create" | "remove";
  /** The inode of the old file; a string, since JSON has no large integers. */
  readonly oldInode?: string | undefined;
  /** The new content before it gets its name; undefined if the file is written in place or removed. */
  readonly fresh?: {
    readonly name: string;
    readonly inode: string;
    readonly sizeBytes: number;
    readonly mtimeNs: string;
  };
  readonly old: string;
  readonly undo: string;
}

export interface SetRecord {
  readonly version: 1;
  /** Empty while the set is prepared: no file is changed by then. */
  readonly steps: readonly SetStep[];
  readonly places: readonly string[];
  /** True if the set's process had kernel locks: a process that gets these locks knows that it has ended. */
  readonly byKernel: boolean;
  readonly folders: readonly string[];
}

const headBytes = 1 + 64 + 1;

/** Complete, and synced if it has steps; the caller syncs the folder. Throws WriteFailed; no journal is left then. */
export async function writeSetJournal(path: string, record: SetRecord, io: IoOptions): Promise<void> {
  const { system } = io;
  const json = Buffer.from(JSON.stringify(record));
  const bytes = Buffer.concat([Buffer.from(`O${hashOf(json)}\n`), json]);
  if (bytes.length > limits.setJournalBytesMax) throw new WriteFailed("EFBIG", "keeping the old content");
  const fd = during("keeping the old content", () => system.make(path, makeFlags, 0o600));
  using _opened = new Descriptor(fd, system);
  try {
    await writeAll(fd, bytes, 0, io);
    const { size } = during("keeping the old content", () => system.stat(fd));
    if (Number(size) !== bytes.length) throw new WriteFailed("EIO", "keeping the old content");
    if (record.steps.length > 0) await syncFile(fd, bytes.length, io);
  } catch (error) {
    unlinkQuietly(path, system);
    throw error;
  }
}

export async function markDone(path: string, io: IoOptions): Promise<void> {
  const { system } = io;
  const flags = constants.O_WRONLY | (constants.O_NOFOLLOW ?? 0);
  const fd = during("keeping the old content", () => system.open(path, flags));
  using _opened = new Descriptor(fd, system);
  await writeAll(fd, Buffer.from("D"), 0, io);
  await syncFile(fd, 1, io);
}

/** A journal left by another process; undefined if it is incomplete, which means that no file was changed. */
export async function readSetJournal(
  path: string,
  seen: Pick<BigIntStats, "dev" | "ino">,
  io: IoOptions,
): Promise<(SetRecord & { readonly isDone: boolean }) | undefined> {
  const flags = constants.O_RDONLY | noFollow;
  const { opened, sizeBytes } = openExactly(path, flags, seen, "looking at the file", io.system);
  using file = opened;
  if (sizeBytes > limits.setJournalBytesMax) return undefined;
  const bytes = Buffer.alloc(sizeBytes);
  if ((await readAll(file.fd, bytes, 0, io)) < sizeBytes) return undefined;
  const json = bytes.subarray(headBytes);
  const state = bytes.toString("latin1", 0, 1);
  if (!["O", "D"].includes(state) || bytes.toString("latin1", 1, headBytes) !== `${hashOf(json)}\n`) return undefined;
  const record = parseRecord(json.toString("utf8"));
  return record && { ...record, isDone: state === "D" };
}

const hashOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** Validates every field: the file may come from any user. Each path once, and only names of our own shape. */
function parseRecord(json: string): SetRecord | undefined {
  const value: unknown = attempt(() => JSON.parse(json));
  if (!isObject(value) || value["version"] !== 1) return undefined;
  const { steps, folders, places } = value;
  const areTexts = [folders, places].every((texts) => Array.isArray(texts) && texts.every(isText));
  if (!areTexts || typeof value["byKernel"] !== "boolean" || !Array.isArray(steps) || !steps.every(isStep))
    return undefined;
  if (new Set((steps as readonly SetStep[]).map(({ path }) => path)).size !== steps.length) return undefined;
  return value as unknown as SetRecord; // every field was checked
}

function isStep(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { path, does, oldInode, fresh, old, undo } = value;
  const isKnown = does === "replace" || does === "create" || does === "remove";
  if (!isKnown || !isText(path) || !isTemp("old", old) || !isTemp("old", undo)) return false;
  if (oldInode !== undefined && !isText(oldInode)) return false;
  if (fresh === undefined) return true;
  if (!isObject(fresh)) return false;
  const { name, inode, sizeBytes, mtimeNs } = fresh;
  return isTemp("new", name) && isText(inode) && isText(mtimeNs) && Number.isSafeInteger(sizeBytes);
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;
const isText = (value: unknown): value is string => typeof value === "string";
const isTemp = (kind: TempKind, name: unknown): boolean => isText(name) && parseTempName(name)?.kind === kind;

/** `not ours`: another program has changed the file since, and its version stays. */
export type TakenBack = "put back" | "untouched" | "not ours";

/** Restores one file of a set, however far the change got. Idempotent. After a WriteFailed it can be tried again. */
export async function takeStepBack(step: SetStep, folder: FolderHandle, context: WriteContext): Promise<TakenBack> {
  const { system } = context;
  const at = folder.at(nodePath.basename(step.path));
  if (step.does === "remove") return restoreRemoved(folder.at(step.old), at, system);
  const inPlace = step.does === "replace" ? await rollBackInPlace(step, folder, context) : undefined;
  if (inPlace !== undefined) return inPlace;
  const there = statOf(at, system);
  if (!isFresh(there, step)) {
    if (step.does === "create") return there === undefined ? "untouched" : "not ours";
    return there !== undefined && String(there.ino) === step.oldInode ? "untouched" : "not ours";
  }
  if (step.does === "create") during("putting the old content back", () => system.unlink(at));
  else during("putting the old content back", () => system.rename(folder.at(step.old), at));
  return "put back";
}

const isFresh = (there: BigIntStats | undefined, { fresh }: SetStep): boolean =>
  there !== undefined &&
  fresh !== undefined &&
  there.isFile() &&
  String(there.ino) === fresh.inode &&
  Number(there.size) === fresh.sizeBytes &&
  String(there.mtimeNs) === fresh.mtimeNs;

function restoreRemoved(old: string, at: string, system: System): TakenBack {
  const isThere = statOf(at, system) !== undefined;
  if (statOf(old, system) === undefined) return isThere ? "untouched" : "not ours";
  if (isThere) return "not ours";
  // Unlike a rename, a link never replaces a file that was created meanwhile.
  const failed = orErrno(
    () => system.link(old, at),
    (errno) => errno,
  );
  if (failed === "EEXIST") return "not ours";
  if (failed !== undefined) during("putting the old content back", () => system.rename(old, at));
  return "put back";
}

async function rollBackInPlace(
  { path, undo }: SetStep,
  folder: FolderHandle,
  context: WriteContext,
): Promise<TakenBack | undefined> {
  for (const place of [folder, stateFolder(context, "find")]) {
    const stat = place && statOf(place.at(undo), context.system);
    if (place === undefined || stat === undefined) continue;
    const io: IoOptions = { system: context.system, reads: place.reads, signal: undefined };
    using journal = await openJournal(place.at(undo), stat, io);
    if (journal === undefined) continue; // incomplete: the file was not touched
    const result = await rollBack(journal, path, context, "all");
    if (result === "failed") throw new WriteFailed("EIO", "putting the old content back");
    return result === "restored" ? "put back" : result;
  }
  return undefined;
}

/** Removes the set's files beside a file: its new content if that has no name yet, and its old one, which may be a folder. */
export async function clearStep(step: SetStep, folder: FolderHandle, context: WriteContext): Promise<boolean> {
  const { system } = context;
  const state = step.does === "replace" ? stateFolder(context, "find") : undefined;
  const kept = { create: [], remove: [step.old], replace: [step.old, step.undo] }[step.does];
  const names = step.fresh === undefined ? kept : [...kept, step.fresh.name];
  let isClear = state === undefined || unlinkQuietly(state.at(step.undo), system);
  for (const name of names) isClear = (await clearTree(folder, name, system)) && isClear;
  return isClear;
}

const statOf = (path: string, system: System): BigIntStats | undefined =>
  orErrno(
    () => system.statLink(path),
    (errno) => {
      if (errno !== "ENOENT") throw new WriteFailed(errno, "looking at the file");
      return undefined;
    },
  );

// Recovery of the sets of killed processes, when a toolkit is first used: rolls the files back, or, if all were changed, removes the
// old ones.

/** Never fails: what cannot be recovered now is left for the next time. */
export async function recoverSets(roots: readonly Root[], locks: Locks, context: WriteContext): Promise<void> {
  for (const { real } of roots) {
    await unlessExpected(async () => {
      using folder = openFolder(real, context);
      await recoverIn(folder, locks, context);
    });
  }
  const state = stateFolder(context, "find");
  if (state !== undefined) await unlessExpected(() => recoverIn(state, locks, context));
}

async function unlessExpected(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const isBadLuck = isExpected(error) || error instanceof LockFailed || error instanceof LockTimeout;
    const isLate = error instanceof DOMException && error.name === "TimeoutError"; // another process has the locks
    if (!isBadLuck && !isLate) throw error;
  }
}

async function recoverIn(folder: FolderHandle, locks: Locks, context: WriteContext): Promise<void> {
  const { system } = context;
  for (const { name, kind, owner } of await ownNames(folder, context, listedMsMax)) {
    if (kind !== "set") continue;
    await unlessExpected(async () => {
      const path = folder.at(name);
      const stat = during("looking at the file", () => system.statLink(path));
      if (!stat.isFile() || !isOwn(stat) || lifeOf(owner) === "alive") return;
      const isLeft = isLeftBehind("set", owner, stat, folder);
      const record = await readSetJournal(path, stat, { system, reads: folder.reads, signal: undefined });
      if (record === undefined) return isLeft ? void unlinkQuietly(path, system) : undefined;
      // A set of another workspace that shares the state folder is left to that workspace's processes.
      if ([...record.steps.map((step) => step.path), ...record.places].some((one) => isOutside(one, context))) return;
      const keys = record.steps.flatMap((step) => keyOf(step.path, record.folders, context));
      const isSettled = async ({ byKernel }: HeldLocks): Promise<void> => {
        // A process in another container cannot be checked, but its kernel locks can.
        if (isLeft || (byKernel && record.byKernel)) await settle(path, folder, record, context);
      };
      await locks.exclusively(keys, AbortSignal.timeout(lockedMsMax), isSettled);
    });
  }
}

/** The most that a first call, maybe only a read, waits for the locks, */
const lockedMsMax = 2_000;
/** and for the listing of a root on a slow file system. */
const listedMsMax = 1_000;

/** The key that the killed process used: by the nearest folder that existed before. */
function keyOf(path: string, made: readonly string[], context: WriteContext): readonly LockKey[] {
  let folder = nodePath.dirname(path);
  while (made.includes(folder)) folder = nodePath.dirname(folder);
  const lookup = context.lookup(folder);
  if (lookup.seen !== "node") return [];
  using handle = lookup.handle;
  const { device, inode } = handle.identity;
  const isLocal = handle.reads === "at once";
  return [{ folder: { device, inode, path: folder, isLocal }, name: nodePath.relative(folder, path) }];
}

/** First renames the journal to a name of this process: only one of several processes that find it can do that. */
async function settle(
  path: string,
  place: FolderHandle,
  { steps, folders, places, isDone }: SetRecord & { readonly isDone: boolean },
  context: WriteContext,
): Promise<void> {
  const { system } = context;
  const claimed = place.at(tempName("set"));
  during("renaming", () => system.rename(path, claimed));
  using handles = new HandleStack();
  const opened = new Map<string, FolderHandle | undefined>();
  const folderAt = (folder: string): FolderHandle | undefined => {
    if (!opened.has(folder)) opened.set(folder, handles.use(folderIfThere(folder, context)));
    return opened.get(folder);
  };
  const folderOf = (file: string): FolderHandle | undefined => folderAt(nodePath.dirname(file));
  for (const step of isDone ? [] : steps.toReversed()) {
    const folder = folderOf(step.path);
    if (folder !== undefined) await takeStepBack(step, folder, context);
  }
  let isClear = true;
  for (const step of steps) {
    const folder = folderOf(step.path);
    isClear = (folder === undefined || (await clearStep(step, folder, context))) && isClear;
  }
  if (!isDone) for (const folder of folders.toReversed()) removeIfEmpty(folder, folderOf(folder), context);
  for (const path of places) {
    const folder = folderAt(path);
    if (folder !== undefined) await sweepFolder(folder, context);
  }
  for (const folder of opened.values()) if (folder !== undefined) await syncFolder(folder, system);
  if (isClear) unlinkQuietly(claimed, system);
}

function folderIfThere(path: string, context: WriteContext): FolderHandle | undefined {
  try {
    return openFolder(path, context);
  } catch (error) {
    if (error instanceof FileChanged) return undefined;
    throw error;
  }
}

function removeIfEmpty(path: string, parent: FolderHandle | undefined, { system }: WriteContext): void {
  orErrno(
    () => parent && system.removeFolder(parent.at(nodePath.basename(path))),
    () => undefined,
  );
}
