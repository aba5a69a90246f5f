/** The content of files before each change, over all sessions, and the way back. */

import * as nodePath from "node:path";
import type { StoreFault, Usage } from "../contract/history.ts";
import { StoreFailed, yieldToEventLoop } from "../disk/disk.ts";
import { collect, type Collected, type CollectOptions, isDue } from "./collect.ts";
import { failureOf } from "./keeping.ts";
import { mergeHistories } from "./merged.ts";
import { type Audited, once, openSessionHistory, type SessionHistory, type SessionStart } from "./session-history.ts";
import { openNotedStates } from "./noted-states.ts";
import { contentsOf, storyOf, turnsWithChanges } from "./snapshots.ts";
import { type Audit, type BlobSize, type HistoryStore, openFileStore, type StoredSession } from "../state/state.ts";

export type { Keeping, Kept } from "./keeping.ts";
export {
  below,
  type ContentPlace,
  isCovered,
  isNotCovered,
  type NotCoveredWhy,
  type NotedEntry,
  NotedTree,
  nextTree,
  type StatNumbers,
} from "./noted-tree.ts";
export type { NotedState, NotedStates, RunningCommand } from "./noted-states.ts";
export { lossReasons } from "./rewind-plan.ts";
export type { ObservedChange, SessionHistory } from "./session-history.ts";
export { inodeFingerprint, storedFile } from "../state/state.ts";

export interface HistoryOptions {
  /** The state folder; history is in `history/` below it, created on first use. */
  readonly stateDir: string;
  /** Files that are never stored, by real path. */
  readonly isSecret: (path: string) => boolean;
  readonly nowMs: () => number;
  readonly snapshotsMax?: number;
  readonly bytesMax?: number;
  /** Since a session was last written to. */
  readonly ageMsMax?: number;
  /** Of one version of one file. */
  readonly fileBytesMax?: number;
  /** Sync everything that is stored before the change is made. */
  readonly durable?: boolean;
  readonly store?: HistoryStore;
  readonly onKept?: () => void;
  readonly audited?: Audited | undefined;
  /** Where the entries go if the store consists of files. */
  readonly audit?: Audit | undefined;
  /** For tests; see `disk/lock/lock.ts`. */
  readonly lockFolder?: string;
}

export interface SessionSummary {
  readonly id: string;
  readonly roots: readonly string[];
  readonly dialect: string;
  /** The program that made the calls, as people know it, if it is known. */
  readonly client: string | undefined;
  readonly startedMs: number | undefined;
  readonly lastMs: number;
  readonly turns: number;
}

export interface History {
  /** Loads the list of sessions, where other machines write to the store too. Throws StoreFailed. */
  refresh(): Promise<void>;
  /** Opens a new or an existing session. Writes nothing before its first change. */
  session(start: SessionStart): SessionHistory;
  /** Newest first. */
  sessions(): readonly SessionSummary[];
  usage(): Promise<Usage>;
  verify(onProgress?: (done: number, total: number) => void): Promise<Verified>;
  /** Whether an automatic collection is due; false if the store cannot be used. */
  isDue(): boolean;
  /** To be called now and then; several processes may. */
  gc(options?: CollectOptions): Promise<Collected | "not due">;
}

export const historyDefaults = {
  snapshotsMax: 100,
  bytesMax: 2_147_483_648,
  ageMsMax: 30 * 86_400_000,
} as const satisfies Record<string, number>;

/** Opens nothing until it is used. Failures of the store are thrown as StoreFailed, except by `keep` and its like. */
export function openHistory(options: HistoryOptions): History {
  const { nowMs, isSecret, snapshotsMax, bytesMax, ageMsMax } = { ...historyDefaults, ...options };
  const { durable = false, lockFolder, onKept, audited } = options;
  const folder = nodePath.join(options.stateDir, "history");
  const store = options.store ?? openFileStore({ folder, durable, lockFolder, audit: options.audit });
  const { fileBytesMax = Math.min(bytesMax, store.fileBytesMax ?? bytesMax) } = options;
  const noted = openNotedStates(nodePath.join(options.stateDir, "observe"), lockFolder);
  /** By session, for one state of its journal: a command asks several times. */
  const summaries = new Map<string, { readonly state: string; readonly summary: SessionSummary }>();
  const summaryOf = ({ session, lastMs, start }: StoredSession): SessionSummary => {
    const state = store.state(session);
    const known = summaries.get(session);
    if (known?.state === state) return known.summary;
    const story = once(() => storyOf(store.records(session).entries));
    const { roots = [], dialect = "", client, timeMs: startedMs } = start ?? story().start ?? {};
    const turns = once(() => turnsWithChanges(story()).length);
    // Counted on demand: a command lists all sessions to find the few of its workspace.
    const summary = { id: session, roots, dialect, client, startedMs, lastMs, turns: 0 };
    Object.defineProperty(summary, "turns", { get: turns, enumerable: true });
    summaries.set(session, { state, summary });
    return summary;
  };
  const open = (start: SessionStart) =>
    openSessionHistory({ start, store, nowMs, snapshotsMax, isSecret, fileBytesMax, onKept, noted, audited });
  return {
    refresh: async () => store.refresh?.(),
    session({ over, ...start }) {
      const own = open(start);
      if (over === undefined) return own;
      // The session's own turns are those of the same object, which knows what it has written.
      const members = [...new Set(over.sessions)].map((id) =>
        id === start.id ? own : open({ id, roots: start.roots, dialect: start.dialect }),
      );
      return mergeHistories(own, members, over.within, store, { isSecret, fileBytesMax });
    },
    sessions: () =>
      store
        .sessions()
        .toSorted((a, b) => b.lastMs - a.lastMs)
        .map(summaryOf),
    usage: () => usageOf(store),
    verify: (onProgress) => verify(store, onProgress),
    isDue: () => {
      try {
        return isDue(store, nowMs());
      } catch (error) {
        failureOf(error);
        return false;
      }
    },
    gc: (gcOptions = {}) =>
      collect(store, { snapshotsMax, bytesMax, ageMsMax }, nowMs(), gcOptions, () => noted.contents(nowMs())),
  };
}

/** The check reads the store folder, so it must not run after every change, nor right after the first ones. */
const [everyMs, delayMs] = [3_600_000, 5_000];

/** Automatic collection, to be called after something was stored. It ignores failures and keeps no process alive. */
export function createUpkeep(collect: () => Promise<unknown>, nowMs: () => number): () => void {
  let lookedMs = Number.NEGATIVE_INFINITY;
  return () => {
    if (nowMs() - lookedMs < everyMs) return;
    lookedMs = nowMs();
    setTimeout(() => void collect().catch(() => undefined), delayMs).unref();
  };
}

async function usageOf(store: HistoryStore): Promise<Usage> {
  const all = new Set<string>();
  let contentBytes = 0;
  for await (const { content, bytes } of store.blobs()) {
    all.add(content); // a content may be in two places for a while
    contentBytes += bytes;
  }
  const sessions = store.sessions();
  const journalBytes = sessions.reduce((sum, { bytes }) => sum + bytes, 0);
  const asideBytes = store.asideBytes();
  const starts: number[] = [];
  for (const session of sessions) starts.push(await startOf(session, store));
  const [oldestMs] = starts.toSorted((a, b) => a - b);
  const bytes = contentBytes + journalBytes + asideBytes;
  return { bytes, contents: all.size, contentBytes, journalBytes, asideBytes, sessions: sessions.length, oldestMs };
}

async function startOf({ session, lastMs, start }: StoredSession, store: HistoryStore): Promise<number> {
  if (start !== undefined) return start.timeMs;
  try {
    await store.refresh?.(session);
    return storyOf(store.records(session).entries).start?.timeMs ?? lastMs;
  } catch (error) {
    unreadable(error);
    return lastMs;
  }
}

interface Verified {
  readonly records: number;
  readonly contents: number;
  readonly faults: readonly StoreFault[];
}

/** Contents checked between two yields to the event loop: most are small. */
const turnEvery = 64;

/** Checks every line of every journal, every content by its hash, and that each content that a record needs exists. */
async function verify(
  store: HistoryStore,
  onProgress: (done: number, total: number) => void = () => undefined,
): Promise<Verified> {
  const faults: StoreFault[] = [];
  const needed = new Map<string, string>();
  let records = 0;
  const orFault = <Result>(read: () => Result, instead: Result): Result => {
    try {
      return read();
    } catch (error) {
      faults.push(unreadable(error));
      return instead;
    }
  };
  await store.refresh?.();
  for (const { session } of orFault(() => store.sessions(), [])) {
    await store.refresh?.(session);
    const read = orFault(() => store.records(session), { entries: [], faults: [] });
    records += read.entries.length;
    faults.push(...read.faults);
    for (const content of contentsOf(storyOf(read.entries))) needed.set(content, session);
    await yieldToEventLoop();
  }
  const stored: BlobSize[] = [];
  try {
    for await (const one of store.blobs()) stored.push(one);
  } catch (error) {
    faults.push(unreadable(error));
  }
  const all = new Set([...needed.keys(), ...stored.map(({ content }) => content)]);
  let done = 0;
  for (const content of all) {
    const file = await store.openBlob(content).catch(unreadable);
    if (typeof file === "object") {
      if ("fault" in file) faults.push(file);
      else file.close();
    } else {
      const session = needed.get(content);
      const fault = file === "missing" ? "missing content" : "damaged content";
      faults.push({ fault, content, ...(session === undefined ? {} : { session }) });
    }
    done += 1;
    onProgress(done, all.size);
    if (done % turnEvery === 0) await yieldToEventLoop();
  }
  return { records, contents: all.size, faults };
}

/** A file that the system cannot read is a fault of the store; a bug is thrown on. */
function unreadable(error: unknown): StoreFault {
  if (error instanceof StoreFailed) return { fault: "unreadable", file: error.path };
  throw error;
}
