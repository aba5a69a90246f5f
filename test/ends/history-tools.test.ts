/** History and Rewind through the built command line: the operator's switch, and a conversation in `filehand batch`. */

import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import type { Reply } from "../../src/index.ts";
import { commandLine, type Ran, run, temporaryFolder } from "./run.ts";

const folder = temporaryFolder();
afterAll(() => folder.remove());
const workspace = join(folder.path, "workspace");
const home = join(folder.path, "home");
const state = join(folder.path, "state");

beforeEach(() => {
  for (const path of [workspace, home, state]) rmSync(path, { recursive: true, force: true });
  for (const path of [workspace, join(home, ".config", "filehand")]) mkdirSync(path, { recursive: true });
  writeFileSync(join(workspace, "a.txt"), "one\n");
});

const filehand = (args: readonly string[], input = ""): Promise<Ran> =>
  run(process.execPath, [commandLine, ...args], {
    cwd: workspace,
    input,
    env: { HOME: home, XDG_STATE_HOME: state, XDG_CONFIG_HOME: undefined },
  });

const offered = async (...args: readonly string[]): Promise<readonly string[]> => {
  const { stdout } = await filehand(["tools", "--json", ...args]);
  return (JSON.parse(stdout) as readonly { readonly name: string }[]).map(({ name }) => name);
};

async function batch(args: readonly string[], ...calls: readonly (readonly [tool: string, input: unknown])[]) {
  const lines = calls.map(([tool, input], id) => `${JSON.stringify({ id, tool, input })}\n`).join("");
  const { code, stdout, stderr } = await filehand(["batch", "--yes", ...args], lines);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout
    .trim()
    .split("\n")
    .map((line) => (JSON.parse(line) as { readonly reply: Reply }).reply);
}

const textOf = (reply: Reply | undefined): string =>
  (reply?.content ?? []).map((part) => (part.type === "text" ? part.text : "")).join("\n");

describe("the operator's switch", () => {
  test("is off, and on by a flag", async () => {
    expect(await offered()).not.toContain("History");
    expect(await offered("--history-tools")).toEqual(expect.arrayContaining(["History", "Rewind"]));
    expect(await offered("--history-tools", "--dialect", "opencode")).toEqual(
      expect.arrayContaining(["history", "rewind"]),
    );
  });

  test("is on by the user's settings, and not by a project's", async () => {
    const settings = '{"historyTools": true}\n';
    writeFileSync(join(workspace, "filehand.jsonc"), settings);
    const { stdout, stderr } = await filehand(["tools", "--json"]);
    expect(stdout).not.toContain('"History"');
    expect(stderr).toMatch(/"historyTools" here: .*user/);
    rmSync(join(workspace, "filehand.jsonc"));
    writeFileSync(join(home, ".config", "filehand", "filehand.jsonc"), settings);
    expect(await offered()).toContain("Rewind");
  });

  test("holds for calls: without it the tools are unknown", async () => {
    const off = await filehand(["call", "History", "{}"]);
    expect(off).toMatchObject({ code: 1, stdout: "" });
    expect(off.stderr).toContain('Cannot call "History": there is no such tool');
    const on = await filehand(["call", "History", "{}", "--history-tools"]);
    expect(on).toMatchObject({ code: 0, stderr: "", stdout: "This session has changed nothing yet.\n" });
    const [reply] = await batch([], ["Rewind", { turn: "start" }]);
    expect(reply?.error?.code).toBe("UNKNOWN_TOOL");
  });
});

describe("a conversation", () => {
  const edit = (old: string, text: string) =>
    ["Edit", { file_path: "a.txt", old_string: old, new_string: text }] as const;

  test("looks back, goes back, and goes on in another process of the same session", async () => {
    const args = ["--history-tools", "--session", "talk"];
    const first = await batch(
      args,
      ["Read", { file_path: "a.txt" }],
      edit("one", "two"),
      ["Write", { file_path: "b.txt", content: "b\n" }],
      ["History", {}],
    );
    expect(textOf(first[3])).toMatch(
      /^2 turns .*\nturn \S+ .*\n {2}created "b.txt" \(\+1 -0\)\nturn \S+ .*\n {2}changed/,
    );
    const oldest = /turn (\S+) [^\n]*\n {2}changed/.exec(textOf(first[3]))?.[1] ?? "";

    const second = await batch(
      args,
      ["History", { turn: oldest }],
      ["Rewind", { turn: oldest, dry_run: true }],
      ["Rewind", { turn: oldest }],
      edit("one", "three"),
      ["Read", { file_path: "a.txt" }],
      edit("one", "three"),
      ["History", { path: "a.txt" }],
    );
    expect(textOf(second[0])).toContain("-one\n+two");
    expect(textOf(second[1])).toContain("would change 2 of 2 files");
    expect(textOf(second[2])).toContain('restored: "a.txt"\ndeleted: "b.txt"');
    expect(second.map(({ error }) => error?.code)).toEqual([
      undefined,
      undefined,
      undefined,
      "NOT_READ",
      undefined,
      undefined,
      undefined,
    ]);
    expect(textOf(second[6])).toMatch(/^3 turns .* that changed "a.txt", newest first:/);
    expect(readFileSync(join(workspace, "a.txt"), "utf8")).toBe("three\n");
  });

  test("--dry-run of the operator makes every rewind a dry run", async () => {
    await batch(["--session", "talk"], ["Write", { file_path: "b.txt", content: "b\n" }]);
    const [reply] = await batch(["--history-tools", "--session", "talk", "--dry-run"], ["Rewind", { turn: "start" }]);
    expect(textOf(reply)).toContain("Dry run, nothing was written.");
    expect(readFileSync(join(workspace, "b.txt"), "utf8")).toBe("b\n");
  });

  test("does not show other sessions", async () => {
    await batch(["--session", "other"], ["Write", { file_path: "b.txt", content: "b\n" }]);
    const [reply] = await batch(["--history-tools", "--session", "talk"], ["History", {}]);
    expect(textOf(reply)).toBe("This session has changed nothing yet.");
  });
});
