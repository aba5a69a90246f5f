/** The call log on the inspector's interface: calls from before the server was there, by file and program, and calls that wait. */

import * as fs from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import type { Hello, LogView, Refused } from "../../src/surfaces/inspector/wire.ts";
import { commandLine, type Folder, run, temporaryFolder } from "../ends/run.ts";
import { connect } from "../mcp/server.ts";
import { type Browser, enter, serveInspected } from "./inspected.ts";

let workspace: Folder;
let state: Folder;
const at = (name: string): string => join(workspace.path, name);

beforeEach(() => {
  workspace = temporaryFolder();
  state = temporaryFolder();
  fs.writeFileSync(at("a.txt"), "one\n");
  fs.writeFileSync(at("b.txt"), "two\n");
  onTestFinished(() => {
    workspace.remove();
    state.remove();
  });
});

const stateOption = (): readonly string[] => ["--state-dir", state.path];
const call = (name: string, input: object) => ({ name, arguments: { ...input } });
const address = "/api/w/filehand/log";
const page = async (...args: readonly string[]): Promise<Browser> =>
  enter(await serveInspected(workspace.path, [...stateOption(), ...args], "inspect"));

async function work(): Promise<void> {
  const options = { era: "modern", cwd: workspace.path, args: [...stateOption(), "--yes"] } as const;
  const { client } = await connect({ ...options, name: "claude-code" });
  await client.callTool(call("Read", { file_path: "a.txt" }));
  await client.callTool(call("Edit", { file_path: "a.txt", old_string: "one", new_string: "1" }));
  await client.callTool(call("Read", { file_path: "missing.txt" }));
  await client.close();
  await run(process.execPath, [commandLine, "read", "b.txt", ...stateOption()], { cwd: workspace.path });
}

test("calls from before the server was started, filtered and page by page", async () => {
  await work();
  const browser = await page();
  const { workspaces } = await browser.ask<Hello>("/api/hello");
  expect(workspaces[0]?.log).toBe(true);
  const log = await browser.ask<LogView>(address);
  expect(log).toMatchObject({ next: null, damaged: 0, lost: 0, waiting: [] });
  expect(log.calls.map(({ client, tool, path, outcome }) => [client, tool, path, outcome])).toEqual([
    ["command line", "read", "b.txt", "ok"],
    ["Claude Code", "Read", "missing.txt", "NOT_FOUND"],
    ["Claude Code", "Edit", "a.txt", "ok"],
    ["Claude Code", "Read", "a.txt", "ok"],
  ]);
  expect(log.calls[2]?.changes).toEqual([
    { path: "a.txt", did: "updated", movedFrom: null, additions: 1, deletions: 1 },
  ]);
  const tools = async (query: string) =>
    (await browser.ask<LogView>(`${address}?${query}`)).calls.map(({ tool }) => tool);
  expect(await tools("path=A.TXT")).toEqual(["Edit", "Read"]);
  expect(await tools("client=claude&errors=1")).toEqual(["Read"]);
  expect(await tools("tool=Edit")).toEqual(["Edit"]);
  const first = await browser.ask<LogView>(`${address}?max=3`);
  const second = await browser.ask<LogView>(`${address}?max=3&before=${encodeURIComponent(first.next ?? "")}`);
  expect([first.calls.length, second.calls.length, second.next]).toEqual([3, 1, null]);
});

test("names that a rule of this server denies are left out", async () => {
  await work();
  const browser = await page("--deny", "Read(a.txt)");
  const text = (await browser.raw(address)).text;
  expect(text).not.toContain("a.txt");
  const { calls } = JSON.parse(text) as LogView;
  expect(calls.map(({ path, hidden }) => [path, hidden])).toEqual([
    ["b.txt", false],
    ["missing.txt", false],
    [null, true],
    [null, true],
  ]);
  // A filter must not reveal them either.
  expect((await browser.ask<LogView>(`${address}?path=a.txt`)).calls.filter(({ hidden }) => hidden)).toEqual([]);
});

for (const query of ["before=../../etc/passwd", "before=", "max=0", `path=${"x".repeat(5_000)}`]) {
  test(`${query.slice(0, 30)} is refused`, async () => {
    const browser = await page();
    const { status, json } = await browser.raw<Refused>(`${address}?${query}`);
    expect([status, json.error.code]).toEqual([400, "BAD_REQUEST"]);
  });
}

test("a call that waits for its own client is listed as waiting", async () => {
  const browser = await page();
  let [answer, isAsked]: [() => void, () => void] = [() => undefined, () => undefined];
  const [answered, asked] = [
    new Promise<void>((done) => (answer = done)),
    new Promise<void>((done) => (isAsked = done)),
  ];
  const { client } = await connect({
    era: "legacy",
    cwd: workspace.path,
    name: "claude-code",
    args: stateOption(),
    capabilities: { elicitation: { form: {} } },
    prepare: (one) =>
      one.setRequestHandler("elicitation/create", async () => {
        isAsked();
        await answered;
        return { action: "decline" };
      }),
  });
  const write = client.callTool(call("Write", { file_path: "new.txt", content: "x" }));
  await asked;
  const waiting = async () => (await browser.ask<LogView>(address)).waiting;
  await expect
    .poll(waiting)
    .toMatchObject([{ client: "Claude Code", permission: "edit", path: "new.txt", hidden: false }]);
  answer();
  await write;
  await expect.poll(waiting).toEqual([]);
});
