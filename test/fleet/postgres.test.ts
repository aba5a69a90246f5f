/** What only a database has: locks with a fence, events, approvals used once, tenants, migrations, time limits. */

import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { afterAll, beforeAll, describe, test } from "vitest";
import { openPostgresState, type PostgresState, type WorkspaceOptions } from "../../src/state/postgres/postgres.ts";
import type { DatabaseOptions } from "../../src/state/postgres/database.ts";
import { checkAudit } from "../../src/state/audit-chain.ts";
import { postgresMissing, startPostgres, type TestPostgres } from "../support/postgres.ts";

const never = new AbortController().signal;
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe.skipIf(postgresMissing !== undefined)(
  `PostgreSQL${postgresMissing === undefined ? "" : ` (${postgresMissing})`}`,
  () => {
    let server: TestPostgres;
    let url: string;
    const opened: PostgresState[] = [];
    const open = async (options: Partial<DatabaseOptions> = {}): Promise<PostgresState> => {
      const state = await openPostgresState({ url, ...options });
      opened.push(state);
      return state;
    };
    const node = async (options: Partial<WorkspaceOptions> = {}, of: Partial<DatabaseOptions> = {}) =>
      (await open(of)).workspace({ name: "w", roots: ["/work"], ...options });
    beforeAll(async () => {
      server = await startPostgres();
      url = server.database();
      await (await open()).migrate();
    });
    afterAll(async () => {
      for (const one of opened) await one.close();
      await server?.remove();
    });

    test("migrations run once, and not on tables of a newer program", async () => {
      const fresh = server.database();
      const [one, other] = [await open({ url: fresh }), await open({ url: fresh })];
      await rejects(one.check(), { message: /version 0 of \d+, run filehand state migrate/ });
      await rejects(one.tokens.list(), { name: "StateFailed", message: /run filehand state migrate/ });
      const applied = (await Promise.all([one.migrate(), other.migrate()])).flat();
      const { newest } = await one.version();
      deepEqual(
        applied,
        Array.from({ length: newest }, (_, at) => at + 1),
      );
      await one.check();
      server.sql(fresh, "insert into filehand.migration (version) values (99)");
      await rejects(one.migrate(), { message: /version 99, and this program knows \d+: update filehand/ });
      await rejects(one.check(), { message: /update filehand/ });
    });

    test("one node at a time has a lock, and its fence grows", async () => {
      const nodes = [await node(), await node(), await node()];
      let inside = 0;
      let value = 0;
      const fences: bigint[] = [];
      await Promise.all(
        nodes.flatMap(({ locks }) =>
          Array.from({ length: 10 }, () =>
            locks.exclusively(["/work/a", "/work/b"], never, async (fence) => {
              inside += 1;
              equal(inside, 1);
              fences.push(fence);
              const before = value;
              await pause(2);
              value = before + 1;
              inside -= 1;
            }),
          ),
        ),
      );
      equal(value, 30);
      deepEqual(
        fences,
        fences.toSorted((a, b) => (a < b ? -1 : 1)),
      );
    });

    test("a node whose lease ran out records nothing, and others go on", async () => {
      const slow = await node({ lockLimits: { leaseMs: 100, renewMs: 60_000 } });
      const quick = await node();
      const absent = { kind: "absent" } as const;
      const change = {
        type: "change",
        messageId: "m",
        path: "/work/late",
        relative: "late",
        before: absent,
        after: absent,
        tool: "Edit",
        timeMs: 1,
      } as const;
      await slow.locks.exclusively(["/work/late"], never, async () => {
        await pause(200);
        const fence = await quick.locks.exclusively(["/work/late"], never, async (own) => own);
        ok(fence > 0n);
        const late = slow.history.append("slow", [change]).stored;
        const beside = slow.history.append("slow", [{ ...change, path: "/work/other" }]).stored;
        await rejects(async () => late, { name: "StoreFailed", message: /lost its lock/ });
        await beside;
      });
      await slow.history.refresh?.("slow");
      deepEqual(
        slow.history.records("slow").entries.flatMap(({ record }) => (record.type === "change" ? [record.path] : [])),
        ["/work/other"],
      );
    });

    test("paths are those of the node that asks", async () => {
      const [here, there] = [await node({ name: "mounts" }), await node({ name: "mounts", roots: ["/mnt/elsewhere"] })];
      const start = { type: "start", session: "s", roots: ["/work"], dialect: "claude", timeMs: 1 } as const;
      await here.history.append("s", [start]).stored;
      await here.sessions.save(
        "s",
        {
          mode: undefined,
          rules: [],
          files: new Map([
            ["/work/a/b", 1],
            ["/etc/x", 2],
          ]),
        },
        0,
      );
      await there.history.refresh?.();
      deepEqual(there.history.sessions()[0]?.start?.roots, ["/mnt/elsewhere"]);
      deepEqual([...((await there.sessions.load("s", 0))?.files.keys() ?? [])].toSorted(), [
        "/etc/x",
        "/mnt/elsewhere/a/b",
      ]);
    });

    test("an approval is used once, by whichever node is first, and in time", async () => {
      const nodes = [await node(), await node()];
      await nodes[0]?.approvals.put("q", "yes\u0000", 60);
      const taken = await Promise.all([...nodes, ...nodes].map(({ approvals }) => approvals.take("q")));
      deepEqual(
        taken.filter((value) => value !== undefined),
        ["yes\u0000"],
      );
      await nodes[0]?.approvals.put("late", "yes", 0);
      equal(await nodes[1]?.approvals.take("late"), undefined);
      const [one, other] = await Promise.all(nodes.map(({ approvals }) => approvals.secret("seal")));
      deepEqual(one, other);
      equal(one?.length, 32);
    });

    test("events reach all nodes, in order, and go on after connections were cut", async () => {
      const [first, second] = [await node(), await node()];
      const seen: string[] = [];
      const stop = await second.events.subscribe(({ topic, body }) => seen.push(`${topic} ${body.length}`));
      const large = "x".repeat(20_000); // more than a notification takes
      await first.events.publish("a", large);
      await first.events.publish("b", "");
      await expectPolled(() => deepEqual(seen, ["a 20000", "b 0"]));
      server.sql(
        server.asSuperuser(url),
        "select count(pg_terminate_backend(pid)) from pg_stat_activity where application_name = 'filehand'",
      );
      await expectPolled(async () => {
        await first.events.publish("again", "").catch(() => undefined);
        ok(seen.includes("again 0"));
      });
      await stop();
    });

    test("no query of a tenant sees or changes rows of another", async () => {
      const [mine, theirs] = [await node({}, { tenant: "mine" }), await node({}, { tenant: "theirs" })];
      await mine.sessions.save("s", { mode: "plan", rules: [], files: new Map() }, 0);
      await mine.audit.append([
        { timeMs: 1, principal: "p", session: "s", tool: "Edit", path: "a", before: null, after: null, allowedBy: "x" },
      ]);
      equal(await theirs.sessions.load("s", 0), undefined);
      equal((await checkAudit(theirs.audit)).entries, 0);
      // As the owner of the tables, without any condition on the tenant.
      const tables = server
        .sql(url, "select string_agg(tablename, ' ') from pg_tables where schemaname = 'filehand'")
        .split(" ");
      const as = (tenant: string, text: string): string =>
        server.sql(`${url}&options=${encodeURIComponent(`-c filehand.tenant=${tenant}`)}`, text);
      ok(tables.length > 10);
      for (const table of tables.filter((name) => name !== "migration")) {
        equal(as("theirs", `select count(*) from filehand.${table} where tenant <> 'theirs'`), "0", table);
        equal(
          as("theirs", `with gone as (delete from filehand.${table} returning 1) select count(*) from gone`),
          "0",
          table,
        );
      }
      equal(as("mine", "select count(*) from filehand.session"), "1");
      let refused = "";
      try {
        as(
          "theirs",
          "insert into filehand.session (tenant, workspace, session, version, rules) values ('mine', 'w', 'x', 1, '')",
        );
      } catch (error) {
        refused = String(error);
      }
      match(refused, /row-level security/);
      equal(
        server.sql(url, "select count(*) from filehand.session"),
        "0",
        "a connection without a tenant sees nothing",
      );
    });

    test("a database that does not answer ends a call in time, and is used again when it is back", async () => {
      const { sessions } = await node({}, { timeouts: { answerMsMax: 400, connectMsMax: 400, statementMsMax: 300 } });
      equal(await sessions.load("none", 0), undefined);
      server.freeze();
      const startedMs = performance.now();
      try {
        await rejects(sessions.load("none", 0), { name: "StateFailed", message: /does not answer in time/ });
        await rejects(sessions.load("none", 0), { name: "StateFailed" });
      } finally {
        server.thaw();
      }
      ok(performance.now() - startedMs < 20_000);
      await expectPolled(async () => equal(await sessions.load("none", 0), undefined));
      await server.stop("immediate");
      await rejects(sessions.load("none", 0), { name: "StateFailed", message: /cannot be reached/ });
      await server.start();
      await expectPolled(async () => equal(await sessions.load("none", 0), undefined));
    });
  },
);

/** Waits for what a busy machine gets to. */
async function expectPolled(check: () => unknown): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    try {
      await check();
      return;
    } catch (error) {
      if (tries > 300) throw error;
      await pause(100);
    }
  }
}
