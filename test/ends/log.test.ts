/** `filehand log` with the built program: what other programs did, from their own processes, and what is never kept. */

import * as fs from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { LoggedCall, LoggedQuestion } from "../../src/contract/call-log.ts";
import { sinceOf } from "../../src/surfaces/cli/commands/log.ts";
import { connect } from "../mcp/server.ts";
import { commandLine, type Folder, run, temporaryFolder } from "./run.ts";

let [workspace, state, home] = ["", "", ""];
const at = (name: string): string => join(workspace, name);

beforeEach(() => {
  const folder = (): string => {
    const made: Folder = temporaryFolder();
    onTestFinished(() => made.remove());
    return made.path;
  };
  [workspace, state, home] = [folder(), folder(), folder()];
  fs.mkdirSync(at("src"));
  fs.writeFileSync(at("a.txt"), "one of a kind\n");
  fs.writeFileSync(at("src/b.ts"), "b\n");
  fs.writeFileSync(at(".env"), "KEY=value\n");
  fs.writeFileSync(at("hidden.txt"), "never\n");
});

const filehand = (args: readonly string[], cwd = workspace) =>
  run(process.execPath, [commandLine, ...args, "--state-dir", state], {
    cwd,
    env: { HOME: home, XDG_CONFIG_HOME: home },
  });
const agent = (name: string, args: readonly string[] = ["--yes"]) =>
  connect({ era: "modern", cwd: workspace, name, args: ["--state-dir", state, ...args] });
const call = (name: string, input: object) => ({ name, arguments: { ...input } });

interface Logged {
  readonly waiting: readonly LoggedQuestion[];
  readonly calls: readonly LoggedCall[];
  readonly next: string | null;
}

async function logged(...args: readonly string[]): Promise<Logged> {
  const { code, stdout, stderr } = await filehand(["log", "--json", ...args]);
  expect([code, stderr]).toEqual([0, ""]);
  return JSON.parse(stdout) as Logged;
}

const raw = (): string =>
  fs
    .readdirSync(join(state, "calls"))
    .map((name) => fs.readFileSync(join(state, "calls", name), "utf8"))
    .join("");

async function work(): Promise<void> {
  const claude = await agent("claude-code");
  await claude.client.callTool(call("Read", { file_path: "a.txt" }));
  await claude.client.callTool(call("Edit", { file_path: "a.txt", old_string: "kind", new_string: "sort" }));
  await claude.client.callTool(call("Read", { file_path: "nope.txt" }));
  await claude.client.close();
  const other = await agent("some-agent");
  await other.client.callTool(call("Grep", { pattern: "a secret pattern", path: "src" }));
  await other.client.callTool(call("Write", { file_path: "src/new.ts", content: "a secret content\n" }));
  await other.client.close();
  await filehand(["read", "src/b.ts"]);
}

test("calls of all programs, newest first, with their client's name, outcome and cost", async () => {
  await work();
  const { calls, next } = await logged();
  expect(next).toBeNull();
  expect(calls.map(({ client, tool, path, outcome }) => [client, tool, path, outcome])).toEqual([
    ["command line", "read", at("src/b.ts"), "ok"],
    ["some-agent", "Write", at("src/new.ts"), "ok"],
    ["some-agent", "Grep", at("src"), "ok"],
    ["Claude Code", "Read", at("nope.txt"), "NOT_FOUND"],
    ["Claude Code", "Edit", at("a.txt"), "ok"],
    ["Claude Code", "Read", at("a.txt"), "ok"],
  ]);
  expect(calls[4]?.changes).toEqual([
    { path: at("a.txt"), did: "updated", movedFrom: null, additions: 1, deletions: 1 },
  ]);
  expect(calls.every(({ tokensGiven, elapsedMs }) => tokensGiven > 0 && elapsedMs >= 0)).toBe(true);
  // No arguments, no contents.
  expect(raw()).not.toMatch(/secret|of a kind|sort/);
  const { stdout } = await filehand(["log"]);
  expect(stdout).toMatch(
    /^command line, since .*\n.* read +ok .* src\/b\.ts:1-1\nsome-agent, since .*\n.* Write .*src\/new\.ts created \+1 -0\n/,
  );
  expect(stdout).toMatch(
    /Claude Code, since \S+ \S+ \(mcp-[^)]+\)\n.* Read +NOT_FOUND .* nope\.txt\n.* Edit .* a\.txt \+1 -1\n/,
  );
});

test("of one file, one program, one tool, one session, failures, a time; from a folder below; page by page", async () => {
  await work();
  const tools = async (...args: readonly string[]) => (await logged(...args)).calls.map(({ tool }) => tool);
  expect(await tools("a.txt")).toEqual(["Edit", "Read"]);
  expect(await tools("src")).toEqual(["read", "Write", "Grep"]);
  expect(await tools("--agent", "claude")).toEqual(["Read", "Edit", "Read"]);
  expect(await tools("--tool", "Read")).toEqual(["Read", "Read"]);
  expect(await tools("--failed")).toEqual(["Read"]);
  expect(await tools("--since", "1h", "--agent", "some")).toEqual(["Write", "Grep"]);
  expect(await tools("--since", "2999-01-01")).toEqual([]);
  const { calls } = await logged("--agent", "some");
  expect(await tools("--session", calls[0]?.session.slice(0, 8) ?? "")).toContain("Grep");
  const first = await logged("--limit", "4");
  const second = await logged("--limit", "4", "--before", first.next ?? "");
  expect([first.calls.length, second.calls.length, second.next]).toEqual([4, 2, null]);
  expect((await filehand(["log", "../a.txt"], at("src"))).stdout).toContain("Edit");
  // Another workspace sees nothing of it, unless it asks for all.
  expect((await filehand(["log"], home)).stdout).toBe(
    "No call was made in this workspace yet, or calls are not kept (callLog)\n",
  );
  expect((await filehand(["log", "--all", "--tool", "Grep"], home)).stdout).toContain("some-agent");
  expect((await filehand(["log", "--tool", "Nothing"])).stdout).toBe("No call matches\n");
  expect((await filehand(["log", "--since", "soon"])).code).toBe(2);
});

test("names that a rule hides are not kept, in whatever way they are named", async () => {
  const { client } = await agent("claude-code", ["--yes", "--deny", "Read(hidden.txt)"]);
  await client.callTool(call("Read", { file_path: "hidden.txt" }));
  await client.callTool(call("Write", { file_path: "hidden.txt", content: "x" }));
  await expect(client.callTool(call("hidden.txt", {}))).rejects.toThrow("there is no such tool");
  await client.close();
  const { calls } = await logged();
  expect(calls.map(({ tool, path, hidden, outcome }) => [tool, path, hidden, outcome === "ok"])).toEqual([
    [null, null, false, false],
    ["Write", null, true, false],
    ["Read", null, true, false],
  ]);
  expect(raw()).not.toContain("hidden.txt");
  expect((await filehand(["log"])).stdout).toContain("(a name that a rule hides)");
});

test("a call that waits for an answer is listed as waiting, until it is answered", async () => {
  let answer: (() => void) | undefined;
  const asked = new Promise<void>((resolve) => {
    answer = resolve;
  });
  let isAsked: (() => void) | undefined;
  const began = new Promise<void>((resolve) => {
    isAsked = resolve;
  });
  const { client } = await connect({
    era: "legacy",
    cwd: workspace,
    name: "claude-code",
    args: ["--state-dir", state],
    capabilities: { elicitation: { form: {} } },
    prepare: (one) =>
      one.setRequestHandler("elicitation/create", async () => {
        isAsked?.();
        await asked;
        return { action: "accept", content: { decision: "once" } };
      }),
  });
  await client.callTool(call("Read", { file_path: "a.txt" }));
  const edit = client.callTool(call("Edit", { file_path: "a.txt", old_string: "one", new_string: "two" }));
  await began;
  await expect
    .poll(async () => (await logged()).waiting.map(({ path, permission }) => [path, permission]))
    .toEqual([[at("a.txt"), "edit"]]);
  expect((await filehand(["log"])).stdout).toMatch(
    /^Waiting for an answer\n .* may it edit a\.txt\? +Claude Code, since /,
  );
  answer?.();
  await edit;
  await expect.poll(async () => (await logged()).waiting).toEqual([]);
});

test("nothing is kept with callLog: false, nor with --no-call-log", async () => {
  await filehand(["read", "a.txt", "--no-call-log"]);
  fs.mkdirSync(join(home, "filehand"), { recursive: true });
  fs.writeFileSync(join(home, "filehand/filehand.jsonc"), '{"callLog": false}');
  await filehand(["read", "a.txt"]);
  expect(fs.existsSync(join(state, "calls"))).toBe(false);
  fs.writeFileSync(join(home, "filehand/filehand.jsonc"), '{"callLog": {"ageMsMax": 1000}}');
  await filehand(["read", "a.txt"]);
  expect(fs.existsSync(join(state, "calls"))).toBe(true);
});

describe("--since", () => {
  for (const [text, ms] of [
    ["30s", 1_000_000 - 30_000],
    ["2m", 1_000_000 - 120_000],
    ["1970-01-01T00:10Z", 600_000],
  ] as const) {
    test(text, () => expect(sinceOf(text, 1_000_000)).toBe(ms));
  }
});
