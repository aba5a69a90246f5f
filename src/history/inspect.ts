/** How much the store holds, and whether all of it is as it was written. */

import type { StoreFault } from "../contract/history.ts";
import { StoreFailed } from "../disk/store-folder.ts";
import { othersTurn } from "../disk/others-turn.ts";
import { contentsOf, storyOf } from "./snapshots.ts";
import type { HistoryStore, SessionUsage } from "./store.ts";

export interface Usage {
  readonly bytes: number;
  readonly contents: number;
  readonly contentBytes: number;
  readonly journalBytes: number;
  /** Of contents that nobody needs any more and the next collection removes. */
  readonly asideBytes: number;
  readonly sessions: number;
  /** When the oldest session that is kept began. */
  readonly oldestMs: number | undefined;
}

export function usageOf(store: HistoryStore): Usage {
  const all = new Set<string>();
  let contentBytes = 0;
  for (const { content, bytes } of store.blobs()) {
    all.add(content); // for a while it may lie in two places
    contentBytes += bytes;
  }
  const contents = all.size;
  const sessions = store.sessions();
  const journalBytes = sessions.reduce((sum, { bytes }) => sum + bytes, 0);
  const asideBytes = store.asideBytes();
  const oldestMs = sessions.reduce<number | undefined>((oldest, session) => {
    const startedMs = startOf(session, store);
    return oldest === undefined ? startedMs : Math.min(oldest, startedMs);
  }, undefined);
  return {
    bytes: contentBytes + journalBytes + asideBytes,
    contents,
    contentBytes,
    journalBytes,
    asideBytes,
    sessions: sessions.length,
    oldestMs,
  };
}

/** Where the beginning cannot be read, all that is known is when something was last written. */
function startOf({ session, lastMs }: SessionUsage, store: HistoryStore): number {
  try {
    return storyOf(store.records(session).entries).start?.timeMs ?? lastMs;
  } catch (error) {
    unreadable(error);
    return lastMs;
  }
}

export interface Verified {
  readonly records: number;
  readonly contents: number;
  readonly faults: readonly StoreFault[];
}

/** Contents that are checked in one go: most are small. */
const turnEvery = 64;

/** Every line of every journal, every content by its hash, and whether each content that a record needs is there. */
export async function verify(
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
  for (const { session } of orFault(() => store.sessions(), [])) {
    const read = orFault(() => store.records(session), { entries: [], faults: [] });
    records += read.entries.length;
    faults.push(...read.faults);
    for (const content of contentsOf(storyOf(read.entries))) needed.set(content, session);
    await othersTurn();
  }
  const stored = orFault(() => [...store.blobs()], []);
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
    if (done % turnEvery === 0) await othersTurn();
  }
  return { records, contents: all.size, faults };
}

/** What the system refuses to read is a fault like others; a bug is thrown on. */
function unreadable(error: unknown): StoreFault {
  if (error instanceof StoreFailed) return { fault: "unreadable", file: error.path };
  throw error;
}
