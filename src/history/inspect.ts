/** How much the store holds, and whether all of it is as it was written. */

import type { StoreFault } from "../contract/history.ts";
import { contentsOf, storyOf } from "./snapshots.ts";
import type { HistoryStore } from "./store.ts";

export interface Usage {
  readonly bytes: number;
  readonly contents: number;
  readonly contentBytes: number;
  readonly journalBytes: number;
  readonly sessions: number;
  /** The last change of the session that was left alone for longest. */
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
  const oldestMs = sessions.length === 0 ? undefined : Math.min(...sessions.map(({ lastMs }) => lastMs));
  return {
    bytes: contentBytes + journalBytes,
    contents,
    contentBytes,
    journalBytes,
    sessions: sessions.length,
    oldestMs,
  };
}

export interface Verified {
  readonly records: number;
  readonly contents: number;
  readonly faults: readonly StoreFault[];
}

/** Every line of every journal, every content by its hash, and whether each content that a record needs is there. */
export async function verify(
  store: HistoryStore,
  onProgress: (done: number, total: number) => void = () => undefined,
): Promise<Verified> {
  const faults: StoreFault[] = [];
  const needed = new Map<string, string>();
  let records = 0;
  for (const { session } of store.sessions()) {
    const read = store.records(session);
    records += read.entries.length;
    faults.push(...read.faults);
    for (const content of contentsOf(storyOf(read.entries))) needed.set(content, session);
  }
  const all = new Set([...needed.keys(), ...[...store.blobs()].map(({ content }) => content)]);
  let done = 0;
  for (const content of all) {
    const file = await store.openBlob(content);
    if (typeof file !== "string") file.close();
    else {
      const session = needed.get(content);
      const fault = file === "missing" ? "missing content" : "damaged content";
      faults.push({ fault, content, ...(session === undefined ? {} : { session }) });
    }
    done += 1;
    onProgress(done, all.size);
  }
  return { records, contents: all.size, faults };
}
