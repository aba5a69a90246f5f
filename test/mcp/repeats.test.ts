/** Over MCP a repeated read gets the content, unless the client names the conversation that it belongs to. */

import * as fs from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../ends/run.ts";
import { connectHttp, serve } from "./http-server.ts";
import { connect, eras, textOf } from "./server.ts";

let folder = "";
const content = "1\tthe content of the file";
const stub = "has not changed since you read";

beforeEach(() => {
  const made = temporaryFolder();
  onTestFinished(() => made.remove());
  folder = made.path;
  fs.writeFileSync(join(folder, "a.txt"), "the content of the file\n");
  fs.writeFileSync(join(folder, "AGENTS.md"), "Be careful\n");
});

type Client = Awaited<ReturnType<typeof connect>>["client"];
const read = async (client: Client, meta?: Record<string, unknown>): Promise<string> =>
  textOf(
    await client.callTool({
      name: "Read",
      arguments: { file_path: "a.txt" },
      ...(meta === undefined ? {} : { _meta: meta }),
    }),
  );

for (const era of eras) {
  describe(`the ${era} era`, () => {
    for (const [what, env] of [
      ["a process that is started for nothing in particular", {}],
      ["one that CLAUDE_CODE_SESSION_ID names, which serves subagents and goes on after /clear", { id: "talk" }],
    ] as const) {
      test(`over stdio, ${what}, never answers "unchanged"`, async () => {
        const named = "id" in env ? { CLAUDE_CODE_SESSION_ID: env.id } : {};
        const { client } = await connect({ era, cwd: folder, env: named });
        for (let count = 0; count < 4; count += 1) expect(await read(client)).toContain(content);
      });
    }

    test("over stdio, neither the threadId nor the sessionId of a call brings a stub", async () => {
      const { client } = await connect({ era, cwd: folder });
      for (const meta of [{ threadId: "t" }, { threadId: "t" }, { sessionId: "s" }, { sessionId: "s" }]) {
        expect(await read(client, meta)).toContain(content);
      }
    });

    test("over HTTP, a second client with the same token gets the content, and so does the first one again", async () => {
      const served = await serve(folder);
      const [one, other] = [await connectHttp(served, era), await connectHttp(served, era)];
      for (const client of [one, other, one, one, other]) expect(await read(client)).toContain(content);
    });

    test("a conversation that the client names gets the stub, and another name the content", async () => {
      const served = await serve(folder);
      const named = (name: string) => connectHttp(served, era, { headers: { "filehand-session": name } });
      const [one, other] = [await named("one"), await named("other")];
      expect(await read(one)).toContain(content);
      expect(await read(one)).toContain(stub);
      expect(await read(other)).toContain(content);
      const { client } = await connect({ era, cwd: folder });
      const meta = { "io.github.filehand/session": "mine" };
      expect(await read(client, meta)).toContain(content);
      expect(await read(client, meta)).toContain(stub);
      expect(await read(client)).toContain(content);
    });

    test("`dedup: false` switches the stub off for a named conversation as well", async () => {
      fs.writeFileSync(join(folder, "filehand.jsonc"), '{"dedup": false}');
      const { client } = await connect({ era, cwd: folder });
      const meta = { "io.github.filehand/session": "mine" };
      for (let count = 0; count < 3; count += 1) expect(await read(client, meta)).toContain(content);
    });

    test("instruction files are named with each read, and once in a named conversation", async () => {
      fs.writeFileSync(join(folder, "filehand.jsonc"), '{"instructions": true, "dedup": false}');
      const { client } = await connect({ era, cwd: folder });
      const isNamed = async (meta?: Record<string, unknown>) => (await read(client, meta)).includes("AGENTS.md");
      expect([await isNamed(), await isNamed()]).toEqual([true, true]);
      const meta = { "io.github.filehand/session": "mine" };
      expect([await isNamed(meta), await isNamed(meta)]).toEqual([true, false]);
    });
  });
}
