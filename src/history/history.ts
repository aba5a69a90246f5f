/** What files were before we changed them, over all sessions, and how to go back. */

import * as nodePath from "node:path";
import { type Collected, type CollectOptions, collect, isDue } from "./collect.ts";
import { openFileStore } from "./file-store.ts";
import { type Usage, usageOf, type Verified, verify } from "./inspect.ts";
import { failureOf } from "./keeping.ts";
import { openSessionHistory, type SessionHistory, type SessionStart } from "./session-history.ts";
import { storyOf, turnsWithChanges } from "./snapshots.ts";
import type { HistoryStore, SessionUsage } from "./store.ts";

/** With it, what the toolkit loads for a history is one file of code. */
export { createUpkeep } from "./upkeep.ts";

export interface HistoryOptions {
  /** The state folder; history is in `history/` below it, and is made when something is first kept. */
  readonly stateDir: string;
  /** Files that are never stored. It is asked with the real path. */
  readonly isSecret: (path: string) => boolean;
  readonly nowMs: () => number;
  /** Turns with changes that a session can go back to one by one. */
  readonly snapshotsMax?: number;
  /** Over all sessions. */
  readonly bytesMax?: number;
  /** Since a session was last written to. */
  readonly ageMsMax?: number;
  /** Of one version of one file. */
  readonly fileBytesMax?: number;
  /** Sync all that is kept before the change is made. */
  readonly durable?: boolean;
  /** Another store than that of files. */
  readonly store?: HistoryStore;
  /** After something was kept. */
  readonly onKept?: () => void;
  /** For tests; see `disk/lock.ts`. */
  readonly lockFolder?: string;
}

export interface SessionSummary {
  readonly id: string;
  readonly roots: readonly string[];
  readonly dialect: string;
  readonly startedMs: number | undefined;
  readonly lastMs: number;
  /** Turns that changed something. */
  readonly turns: number;
}

export interface History {
  /** A session that begins or goes on. Nothing is written before it changes something. */
  session(start: SessionStart): SessionHistory;
  /** Newest first. */
  sessions(): readonly SessionSummary[];
  usage(): Usage;
  verify(onProgress?: (done: number, total: number) => void): Promise<Verified>;
  /** Is a collection due that nobody asked for? Never throws for a store that cannot be used: then it is not. */
  isDue(): boolean;
  /** To be called now and then; several processes may. */
  gc(options?: CollectOptions): Promise<Collected | "not due">;
}

export const historyDefaults = {
  snapshotsMax: 100,
  bytesMax: 2_147_483_648,
  ageMsMax: 30 * 86_400_000,
} as const satisfies Record<string, number>;

/** Touches nothing until it is used. What the store refuses is thrown as StoreFailed (code IO_ERROR), but not by `keep` and its like. */
export function openHistory(options: HistoryOptions): History {
  const { nowMs, isSecret, snapshotsMax, bytesMax, ageMsMax } = { ...historyDefaults, ...options };
  const { durable = false, fileBytesMax = bytesMax, lockFolder, onKept } = options;
  const folder = nodePath.join(options.stateDir, "history");
  const store = options.store ?? openFileStore({ folder, durable, lockFolder });
  /** By session, each for one state of its journal: a command asks several times. */
  const summaries = new Map<string, { readonly state: string; readonly summary: SessionSummary }>();
  const summaryOf = ({ session, lastMs }: SessionUsage): SessionSummary => {
    const state = store.state(session);
    const known = summaries.get(session);
    if (known?.state === state) return known.summary;
    const story = storyOf(store.records(session).entries);
    const { roots = [], dialect = "", timeMs: startedMs } = story.start ?? {};
    const summary = { id: session, roots, dialect, startedMs, lastMs, turns: turnsWithChanges(story).length };
    summaries.set(session, { state, summary });
    return summary;
  };
  return {
    session: (start) => openSessionHistory({ start, store, nowMs, snapshotsMax, isSecret, fileBytesMax, onKept }),
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
    gc: (gcOptions = {}) => collect(store, { snapshotsMax, bytesMax, ageMsMax }, nowMs(), gcOptions),
  };
}
