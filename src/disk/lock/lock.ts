/**
 * Exclusive work on files: in this process by turns (queue.ts), against other processes by lock files (lock-file.ts) and by
 * locks of the kernel on the folders (folder-lock.ts), which also reach other users and containers.
 * Nothing here is a promise about editors and other programs, which take no such lock; who replaces a file still compares
 * it at that moment.
 */

import { hash } from "node:crypto";
import { createFolderLocks, type KernelLockCalls, loadKernelLock, type LockedFolder } from "./folder-lock.ts";
import { type GiveUp, type HeldLock, type LockFiles, openLockFiles } from "./lock-file.ts";
import { defaultLockFolders, LockFailed, type LockFolders, prepareLockFolders } from "./lock-folder.ts";
import { pidOf } from "./process-identity.ts";
import { createQueue, onAbort } from "./queue.ts";

export { LockFailed };

export interface LockKey {
  /** The folder and the name in it; never the file's own inode, which each replace changes. */
  readonly folder: LockedFolder;
  /** Of a file in folders that do not exist yet: the rest of its path after the nearest one that does. */
  readonly name: string;
}

export interface Locks {
  /**
   * Runs `work` while nobody else, in this or another process, works on these files. In this process it is first come,
   * first served. Throws `signal.reason` if aborted before `work` has begun, and then gives up its place; once begun,
   * `work` has to mind the signal itself. Throws LockTimeout and LockFailed. Not to be called within `work` for the same
   * file, nor while a person is being asked.
   */
  exclusively<Result>(
    keys: readonly LockKey[],
    signal: AbortSignal,
    work: (locks: HeldLocks) => Promise<Result>,
  ): Promise<Result>;
}

export interface HeldLocks {
  /** Are all folders locked by the kernel, so that nobody on this machine who locks them too is at work there? */
  readonly byKernel: boolean;
}

export interface LockOptions {
  /** For tests. Processes exclude each other only if they agree on it: undefined is what this user's processes share. */
  readonly folder: string | LockFolders | undefined;
  /** The longest wait for other processes; turns within this process may take as long as they do. */
  readonly waitMsMax?: number;
  /** For tests. */
  readonly kernel?: () => Promise<KernelLockCalls | undefined>;
}

/** Another process had the lock all the time. */
export class LockTimeout extends Error {
  override readonly name = "LockTimeout";
  /** Of the holder, if its lock could be read; in another container it means another process than here. */
  readonly pid: number | undefined;

  constructor(pid: number | undefined, waitedMs: number) {
    const who = pid === undefined ? "another process" : `process ${pid}`;
    super(`The file is in use by ${who}, still so after ${Math.round(waitedMs / 1_000)} s.`);
    this.pid = pid;
  }
}

const defaultWaitMsMax = 30_000;
const pauseMsMin = 1;
const pauseMsMax = 25;
const beatEveryMs = 2_000;
/** A process that cannot be seen, being in another container, is dead after so long without a sign of life, … */
const silentMsMax = 15_000;
/** … if it gives none while we watch either: after the machine has slept, all signs are old. */
const watchedMsMin = 5_000;
/** Between two looks no more than this counts as watched: if we were stopped for longer, so may the holder have been. */
const lookedMsMax = 250;

export function createLocks({ folder, waitMsMax = defaultWaitMsMax, kernel = loadKernelLock }: LockOptions): Locks {
  const queue = createQueue();
  const folderLocks = createFolderLocks();
  const pulse = createPulse();
  let places: readonly LockFiles[] | undefined;

  const open = (): readonly LockFiles[] => {
    const folders =
      typeof folder === "string" ? { first: folder, second: undefined } : (folder ?? defaultLockFolders());
    const opened = prepareLockFolders(folders).map((one) => openLockFiles(one));
    for (const files of opened) files.sweep();
    return opened;
  };

  return {
    async exclusively(keys, signal, work) {
      // Sorted, so that two processes cannot wait for each other.
      const names = keys.length === 1 ? keys.map(lockName) : [...new Set(keys.map(lockName))].sort();
      const leave = await queue.enter(names, signal);
      const taken: HeldLock[] = [];
      const givers: (() => void)[] = [];
      try {
        places ??= open();
        const startMs = performance.now();
        const calls = keys.some((key) => key.folder.path !== undefined) ? await kernel() : undefined;
        for (const files of places) {
          for (const name of names) {
            const held = await waitFor(files, name, signal, startMs, waitMsMax);
            taken.push(held);
            pulse.add(held);
          }
        }
        const folders = calls === undefined ? [] : foldersOf(keys);
        for (const one of folders) {
          const take = (): (() => void) | "busy" | undefined => calls && folderLocks.take(one, calls);
          const giveBack = await waitForFolder(take, signal, startMs, waitMsMax);
          if (giveBack !== undefined) givers.push(giveBack);
        }
        return await work({ byKernel: folders.length > 0 && givers.length === folders.length });
      } catch (error) {
        // Its folder may be gone for good, or in other hands: the next call looks again.
        if (error instanceof LockFailed) places = undefined;
        throw error;
      } finally {
        for (const giveBack of givers) giveBack();
        for (const held of taken) {
          pulse.delete(held);
          held.release();
        }
        leave();
      }
    },
  };
}

const lockName = ({ folder, name }: LockKey): string =>
  hash("sha256", `${folder.device}:${folder.inode}:${name}`, "hex").slice(0, 32);

/** Each once, by the number of the inode: that of the device may be another one in another container. */
const foldersOf = (keys: readonly LockKey[]): readonly LockedFolder[] =>
  [...new Map(keys.map(({ folder }) => [`${folder.device}:${folder.inode}`, folder])).values()].sort((one, other) =>
    one.inode < other.inode ? -1 : Number(one.inode > other.inode),
  );

async function waitForFolder(
  take: () => (() => void) | "busy" | undefined,
  signal: AbortSignal,
  startMs: number,
  waitMsMax: number,
): Promise<(() => void) | undefined> {
  for (let pauseMs = pauseMsMin; ; pauseMs = Math.min(pauseMs * 2, pauseMsMax)) {
    signal.throwIfAborted();
    const taken = take();
    if (taken !== "busy") return taken;
    const waitedMs = performance.now() - startMs;
    if (waitedMs >= waitMsMax) throw new LockTimeout(undefined, waitedMs);
    await pause(Math.min(pauseMs * (0.5 + Math.random() / 2), waitMsMax - waitedMs), signal);
  }
}

async function waitFor(
  files: LockFiles,
  name: string,
  signal: AbortSignal,
  startMs: number,
  waitMsMax: number,
): Promise<HeldLock> {
  const giveUp = watch();
  let pid: number | undefined;
  for (let pauseMs = pauseMsMin; ; pauseMs = Math.min(pauseMs * 2, pauseMsMax)) {
    signal.throwIfAborted();
    const taken = files.take(name, giveUp);
    if (taken.held !== undefined) return taken.held;
    pid = taken.holder === undefined ? pid : pidOf(taken.holder.owner);
    const waitedMs = performance.now() - startMs;
    if (waitedMs >= waitMsMax) throw new LockTimeout(pid, waitedMs);
    // Not all at the same moment.
    const ms = Math.min(pauseMs * (0.5 + Math.random() / 2), waitMsMax - waitedMs);
    await pause(ms, signal);
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const forget = onAbort(signal, () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
    const timer = setTimeout(() => {
      forget();
      resolve();
    }, ms);
  });
}

/** Remembers how long each holder has been watched in silence, by our own clock: that of another machine may be wrong. */
export function watch(nowMs: () => number = () => performance.now()): GiveUp {
  const seen = new Map<string, { readonly beatMs: number; readonly watchedMs: number; readonly lookedMs: number }>();
  return ({ token, beatMs }) => {
    const lookedMs = nowMs();
    const before = seen.get(token);
    const isSilent = before?.beatMs === beatMs;
    const watchedMs = isSilent ? before.watchedMs + Math.min(lookedMs - before.lookedMs, lookedMsMax) : 0;
    seen.set(token, { beatMs, watchedMs, lookedMs });
    return Math.abs(Date.now() - beatMs) > silentMsMax && watchedMs > watchedMsMin;
  };
}

interface Pulse {
  add(held: HeldLock): void;
  delete(held: HeldLock): void;
}

/** Signs of life for all locks that are held. The timer ends when it finds none: most locks are held for less than a beat. */
function createPulse(): Pulse {
  const all = new Set<HeldLock>();
  let timer: NodeJS.Timeout | undefined;
  const beat = (): void => {
    for (const each of all) each.beat();
    if (all.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
  return {
    add(held) {
      all.add(held);
      timer ??= setInterval(beat, beatEveryMs).unref();
    },
    delete: (held) => void all.delete(held),
  };
}
