/** A server that is started again knows what a named conversation has read, and nothing of one that has no name. */

import * as fs from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { createFilehand } from "../../src/index.ts";
import { temporaryFolder } from "../ends/run.ts";
import { connectHttp, serve } from "./http-server.ts";
import { connect, eras, textOf } from "./server.ts";

let root = "";
let state = "";
let file = "";
beforeEach(() => {
  const folders = [temporaryFolder(), temporaryFolder()];
  [root = "", state = ""] = folders.map(({ path }) => path);
  onTestFinished(() => folders.forEach((folder) => folder.remove()));
  file = join(root, "a.txt");
  fs.writeFileSync(file, Array.from({ length: 100 }, (_, index) => `line ${index + 1}\n`).join(""));
});

type Client = Awaited<ReturnType<typeof connect>>["client"];
const read = async (client: Client, more: object = {}, meta?: Record<string, unknown>): Promise<string> =>
  textOf(
    await client.callTool({
      name: "Read",
      arguments: { file_path: file, ...more },
      ...(meta === undefined ? {} : { _meta: meta }),
    }),
  );
const write = async (client: Client, meta: Record<string, unknown>): Promise<string> =>
  textOf(await client.callTool({ name: "Write", arguments: { file_path: file, content: "new\n" }, _meta: meta }));
const edit = async (client: Client, line: number, meta?: Record<string, unknown>): Promise<string> => {
  const input = { file_path: file, old_string: `line ${line}\n`, new_string: `changed ${line}\n` };
  const _meta = meta === undefined ? {} : { _meta: meta };
  const result = await client.callTool({ name: "Edit", arguments: input, ..._meta });
  return result.isError === true ? textOf(result) : "done";
};

describe.each(eras)("the %s era", (era) => {
  const args = (): readonly string[] => ["--allow", "Edit", "--state-dir", state];

  test("over stdio, with CLAUDE_CODE_SESSION_ID, an edit needs no second read, and a read gives the content", async () => {
    const start = async (id?: string): Promise<Client> =>
      (await connect({ era, cwd: root, args: args(), env: id === undefined ? {} : { CLAUDE_CODE_SESSION_ID: id } }))
        .client;
    const first = await start("talk");
    await read(first);
    expect(await edit(first, 5)).toBe("done");
    await first.close();
    const second = await start("talk");
    expect(await edit(second, 7)).toBe("done");
    expect(await read(second)).toContain("changed 7");
    for (const other of [await start("another"), await start()]) expect(await edit(other, 9)).toMatch(/read/i);
  });

  test("over stdio, lines that somebody else changed meanwhile must be read again, and others need not", async () => {
    const start = async (): Promise<Client> =>
      (await connect({ era, cwd: root, args: args(), env: { CLAUDE_CODE_SESSION_ID: "talk" } })).client;
    const first = await start();
    await read(first);
    await first.close();
    fs.appendFileSync(file, "line 101\n");
    const second = await start();
    expect(await edit(second, 101)).toMatch(/somebody else changed/i);
    expect(await edit(second, 7)).toBe("done");
  });

  test("what was shown in part is known in part", async () => {
    const meta = { threadId: "thread-of-codex" };
    const start = async (): Promise<Client> => (await connect({ era, cwd: root, args: args() })).client;
    const first = await start();
    await read(first, { limit: 10 }, meta);
    await first.close();
    const second = await start();
    expect(await write(second, meta)).toMatch(/lines 1 to 10/);
    expect(await edit(second, 3, meta)).toBe("done");
  });

  for (const [how, signal] of [
    ["told to end", "SIGTERM"],
    ["killed a second later", "SIGKILL"],
  ] as const) {
    test(`over HTTP, with a session name, after the server was ${how}`, async () => {
      const token = join(state, "token");
      const start = async (name: string) => {
        const served = await serve(root, [...args(), "--token-file", token]);
        const key = fs.readFileSync(token, "utf8").trim();
        const client = await connectHttp({ ...served, token: key }, era, { headers: { "filehand-session": name } });
        return { client, served };
      };
      const { client, served } = await start("mine");
      await read(client);
      expect(await edit(client, 5)).toBe("done");
      if (signal === "SIGKILL") await new Promise((resolve) => setTimeout(resolve, 1_000));
      served.child.kill(signal);
      await served.ended;
      const again = await start("mine");
      expect(await edit(again.client, 7)).toBe("done");
      // What the new process has not shown itself is content.
      expect(await read(again.client)).toContain("changed 7");
      expect(await edit((await start("yours")).client, 9)).toMatch(/read/i);
    });
  }
});

describe("in the library", () => {
  const open = () => createFilehand({ roots: [root], stateDir: state, ask: "yes" });
  const change = { old_string: "line 7\n", new_string: "changed\n" };

  test("a session with keepReadState goes on where the last one of its id was", async () => {
    const first = open();
    const options = { dialect: "claude", id: "x/../weird name", keepReadState: true } as const;
    await first.session(options).call("Read", { file_path: file });
    await first.close();
    const second = open();
    expect(second.session({ ...options, keepReadState: false }).readState()).toEqual({});
    const reply = await second.session(options).call("Edit", { file_path: file, ...change });
    expect(reply.isError).toBe(false);
    expect(fs.readdirSync(join(state, "read-states"))).toHaveLength(1);
  });

  test("what is damaged, from another version or of another name is as if it were not there", async () => {
    const options = { dialect: "claude", id: "talk", keepReadState: true } as const;
    const first = open();
    await first.session(options).call("Read", { file_path: file });
    await first.close();
    const [name = ""] = fs.readdirSync(join(state, "read-states"));
    const stored = join(state, "read-states", name);
    const kept = JSON.parse(fs.readFileSync(stored, "utf8")) as object;
    expect(open().session(options).readState()).toHaveProperty([file]);
    for (const damaged of [
      "",
      "{",
      "[]",
      "null",
      "7",
      JSON.stringify({ ...kept, version: 9 }),
      JSON.stringify({ ...kept, name: "other" }),
    ]) {
      fs.writeFileSync(stored, damaged);
      expect(open().session(options).readState()).toEqual({});
    }
    fs.rmSync(stored);
    fs.symlinkSync("/etc/passwd", stored);
    expect(open().session(options).readState()).toEqual({});
  });

  test("500 conversations are kept, and the oldest go first", async () => {
    const filehand = open();
    for (let number = 0; number < 520; number += 1) {
      const session = filehand.session({ dialect: "claude", id: `talk-${number}`, keepReadState: true });
      await session.call("Read", { file_path: file, limit: 1 });
    }
    await filehand.close();
    expect(fs.readdirSync(join(state, "read-states"))).toHaveLength(500);
  });
});
