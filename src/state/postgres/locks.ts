/**
 * Locks on paths of a workspace for all nodes, as rows with a lease. A node that is gone loses its lease; one that was only stopped
 * finds out when it commits: the statement that records a change compares the fence (`append` in `migrations.ts`).
 */

import { StateFailed, type SharedLocks } from "../../contract/state.ts";
import type { Database } from "./database.ts";

/** A path as its bytes in UTF-8 give it back: half a character becomes the same sign as any other half. */
export const lockKey = (path: string): string => Buffer.from(path).toString("utf8");

/** By `lockKey`: the fence of a lock that this node has. */
export type HeldFences = Map<string, bigint>;

export interface PostgresLockOptions {
  readonly database: Database;
  readonly workspace: string;
  /** This node. */
  readonly holder: string;
  readonly fences: HeldFences;
  readonly limits?: Partial<typeof lockLimits>;
}

/** Local: a change takes milliseconds, so a lease is long for a slow node and short for those that wait for a dead one. */
export const lockLimits = { leaseMs: 10_000, renewMs: 3_000, waitMsMax: 30_000, pauseMsMax: 50 };

export function createPostgresLocks({
  database,
  workspace,
  holder,
  fences,
  limits = {},
}: PostgresLockOptions): SharedLocks {
  const { leaseMs, renewMs, waitMsMax, pauseMsMax } = { ...lockLimits, ...limits };
  /** A release that is under way: the next holder on this node waits for it instead of asking again and again. */
  const releasing = new Map<string, Promise<void>>();

  const release = (taken: ReadonlyMap<string, bigint>): void => {
    const paths = [...taken.keys()];
    const done = database
      .query("select release_locks($1, $2, $3, $4)", [
        workspace,
        paths.map((path) => Buffer.from(path)),
        holder,
        [...taken.values()].map(String),
      ])
      // A lock that cannot be released ends with its lease.
      .then(
        () => undefined,
        () => undefined,
      )
      .finally(() => {
        for (const path of paths) if (releasing.get(path) === done) releasing.delete(path);
      });
    for (const path of paths) releasing.set(path, done);
  };

  const take = async (paths: readonly string[]): Promise<Map<string, bigint> | "busy"> => {
    const rows = await database.query<{ path: Buffer; fence: string }>("select * from take_locks($1, $2, $3, $4)", [
      workspace,
      paths.map((path) => Buffer.from(path)),
      holder,
      leaseMs,
    ]);
    const taken = new Map(rows.map(({ path, fence }) => [path.toString("utf8"), BigInt(fence)]));
    if (taken.size === paths.length) return taken;
    if (taken.size > 0) release(taken);
    return "busy";
  };

  return {
    async exclusively(given, signal, work) {
      const paths = [...new Set(given.map(lockKey))].toSorted();
      const untilMs = performance.now() + waitMsMax;
      let taken: Map<string, bigint> | "busy" = "busy";
      for (let pauseMs = 2; ; pauseMs = Math.min(pauseMs * 2, pauseMsMax)) {
        signal.throwIfAborted();
        for (const path of paths) await releasing.get(path);
        taken = await take(paths);
        if (taken !== "busy") break;
        if (performance.now() > untilMs) throw new StateFailed("another node is at work on the file");
        // Jitter, so that waiting nodes do not try at the same moment.
        await new Promise((resolve) => setTimeout(resolve, pauseMs * (0.5 + Math.random() / 2)));
      }
      const own = taken;
      for (const [path, fence] of own) fences.set(path, fence);
      const renewal = setInterval(() => void renew(own), renewMs).unref();
      try {
        return await work([...own.values()].reduce((most, fence) => (fence > most ? fence : most), 0n));
      } finally {
        clearInterval(renewal);
        for (const [path, fence] of own) if (fences.get(path) === fence) fences.delete(path);
        release(own);
      }
    },
  };

  async function renew(own: ReadonlyMap<string, bigint>): Promise<void> {
    const values = [
      workspace,
      [...own.keys()].map((path) => Buffer.from(path)),
      holder,
      leaseMs,
      [...own.values()].map(String),
    ];
    await database
      .query(
        `update lock l set until = clock_timestamp() + $4 * interval '1 millisecond'
           from unnest($2::bytea[], $5::bigint[]) as given(path, fence)
           where l.workspace = $1 and l.path = given.path and l.holder = $3 and l.fence = given.fence and l.until > clock_timestamp()`,
        values,
      )
      .catch(() => undefined); // the lease runs out, and the commit is refused
  }
}
