/** Whose history it is: a process, a token, a workspace; and what goes on when a server is started again. */

import * as fs from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { commandLine, run, temporaryFolder } from "../ends/run.ts";
import { connectHttp, serve } from "./http-server.ts";
import { connect, type Era, eras, textOf } from "./server.ts";

let one = "";
let other = "";
let state = "";

beforeEach(() => {
  const folders = [temporaryFolder(), temporaryFolder(), temporaryFolder()];
  [one = "", other = "", state = ""] = folders.map(({ path }) => path);
  onTestFinished(() => folders.forEach((folder) => folder.remove()));
});

type Client = Awaited<ReturnType<typeof connect>>["client"];
const options = (): readonly string[] => ["--history-tools", "--yes", "--state-dir", state];
const write = (client: Client, name: string) =>
  client.callTool({ name: "Write", arguments: { file_path: name, content: `${name}\n` } });
const turnsOf = async (client: Client): Promise<number> => {
  const text = textOf(await client.callTool({ name: "History", arguments: {} }));
  return Number(/^(\d+) turns? /.exec(text)?.[1] ?? 0);
};
const rewind = (client: Client) => client.callTool({ name: "Rewind", arguments: { turn: "start" } });

for (const era of eras) {
  describe(`over stdio, the ${era} era`, () => {
    const start = async (cwd: string, env: Record<string, string> = {}): Promise<Client> =>
      (await connect({ era, cwd, args: options(), env })).client;

    test("two processes are two conversations: neither sees or takes back what the other did", async () => {
      const [a, sameFolder, otherFolder] = [await start(one), await start(one), await start(other)];
      await write(a, "a.txt");
      await write(otherFolder, "b.txt");
      expect(await turnsOf(sameFolder)).toBe(0);
      await rewind(sameFolder);
      await rewind(otherFolder);
      expect(fs.existsSync(join(one, "a.txt"))).toBe(true);
      expect(fs.existsSync(join(other, "b.txt"))).toBe(false);
      expect(await turnsOf(a)).toBe(1);
      const listed = await run(process.execPath, [commandLine, "history", "--json", "--state-dir", state], {
        cwd: other,
      });
      expect(JSON.parse(listed.stdout).sessions).toHaveLength(1);
    });

    test("those that were started for one conversation are one, folder by folder", async () => {
      const talk = { CLAUDE_CODE_SESSION_ID: "talk" };
      const first = await start(one, talk);
      await write(first, "a.txt");
      await first.close();
      const otherFolder = await start(other, talk);
      expect(await turnsOf(otherFolder)).toBe(0);
      await rewind(otherFolder);
      expect(await turnsOf(await start(one, talk))).toBe(1);
      expect(fs.existsSync(join(one, "a.txt"))).toBe(true);
    });
  });
}

describe("over HTTP", () => {
  const era: Era = "modern";

  test("servers of two folders, or with two tokens, have nothing in common", async () => {
    const servers = [await serve(one, options()), await serve(other, options()), await serve(one, options())];
    const [a, otherFolder, otherToken] = await Promise.all(servers.map((served) => connectHttp(served, era)));
    if (a === undefined || otherFolder === undefined || otherToken === undefined) throw new Error("three were started");
    await write(a, "a.txt");
    expect([await turnsOf(a), await turnsOf(otherFolder), await turnsOf(otherToken)]).toEqual([1, 0, 0]);
    await rewind(otherFolder);
    await rewind(otherToken);
    expect(fs.existsSync(join(one, "a.txt"))).toBe(true);
  });

  test("a server that is started again goes on for the same token in the same folder, and for no other", async () => {
    const keys = temporaryFolder();
    onTestFinished(() => keys.remove());
    const start = async (folder: string, handle?: string): Promise<Client> => {
      const file = join(keys.path, "token");
      const served = await serve(folder, [...options(), "--token-file", file]);
      const token = fs.readFileSync(file, "utf8").trim();
      onTestFinished(() => void served.child.kill());
      return connectHttp(
        { ...served, token },
        era,
        handle === undefined ? {} : { headers: { "filehand-session": handle } },
      );
    };
    await write(await start(one), "a.txt");
    await write(await start(one, "mine"), "b.txt");
    await write(await start(one, "mine"), "c.txt");
    expect(await turnsOf(await start(one))).toBe(1);
    expect(await turnsOf(await start(one, "mine"))).toBe(2);
    expect(await turnsOf(await start(other))).toBe(0);
    expect(await turnsOf(await start(other, "mine"))).toBe(0);
  });
});
