/**
 * The history in PostgreSQL. Contents and records of one change travel in one statement; what is appended while a statement is under
 * way goes with the next one, so that many calls share one sync of the database's log. Reads answer from a copy in memory, which
 * `refresh` brings up to date by the version of the journal.
 */

import * as crypto from "node:crypto";
import { brotliCompressSync, brotliDecompressSync, constants } from "node:zlib";
import { dropOldest } from "../../contract/common.ts";
import type { HistoryRecord, StartRecord } from "../../contract/history.ts";
import { StoreFailed, wholeFile } from "../../disk/disk.ts";
import { bodyOf } from "../audit-chain.ts";
import { openBytes } from "../folder/blobs.ts";
import { decodeRecordText, type Entry } from "../folder/record.ts";
import type { Appended, BlobRead, BlobSize, HistoryStore, SessionRecords, StoredSession } from "../history-store.ts";
import { type AuditEntry, StateFailed } from "../../contract/state.ts";
import type { Database } from "./database.ts";
import { type HeldFences, lockKey } from "./locks.ts";
import type { SharedPaths } from "./paths.ts";

export interface PostgresHistoryOptions {
  readonly database: Database;
  readonly workspace: string;
  readonly paths: SharedPaths;
  /** The locks that this node has; a record about one of their files is refused if the lease ran out. */
  readonly fences: HeldFences;
  readonly holder: string;
  /** Signs the entries of the audit that have no signature yet. */
  readonly signed: () => Promise<void>;
}

/** Of one version of one file: larger ones are not kept, since they would pass through memory. */
const sharedFileBytesMax = 33_554_432;
/** Contents that wait for their record; more are sent by themselves. */
const pendingBytesMax = 16_777_216;
/** Larger contents are neither compressed nor sent together with others, since that would block the event loop. */
const togetherBytesMax = 1_048_576;
/** Bytes of contents in one statement. */
const statementBytesMax = 8_388_608;
/** Journals in memory; the least recently used goes first and is loaded again when it is needed. */
const journalsMax = 256;
/** Compressing less saves nothing. */
const compressedBytesMin = 512;
/** Contents that this node has stored or seen lately, so that they are not sent again. */
const knownMax = 10_000;
/** A content is touched again after this time, which keeps a collection away from it. */
const knownMs = 240_000;

interface Journal {
  version: number;
  readonly entries: Entry[];
  readonly ids: Set<string>;
}

interface Content {
  readonly content: string;
  readonly size: number;
  readonly compressed: boolean;
  readonly bytes: Uint8Array;
}

interface Pending {
  readonly contents: readonly Content[];
  readonly session: string;
  readonly entries: readonly Entry[];
  readonly audit: readonly AuditEntry[];
  readonly done: () => void;
  readonly failed: (error: unknown) => void;
}

export function openPostgresHistory({
  database,
  workspace,
  paths,
  fences,
  holder,
  signed,
}: PostgresHistoryOptions): HistoryStore {
  const series = crypto.randomBytes(6).toString("hex");
  let count = 0;
  const journals = new Map<string, Journal>();
  let sessions: readonly StoredSession[] = [];
  let meta: { readonly collectedMs: number | undefined; readonly collectingMs: number | undefined } = {
    collectedMs: undefined,
    collectingMs: undefined,
  };
  /** Contents until a statement with them has succeeded: several records that need one all take it along. */
  const unsent = new Map<string, Content>();
  let unsentBytes = 0;
  const known = new Map<string, number>();
  let queue: Pending[] = [];
  let sending: Promise<void> | undefined;
  /** The last append, whatever became of it: reads wait for it. */
  let lastAppend: Promise<unknown> | undefined;

  const journalOf = (session: string): Journal => {
    const journal = journals.get(session) ?? { version: 0, entries: [], ids: new Set() };
    journals.delete(session);
    journals.set(session, journal);
    dropOldest(journals, journalsMax);
    return journal;
  };

  const send = async (batch: readonly Pending[]): Promise<void> => {
    const contents = [...new Map(batch.flatMap((one) => one.contents).map((one) => [one.content, one])).values()];
    const entries = batch.flatMap(({ session, entries: own }) => own.map((entry) => ({ session, ...entry })));
    const texts = entries.map(({ record }) => Buffer.from(JSON.stringify(paths.encodeRecord(record))));
    const changed = entries.flatMap(({ record }) => (record.type === "change" ? [paths.encode(record.path)] : []));
    const audit = batch.flatMap((one) => one.audit);
    const held = [...new Set(changed)].flatMap((path) => {
      const fence = fences.get(lockKey(path));
      return fence === undefined ? [] : [{ path, fence }];
    });
    const rows = await database.query<{ session: string; version: string }>(
      "select * from append($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
      [
        workspace,
        contents.map(({ content }) => Buffer.from(content, "hex")),
        contents.map(({ size }) => size),
        contents.map(({ compressed }) => compressed),
        contents.map(({ bytes }) => bytes),
        entries.map(({ session }) => session),
        entries.map(({ id }) => id),
        texts,
        entries.map(({ record }, at) => (record.type === "start" ? texts[at] : null)),
        held.map(({ path }) => Buffer.from(path)),
        holder,
        held.map(({ fence }) => fence.toString()),
        audit.map((entry) => Buffer.from(bodyOf({ ...entry, path: paths.encode(entry.path) }))),
      ],
    );
    // Entries that stay without a signature get it with the next ones.
    if (audit.length > 0) await signed().catch(() => undefined);
    for (const { content } of contents) stored(content);
    for (const { session, version } of rows) {
      const own = entries.filter((entry) => entry.session === session);
      const journal = journals.get(session);
      // If others have appended meanwhile, the next refresh loads all of it in its order.
      if (Number(version) !== (journal?.version ?? 0) + own.length) continue;
      const { entries: all, ids } = journal ?? journalOf(session);
      for (const { id, record } of own) {
        ids.add(id);
        all.push({ id, record });
      }
      journalOf(session).version = Number(version);
    }
  };
  const stored = (content: string): void => {
    unsentBytes -= unsent.get(content)?.bytes.length ?? 0;
    unsent.delete(content);
    known.delete(content);
    known.set(content, Date.now());
    dropOldest(known, knownMax);
  };

  /** One statement at a time. If a lease was lost, the members are tried one by one, so that the others do not fail with it. */
  const drain = async (): Promise<void> => {
    while (queue.length > 0) {
      const batch = nextBatch();
      try {
        await send(batch);
        for (const { done } of batch) done();
      } catch (error) {
        const [only, ...others] = batch;
        if (others.length === 0) only?.failed(error);
        else if (!isLeaseLost(error)) for (const { failed } of batch) failed(error);
        else for (const one of batch) await send([one]).then(one.done, one.failed);
      }
    }
  };
  const nextBatch = (): readonly Pending[] => {
    const batch: Pending[] = [];
    let bytes = 0;
    for (const one of queue) {
      bytes += one.contents.reduce((sum, content) => sum + content.bytes.length, 0);
      if (batch.length > 0 && bytes > statementBytesMax) break;
      batch.push(one);
    }
    queue = queue.slice(batch.length);
    return batch;
  };
  const enqueue = (
    session: string,
    entries: readonly Entry[],
    contents: readonly Content[],
    audit: readonly AuditEntry[] = [],
  ): Promise<void> => {
    const appended = new Promise<void>((resolve, reject) => {
      queue.push({ contents, session, entries, audit, done: resolve, failed: (error) => reject(storeFailure(error)) });
      sending ??= drain().finally(() => (sending = undefined));
    });
    lastAppend = appended.catch(() => undefined);
    return appended;
  };
  const neededBy = (records: readonly HistoryRecord[]): readonly Content[] => {
    const ids = records.flatMap((record) => (record.type === "change" ? [record.before, record.after] : []));
    return ids.flatMap((version) => unsent.get((version.kind === "file" && version.content) || "") ?? []);
  };

  const entryOf = (record: HistoryRecord): Entry => {
    count += 1;
    return { id: `${series}-${count.toString(36)}`, record };
  };

  const putBytes = async (bytes: Uint8Array): Promise<string> => {
    const content = crypto.hash("sha256", bytes, "hex");
    const storedMs = known.get(content);
    if (unsent.has(content) || (storedMs !== undefined && Date.now() - storedMs < knownMs)) return content;
    if (bytes.length > togetherBytesMax) {
      await ask(
        `insert into content (workspace, sha256, size, compressed, bytes) values ($1, $2, $3, false, $4)
           on conflict (tenant, workspace, sha256) do update set used_at = now()`,
        [workspace, Buffer.from(content, "hex"), bytes.length, bytes],
      );
      stored(content);
      return content;
    }
    const packed = bytes.length < compressedBytesMin ? undefined : compress(bytes);
    const isSmaller = packed !== undefined && packed.length < bytes.length;
    // A copy: the caller's bytes may belong to a buffer that is used again.
    const kept = isSmaller ? packed : Buffer.from(bytes);
    unsent.set(content, { content, size: bytes.length, compressed: isSmaller, bytes: kept });
    unsentBytes += kept.length;
    if (unsentBytes > pendingBytesMax) await enqueue("", [], [...unsent.values()]);
    return content;
  };

  const load = async (session: string): Promise<void> => {
    await lastAppend;
    const journal = journalOf(session);
    const rows = await ask<{ version: string; id: string | null; body: Buffer | null }>(
      `select j.version, e.id, e.body from journal j
         left join entry e on e.workspace = j.workspace and e.session = j.session and e.seq > $3
         where j.workspace = $1 and j.session = $2 order by e.seq`,
      [workspace, session, journal.version],
    );
    const version = Number(rows[0]?.version ?? 0);
    if (version < journal.version) {
      // Another node has removed or shortened it.
      journals.delete(session);
      if (rows.length > 0) await load(session);
      return;
    }
    // A journal that was shortened begins with a record that says so, and is there as a whole.
    const found = rows.map(({ id, body }) => ({
      id,
      record: body === null ? undefined : decodeRecordText(body.toString("utf8")),
    }));
    const begins = found.findLastIndex(({ record }) => record?.type === "base");
    if (begins >= 0) {
      journal.entries.length = 0;
      journal.ids.clear();
    }
    for (const { id, record } of found.slice(Math.max(begins, 0))) {
      if (id === null || record === undefined || journal.ids.has(id)) continue;
      journal.ids.add(id);
      journal.entries.push({ id, record: paths.decodeRecord(record) });
    }
    journal.version = version;
  };

  const ask = async <Row extends object>(text: string, values: readonly unknown[]): Promise<readonly Row[]> => {
    try {
      return await database.query<Row>(text, values);
    } catch (error) {
      throw storeFailure(error);
    }
  };

  const list = async (): Promise<void> => {
    await lastAppend;
    const rows = await ask<{ session: string; bytes: string; last_at: Date; start: Buffer | null }>(
      "select session, bytes, last_at, start from journal where workspace = $1",
      [workspace],
    );
    sessions = rows.map(({ session, bytes, last_at, start }) => ({
      session,
      bytes: Number(bytes),
      lastMs: last_at.getTime(),
      start: startOf(start, paths),
    }));
    const [row] = await ask<{ collected_at: Date | null; collecting_at: Date | null }>(
      "select collected_at, collecting_at from workspace where workspace = $1",
      [workspace],
    );
    meta = { collectedMs: row?.collected_at?.getTime(), collectingMs: row?.collecting_at?.getTime() };
  };

  /** Own records are seen at once, in the place where they were appended. */
  const recordsOf = (session: string): SessionRecords => ({
    entries: [...(journals.get(session)?.entries ?? [])],
    faults: [],
  });

  return {
    isRequired: true,
    fileBytesMax: sharedFileBytesMax,
    refresh: (session) => (session === undefined ? list() : load(session)),
    append(session, records, audit): Appended {
      const entries = records.map(entryOf);
      return { ids: entries.map(({ id }) => id), stored: enqueue(session, entries, neededBy(records), audit) };
    },
    records: recordsOf,
    *reading(session) {
      yield;
      return recordsOf(session);
    },
    state: (session) => {
      const journal = journals.get(session);
      return journal === undefined ? "" : `${journal.version}:${journal.entries.length}`;
    },
    sessions: () => sessions,
    async rewrite(session, rewrite) {
      await load(session);
      if (rewrite(recordsOf(session).entries) === undefined) return;
      await orStoreFailed(() =>
        database.transaction(async (query) => {
          await query("select 1 from journal where workspace = $1 and session = $2 for update", [workspace, session]);
          const rows = await query<{ id: string; body: Buffer }>(
            "select id, body from entry where workspace = $1 and session = $2 order by seq",
            [workspace, session],
          );
          const entries = rows.flatMap(({ id, body }): Entry[] => {
            const record = decodeRecordText(body.toString("utf8"));
            return record === undefined ? [] : [{ id, record: paths.decodeRecord(record) }];
          });
          const records = rewrite(entries);
          if (records === undefined) return;
          // Unchanged records keep their ids: the outcome of a change in progress will refer to them.
          const idOf = new Map(entries.map(({ id, record }) => [record, id]));
          const texts = records.map((record) => Buffer.from(JSON.stringify(paths.encodeRecord(record))));
          await query("delete from entry where workspace = $1 and session = $2", [workspace, session]);
          // The numbers go on from the last one, so that other nodes notice that the journal is another one.
          await query(
            `insert into entry (workspace, session, seq, id, body)
               select $1, $2, j.version + given.place, given.id, given.body
               from journal j, unnest($3::text[], $4::bytea[]) with ordinality as given(id, body, place)
               where j.workspace = $1 and j.session = $2`,
            [workspace, session, records.map((record) => idOf.get(record) ?? entryOf(record).id), texts],
          );
          await query("update journal set version = version + $3, bytes = $4 where workspace = $1 and session = $2", [
            workspace,
            session,
            records.length,
            texts.reduce((sum, text) => sum + text.length, 0),
          ]);
        }),
      );
      journals.delete(session);
    },
    async removeSession(session) {
      journals.delete(session);
      await orStoreFailed(() =>
        database.transaction(async (query) => {
          for (const table of ["entry", "journal", "session", "ledger"]) {
            await query(`delete from ${table} where workspace = $1 and session = $2`, [workspace, session]);
          }
        }),
      );
      sessions = sessions.filter((one) => one.session !== session);
    },
    putBytes,
    async putFile({ file, bytes }) {
      const whole = bytes ?? (await wholeFile(file, sharedFileBytesMax));
      if (whole !== undefined && whole.length <= sharedFileBytesMax) return putBytes(whole);
      throw new StoreFailed("failed", `the content has more than ${sharedFileBytesMax} bytes`, "");
    },
    isLinkTo: () => false,
    async openBlob(content): Promise<BlobRead> {
      if (!/^[0-9a-f]{64}$/.test(content)) return "missing";
      const waiting = unsent.get(content);
      if (waiting !== undefined) return opened(content, waiting);
      await lastAppend;
      const [row] = await ask<{ compressed: boolean; bytes: Buffer; size: string }>(
        "select compressed, bytes, size from content where workspace = $1 and sha256 = $2",
        [workspace, Buffer.from(content, "hex")],
      );
      return row === undefined ? "missing" : opened(content, { ...row, size: Number(row.size) });
    },
    async *blobs(): AsyncIterable<BlobSize> {
      let after: Uint8Array = new Uint8Array();
      for (;;) {
        const rows = await ask<{ sha256: Buffer; bytes: number }>(
          "select sha256, length(bytes) as bytes from content where workspace = $1 and sha256 > $2 order by sha256 limit 5000",
          [workspace, after],
        );
        for (const { sha256, bytes } of rows) yield { content: sha256.toString("hex"), bytes };
        const last = rows.at(-1);
        if (last === undefined) return;
        after = last.sha256;
      }
    },
    async sweep(isNeeded, graceMs) {
      let [removed, bytes] = [0, 0];
      const unneeded: Buffer[] = [];
      for await (const { content } of this.blobs()) if (!isNeeded(content)) unneeded.push(Buffer.from(content, "hex"));
      for (let at = 0; at < unneeded.length; at += 1_000) {
        // The time is compared in the same statement: an append touches a content before it relies on it.
        const rows = await ask<{ bytes: number; sha256: Buffer }>(
          `delete from content where workspace = $1 and sha256 = any($2) and used_at <= now() - $3 * interval '1 millisecond'
             returning length(bytes) as bytes, sha256`,
          [workspace, unneeded.slice(at, at + 1_000), Math.max(graceMs, 0)],
        );
        removed += rows.length;
        for (const row of rows) {
          bytes += row.bytes;
          known.delete(row.sha256.toString("hex"));
        }
      }
      return { removed, bytes };
    },
    asideBytes: () => 0,
    collectedMs: () => meta.collectedMs,
    markCollected: () => mark("collected_at", "now()"),
    collectingMs: () => meta.collectingMs,
    markCollecting: (isUnderWay) => mark("collecting_at", isUnderWay ? "now()" : "null"),
  };

  async function mark(column: "collected_at" | "collecting_at", value: "now()" | "null"): Promise<void> {
    await ask(
      `insert into workspace (workspace, ${column}) values ($1, ${value})
         on conflict (tenant, workspace) do update set ${column} = excluded.${column}`,
      [workspace],
    );
  }
}

const startOf = (body: Buffer | null, paths: SharedPaths): StartRecord | undefined => {
  const record = body === null ? undefined : decodeRecordText(body.toString("utf8"));
  const decoded = record === undefined ? undefined : paths.decodeRecord(record);
  return decoded?.type === "start" ? decoded : undefined;
};

const compress = (bytes: Uint8Array): Buffer =>
  brotliCompressSync(bytes, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 1, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
  });

function opened(content: string, { compressed, bytes, size }: Omit<Content, "content">): BlobRead {
  try {
    const plain = compressed ? brotliDecompressSync(bytes, { maxOutputLength: Math.max(1, size) }) : bytes;
    return crypto.hash("sha256", plain, "hex") === content ? openBytes(plain) : "damaged";
  } catch {
    return "damaged";
  }
}

/** As `append` raises it (`migrations.ts`). */
const isLeaseLost = (error: unknown): boolean =>
  error instanceof StateFailed && (error.cause as { readonly code?: unknown } | undefined)?.code === "FH001";

/** The history knows one kind of failure of its store. */
const storeFailure = (error: unknown): unknown =>
  error instanceof StateFailed ? new StoreFailed("failed", error.message, "the database") : error;

async function orStoreFailed<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw storeFailure(error);
  }
}
