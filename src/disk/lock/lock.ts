/**
 * Exclusive work on files: within this process by a queue, against other processes by lock files in a folder of the user, and by a
 * second lock that reaches everybody who shares the file. It is a kernel lock on the folder, or a lock beside the file where
 * kernel locks are missing or do not reach far enough. Editors take no such lock, so a replace still compares the file.
 */

// By the module: where `hash` is missing, a named import would end an old Node before our message about its version.
import * as crypto from "node:crypto";
import { timeSlices } from "../event-loop.ts";
import { createFolderLocks, type KernelLockCalls, loadKernelLock, type LockedFolder } from "./folder-lock.ts";
import { type GiveUp, type HeldLock, type LockFiles, openLockFiles } from "./lock-file.ts";
import { defaultLockFolders, LockFailed, type LockFolders, prepareLockFolders } from "./lock-folder.ts";
import { createLocksBeside } from "./lock-beside.ts";
import { pidOf } from "./process-identity.ts";
import { createQueue, onAbort } from "./queue.ts";

export { LockFailed };

export interface LockKey {
  /** The folder and the name in it; never the file's own inode, which every replace changes. */
  readonly folder: LockedFolder;
  /** For a file in folders that do not exist yet: the rest of its path after the nearest existing one. */
  readonly name: string;
}

export interface Locks {
  /**
   * Runs `work` while no other Filehand call, in this or another process, works on these files. Within this process the order is
   * first come, first served. Throws `signal.reason` if aborted before `work` begins, and leaves the queue; once begun, `work`
   * checks the signal itself. Throws LockTimeout and LockFailed. MUST NOT be called within `work` for the same file, nor while
   * a person is being asked.
   */
  exclusively<Result>(
    keys: readonly LockKey[],
    signal: AbortSignal,
    work: (locks: HeldLocks) => Promise<Result>,
  ): Promise<Result>;
}

export interface HeldLocks {
  /**
   * True if each file has a lock that reaches all processes which share it: of the kernel, or beside the file where other machines
   * may share its file system. Then no other process that takes such locks is at work there. (The name is in journals on disk.)
   */
  readonly byKernel: boolean;
}

export interface LockOptions {
  /** For tests. Processes exclude each other only if they agree on it; undefined is the folder that this user's processes share. */
  readonly folder: string | LockFolders | undefined;
  /** The longest wait for other processes. The wait in this process's queue has no limit. */
  readonly waitMsMax?: number;
  readonly kernel?: () => Promise<KernelLockCalls | undefined>;
}

export class LockTimeout extends Error {
  override readonly name = "LockTimeout";
  /** The holder's process id, if its lock was readable; in another container it means a different process. */
  readonly pid: number | undefined;

  constructor(pid: number | undefined, waitedMs: number) {
    const who = pid === undefined ? "another process" : `process ${pid}`;
    super(`The file is in use by ${who}, still so after ${Math.round(waitedMs / 1_000)} s.`);
    this.pid = pid;
  }
}

/** Most changes take milliseconds; a caller should learn of a stuck process before its own time limit. */
const defaultWaitMsMax = 30_000;
/** Waiting doubles from the first to the second: quick for a short wait, cheap for a long one. */
const pauseMsMin = 1;
const pauseMsMax = 25; // the most that a released lock goes unnoticed
/** Well within `silentMsMax`, so that a few late beats do no harm. */
const beatEveryMs = 2_000;
/** A process in another container cannot be seen: it is dead after so long without a heartbeat, … */
const silentMsMax = 15_000;
/** … if it gives none while we watch either: after the machine slept, all heartbeats are old. */
const watchedMsMin = 5_000;
/** The most that counts as watched between two checks: if we were stopped for longer, the holder may have been too. */
const lookedMsMax = 250;

export function createLocks({ folder, waitMsMax = defaultWaitMsMax, kernel = loadKernelLock }: LockOptions): Locks {
  const queue = createQueue();
  const folderLocks = createFolderLocks();
  const locksBeside = createLocksBeside();
  const heartbeat = createHeartbeat();
  let lockFiles: readonly LockFiles[] | undefined;
  const open = (): readonly LockFiles[] => {
    const folders =
      typeof folder === "string" ? { first: folder, second: undefined } : (folder ?? defaultLockFolders());
    const opened = prepareLockFolders(folders).map((one) => openLockFiles(one));
    for (const files of opened) files.sweep();
    return opened;
  };

  return {
    async exclusively(keys, signal, work) {
      // Sorted, so that two processes cannot deadlock.
      const names = keys.length === 1 ? keys.map(lockName) : [...new Set(keys.map(lockName))].sort();
      const leave = await queue.enter(names, signal);
      const taken: HeldLock[] = [];
      const releases: (() => void)[] = [];
      try {
        lockFiles ??= open();
        const startMs = performance.now();
        const slices = timeSlices(signal);
        const calls = keys.some((key) => key.folder.path !== undefined) ? await kernel() : undefined;
        for (const files of lockFiles) {
          for (const name of names) {
            if (slices.isOver()) await slices.next();
            const giveUp = trackSilence();
            const take = (by: { pid: number | undefined }): HeldLock | "busy" => {
              const tried = files.take(name, giveUp);
              if (tried.held !== undefined) return tried.held;
              if (tried.holder !== undefined) by.pid = pidOf(tried.holder.owner);
              return "busy";
            };
            const held = await waitFor(take, signal, startMs, waitMsMax);
            taken.push(held);
            heartbeat.add(held);
          }
        }
        const byKernel = new Set<string>();
        for (const one of calls === undefined ? [] : foldersOf(keys)) {
          const take = (): (() => void) | "busy" | undefined => calls && folderLocks.take(one, calls);
          const release = await waitFor(take, signal, startMs, waitMsMax);
          if (release === undefined) continue;
          releases.push(release);
          if (one.isLocal !== false) byKernel.add(folderId(one));
        }
        let unreached = keys.length === 0 ? 1 : 0;
        for (const key of sortedBeside(keys.filter(({ folder: one }) => !byKernel.has(folderId(one))))) {
          if (slices.isOver()) await slices.next();
          const giveUp = trackSilence();
          const take = (by: { pid: number | undefined }): HeldLock | "busy" | undefined =>
            locksBeside.take(key.folder, key.name, giveUp, by);
          const held = await waitFor(take, signal, startMs, waitMsMax);
          if (held === undefined) {
            unreached += 1;
            continue;
          }
          taken.push(held);
          heartbeat.add(held);
        }
        return await work({ byKernel: unreached === 0 });
      } catch (error) {
        // The lock folder may be gone or replaced: the next call prepares it anew.
        if (error instanceof LockFailed) lockFiles = undefined;
        throw error;
      } finally {
        for (const release of releases) release();
        const slices = timeSlices();
        for (const held of taken) {
          if (slices.isOver()) await slices.next();
          heartbeat.delete(held);
          held.release();
        }
        leave();
      }
    },
  };
}

const lockName = ({ folder, name }: LockKey): string =>
  crypto.hash("sha256", `${folder.device}:${folder.inode}:${name}`, "hex").slice(0, 32);

const folderId = ({ device, inode }: LockedFolder): string => `${device}:${inode}`;

const byInode = (one: LockedFolder, other: LockedFolder): number =>
  one.inode < other.inode ? -1 : Number(one.inode > other.inode);

/** Each folder once, sorted by inode: the device number may differ in another container. */
const foldersOf = (keys: readonly LockKey[]): readonly LockedFolder[] =>
  [...new Map(keys.map(({ folder }) => [folderId(folder), folder])).values()].sort(byInode);

/** By what two machines agree on: the name, and the inode, which may differ on some file systems; then one of two waits in vain. */
const sortedBeside = (keys: readonly LockKey[]): readonly LockKey[] =>
  [...new Map(keys.map((key) => [`${folderId(key.folder)}:${key.name}`, key])).values()].sort((one, other) =>
    one.name < other.name ? -1 : Number(one.name > other.name) || byInode(one.folder, other.folder),
  );

/** `take` is called until it returns something else than "busy"; it may name the holder. */
async function waitFor<Taken>(
  take: (holder: { pid: number | undefined }) => Taken | "busy",
  signal: AbortSignal,
  startMs: number,
  waitMsMax: number,
): Promise<Taken> {
  const holder = { pid: undefined };
  for (let pauseMs = pauseMsMin; ; pauseMs = Math.min(pauseMs * 2, pauseMsMax)) {
    signal.throwIfAborted();
    const taken = take(holder);
    if (taken !== "busy") return taken;
    const waitedMs = performance.now() - startMs;
    if (waitedMs >= waitMsMax) throw new LockTimeout(holder.pid, waitedMs);
    // Jitter, so that waiting processes do not retry at the same moment.
    await pause(Math.min(pauseMs * (0.5 + Math.random() / 2), waitMsMax - waitedMs), signal);
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

/** Measures how long each holder has been silent, by our own clock: another machine's may be wrong. */
export function trackSilence(nowMs: () => number = () => performance.now()): GiveUp {
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

interface Heartbeat {
  add(held: HeldLock): void;
  delete(held: HeldLock): void;
}

/** Heartbeats for all locks in hand. The timer stops when it finds none: most locks last less than one beat. */
function createHeartbeat(): Heartbeat {
  const all = new Set<HeldLock>();
  let timer: NodeJS.Timeout | undefined;
  let isBeating = false;
  const beat = async (): Promise<void> => {
    if (isBeating) return;
    isBeating = true;
    const slices = timeSlices();
    for (const each of all) {
      each.beat();
      if (slices.isOver()) await slices.next();
    }
    isBeating = false;
    if (all.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
  return {
    add(held) {
      all.add(held);
      timer ??= setInterval(() => void beat(), beatEveryMs).unref();
    },
    delete: (held) => void all.delete(held),
  };
}
