/** Looking back and going back with the built command line, each command in a process of its own. */

import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { main } from "../../src/surfaces/cli/main.ts";
import { commandLine, type Ran, run, temporaryFolder } from "./run.ts";

const folder = temporaryFolder();
afterAll(() => folder.remove());
const workspace = join(folder.path, "workspace");
const home = join(folder.path, "home");
const state = join(folder.path, "state");
const file = (name: string): string => join(workspace, name);
const text = (name: string): string => readFileSync(file(name), "utf8");

beforeEach(() => {
  for (const path of [workspace, home, state]) rmSync(path, { recursive: true, force: true });
  for (const path of [workspace, home]) mkdirSync(path, { recursive: true });
  writeFileSync(file("a.txt"), "0\n");
});

const filehand = (...args: readonly string[]): Promise<Ran> =>
  run(process.execPath, [commandLine, ...args], {
    cwd: workspace,
    input: "",
    env: { HOME: home, XDG_STATE_HOME: state },
  });

const edit = async (before: string, after: string, name = "a.txt"): Promise<void> => {
  expect(await filehand("edit", name, "--old", before, "--new", after, "--yes")).toMatchObject({ code: 0, stderr: "" });
};

const threeEdits = async (): Promise<void> => {
  for (const [before, after] of ["01", "12", "23"]) await edit(before ?? "", after ?? "");
};

interface Turn {
  readonly id: string;
  readonly insertions: number;
  readonly deletions: number;
  readonly files: readonly { readonly path: string }[];
  readonly rewinds: { readonly as: string } | null;
}

interface Listed {
  readonly sessions: readonly { readonly id: string; readonly turns: number }[];
  readonly session: { readonly id: string; readonly turns: readonly Turn[] };
}

const listed = async (...args: readonly string[]): Promise<Listed> =>
  JSON.parse((await filehand("history", "--json", ...args)).stdout);

describe("undo and redo", () => {
  test("three edits are undone one by one, across processes, and done again", async () => {
    await threeEdits();
    for (const content of ["2\n", "1\n", "0\n"]) {
      expect(await filehand("undo", "--yes")).toMatchObject({ code: 0, stderr: "" });
      expect(text("a.txt")).toBe(content);
    }
    expect(await filehand("undo", "--yes")).toEqual({
      code: 1,
      stdout: "",
      stderr: 'filehand: Cannot go back to "undo": there is nothing to undo\n',
    });
    for (const content of ["1\n", "2\n", "3\n"]) {
      expect(await filehand("redo", "--yes")).toMatchObject({ code: 0, stderr: "" });
      expect(text("a.txt")).toBe(content);
    }
    expect(await filehand("redo", "--yes")).toMatchObject({ code: 1, stdout: "" });
  });

  test("a new file goes, a deleted one comes back", async () => {
    expect(await filehand("write", "new.txt", "--content", "new\n", "--yes")).toMatchObject({ code: 0 });
    expect(await filehand("undo", "--yes")).toMatchObject({ code: 0 });
    expect(readdirSync(workspace)).toEqual(["a.txt"]);
    expect(await filehand("redo", "--yes")).toMatchObject({ code: 0 });
    expect(text("new.txt")).toBe("new\n");
  });

  test("it is a change: without an answer nothing is done", async () => {
    await edit("0", "1");
    const refused = await filehand("undo");
    expect(refused.code).toBe(1);
    expect(refused.stdout).toContain("failed: a.txt");
    expect(refused.stdout).toContain("--yes");
    expect(text("a.txt")).toBe("1\n");
    expect(await filehand("undo", "--allow", "Edit")).toMatchObject({ code: 0 });
    expect(text("a.txt")).toBe("0\n");
  });
});

describe("rewind", () => {
  test("the dry run plans what is then done", async () => {
    await threeEdits();
    const dry = JSON.parse((await filehand("rewind", "-2", "--dry-run", "--json")).stdout);
    expect(text("a.txt")).toBe("3\n");
    const real = JSON.parse((await filehand("rewind", "-2", "--yes", "--json")).stdout);
    expect(text("a.txt")).toBe("1\n");
    expect(dry).toMatchObject({ dryRun: true, turn: null, files: [{ did: "would be restored" }] });
    expect(real).toMatchObject({ dryRun: false, turn: expect.any(String), files: [{ did: "restored" }] });
    expect(real.files[0].step).toEqual(dry.files[0].step);
    expect(real.to).toBe(dry.to);
    // The rewind is a turn itself.
    expect(await filehand("rewind", "-1", "--yes")).toMatchObject({ code: 0 });
    expect(text("a.txt")).toBe("3\n");
  });

  test("what a stranger changed is left, shown from both sides, and overwritten by force only", async () => {
    await threeEdits();
    appendFileSync(file("a.txt"), "stranger\n");
    const left = await filehand("rewind", "-3", "--yes");
    expect(left.code).toBe(1);
    expect(left.stdout).toContain("left as it is: a.txt (somebody else changed it since; --force overwrites that)");
    const dry = await filehand("rewind", "-3", "--dry-run");
    expect(dry.code).toBe(1);
    expect(dry.stdout).toContain("    a.txt: what this session changed\n    +1 -1\n    @@ -1 +1 @@\n    -0\n    +3\n");
    expect(dry.stdout).toContain("    a.txt: what somebody else changed since\n    +1 -0\n");
    expect(dry.stdout).toContain("    +stranger\n");
    expect(text("a.txt")).toBe("3\nstranger\n");

    const forced = await filehand("rewind", "-3", "--force", "--verbose", "--yes");
    expect(forced).toMatchObject({ code: 0, stderr: "" });
    expect(forced.stdout).toContain("    +stranger\n");
    expect(text("a.txt")).toBe("0\n");
    // And that can be taken back as well.
    expect(await filehand("redo", "--yes")).toMatchObject({ code: 0 });
    expect(text("a.txt")).toBe("3\nstranger\n");
  });

  test("only some files", async () => {
    writeFileSync(file("b.txt"), "0\n");
    await edit("0", "1");
    await edit("0", "1", "b.txt");
    expect(await filehand("rewind", "start", "--file", "b.txt", "--yes")).toMatchObject({ code: 0 });
    expect([text("a.txt"), text("b.txt")]).toEqual(["1\n", "0\n"]);
    const none = await filehand("rewind", "-1", "--file", "c.txt", "--yes");
    expect(none).toMatchObject({ code: 1, stdout: "" });
    expect(none.stderr).toBe('filehand: Cannot bring back "c.txt": it was not changed since that turn\n');
  });
});

describe("looking", () => {
  test("history lists sessions, turns, files and how much changed", async () => {
    expect(await filehand("history")).toMatchObject({ code: 0, stdout: "Nothing was changed in this workspace yet\n" });
    await threeEdits();
    await filehand("undo", "--yes");
    const { sessions, session } = await listed();
    expect(sessions).toMatchObject([{ id: expect.stringMatching(/^cli-[0-9a-f]{12}$/), turns: 4 }]);
    expect(session.turns.map(({ rewinds }) => rewinds?.as ?? null)).toEqual(["undo", null, null, null]);
    expect(session.turns[1]).toMatchObject({ insertions: 1, deletions: 1, files: [{ path: file("a.txt") }] });
    const shown = await filehand("history", "--limit", "2");
    expect(shown.stdout).toMatch(/^ {2}[0-9a-f]{8} {2}\S+ \S+ {2}\+1 -1 {2}a\.txt \(undo of [0-9a-f]{8}\)$/m);
    expect(shown.stdout).toContain("(2 more, see --limit)");
  });

  test("a model's session is told apart and can be named", async () => {
    await edit("0", "1");
    const input = JSON.stringify({ file_path: "a.txt", old_string: "1", new_string: "2" });
    const call = ["call", "Edit", input, "--no-read-first", "--yes", "--session", "agent 1"];
    expect(await filehand(...call)).toMatchObject({ code: 0 });
    const { sessions, session } = await listed();
    expect(sessions.map(({ id }) => id)).toEqual(["agent 1", expect.stringMatching(/^cli-/)]);
    expect(session.id).toBe("agent 1");
    // Its turn is found by its id, and counted only where it is asked for.
    const id = session.turns[0]?.id ?? "";
    expect((await filehand("diff", id.slice(0, 10))).stdout).toContain("-1\n+2\n");
    expect((await filehand("diff", "-1")).stdout).toContain("-0\n+1\n");
    expect(await filehand("undo", "--session", "agent 1", "--yes")).toMatchObject({ code: 0 });
    expect(text("a.txt")).toBe("1\n");
    expect(await filehand("undo", "--session", "nobody", "--yes")).toMatchObject({ code: 1, stdout: "" });
  });

  test("diff shows one turn, or several together", async () => {
    await threeEdits();
    expect(await filehand("diff", "-1")).toEqual({
      code: 0,
      stdout: "a.txt\n+1 -1\n@@ -1 +1 @@\n-2\n+3\n",
      stderr: "",
    });
    expect((await filehand("diff", "-3..-2", "--file", "a.txt")).stdout).toContain("-0\n+2\n");
    const json = JSON.parse((await filehand("diff", "-3..-1", "--json")).stdout);
    expect(json.files).toMatchObject([{ path: file("a.txt"), additions: 1, deletions: 1, note: null, became: null }]);
    expect(await filehand("diff", "-1..-3")).toMatchObject({ code: 1, stdout: "" });
    expect(await filehand("diff", "-1", "--file", "b.txt")).toMatchObject({ code: 1, stdout: "" });
  });

  test("show prints the bytes as they were", async () => {
    await threeEdits();
    expect(await filehand("show", "-3:a.txt")).toEqual({ code: 0, stdout: "0\n", stderr: "" });
    expect(await filehand("show", "-3:a.txt", "--after")).toMatchObject({ code: 0, stdout: "1\n" });
    expect(JSON.parse((await filehand("show", `-1:${file("a.txt")}`, "--json")).stdout)).toMatchObject({ text: "2\n" });
    expect(await filehand("show", "-1:b.txt")).toMatchObject({ code: 1, stdout: "" });
    expect(await filehand("show", "a.txt")).toMatchObject({ code: 2, stdout: "" });
    await filehand("write", "new.txt", "--content", "x", "--yes");
    expect((await filehand("show", "-1:new.txt")).stderr).toContain("it did not exist");
  });

  test("rules of today hold for contents of yesterday", async () => {
    await edit("0", "1");
    const denied = await filehand("show", "-1:a.txt", "--deny", "Read(a.txt)");
    expect(denied).toMatchObject({ code: 1, stdout: "" });
    const diff = await filehand("diff", "-1", "--deny", "Read(a.txt)");
    expect(diff.stdout).toContain("(not shown: ");
    expect(diff.stdout).not.toContain("+1\n");
  });
});

describe("what is kept", () => {
  test("verify finds a content that was damaged, and a rewind does not use it", async () => {
    writeFileSync(file("a.txt"), "precious\n");
    await edit("precious", "cheap");
    expect((await filehand("history", "verify")).stdout).toMatch(/^Checked \d+ records and 2 contents: all are as/);
    const packs = join(state, "filehand", "history", "packs");
    const [pack = ""] = readdirSync(packs).map((name) => join(packs, name));
    const bytes = readFileSync(pack);
    bytes.write("P", bytes.indexOf("precious"));
    writeFileSync(pack, bytes);

    const found = await filehand("history", "verify");
    expect(found.code).toBe(1);
    expect(found.stdout).toMatch(/^ {2}damaged content: [0-9a-f]{64}, session cli-[0-9a-f]{12}$/m);
    const faults: unknown = JSON.parse((await filehand("history", "verify", "--json")).stdout).faults;
    expect(faults).toMatchObject([{ fault: "damaged content" }]);
    const back = await filehand("rewind", "-1", "--yes");
    expect(back.code).toBe(1);
    expect(back.stdout).toContain("left as it is: a.txt (what was kept of it is damaged)");
    expect(text("a.txt")).toBe("cheap\n");
    expect((await filehand("show", "-1:a.txt")).stderr).toContain("damaged, see filehand history verify");
  });

  test("usage counts, gc keeps what is needed", async () => {
    await threeEdits();
    expect(JSON.parse((await filehand("history", "usage", "--json")).stdout)).toMatchObject({
      contents: 4,
      sessions: 1,
    });
    expect((await filehand("history", "usage")).stdout).toMatch(/^In all: /);
    expect(await filehand("history", "gc")).toMatchObject({ code: 0, stderr: "" });
    expect(await filehand("history", "verify")).toMatchObject({ code: 0 });
    expect(await filehand("rewind", "start", "--yes")).toMatchObject({ code: 0 });
    expect(text("a.txt")).toBe("0\n");
  });
});

describe("wrong usage", () => {
  test("a turn that is not there", async () => {
    expect(await filehand("rewind", "-1")).toMatchObject({ code: 1, stdout: "" });
    await edit("0", "1");
    for (const command of ["rewind", "diff"]) {
      const { code, stderr } = await filehand(command, "zzz");
      expect([code, stderr]).toEqual([
        1,
        'filehand: Cannot find the turn "zzz": no turn begins so, see filehand history\n',
      ]);
    }
    const json = await filehand("rewind", "zzz", "--json");
    expect(JSON.parse(json.stdout)).toMatchObject({ isError: true, error: { code: "NO_TURN" } });
    expect(await filehand("rewind")).toMatchObject({ code: 2 });
    expect(await filehand("history", "nonsense")).toMatchObject({ code: 2 });
    expect(await filehand("call", "Read", "{}", "--session", "")).toMatchObject({ code: 2 });
  });

  test("without a state folder there is no history, and it says so", async () => {
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    const world = { env: {}, cwd: workspace, home: undefined, platform: "linux" } as const;
    const host = { stdin: new PassThrough(), stdout, stderr, ...world, signal: new AbortController().signal };
    for (const args of [["history"], ["undo", "--yes"], ["rewind", "-1"], ["diff", "-1"]]) {
      expect(await main(args, host)).toBe(1);
      expect(String(stderr.read())).toBe(
        "filehand: Cannot look back: no history is kept without a state folder, give one with --state-dir\n",
      );
    }
  });
});
