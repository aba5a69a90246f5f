/** State in PostgreSQL: one database for all nodes, one view of it for each workspace. Loaded only where `state` names one. */

import { randomBytes, randomUUID } from "node:crypto";
import type { SessionUsage } from "../folder/logs.ts";
import { type AuditEntry, StateFailed } from "../../contract/state.ts";
import {
  type Approvals,
  type Audit,
  type AuditRecord,
  type Events,
  type SavedSession,
  type SessionStore,
  type SharedEvent,
  type SharedWorkspaceState,
  type StoredToken,
  type Tokens,
  type UsageStore,
} from "../ports.ts";
import { type AuditSigner, bodyOf } from "../audit-chain.ts";
import { type Database, type DatabaseOptions, openDatabase } from "./database.ts";
import { openPostgresHistory } from "./history.ts";
import { createPostgresLocks, type HeldFences, type lockLimits } from "./locks.ts";
import { migrate, requireCurrent, type StateVersion, stateVersion } from "./migrations.ts";
import { createSharedPaths, type SharedPaths } from "./paths.ts";

export interface PostgresState {
  /** This process, among those that share the database. */
  readonly node: string;
  readonly tokens: Tokens;
  workspace(options: WorkspaceOptions): SharedWorkspaceState;
  version(): Promise<StateVersion>;
  migrate(): Promise<readonly number[]>;
  /** Throws StateFailed unless the database answers and its tables are those of this version. */
  check(): Promise<void>;
  /** Removes what is over: approvals and events that nobody asks for any more. */
  tidy(): Promise<void>;
  /** The names of the workspaces that have a history. */
  workspaces(): Promise<readonly string[]>;
  close(): Promise<void>;
}

export interface WorkspaceOptions {
  readonly name: string;
  /** Where this node has the workspace's roots. */
  readonly roots: readonly string[];
  readonly signer?: AuditSigner | undefined;
  readonly lockLimits?: Partial<typeof lockLimits>;
}

/** Events are for pages that watch; one that connects later reads the history. */
const eventsKept = "1 hour";
const channel = "filehand";
/** PostgreSQL takes 8,000 bytes in a notification, so it only names the row. */
const usagesMax = 10_000;

export async function openPostgresState(options: DatabaseOptions): Promise<PostgresState> {
  const database = await openDatabase(options);
  const node = randomUUID();
  return {
    node,
    tokens: tokensIn(database),
    workspace: ({ name: workspace, roots, signer, lockLimits: limits = {} }) => {
      const paths = createSharedPaths(roots);
      const fences: HeldFences = new Map();
      const place = { database, workspace };
      const locks = createPostgresLocks({ ...place, holder: node, fences, limits });
      return {
        name: workspace,
        history: openPostgresHistory({
          ...place,
          paths,
          fences,
          holder: node,
          signed: () => signEntries(database, workspace, signer),
        }),
        sessions: sessionsIn(database, workspace, paths),
        locks: {
          exclusively: (given, signal, work) =>
            locks.exclusively(
              given.map((path) => paths.encode(path)),
              signal,
              work,
            ),
        },
        approvals: approvalsIn(database, workspace),
        audit: auditIn(database, workspace, signer),
        usage: usageIn(database, workspace),
        events: eventsIn(database, workspace, node),
      };
    },
    version: () => stateVersion(database),
    migrate: () => migrate(database),
    check: async () => requireCurrent(await stateVersion(database)),
    tidy: async () => {
      await database.query("delete from approval where until < now()");
      await database.query(`delete from event where at < now() - interval '${eventsKept}'`);
    },
    workspaces: async () => {
      const rows = await database.query<{ workspace: string }>(
        "select distinct workspace from journal order by workspace",
      );
      return rows.map(({ workspace }) => workspace);
    },
    close: () => database.close(),
  };
}

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

/** Stored by us: a text that is no JSON any more is damage, and counts as nothing. */
function parsed(bytes: Buffer | null): unknown {
  try {
    return bytes === null ? null : JSON.parse(bytes.toString("utf8"));
  } catch {
    return undefined;
  }
}

function sessionsIn(database: Database, workspace: string, paths: SharedPaths): SessionStore {
  return {
    async load(session, version): Promise<SavedSession | undefined> {
      const rows = await database.query<{
        version: string;
        saved_at: Date;
        mode: string | null;
        rules: Buffer;
        path: Buffer | null;
        entry: Buffer | null;
      }>(
        `select s.version, s.saved_at, s.mode, s.rules, l.path, l.entry from session s
           left join ledger l on l.workspace = s.workspace and l.session = s.session and l.version > $3
             and ($3 > 0 or l.entry is not null)
           where s.workspace = $1 and s.session = $2 and s.version > $3`,
        [workspace, session, version],
      );
      const [first] = rows;
      if (first === undefined) return undefined;
      const rules = parsed(first.rules);
      return {
        version: Number(first.version),
        savedMs: first.saved_at.getTime(),
        mode: first.mode ?? undefined,
        rules: Array.isArray(rules) ? rules.filter((rule) => typeof rule === "string") : [],
        files: new Map(
          rows.flatMap(({ path, entry }) =>
            path === null ? [] : [[paths.decode(path.toString("utf8")), parsed(entry)] as const],
          ),
        ),
      };
    },
    async save(session, { mode, rules, files }, version) {
      const [row] = await database.query<{ saved: string | null }>(
        "select save_session($1, $2, $3, $4, $5, $6, $7) as saved",
        [
          workspace,
          session,
          version,
          mode ?? null,
          json(rules),
          [...files.keys()].map((path) => Buffer.from(paths.encode(path))),
          [...files.values()].map((entry) => (entry === null ? null : json(entry))),
        ],
      );
      return row?.saved == null ? "conflict" : Number(row.saved);
    },
    async forget(session) {
      for (const table of ["session", "ledger"]) {
        await database.query(`delete from ${table} where workspace = $1 and session = $2`, [workspace, session]);
      }
    },
  };
}

function approvalsIn(database: Database, workspace: string): Approvals {
  return {
    async put(id, value, secondsMax) {
      await database.query(
        "insert into approval (workspace, id, value, until) values ($1, $2, $3, now() + $4 * interval '1 second')",
        [workspace, id, Buffer.from(value), secondsMax],
      );
    },
    async take(id) {
      const [row] = await database.query<{ value: Buffer; in_time: boolean }>(
        "delete from approval where workspace = $1 and id = $2 returning value, until > now() as in_time",
        [workspace, id],
      );
      return row?.in_time === true ? row.value.toString("utf8") : undefined;
    },
    async secret(name) {
      await database.query("insert into secret (name, bytes) values ($1, $2) on conflict do nothing", [
        name,
        randomBytes(32),
      ]);
      const [row] = await database.query<{ bytes: Buffer }>("select bytes from secret where name = $1", [name]);
      if (row === undefined) throw new StateFailed("the database has lost a secret that it had just stored");
      return row.bytes;
    },
  };
}

function auditIn(database: Database, workspace: string, signer: AuditSigner | undefined): Audit {
  return {
    async append(entries: readonly AuditEntry[]) {
      if (entries.length === 0) return;
      const bodies = entries.map((entry) => Buffer.from(bodyOf(entry)));
      await database.query("select * from append_audit($1, $2)", [workspace, bodies]);
      await signEntries(database, workspace, signer);
    },
    async *records() {
      for (let after = 0; ; ) {
        const rows = await database.query<{
          seq: string;
          body: Buffer;
          previous: Buffer;
          hash: Buffer;
          signature: Buffer | null;
        }>(
          "select seq, body, previous, hash, signature from audit where workspace = $1 and seq > $2 order by seq limit 1000",
          [workspace, after],
        );
        for (const { seq, body, previous, hash, signature } of rows) {
          yield {
            seq: Number(seq),
            body: body.toString("utf8"),
            previous: previous.toString("hex"),
            hash: hash.toString("hex"),
            signature: signature?.toString("base64") ?? null,
          } satisfies AuditRecord;
        }
        const last = rows.at(-1);
        if (last === undefined) return;
        after = Number(last.seq);
      }
    },
    async head() {
      const [row] = await database.query<{ seq: string; hash: Buffer }>(
        "select seq, hash from audit_head where workspace = $1 and seq > 0",
        [workspace],
      );
      return row === undefined ? undefined : { seq: Number(row.seq), hash: row.hash.toString("hex") };
    },
  };
}

/** The hash of an entry is made in the database, so it is signed afterwards, by any node that has the key. */
async function signEntries(database: Database, workspace: string, signer: AuditSigner | undefined): Promise<void> {
  if (signer === undefined) return;
  const rows = await database.query<{ seq: string; hash: Buffer }>(
    "select seq, hash from audit where workspace = $1 and signature is null order by seq limit 1000",
    [workspace],
  );
  await database.query(
    `update audit a set signature = given.signature from unnest($2::bigint[], $3::bytea[]) as given(seq, signature)
       where a.workspace = $1 and a.seq = given.seq`,
    [workspace, rows.map(({ seq }) => seq), rows.map(({ hash }) => signer(hash))],
  );
}

interface TokenRow {
  readonly id: string;
  readonly principal: string;
  readonly scopes: string[];
  readonly workspaces: string[];
  readonly created_at: Date;
  readonly expires_at: Date | null;
}

const tokenOf = ({ id, principal, scopes, workspaces, created_at, expires_at }: TokenRow): StoredToken => ({
  id,
  principal,
  scopes,
  workspaces,
  createdMs: created_at.getTime(),
  expiresMs: expires_at?.getTime(),
});

function tokensIn(database: Database): Tokens {
  const columns = "id, principal, scopes, workspaces, created_at, expires_at";
  return {
    async add(hash, { id, principal, scopes, workspaces, createdMs, expiresMs }) {
      await database.query(
        `insert into token (hash, ${columns}) values ($1, $2, $3, $4, $5, to_timestamp($6), to_timestamp($7))`,
        [
          Buffer.from(hash, "hex"),
          id,
          principal,
          scopes,
          workspaces,
          createdMs / 1_000,
          expiresMs === undefined ? null : expiresMs / 1_000,
        ],
      );
    },
    async find(hash) {
      const [row] = await database.query<TokenRow>(`select ${columns} from token where hash = $1`, [
        Buffer.from(hash, "hex"),
      ]);
      return row === undefined ? undefined : tokenOf(row);
    },
    async list() {
      const rows = await database.query<TokenRow>(`select ${columns} from token order by created_at, id`);
      return rows.map(tokenOf);
    },
    async revoke(id) {
      const rows = await database.query("delete from token where id = $1 returning 1 as gone", [id]);
      return rows.length > 0;
    },
  };
}

function usageIn(database: Database, workspace: string): UsageStore {
  return {
    async add(usage) {
      await database.query("insert into usage (workspace, body) values ($1, $2)", [workspace, json(usage)]);
    },
    async list() {
      const rows = await database.query<{ body: Buffer }>(
        `select body from (select number, body from usage where workspace = $1 order by number desc limit ${usagesMax}) as latest
           order by number`,
        [workspace],
      );
      return rows.map(({ body }) => parsed(body) as SessionUsage); // written by `add`
    },
  };
}

function eventsIn(database: Database, workspace: string, node: string): Events {
  return {
    async publish(topic, body) {
      await database.query(
        `with stored as (insert into event (workspace, node, topic, body) values ($1, $2, $3, $4) returning number, tenant)
           select pg_notify('${channel}', tenant || ' ' || number) from stored`,
        [workspace, node, topic, Buffer.from(body)],
      );
    },
    async subscribe(listener) {
      // In order, although each event is fetched.
      let last: Promise<void> = Promise.resolve();
      const fetch = async (number: string): Promise<void> => {
        const [row] = await database.query<{ node: string; topic: string; body: Buffer }>(
          "select node, topic, body from event where number = $1 and workspace = $2",
          [number, workspace],
        );
        if (row !== undefined)
          listener({ node: row.node, topic: row.topic, body: row.body.toString("utf8") } satisfies SharedEvent);
      };
      return database.listen(channel, (payload) => {
        const [tenant, number = ""] = payload.split(" ");
        if (tenant !== database.tenant || !/^\d+$/.test(number)) return;
        last = last.then(() => fetch(number)).catch(() => undefined); // the database is away: what is missed is missed
      });
    },
  };
}
