/** A store in memory: what a database behind the interface has to do, and no more. */

import { createHash } from "node:crypto";
import type { HistoryRecord } from "../../src/contract/history.ts";
import { wholeFile } from "../../src/disk/lookup/open-file.ts";
import { openBytes } from "../../src/state/state.ts";
import type { Entry } from "../../src/state/state.ts";
import type { HistoryStore } from "../../src/state/state.ts";

export function memoryStore(): HistoryStore {
  const sessions = new Map<string, { entries: Entry[]; lastMs: number; version: number }>();
  const blobs = new Map<string, Buffer>();
  const times = new Map<"collected" | "collecting", number>();
  let ids = 0;
  const entryOf = (record: HistoryRecord): Entry => ({ id: String((ids += 1)), record });
  const sessionOf = (session: string) => {
    const known = sessions.get(session) ?? { entries: [], lastMs: 0, version: 0 };
    sessions.set(session, known);
    known.version += 1;
    known.lastMs = Date.now();
    return known;
  };
  const putBytes = async (bytes: Uint8Array): Promise<string> => {
    const content = createHash("sha256").update(bytes).digest("hex");
    blobs.set(content, Buffer.from(bytes));
    return content;
  };
  return {
    append(session, records) {
      const entries = records.map(entryOf);
      sessionOf(session).entries.push(...entries);
      return { ids: entries.map(({ id }) => id), stored: undefined };
    },
    records: (session) => ({ entries: sessions.get(session)?.entries ?? [], faults: [] }),
    *reading(session) {
      yield;
      return this.records(session);
    },
    state: (session) => String(sessions.get(session)?.version),
    sessions: () =>
      [...sessions].map(([session, { entries, lastMs }]) => ({
        session,
        lastMs,
        bytes: JSON.stringify(entries).length,
      })),
    async rewrite(session, rewrite) {
      const known = sessionOf(session);
      const idOf = new Map(known.entries.map(({ id, record }) => [record, id]));
      const records = rewrite(known.entries);
      if (records === undefined) return;
      known.entries = records.map((record) => ({ id: idOf.get(record) ?? entryOf(record).id, record }));
    },
    removeSession: (session) => void sessions.delete(session),
    putBytes,
    putFile: async ({ file, bytes }) => putBytes(bytes ?? (await wholeFile(file, 1_000_000_000)) ?? Buffer.alloc(0)),
    isLinkTo: () => false,
    async openBlob(content) {
      const bytes = blobs.get(content);
      return bytes === undefined ? "missing" : openBytes(bytes);
    },
    blobs: () => [...blobs].map(([content, { length }]) => ({ content, bytes: length })),
    async sweep(isNeeded) {
      const gone = [...blobs].filter(([content]) => !isNeeded(content));
      for (const [content] of gone) blobs.delete(content);
      return { removed: gone.length, bytes: gone.reduce((sum, [, { length }]) => sum + length, 0) };
    },
    asideBytes: () => 0,
    collectedMs: () => times.get("collected"),
    markCollected: () => void times.set("collected", Date.now()),
    collectingMs: () => times.get("collecting"),
    markCollecting: (isUnderWay) =>
      void (isUnderWay ? times.set("collecting", Date.now()) : times.delete("collecting")),
  };
}
