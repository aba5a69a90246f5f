/** Calls of other processes on the page: `filehand mcp` over stdio, the command line. And who is not listened to. */

import * as fs from "node:fs";
import { createConnection, type Socket } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { CallPage, CallView, Hello, QuestionList, SessionList } from "../../src/surfaces/inspector/wire.ts";
import type { InspectorPlace } from "../../src/contract/event.ts";
import { commandLine, type Folder, run, temporaryFolder } from "../ends/run.ts";
import { connect, textOf } from "../mcp/server.ts";
import { enter, type Served, serveInspected } from "./inspected.ts";

let workspace: Folder;
let state: Folder;
const at = (name: string): string => join(workspace.path, name);
const lookouts = (): string => join(state.path, "lookouts");
const secret = "a sentence that stands in no other file";

beforeEach(() => {
  workspace = temporaryFolder();
  state = temporaryFolder();
  fs.mkdirSync(at("part"));
  fs.writeFileSync(at("a.txt"), `${secret}\n`);
  fs.writeFileSync(at("part/b.txt"), "b\n");
  onTestFinished(() => {
    workspace.remove();
    state.remove();
  });
});

const stateOption = (): readonly string[] => ["--state-dir", state.path];
const inspect = (args: readonly string[] = []): Promise<Served> =>
  serveInspected(workspace.path, [...stateOption(), ...args], "inspect");
const stdio = (args: readonly string[] = [], cwd = workspace.path) =>
  connect({ era: "modern", cwd, args: [...stateOption(), ...args], name: "claude-code" });
const read = (name: string) => ({ name: "Read", arguments: { file_path: name } });
const edit = { name: "Edit", arguments: { file_path: "a.txt", old_string: "sentence", new_string: "line" } };

test("a process that was there before the page is seen from then on, with the very reply, and nothing of it is on the disk", async () => {
  const { client } = await stdio();
  await client.callTool(read("part/b.txt")); // nobody watches yet
  const browser = await enter(await inspect());
  const events = await browser.events(0);
  const { processes } = await events.next("processes", (event) => event.processes.length > 0);
  expect(processes).toEqual([{ pid: expect.any(Number), program: "mcp" }]);
  const reply = await client.callTool(read("a.txt"));
  const { call } = await events.next("call");
  expect(call).toMatchObject({
    id: 1,
    tool: "Read",
    path: "a.txt",
    real: at("a.txt"),
    client: "Claude Code",
    process: processes[0],
    kept: true,
  });
  const view = await browser.ask<CallView>(`/api/w/filehand/calls/${call.id}`);
  expect(view.detail?.content).toEqual([{ type: "text", text: textOf(reply) }]);
  expect(textOf(reply)).toContain(secret);
  const { sessions } = await browser.ask<SessionList>("/api/w/filehand/sessions");
  expect(sessions).toMatchObject([{ id: call.session, client: "Claude Code", calls: 1, process: processes[0] }]);
  expect(filesBelow(state.path).filter((path) => fs.readFileSync(path).includes(secret))).toEqual([]);
  await client.close();
  expect((await events.next("processes")).processes).toEqual([]);
  expect((await browser.ask<Hello>("/api/hello")).workspaces[0]).toMatchObject({ acceptsReports: true, processes: [] });
});

test("the first call of a process that comes later is seen, and a change with its diff and its turn", async () => {
  const browser = await enter(await inspect());
  const events = await browser.events();
  const { client } = await stdio(["--allow", "Edit"]);
  await client.callTool(read("a.txt"));
  expect((await events.next("call")).call).toMatchObject({ tool: "Read", process: { program: "mcp" } });
  await client.callTool(edit);
  const { call } = await events.next("call");
  expect(call).toMatchObject({ tool: "Edit", changes: [{ relative: "a.txt", additions: 1, deletions: 1 }] });
  expect((await events.next("turn")).turn).toBe(call.turn);
  const diff = await browser.ask("/api/w/filehand/diff", { of: { call: call.id, change: 0 } });
  expect(diff).toMatchObject({ additions: 1, deletions: 1, none: null });
});

test("commands at the terminal are seen", async () => {
  const browser = await enter(await inspect());
  const events = await browser.events();
  const { code } = await run(process.execPath, [commandLine, "read", "a.txt", ...stateOption()], {
    cwd: workspace.path,
  });
  expect(code).toBe(0);
  expect((await events.next("call")).call).toMatchObject({ path: "a.txt", outcome: "ok", process: { program: "cli" } });
});

test("of processes in other folders only those below are seen, by their paths from here", async () => {
  const browser = await enter(await inspect());
  const events = await browser.events();
  const elsewhere = temporaryFolder();
  onTestFinished(() => elsewhere.remove());
  fs.writeFileSync(join(elsewhere.path, "c.txt"), "c\n");
  await (await stdio([], elsewhere.path)).client.callTool(read("c.txt"));
  await (await stdio([], at("part"))).client.callTool(read("b.txt"));
  expect((await events.next("call")).call).toMatchObject({ path: "part/b.txt" });
  const { calls } = await browser.ask<CallPage>("/api/w/filehand/calls");
  expect(calls.map(({ path }) => path)).toEqual(["part/b.txt"]);
});

test("what the page's own rules deny is not shown, though another process may read it", async () => {
  const browser = await enter(await inspect(["--deny", "Read(/a.txt)"]));
  const events = await browser.events();
  const { client } = await stdio();
  expect((await client.callTool(read("a.txt"))).isError).toBeUndefined();
  const { call } = await events.next("call");
  expect(await browser.ask<CallView>(`/api/w/filehand/calls/${call.id}`)).toMatchObject({
    detail: null,
    missing: "hidden",
  });
});

describe("questions of a client that cannot ask", () => {
  test("are answered on the page", async () => {
    const browser = await enter(await inspect());
    const events = await browser.events();
    const { client } = await stdio();
    await client.callTool(read("a.txt"));
    for (const given of [{ reply: "reject", feedback: "not this one" }, { reply: "once" }]) {
      const changed = client.callTool(edit);
      const { question } = await events.next("question");
      const waits = { client: "Claude Code", waits: "server" };
      expect(question).toMatchObject({ tool: "Edit", relative: "a.txt", ...waits, diff: { additions: 1 } });
      const { session } = (await browser.ask<CallPage>("/api/w/filehand/calls")).calls[0] ?? {};
      expect(question.session).toBe(session);
      await browser.ask(`/api/questions/${question.id}/answer`, { shown: question.shown, ...given });
      const came = await changed;
      if (given.reply === "reject") expect(textOf(came)).toContain("not this one");
      else expect(came.isError).toBeUndefined();
    }
    expect(fs.readFileSync(at("a.txt"), "utf8")).toContain("a line that");
  });

  test("are refused at once when no page is open, and are taken back when the client is gone", async () => {
    const served = await inspect();
    const { client } = await stdio();
    await client.callTool(read("a.txt"));
    expect((await client.callTool(edit)).isError).toBe(true);
    const browser = await enter(served);
    const events = await browser.events();
    const left = client.callTool(edit).catch(() => undefined);
    const { question } = await events.next("question");
    await client.close();
    await left;
    expect(await events.next("answered")).toMatchObject({ id: question.id, answered: { by: "cancelled" } });
    expect((await browser.ask<QuestionList>("/api/questions")).open).toEqual([]);
  });
});

describe("the place where it listens", () => {
  test("is the user's alone, is gone with the page, and what a killed one left is swept", async () => {
    const killed = await inspect();
    const [name = ""] = placeFiles();
    expect(fs.statSync(lookouts()).mode & 0o777).toBe(0o700);
    expect(fs.statSync(join(lookouts(), name)).mode & 0o777).toBe(0o600);
    killed.child.kill("SIGKILL");
    await killed.ended;
    expect(placeFiles()).toEqual([name]);
    // Nobody is there: a call is made as if there were nothing.
    const { client } = await stdio();
    expect((await client.callTool(read("a.txt"))).isError).toBeUndefined();
    const served = await inspect();
    expect(placeFiles()).toHaveLength(1);
    expect(placeFiles()).not.toEqual([name]);
    served.child.kill("SIGTERM");
    expect(await served.ended).toBe(0);
    expect(fs.readdirSync(lookouts())).toEqual([]);
  });

  test("is not used if others can enter the folder; the log says so, and the page that nobody else is seen", async () => {
    fs.mkdirSync(lookouts(), { mode: 0o755 });
    fs.chmodSync(lookouts(), 0o755); // whatever the umask says
    const served = await inspect();
    await served.logged(/calls of other processes are not seen.*chmod 700/);
    const { workspaces } = await (await enter(served)).ask<Hello>("/api/hello");
    expect(workspaces[0]?.acceptsReports).toBe(false);
  });

  test("works in a state folder whose path is too long for a socket", async () => {
    const long = join(state.path, "x".repeat(100));
    const served = await serveInspected(workspace.path, ["--state-dir", long], "inspect");
    const events = await (await enter(served)).events();
    const { client } = await connect({ era: "modern", cwd: workspace.path, args: ["--state-dir", long] });
    await client.callTool(read("a.txt"));
    expect((await events.next("call")).call.path).toBe("a.txt");
    const { address } = placeIn(join(long, "lookouts"));
    served.child.kill("SIGTERM");
    await served.ended;
    expect(fs.existsSync(join(address, ".."))).toBe(false);
  });
});

describe("who is not listened to", () => {
  const hello = (more: object = {}): object => {
    const { key } = placeIn(lookouts());
    return { type: "hello", key, workspace: "filehand", roots: [workspace.path], pid: 1, program: "mcp", ...more };
  };
  const event = { type: "call", event: { type: "call" }, detail: "dropped" };

  const strangers: Readonly<Record<string, () => readonly (object | string)[]>> = {
    "does not have the key": () => [hello({ key: "guessed" })],
    "works in other folders": () => [hello({ roots: ["/"] })],
    "works in no folder": () => [hello({ roots: [] })],
    "says nothing of itself": () => [event],
    "says what is no call": () => [hello(), event],
    "speaks no JSON": () => [hello(), "{\n"],
    "greets twice": () => [hello(), hello()],
    "never ends its first line": () => ["x".repeat(200_000)],
  };

  test(`a program that ${Object.keys(strangers).join(", or ")}`, async () => {
    const browser = await enter(await inspect());
    const events = await browser.events();
    for (const lines of Object.values(strangers)) {
      const { socket, closed } = await connected(placeIn(lookouts()).address);
      for (const line of lines()) socket.write(typeof line === "string" ? line : `${JSON.stringify(line)}\n`);
      await closed;
    }
    // It goes on for others.
    const { client } = await stdio();
    await client.callTool(read("a.txt"));
    expect((await events.next("call")).call.path).toBe("a.txt");
    expect((await browser.ask<CallPage>("/api/w/filehand/calls")).calls).toHaveLength(1);
  });
});

const placeFiles = (): readonly string[] => fs.readdirSync(lookouts()).filter((name) => name.endsWith(".json"));

function placeIn(folder: string): InspectorPlace {
  const name = fs.readdirSync(folder).find((one) => one.endsWith(".json")) ?? "";
  return JSON.parse(fs.readFileSync(join(folder, name), "utf8")) as InspectorPlace; // our own file
}

async function connected(address: string): Promise<{ readonly socket: Socket; readonly closed: Promise<void> }> {
  const socket = createConnection(address);
  socket.on("error", () => undefined); // hung up on while it writes
  socket.resume();
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  onTestFinished(() => void socket.destroy());
  await once(socket, "connect");
  return { socket, closed };
}

function filesBelow(folder: string): readonly string[] {
  return fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
