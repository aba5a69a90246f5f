/**
 * One journal per session: a folder with the file that is appended to (`log`), files that compaction took out of use
 * (`old-…`), and its result (`base`). Appending takes no lock:
 *
 * 1. Compaction renames `log` away. A process that still has it open appends, sees that the name belongs to another
 * file, and appends again to that one; ids reveal duplicate entries.
 * 2. So everything acknowledged before is in the old file, which is read after the rename, and another rename puts
 * `base` in place. `base` names the old files that it contains; they are removed last.
 *
 * If compaction is killed at any moment, the files still yield the same entries. Only compactions exclude each other,
 * by a lock.
 */

import { createHash, randomBytes } from "node:crypto";
import type { HistoryRecord, StartRecord, StoreFault } from "../../contract/history.ts";
import { createLocks, type Locks, type StoreFolder } from "../../disk/disk.ts";
import { finish, type Steps } from "../../text/text.ts";
import { decodeLines, decodingLines, encodeEntry, type Entry } from "./record.ts";
import type { HistoryStore, SessionRecords, StoredSession } from "../history-store.ts";

type Journals = Pick<
  HistoryStore,
  "append" | "records" | "reading" | "state" | "sessions" | "rewrite" | "removeSession"
>;

/** Entries that may be duplicates: those of processes that appended while a file was taken out of use. */
const rememberedIdsMax = 256;
/** A compaction in another process moves files once, so a second attempt nearly always succeeds. */
const triesMax = 20;

export function openJournals(folder: StoreFolder, lockFolder: string | undefined): Journals {
  const series = randomBytes(6).toString("hex");
  let count = 0;
  let locks: Locks | undefined;
  const entryOf = (record: HistoryRecord): Entry => {
    count += 1;
    return { id: `${series}-${count.toString(36)}`, record };
  };

  const rewriteNow = (session: string, rewrite: Parameters<Journals["rewrite"]>[1]): void => {
    const place = placeOf(session);
    const before = readOnce(folder, place);
    const planned = rewrite(before.entries);
    if (planned === undefined) return;
    // Ascending, whatever the clock says, and never a name used before: `base` may still refer to that one.
    const last = Math.max(0, ...before.olds.map((old) => Number.parseInt(old.slice("old-".length), 10) || 0));
    const old = `old-${String(last + 1).padStart(8, "0")}-${randomBytes(6).toString("hex")}`;
    folder.rename(`${place}/log`, `${place}/${old}`);
    // Read again, now that no process appends to it unnoticed; without the log that was begun since.
    const { entries, olds } = readOnce(folder, place, { log: "left out" });
    const records = rewrite(entries) ?? entries.map(({ record }) => record);
    const known = entries.flatMap(({ id, record }) => (record.type === "base" ? record.ids : [id]));
    const ids = known.slice(-rememberedIdsMax);
    const pruned = records.flatMap((record) => (record.type === "base" ? record.pruned : []));
    const base: HistoryRecord = { type: "base", absorbed: olds, ids, pruned };
    // Unchanged records keep their ids: the outcome of a change in progress will refer to them.
    const idOf = new Map(entries.map(({ id, record }) => [record, id]));
    const lines = [base, ...records.filter(({ type }) => type !== "base")].map((record) => {
      const id = idOf.get(record);
      return encodeEntry(id === undefined ? entryOf(record) : { id, record });
    });
    folder.put(`${place}/base`, Buffer.from(lines.join("")));
    for (const name of olds) folder.remove(`${place}/${name}`);
  };

  return {
    append(session, records) {
      const entries = records.map(entryOf);
      folder.append(`${placeOf(session)}/log`, Buffer.from(entries.map(encodeEntry).join("")));
      return { ids: entries.map(({ id }) => id), stored: undefined };
    },
    records: (session) => finish(reading(folder, session)),
    reading: (session) => reading(folder, session),
    state: (session) => stateOf(folder, placeOf(session)),
    sessions: () =>
      folder.list("sessions").flatMap((name): StoredSession[] => {
        const usage = usageOf(folder, `sessions/${name}`);
        return usage === undefined ? [] : [usage];
      }),
    async rewrite(session, rewrite) {
      locks ??= createLocks({ folder: lockFolder });
      const name = createHash("sha256")
        .update(`${folder.path}\n${placeOf(session)}`)
        .digest("hex");
      const key = { folder: { device: 0n, inode: 0n }, name };
      await locks.exclusively([key], new AbortController().signal, async () => rewriteNow(session, rewrite));
    },
    removeSession(session) {
      const gone = `removed/${randomBytes(8).toString("hex")}`;
      folder.rename(placeOf(session), gone);
      folder.remove("removed"); // including what a killed process left
    },
  };
}

/** A session whose name is lost to damage is named by its place, so that its contents still count as needed. */
const nameless = /^sessions\/h-[0-9a-f]{40}$/u;

/** Names that every file system distinguishes are kept for people; others become a hash. */
function placeOf(session: string): string {
  if (nameless.test(session)) return session;
  const isPlain = /^[a-z0-9][a-z0-9_-]{0,99}$/u.test(session);
  return `sessions/${isPlain ? `s-${session}` : `h-${createHash("sha256").update(session).digest("hex").slice(0, 40)}`}`;
}

interface ReadOnce extends SessionRecords {
  /** Files taken out of use whose entries are not in `base`, and those that are and still exist. */
  readonly olds: readonly string[];
}

/** If a compaction moves files during the read, reads again. */
function* reading(folder: StoreFolder, session: string): Steps<SessionRecords> {
  const place = placeOf(session);
  for (let tries = 1; ; tries += 1) {
    const before = layoutOf(folder, place);
    const found = yield* readingOnce(folder, place, { session });
    if (before === layoutOf(folder, place) || tries === triesMax) return found;
  }
}

function layoutOf(folder: StoreFolder, place: string): string {
  const parts = folder.list(place).map((name) => `${name}:${folder.look(`${place}/${name}`)?.inode}`);
  return parts.toSorted().join("\n");
}

/** Files are only appended to or replaced, so sizes and inodes suffice; a time is added because inodes are reused. */
function stateOf(folder: StoreFolder, place: string): string {
  const parts = folder.list(place).map((name) => {
    const stored = folder.look(`${place}/${name}`);
    return `${name}:${stored?.inode}:${stored?.sizeBytes}:${stored?.mtimeNs}`;
  });
  return parts.toSorted().join("\n");
}

interface ReadOptions {
  readonly session?: string;
  readonly log?: "read" | "left out";
}

const readOnce = (folder: StoreFolder, place: string, options?: ReadOptions): ReadOnce =>
  finish(readingOnce(folder, place, options));

function* readingOnce(
  folder: StoreFolder,
  place: string,
  { session = "", log = "read" }: ReadOptions = {},
): Steps<ReadOnce> {
  const parts: (readonly Entry[])[] = [];
  const faults: StoreFault[] = [];
  const take = function* (file: string): Steps<void> {
    const bytes = folder.read(`${place}/${file}`);
    if (bytes === undefined) return;
    const decoded = yield* decodingLines(bytes);
    for (const atByte of decoded.damagedAt) faults.push({ fault: "damaged line", session, file, atByte });
    parts.push(decoded.entries);
  };
  yield* take("base");
  const first = parts[0]?.[0]?.record;
  const base = first?.type === "base" ? first : undefined;
  const absorbed = base?.absorbed ?? [];
  const olds = folder
    .list(place)
    .filter((name) => name.startsWith("old-"))
    .toSorted();
  for (const old of olds) if (!absorbed.includes(old)) yield* take(old);
  if (log === "read") yield* take("log");
  return { entries: eachOnce(parts, base?.ids ?? []), faults, olds };
}

/** An entry appended while a file was taken out of use occurs twice: there, and in the file that replaced it. */
function eachOnce(parts: readonly (readonly Entry[])[], absorbed: readonly string[]): readonly Entry[] {
  const [first = [], ...others] = parts;
  if (others.length === 0) return first;
  const seen = new Set(absorbed);
  for (const { id } of first) seen.add(id);
  const entries = [...first];
  for (const part of others) {
    for (const entry of part) {
      if (seen.has(entry.id)) continue;
      seen.add(entry.id);
      entries.push(entry);
    }
  }
  return entries;
}

/** Reads only the beginning: there may be thousands of sessions. */
function usageOf(folder: StoreFolder, place: string): StoredSession | undefined {
  let [bytes, lastMs] = [0, 0];
  let start: StartRecord | undefined;
  for (const name of folder.list(place)) {
    using file = folder.open(`${place}/${name}`);
    if (file === undefined) continue;
    bytes += file.sizeBytes;
    lastMs = Math.max(lastMs, Number(file.mtimeNs / 1_000_000n));
    start ??= startIn(file);
  }
  if (bytes === 0) return undefined;
  return { session: start?.session ?? place.replace(/^sessions\/s-/u, ""), bytes, lastMs, start };
}

/** The session's name is in the first record; most are shorter than the first, smaller attempt. */
const headBytesMax = 262_144;

function startIn(file: {
  readonly sizeBytes: number;
  read(into: Uint8Array, at: number): number;
}): StartRecord | undefined {
  for (const limit of [4_096, headBytesMax, file.sizeBytes]) {
    const head = Buffer.allocUnsafe(Math.min(limit, file.sizeBytes));
    const { entries } = decodeLines(head.subarray(0, file.read(head, 0)));
    for (const { record } of entries) if (record.type === "start") return record;
    if (limit >= file.sizeBytes) break;
  }
  return undefined;
}
