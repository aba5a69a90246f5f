/** Keeps the store within its limits: removes old sessions, turns, whole sessions, and contents no record needs. */

import { runInSlices, yieldToEventLoop } from "../disk/disk.ts";
import { collectingContents, shortening, shortenTo } from "./snapshots.ts";
import type { HistoryStore, StoredSession } from "../state/state.ts";

export interface Limits {
  readonly snapshotsMax: number;
  readonly bytesMax: number;
  readonly ageMsMax: number;
}

export interface CollectOptions {
  /** Does nothing if the last collection is more recent than this. */
  readonly unlessWithinMs?: number;
  /** Does nothing unless a collection is due (`History.isDue`): for automatic runs. */
  readonly ifDue?: boolean;
  /** Younger contents stay, since their record may come next. Use 0 only if no other process is running. */
  readonly graceMs?: number;
  readonly onProgress?: (done: number, total: number) => void;
}

export interface Collected {
  readonly sessionsRemoved: number;
  readonly contentsRemoved: number;
  readonly bytesRemoved: number;
  /** Still above the limit, because sessions in use need more. */
  readonly over: boolean;
}

const graceMsDefault = 3_600_000;
/** A session with more recent writes is in use and is not removed for its size. */
const inUseMs = 3_600_000;

export async function collect(
  store: HistoryStore,
  limits: Limits,
  nowMs: number,
  options: CollectOptions,
  alsoNeeded: () => Iterable<string> = () => [],
): Promise<Collected | "not due"> {
  const { unlessWithinMs, ifDue = false, graceMs = graceMsDefault, onProgress } = options;
  if (ifDue && !isDue(store, nowMs)) return "not due";
  if (unlessWithinMs !== undefined && isWithin(store.collectedMs(), unlessWithinMs, nowMs)) return "not due";
  await store.refresh?.();
  await store.markCollecting(true);
  try {
    return await collectNow(store, limits, nowMs, graceMs, alsoNeeded, onProgress);
  } finally {
    await store.markCollecting(false);
  }
}

const isWithin = (timeMs: number | undefined, withinMs: number, nowMs: number): boolean =>
  timeMs !== undefined && Math.abs(nowMs - timeMs) < withinMs;

/** A killed collection excludes others for this long. */
const busyMs = 600_000;
const isBusy = (store: HistoryStore, nowMs: number): boolean => isWithin(store.collectingMs(), busyMs, nowMs);

/** The time between automatic collections. */
const dayMs = 86_400_000;

/** One automatic collection a day, and one more when the contents set aside may go. A new store's day begins now. */
export function isDue(store: HistoryStore, nowMs: number): boolean {
  const last = store.collectedMs();
  if (last === undefined) {
    if (store.sessions().length > 0) void store.markCollected();
    return false;
  }
  if (isBusy(store, nowMs) || isWithin(last, graceMsDefault, nowMs)) return false;
  return !isWithin(last, dayMs, nowMs) || store.asideBytes() > 0;
}

async function collectNow(
  store: HistoryStore,
  limits: Limits,
  nowMs: number,
  graceMs: number,
  alsoNeeded: () => Iterable<string>,
  onProgress: CollectOptions["onProgress"],
): Promise<Collected> {
  const sessions = store.sessions().toSorted((a, b) => a.lastMs - b.lastMs);
  const tooOld = sessions.filter(({ lastMs }) => nowMs - lastMs > limits.ageMsMax);
  for (const { session } of tooOld) await store.removeSession(session);
  const kept = sessions.slice(tooOld.length);
  for (const [index, { session }] of kept.entries()) {
    await shorten(store, session, limits.snapshotsMax);
    onProgress?.(index + 1, kept.length + 1);
    await yieldToEventLoop();
  }
  const fitted = await fit(store, kept, limits, nowMs);
  const swept = await sweep(store, graceMs, alsoNeeded);
  await store.markCollected();
  onProgress?.(kept.length + 1, kept.length + 1);
  return {
    sessionsRemoved: tooOld.length + fitted.removed,
    contentsRemoved: swept.removed,
    bytesRemoved: swept.bytes,
    over: fitted.over,
  };
}

/** In time slices: a journal may be long. */
async function contentsIn(store: HistoryStore, session: string): Promise<ReadonlySet<string>> {
  await store.refresh?.(session);
  return runInSlices(
    (function* () {
      const { entries } = yield* store.reading(session);
      return yield* collectingContents(entries);
    })(),
  );
}

/** Checks without a lock first: an active session must not wait for a collection that has nothing to do. */
async function shorten(store: HistoryStore, session: string, snapshotsMax: number): Promise<void> {
  await store.refresh?.(session);
  const short = await runInSlices(
    (function* () {
      const { entries } = yield* store.reading(session);
      return yield* shortening(entries, snapshotsMax);
    })(),
  );
  if (short !== undefined) await store.rewrite(session, shortenTo(snapshotsMax));
}

interface Needs {
  readonly session: string;
  readonly lastMs: number;
  readonly journalBytes: number;
  contents: ReadonlySet<string>;
}

/** Removes unused sessions, oldest first, then turns of the others down to first versions, until the store fits. */
async function fit(
  store: HistoryStore,
  sessions: readonly StoredSession[],
  { bytesMax, snapshotsMax }: Limits,
  nowMs: number,
): Promise<{ readonly removed: number; readonly over: boolean }> {
  const needsOf = (session: string): Promise<ReadonlySet<string>> => contentsIn(store, session);
  const tally = await startTally(store);
  const needs: Needs[] = [];
  for (const { session, lastMs, bytes } of sessions) {
    const one = { session, lastMs, journalBytes: bytes, contents: await needsOf(session) };
    tally.count(one, 1);
    needs.push(one);
    await yieldToEventLoop();
  }

  let removed = 0;
  for (const one of needs) {
    if (tally.bytes() <= bytesMax) return { removed, over: false };
    if (nowMs - one.lastMs < inUseMs) break;
    await store.removeSession(one.session);
    tally.count(one, -1);
    removed += 1;
  }
  for (const turns of [Math.floor(snapshotsMax / 2), Math.floor(snapshotsMax / 10), 1, 0]) {
    for (const one of needs.slice(removed)) {
      if (tally.bytes() <= bytesMax) return { removed, over: false };
      await shorten(store, one.session, turns);
      tally.count(one, -1);
      one.contents = await needsOf(one.session);
      tally.count(one, 1);
    }
  }
  return { removed, over: tally.bytes() > bytesMax };
}

/** Bytes that sessions need; a content that several share counts once. */
async function startTally(store: HistoryStore) {
  const sizes = new Map<string, number>();
  for await (const { content, bytes } of store.blobs()) sizes.set(content, bytes);
  const users = new Map<string, number>();
  let total = 0;
  return {
    bytes: () => total,
    count({ contents, journalBytes }: Needs, by: 1 | -1) {
      total += by * journalBytes;
      for (const content of contents) {
        const now = (users.get(content) ?? 0) + by;
        if (now === (by === 1 ? 1 : 0)) total += by * (sizes.get(content) ?? 0);
        users.set(content, now);
      }
    },
  };
}

/** Asks last which contents are needed, and once more without grace, when everything unneeded has been moved aside. */
async function sweep(
  store: HistoryStore,
  graceMs: number,
  alsoNeeded: () => Iterable<string>,
): ReturnType<HistoryStore["sweep"]> {
  const once = async (): ReturnType<HistoryStore["sweep"]> => {
    const needed = new Set(alsoNeeded());
    await store.refresh?.();
    for (const { session } of store.sessions()) {
      for (const content of await contentsIn(store, session)) needed.add(content);
      await yieldToEventLoop();
    }
    return store.sweep((content) => needed.has(content), graceMs);
  };
  const first = await once();
  if (graceMs > 0) return first;
  const second = await once();
  return { removed: first.removed + second.removed, bytes: first.bytes + second.bytes };
}
