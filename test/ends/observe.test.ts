/** `filehand hook`, `run` and `observe` of the built program, as clients and people call them. */

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { join } from "node:path";
import { describe, test } from "vitest";
import { createFilehand } from "../../src/filehand.ts";
import { onWindows } from "../support/workspace.ts";
import { commandLine, run, temporaryFolder } from "./run.ts";

interface Bed {
  readonly work: string;
  readonly filehand: (args: readonly string[], input?: string | Uint8Array) => ReturnType<typeof run>;
  /** One event of a client, as it sends it. */
  readonly hook: (client: string, event: object, ...options: readonly string[]) => ReturnType<typeof run>;
  readonly sh: (command: string) => void;
  readonly files: () => Readonly<Record<string, string>>;
}

function bed(): Bed {
  const folder = temporaryFolder();
  const work = join(folder.path, "work");
  fs.mkdirSync(work);
  const env = { XDG_STATE_HOME: join(folder.path, "state") };
  const filehand: Bed["filehand"] = (args, input) =>
    run(process.execPath, [commandLine, ...args], { cwd: work, env, ...(input === undefined ? {} : { input }) });
  return {
    work,
    filehand,
    hook: (client, event, ...options) =>
      filehand(["hook", client, ...options], JSON.stringify({ session_id: "s1", cwd: work, ...event })),
    sh: (command) => void execFileSync("sh", ["-c", command], { cwd: work }),
    files: () =>
      Object.fromEntries(
        fs
          .readdirSync(work, { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isFile())
          .map(({ parentPath, name }) => [
            join(parentPath, name).slice(work.length + 1),
            fs.readFileSync(join(parentPath, name), "utf8"),
          ])
          .toSorted(([a = ""], [b = ""]) => (a < b ? -1 : 1)),
      ),
  };
}

const nothing = { code: 0, stdout: "", stderr: "" };

/** How each client words the same call. */
const clients = [
  ["claude-code", "PreToolUse", "PostToolUse", "Bash", { tool_use_id: "toolu_1" }],
  ["codex", "PreToolUse", "PostToolUse", "Bash", { tool_use_id: "call_1", turn_id: "t" }],
  ["gemini", "BeforeTool", "AfterTool", "run_shell_command", { timestamp: "2026-01-01T00:00:00Z" }],
  ["qwen", "PreToolUse", "PostToolUse", "run_shell_command", { tool_use_id: "call_2" }],
  ["opencode", "tool.execute.before", "tool.execute.after", "bash", { tool_use_id: "call_3" }],
] as const;

describe.skipIf(onWindows)("filehand hook", () => {
  for (const [client, before, after, tool, more] of clients) {
    test(`makes a shell command of ${client} a turn that undo takes back`, async () => {
      const { work, hook, sh, filehand, files } = bed();
      sh("mkdir -p src/deep; echo a > src/a.txt; echo b > src/deep/b.txt; echo c > c.txt");
      const then = files();
      for (const command of ["rm -rf src", "rm -rf src"]) {
        const call = { tool_name: tool, tool_input: { command }, ...more };
        deepEqual(await hook(client, { hook_event_name: before, ...call }), nothing);
        sh(command);
        deepEqual(await hook(client, { hook_event_name: after, ...call, tool_response: {} }), nothing);
      }
      deepEqual(files(), { "c.txt": "c\n" });
      const id = `${client}-s1`;
      const past = await createFilehand({ roots: [work], stateDir: join(work, "../state/filehand") }).history();
      const turns = past?.session({ id, roots: [work], dialect: "claude" }).turns() ?? [];
      deepEqual(
        turns.map(({ title }) => title),
        ["rm -rf src"],
      );
      equal((await filehand(["undo", "--session", id, "--yes"])).code, 0);
      deepEqual(files(), then);
    });
  }

  test("a command that failed, and one whose end nobody reports, are turns too", async () => {
    const { hook, sh, filehand, files } = bed();
    sh("echo a > a.txt; echo b > b.txt");
    const call = (id: string, command: string) => ({ tool_name: "Bash", tool_use_id: id, tool_input: { command } });
    await hook("claude-code", { hook_event_name: "PreToolUse", ...call("t1", "rm a.txt; false") });
    sh("rm a.txt");
    await hook("claude-code", { hook_event_name: "PostToolUseFailure", ...call("t1", "rm a.txt; false") });
    await hook("claude-code", { hook_event_name: "PreToolUse", ...call("t2", "rm b.txt") });
    sh("rm b.txt");
    deepEqual(await hook("claude-code", { hook_event_name: "Stop" }), nothing);
    for (const left of [{ "b.txt": "b\n" }, { "a.txt": "a\n", "b.txt": "b\n" }]) {
      await filehand(["undo", "--session", "claude-code-s1", "--yes"]);
      deepEqual(files(), left);
    }
  });

  test("what a person changed between two commands is not the agent's", async () => {
    const { hook, sh, filehand, files } = bed();
    sh("echo a > a.txt");
    const call = { tool_name: "Bash", tool_use_id: "t1", tool_input: { command: "echo b > b.txt" } };
    await hook("claude-code", { hook_event_name: "PreToolUse", ...call });
    sh("echo b > b.txt");
    await hook("claude-code", { hook_event_name: "PostToolUse", ...call });
    sh("echo mine > a.txt");
    const second = { ...call, tool_use_id: "t2", tool_input: { command: "true" } };
    await hook("claude-code", { hook_event_name: "PreToolUse", ...second });
    await hook("claude-code", { hook_event_name: "PostToolUse", ...second });
    await filehand(["undo", "--session", "claude-code-s1", "--yes"]);
    deepEqual(files(), { "a.txt": "mine\n" });
  });

  test("a change by our own tools while a command runs is recorded once", async () => {
    const { hook, sh, filehand, files } = bed();
    sh("echo a > a.txt");
    const call = { tool_name: "Bash", tool_use_id: "t1", tool_input: { command: "echo c > c.txt" } };
    await hook("claude-code", { hook_event_name: "PreToolUse", ...call });
    await filehand(["write", "b.txt", "--content", "b\n", "--yes"]);
    sh("echo c > c.txt");
    await hook("claude-code", { hook_event_name: "PostToolUse", ...call });
    await filehand(["undo", "--session", "claude-code-s1", "--yes"]);
    deepEqual(files(), { "a.txt": "a\n", "b.txt": "b\n" });
  });

  test("says what it cannot bring back", async () => {
    const { hook, sh } = bed();
    sh("echo node_modules/ > .gitignore");
    const call = { tool_name: "Bash", tool_use_id: "t1", tool_input: { command: "npm install" } };
    await hook("claude-code", { hook_event_name: "PreToolUse", ...call });
    sh("mkdir -p node_modules/x && echo x > node_modules/x/index.js && echo '{}' > package-lock.json");
    const { stdout } = await hook("claude-code", { hook_event_name: "PostToolUse", ...call });
    match((JSON.parse(stdout) as { systemMessage: string }).systemMessage, /cannot undo .*node_modules/);
  });

  test("with --replace-builtins a client's own file tools are refused and ours are allowed", async () => {
    const { hook } = bed();
    const decide = async (client: string, event: string, tool: string): Promise<unknown> => {
      const call = { hook_event_name: event, tool_name: tool, tool_input: {} };
      const { stdout, code } = await hook(client, call, "--replace-builtins");
      equal(code, 0);
      return stdout === "" ? undefined : JSON.parse(stdout);
    };
    const denied = (await decide("claude-code", "PreToolUse", "Edit")) as { hookSpecificOutput: object };
    match(JSON.stringify(denied.hookSpecificOutput), /"permissionDecision":"deny".*MCP server filehand/);
    match(JSON.stringify(await decide("claude-code", "PreToolUse", "mcp__filehand__Edit")), /"allow"/);
    match(JSON.stringify(await decide("gemini", "BeforeTool", "replace")), /"decision":"deny"/);
    match(JSON.stringify(await decide("qwen", "PreToolUse", "write_file")), /"deny"/);
    match(JSON.stringify(await decide("codex", "PreToolUse", "apply_patch")), /"deny"/);
    match(JSON.stringify(await decide("opencode", "tool.execute.before", "edit")), /"deny":/);
    equal(await decide("codex", "PreToolUse", "mcp__filehand__Edit"), undefined);
    equal(await decide("claude-code", "PreToolUse", "WebFetch"), undefined);
    equal(await decide("claude-code", "PreToolUse", "mcp__notfilehand__Edit"), undefined);
  });

  const deep = "[".repeat(200_000) + "]".repeat(200_000);
  for (const [what, input] of [
    ["nothing", ""],
    ["no JSON", "hello"],
    ["half of an event", '{"hook_event_name":"PreToolUse","session_id":"s'],
    ["another value", "[1,2,3]"],
    ["null", "null"],
    ["no session", '{"hook_event_name":"PreToolUse","tool_name":"Bash"}'],
    ["an empty session", '{"hook_event_name":"PreToolUse","session_id":"","tool_name":"Bash"}'],
    ["a session that is a path", '{"hook_event_name":"PreToolUse","session_id":"../../../etc","tool_name":"Bash"}'],
    ["a long session", `{"hook_event_name":"PreToolUse","session_id":"${"x".repeat(100_000)}","tool_name":"Bash"}`],
    ["numbers for texts", '{"hook_event_name":"PreToolUse","session_id":1,"tool_name":2}'],
    ["a prototype", '{"__proto__":{"x":1},"hook_event_name":"PreToolUse","session_id":"s","tool_name":"__proto__"}'],
    [
      "a folder that is not there",
      '{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","cwd":"/no/such"}',
    ],
    ["a zero in a path", '{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","cwd":"/tmp/\\u0000"}'],
    ["nested values", `{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_input":${deep}}`],
    ["bytes that are no text", Buffer.from([0xff, 0xfe, 0, 1, 2, 0x7b])],
    ["another event", '{"hook_event_name":"Notification","session_id":"s"}'],
    [
      "a command of a megabyte",
      `{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_input":{"command":"${"x".repeat(1_000_000)}"}}`,
    ],
  ] as const) {
    test(`never stops the client's tool: ${what}`, async () => {
      const { filehand } = bed();
      const { code, stdout, stderr } = await filehand(["hook", "claude-code"], input);
      ok(code === 0 || code === 1, `exit code ${code}`);
      equal(stdout, "");
      ok(stderr.length < 1_000 && !stderr.includes("INTERNAL"), stderr);
      equal(stderr === "", code === 0);
    });
  }

  test("an unknown client is no reason to stop a tool", async () => {
    const { filehand } = bed();
    const { code, stderr } = await filehand(["hook", "nobody"], "{}");
    equal(code, 1);
    match(stderr, /no client "nobody"/);
  });
});

describe.skipIf(onWindows)("filehand run", () => {
  test("undoes what a command did, and has its exit code and output", async () => {
    const { filehand, sh, files } = bed();
    sh("echo a > a.txt");
    const ran = await filehand(["run", "--", "sh", "-c", "echo out; echo err >&2; rm a.txt; exit 7"]);
    deepEqual([ran.code, ran.stdout], [7, "out\n"]);
    match(ran.stderr, /^err\nfilehand: one change, filehand undo takes them back\n$/);
    equal((await filehand(["undo", "--yes"])).code, 0);
    deepEqual(files(), { "a.txt": "a\n" });
  });

  test("a program that is not there is wrong usage", async () => {
    const { code, stderr } = await bed().filehand(["run", "no-such-program-here"]);
    equal(code, 2);
    match(stderr, /Cannot run "no-such-program-here": there is no such program/);
  });

  test("a command that a signal ended has the code that shells give it", async () => {
    equal((await bed().filehand(["run", "--", "sh", "-c", "kill -9 $$"])).code, 137);
  });
});

test.skipIf(onWindows)("filehand observe status says what is covered and what is not", async () => {
  const { filehand, sh } = bed();
  sh("git init -q .; mkdir -p src node_modules/x; echo a > src/a; echo x > node_modules/x/x; echo KEY=1 > .env");
  sh("printf 'node_modules\\n*.log\\n' > .gitignore; echo log > x.log; head -c 11000000 /dev/zero > big.bin");
  const { code, stdout } = await filehand(["observe", "status"]);
  equal(code, 0);
  match(stdout, /^Covered: 2 files and symlinks, 1 folders\n/);
  for (const words of [
    "dependencies: node_modules",
    "ignored by git: x.log",
    "secrets, never stored: .env",
    "too large for a copy: big.bin",
    "folders of git itself: .git",
  ])
    ok(stdout.includes(words), `${words} in ${stdout}`);
  const { notCovered } = JSON.parse((await filehand(["observe", "status", "--json"])).stdout) as {
    notCovered: unknown[];
  };
  equal(notCovered.length, 5);
});
