/**
 * Recovers the change sets of killed processes: rolls the files back, or, if all of them were changed, removes the old ones. Looks
 * in the roots and in the state folder when a toolkit is first used.
 */

import * as nodePath from "node:path";
import { setTimeout } from "node:timers/promises";
import { HandleStack } from "../descriptor.ts";
import { errnoName } from "../errno.ts";
import { yieldToEventLoop } from "../event-loop.ts";
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
import { stateFolder } from "./in-place.ts";
import { clearStep, readSetJournal, type SetRecord, takeStepBack } from "./set-journal.ts";
import { isLeftBehind, isOutside, isOwn, sweepFolder } from "./sweep.ts";
import { parseTempName, tempName } from "./temp-file.ts";
import { during, FileChanged, WriteFailed } from "./write-failed.ts";

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
    const isBadLuck = [WriteFailed, FileChanged, LockFailed, LockTimeout].some((kind) => error instanceof kind);
    const isLate = error instanceof DOMException && error.name === "TimeoutError"; // another process has the locks
    if (!isBadLuck && !isLate) throw error;
  }
}

async function recoverIn(folder: FolderHandle, locks: Locks, context: WriteContext): Promise<void> {
  const { system } = context;
  for (const name of await journalsIn(folder, context)) {
    await unlessExpected(async () => {
      const path = folder.at(name);
      const stat = during("looking at the file", () => system.statLink(path));
      const owner = parseTempName(name)?.owner ?? "";
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
const namesPerTurn = 4_096;

async function journalsIn(folder: FolderHandle, { system }: WriteContext): Promise<readonly string[]> {
  const names: string[] = [];
  try {
    const slow = folder.reads === "at once" ? undefined : system.folder(folder.at("."));
    slow?.catch(() => undefined);
    const late = setTimeout(listedMsMax, [], { ref: false });
    const entries = slow === undefined ? system.folderNow(folder.at(".")) : await Promise.race([slow, late]);
    let count = 0;
    for (const { name } of entries) {
      if (name.startsWith(".filehand-set-") && parseTempName(name) !== undefined) names.push(name);
      count += 1;
      if (count % namesPerTurn === 0) await yieldToEventLoop();
    }
  } catch (error) {
    if (errnoName(error) === undefined) throw error;
  }
  return names;
}

/** The key that the killed process used: by the nearest folder that existed before. */
function keyOf(path: string, made: readonly string[], context: WriteContext): readonly LockKey[] {
  let folder = nodePath.dirname(path);
  while (made.includes(folder)) folder = nodePath.dirname(folder);
  const lookup = context.lookup(folder);
  if (lookup.seen !== "node") return [];
  using handle = lookup.handle;
  const { device, inode } = handle.identity;
  return [{ folder: { device, inode, path: folder }, name: nodePath.relative(folder, path) }];
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
  const cleared = steps.map((step) => {
    const folder = folderOf(step.path);
    return folder === undefined || clearStep(step, folder, context);
  });
  if (!isDone) for (const folder of folders.toReversed()) removeIfEmpty(folder, folderOf(folder), context);
  for (const path of places) {
    const folder = folderAt(path);
    if (folder !== undefined) await sweepFolder(folder, context);
  }
  for (const folder of opened.values()) if (folder !== undefined) await syncFolder(folder, system);
  if (cleared.every((isClear) => isClear)) unlinkQuietly(claimed, system);
}

/** Undefined for a folder that is gone: nothing in it needs recovery. */
function folderIfThere(path: string, context: WriteContext): FolderHandle | undefined {
  try {
    return openFolder(path, context);
  } catch (error) {
    if (error instanceof FileChanged) return undefined;
    throw error;
  }
}

function removeIfEmpty(path: string, parent: FolderHandle | undefined, { system }: WriteContext): void {
  try {
    if (parent !== undefined) system.removeFolder(parent.at(nodePath.basename(path)));
  } catch (error) {
    if (errnoName(error) === undefined) throw error;
  }
}
