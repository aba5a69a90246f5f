/** Several `filehand serve` processes on one database: any of them serves any session, also after another was killed. */

import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { commandLine, temporaryFolder } from "../ends/run.ts";
import { ask, connectHttp, serve, type Served } from "../mcp/http-server.ts";
import { serverEnvironment, textOf } from "../mcp/server.ts";
import { postgresMissing, startPostgres, type TestPostgres } from "../support/postgres.ts";

describe.skipIf(postgresMissing !== undefined)(
  `nodes on one PostgreSQL${postgresMissing === undefined ? "" : ` (${postgresMissing})`}`,
  () => {
    let server: TestPostgres;
    let url: string;
    let root = "";
    let home: ReturnType<typeof temporaryFolder>;
    beforeAll(async () => {
      server = await startPostgres();
      home = temporaryFolder();
    });
    afterAll(async () => {
      await server?.remove();
      home?.remove();
    });
    beforeEach(() => {
      url = server.database();
      const folder = temporaryFolder();
      root = folder.path;
      onTestFinished(() => folder.remove());
      fs.writeFileSync(join(root, "a.txt"), "one\ntwo\nthree\n");
    });

    const run = (...args: readonly string[]) => {
      const { status, stdout, stderr } = spawnSync(process.execPath, [commandLine, ...args], {
        cwd: root,
        env: { ...serverEnvironment(home), FILEHAND_STATE: url },
        encoding: "utf8",
      });
      return { status, stdout: stdout.trim(), stderr };
    };
    const node = async (token: string, ...more: readonly string[]): Promise<Served> => ({
      ...(await serve(root, [
        "--state",
        url,
        "--stored-tokens",
        "--allow",
        "Edit",
        "--tools",
        "+History,+Rewind",
        ...more,
      ])),
      token,
    });
    const talk = (served: Served, path = "/mcp") =>
      connectHttp(served, "modern", { path, headers: { "filehand-session": "talk" } });
    type Client = Awaited<ReturnType<typeof talk>>;
    const call = async (client: Client, name: string, input: object): Promise<string> =>
      textOf(await client.callTool({ name, arguments: { ...input } }));
    const edit = (client: Client, from: string, to: string): Promise<string> =>
      call(client, "Edit", { file_path: join(root, "a.txt"), old_string: from, new_string: to });
    const content = (): string => fs.readFileSync(join(root, "a.txt"), "utf8");

    test("a session goes on at another node after kill -9: what it read, its history, its undo, one audit", async () => {
      expect(run("serve", "--stored-tokens", "--port", "0").stderr).toContain("run filehand state migrate");
      expect(run("state", "migrate").stdout).toContain("version 1 now");
      expect(run("state", "migrate").stdout).toContain("already");
      const token = run("token", "create", "agent").stdout;
      const [first, second] = [await node(token), await node(token)];
      const one = await talk(first);
      await call(one, "Read", { file_path: join(root, "a.txt") });
      expect(await edit(one, "one", "1")).toContain("Edited");
      first.child.kill("SIGKILL");
      await first.ended;
      const other = await talk(second);
      expect(await edit(other, "two", "2")).toContain("Edited");
      expect(content()).toBe("1\n2\nthree\n");
      expect(await call(other, "Rewind", { turn: "start" })).toContain("a.txt");
      expect(content()).toBe("one\ntwo\nthree\n");
      const third = await talk(await node(token));
      expect(await call(third, "History", {})).toContain("a.txt");
      const audit = run("audit", "verify", "--json");
      expect(JSON.parse(audit.stdout)).toMatchObject({ entries: 3, faults: [] });
      const lines = run("audit", "export", "--jsonl")
        .stdout.split("\n")
        .map((line) => JSON.parse(JSON.parse(line).body));
      expect(lines[0]).toMatchObject({ principal: "token-agent", tool: "Edit", allowedBy: "rule Edit (command line)" });
      expect(run("state", "verify").stdout).toMatch(/ 0 faults$/);
      server.sql(server.asSuperuser(url), "update filehand.audit set body = body || '\\x20' where seq = 2");
      const changed = run("audit", "verify");
      expect([changed.status, changed.stdout]).toEqual([1, expect.stringContaining("Entry 2: changed")]);
    });

    test("while the database is away reads go on, changes are refused and nothing is written; then all goes on", async () => {
      run("state", "migrate");
      const served = await serve(root, ["--state", url, "--allow", "Edit"]);
      const client = await talk(served);
      await call(client, "Read", { file_path: join(root, "a.txt") });
      expect((await ask(served, { method: "GET", path: "/readyz" })).status).toBe(200);
      await server.stop("immediate");
      onTestFinished(() => server.start());
      fs.writeFileSync(join(root, "b.txt"), "read me\n");
      expect(await call(client, "Read", { file_path: join(root, "b.txt") })).toContain("read me");
      expect(await edit(client, "one", "1")).toContain("nothing was written");
      expect(content()).toBe("one\ntwo\nthree\n");
      const away = await ask(served, { method: "GET", path: "/readyz" });
      expect([away.status, away.text]).toEqual([503, "the database cannot be reached\n"]);
      await server.start();
      await expect.poll(async () => (await ask(served, { method: "GET", path: "/readyz" })).status).toBe(200);
      expect(await edit(client, "one", "1")).toContain("Edited");
      expect(content()).toBe("1\ntwo\nthree\n");
    });

    test("tokens open their workspaces, for what they may do, until they are revoked", async () => {
      run("state", "migrate");
      const [reader, elsewhere] = [
        run("token", "create", "reader", "--read-only", "--days", "1").stdout,
        run("token", "create", "web", "--workspace", "web").stdout,
      ];
      expect(run("token", "create", "reader").stderr).toContain("Cannot use the shared state");
      expect(run("token", "list").stdout).toMatch(/^reader\tfiles:read\tall workspaces\tuntil .*\nweb\t/);
      const served = await node(reader);
      const client = await talk(served);
      expect(await call(client, "Read", { file_path: join(root, "a.txt") })).toContain("two");
      await expect(edit(client, "one", "1")).rejects.toThrow();
      const get = (token: string) =>
        ask({ port: served.port, token }, { body: '{"jsonrpc":"2.0","id":1,"method":"ping"}' });
      expect((await get(elsewhere)).status).toBe(404);
      expect((await get("unknown")).status).toBe(401);
      expect(
        server.sql(
          server.asSuperuser(url),
          "select count(*) from filehand.token t where t::text like '%" + reader + "%'",
        ),
      ).toBe("0");
      expect(run("token", "revoke", "reader").status).toBe(0);
      expect((await get(reader)).status).toBe(401);
    });

    test("nodes that edit one file at once lose no edit", async () => {
      run("state", "migrate");
      const token = run("token", "create", "agent").stdout;
      const nodes = [await node(token), await node(token)];
      fs.writeFileSync(join(root, "a.txt"), Array.from({ length: 20 }, (_, at) => `line ${at};\n`).join(""));
      const clients = await Promise.all(
        nodes.map((one, at) => connectHttp(one, "modern", { headers: { "filehand-session": `s${at}` } })),
      );
      await Promise.all(
        clients.map(async (client, at) => {
          for (let n = at; n < 20; n += 2) {
            for (let tries = 0; tries < 50; tries += 1) {
              await call(client, "Read", { file_path: join(root, "a.txt") });
              if ((await edit(client, `line ${n};`, `done ${n};`)).includes("Edited")) break;
            }
          }
        }),
      );
      expect(content()).toBe(Array.from({ length: 20 }, (_, at) => `done ${at};\n`).join(""));
    });
  },
);
