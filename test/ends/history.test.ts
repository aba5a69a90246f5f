/** Looking back and going back with the built command line, each command in a process of its own. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { createInterface } from "node:readline";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { main } from "../../src/surfaces/cli/main.ts";
import { commandLine, environment, type Ran, run, temporaryFolder } from "./run.ts";

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
  readonly session: string;
  readonly insertions: number;
  readonly deletions: number;
  readonly files: readonly { readonly path: string }[];
  readonly rewinds: { readonly as: string } | null;
}

interface Listed {
  readonly sessions: readonly { readonly id: string; readonly turns: number }[];
  readonly turns: readonly Turn[];
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
      stderr: "filehand: Cannot undo: there is nothing to undo\n",
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

  test("without changes it says so and exits with 0", async () => {
    const nothing = {
      code: 0,
      stdout: "There is nothing to bring back: no file was changed since the start\n",
      stderr: "",
    };
    expect(await filehand("rewind", "start", "--yes")).toEqual(nothing);
    expect(await filehand("rewind", "start", "--dry-run")).toEqual(nothing);
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
    const { sessions, turns } = await listed();
    expect(sessions).toMatchObject([
      { id: expect.stringMatching(/^cli-[0-9a-f]{12}$/), client: "command line", turns: 4 },
    ]);
    expect(turns.map(({ rewinds }) => rewinds?.as ?? null)).toEqual(["undo", null, null, null]);
    expect(turns[1]).toMatchObject({ insertions: 1, deletions: 1, files: [{ path: file("a.txt") }] });
    const shown = await filehand("history", "--limit", "2");
    expect(shown.stdout).toMatch(
      /^ {2}[0-9a-f]{8} {2}\S+ \S+ {2}command line {2}undo {2}\+1 -1 {2}a\.txt \(undo of [0-9a-f]{8}\)$/m,
    );
    expect(shown.stdout).toContain("(2 more, see --limit)");
  });

  test("a model's session is distinguished and can be named", async () => {
    await edit("0", "1");
    const input = JSON.stringify({ file_path: "a.txt", old_string: "1", new_string: "2" });
    const call = ["call", "Edit", input, "--no-read-first", "--yes", "--session", "agent 1"];
    expect(await filehand(...call)).toMatchObject({ code: 0 });
    const { sessions, turns } = await listed();
    expect(sessions.map(({ id }) => id)).toEqual(["agent 1", expect.stringMatching(/^cli-/)]);
    expect(turns.map(({ session }) => session)).toEqual(["agent 1", expect.stringMatching(/^cli-/)]);
    // Its turn is found by its id, and counted with the others unless only some are asked for.
    const id = turns[0]?.id ?? "";
    expect((await filehand("diff", id.slice(0, 10))).stdout).toContain("-1\n+2\n");
    expect((await filehand("diff", "-1")).stdout).toContain("-1\n+2\n");
    expect((await filehand("diff", "-1", "--mine")).stdout).toContain("-0\n+1\n");
    expect(await filehand("undo", "--session", "agent 1", "--yes")).toMatchObject({ code: 0 });
    expect(text("a.txt")).toBe("1\n");
    expect(await filehand("undo", "--session", "nobody", "--yes")).toMatchObject({ code: 1, stdout: "" });
  });

  test("diff shows one turn, or several together", async () => {
    await threeEdits();
    expect(await filehand("diff", "-1")).toEqual({
      code: 0,
      stdout: "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-2\n+3\n",
      stderr: "",
    });
    expect((await filehand("diff", "-3..-2", "--file", "a.txt")).stdout).toContain("-0\n+2\n");
    const json = JSON.parse((await filehand("diff", "-3..-1", "--json")).stdout);
    expect(json.files).toMatchObject([{ path: file("a.txt"), additions: 1, deletions: 1, note: null, became: null }]);
    expect(await filehand("diff", "-1..-3")).toMatchObject({ code: 1, stdout: "" });
    expect(await filehand("diff", "-1", "--file", "b.txt")).toMatchObject({ code: 1, stdout: "" });
  });

  test("diff is a patch with a rename that git understands, and that patch takes back", async () => {
    const lines = [
      "*** Begin Patch",
      "*** Update File: a.txt",
      "*** Move to: b.txt",
      "@@",
      "-0",
      "+1",
      "*** End Patch",
    ];
    const patched = await run(process.execPath, [commandLine, "patch", "--yes"], {
      cwd: workspace,
      input: lines.join("\n"),
      env: { HOME: home, XDG_STATE_HOME: state },
    });
    expect(patched).toMatchObject({ code: 0 });
    const { stdout } = await filehand("diff", "-1");
    const head = ["diff --git a/a.txt b/b.txt", "rename from a.txt", "rename to b.txt", "--- a/a.txt", "+++ b/b.txt"];
    expect(stdout).toBe([...head, "@@ -1 +1 @@", "-0", "+1", ""].join("\n"));
    expect(await filehand("undo", "--yes")).toMatchObject({ code: 0 });
    expect([readdirSync(workspace), text("a.txt")]).toEqual([["a.txt"], "0\n"]);
    writeFileSync(join(state, "last.patch"), stdout);
    expect(await filehand("patch", "--unified", join(state, "last.patch"), "--yes")).toMatchObject({ code: 0 });
    expect([readdirSync(workspace), text("b.txt")]).toEqual([["b.txt"], "1\n"]);
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
    expect(diff).toMatchObject({ code: 1, stdout: "" });
    expect(diff.stderr).toContain('the content of "a.txt" is not in the patch: ');
  });
});

test("a patch names an empty folder beside it, and has the files of another", async () => {
  await filehand("mkdir", "empty", "--yes");
  expect(await filehand("diff", "-1")).toEqual({
    code: 1,
    stdout: "",
    stderr: 'filehand: "empty" is not in the patch: it is a folder\n',
  });
  mkdirSync(file("full"));
  writeFileSync(file("full/b.txt"), "b\n");
  await filehand("delete", "full", "--yes");
  const deleted = await filehand("diff", "-1");
  expect([deleted.code, deleted.stderr]).toEqual([0, ""]);
  expect(deleted.stdout).toMatch(/^diff --git a\/full\/b\.txt b\/full\/b\.txt\ndeleted file mode 100644\n/);
  expect(deleted.stdout.match(/^diff --git/gm)).toHaveLength(1);
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

  test("a damaged journal is reported by every command that reads it, and intact turns can still be undone", async () => {
    await threeEdits();
    const sessions = join(state, "filehand", "history", "sessions");
    const [session = ""] = readdirSync(sessions);
    const log = join(sessions, session, "log");
    const whole = readFileSync(log, "utf8");
    const changes = [...whole.matchAll(/"type":"change"/g)];
    const at = changes[1]?.index ?? 0;
    writeFileSync(log, `${whole.slice(0, at)}"tipe"${whole.slice(at + 6)}`);
    const said =
      /^filehand: one record of the session cli-[0-9a-f]{12} cannot be read and is left out, see filehand history verify\n$/;
    for (const args of [["history"], ["diff", "-1"], ["rewind", "-1", "--dry-run"], ["undo", "--dry-run"]]) {
      expect(await filehand(...args)).toMatchObject({ code: 0, stderr: expect.stringMatching(said) });
    }
    expect(await filehand("history", "verify")).toMatchObject({ code: 1 });
    expect(await filehand("undo", "--yes")).toMatchObject({ code: 0 });
    expect(text("a.txt")).toBe("2\n");

    writeFileSync(log, Buffer.from(Array.from({ length: 4_000 }, (_, index) => (index * 7_919) % 256)));
    const nothing = await filehand("history");
    expect(nothing.stderr).toMatch(/cannot be read and are left out, see filehand history verify\n$/);
    expect(await filehand("undo", "--yes")).toMatchObject({ code: 1, stdout: "" });
    expect(text("a.txt")).toBe("2\n");
    // What is changed from here on is kept.
    await edit("2", "4");
    expect(await filehand("undo", "--yes")).toMatchObject({ code: 0 });
    expect(text("a.txt")).toBe("2\n");
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
    expect((await filehand("rewind", "start", "--dry-run")).stdout).toContain(
      "Dry run, nothing was written. Going back to the start would change 1 of 1 file:\n",
    );
    const back = await filehand("rewind", "start", "--yes");
    expect(back).toMatchObject({ code: 0 });
    expect(back.stdout).toContain("Went back to the start: 1 of 1 file changed.");
    expect(text("a.txt")).toBe("0\n");
  });
});

describe("limits", () => {
  const store = join(state, "filehand", "history");
  const ago = (path: string, days: number): void => {
    const seconds = Date.now() / 1_000 - days * 86_400;
    utimesSync(path, seconds, seconds);
  };
  const userSettings = (values: unknown): void => {
    mkdirSync(join(home, ".config", "filehand"), { recursive: true });
    writeFileSync(join(home, ".config", "filehand", "filehand.jsonc"), JSON.stringify(values));
  };
  const sessions = (): readonly string[] => readdirSync(join(store, "sessions"));

  test("once a day a change starts a collection in the background", async () => {
    const input = JSON.stringify({ file_path: "b.txt", content: "x" });
    expect(await filehand("call", "Write", input, "--yes", "--session", "old")).toMatchObject({ code: 0 });
    await edit("0", "1");
    ago(join(store, "sessions", "s-old", "log"), 40);
    await edit("1", "2");
    expect(sessions()).toContain("s-old");
    ago(join(store, "collected"), 2);
    expect(await filehand("read", "a.txt")).toMatchObject({ code: 0 });
    expect(sessions()).toContain("s-old");
    await edit("2", "3");
    const isDone = (): boolean => !sessions().includes("s-old") && !existsSync(join(store, "collecting"));
    await expect.poll(isDone, { timeout: 150_000 }).toBe(true);
    expect((await listed()).turns).toHaveLength(3);
    expect(await filehand("history", "gc", "--if-due")).toMatchObject({ code: 0, stdout: "Nothing to do yet\n" });
  });

  test("a user's settings say how much is kept, or that nothing is", async () => {
    userSettings({ history: { snapshotsMax: 2 } });
    await threeEdits();
    expect((await listed()).turns).toHaveLength(2);
    userSettings({ history: false });
    expect(await filehand("undo", "--yes")).toEqual({
      code: 1,
      stdout: "",
      stderr: 'filehand: Cannot look back: the setting "history" is false, so nothing is kept\n',
    });
    rmSync(state, { recursive: true });
    await edit("3", "4");
    expect(existsSync(store)).toBe(false);
  });

  // Node's own way of making folders never ends there.
  test.skipIf(process.platform !== "linux")(
    "a state folder that cannot be made is told, and the change is made",
    async () => {
      const { code, stdout } = await filehand(
        "write",
        "b.txt",
        "--content",
        "b",
        "--yes",
        "--state-dir",
        "/proc/filehand",
      );
      expect([code, text("b.txt")]).toEqual([0, "b"]);
      expect(stdout).toContain('Cannot store in "/proc/filehand/history": the system says ENOENT');
    },
  );

  test("a store that cannot be read is reported, with the next step, by every command that reads it", async () => {
    await edit("0", "1");
    rmSync(join(store, "sessions"), { recursive: true });
    writeFileSync(join(store, "sessions"), "in the way");
    for (const args of [
      ["history"],
      ["undo", "--yes"],
      ["redo", "--yes"],
      ["diff", "-1"],
      ["rewind", "start", "--yes"],
    ]) {
      const { code, stdout, stderr } = await filehand(...args);
      expect([code, stdout, stderr]).toEqual([1, "", expect.stringMatching(/cannot be read|Cannot read/i)]);
      expect(stderr).toContain("filehand history verify");
    }
    const verified = await filehand("history", "verify");
    expect(verified.code).toBe(1);
    expect(verified.stdout).toContain(`cannot be read: ${join(store, "sessions")}`);
  });
});

describe("batch --observe", () => {
  /** Calls one by one; `between` is done after the reply to each. */
  const batch = async (
    steps: readonly { readonly input: unknown; readonly between: () => void }[],
    args: readonly string[],
  ) => {
    const given = ["batch", "--yes", "--no-read-first", "--session", "agent", ...args];
    const child = spawn(process.execPath, [commandLine, ...given], {
      cwd: workspace,
      env: environment({ HOME: home, XDG_STATE_HOME: state }),
    });
    const closed = once(child, "close");
    const stderr: Buffer[] = [];
    child.stderr.on("data", (chunk: Buffer) => stderr.push(chunk));
    const replies = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    for (const { input, between } of steps) {
      child.stdin.write(`${JSON.stringify({ id: 1, tool: "Write", input })}\n`);
      expect(JSON.parse((await replies.next()).value)).toMatchObject({ reply: { isError: false } });
      between();
    }
    child.stdin.end();
    const [code] = await closed;
    return { code, stderr: Buffer.concat(stderr).toString() };
  };
  const steps = [
    {
      input: { file_path: "b.txt", content: "ours\n" },
      between: () => writeFileSync(file("a.txt"), "a shell was here\n"),
    },
    {
      input: { file_path: "c.txt", content: "ours\n" },
      between: () => writeFileSync(file("b.txt"), "a formatter was here\n"),
    },
  ];

  test("what a shell changes between two calls, and after the last, can be undone", async () => {
    expect(await batch(steps, ["--observe"])).toEqual({ code: 0, stderr: "" });
    const undo = ["undo", "--session", "agent", "--yes"];
    for (const [a, b, c] of [
      ["a shell was here\n", "ours\n", true],
      ["a shell was here\n", "ours\n", false],
      ["0\n", "ours\n", false],
    ] as const) {
      expect(await filehand(...undo)).toMatchObject({ code: 0, stderr: "" });
      expect([text("a.txt"), text("b.txt"), existsSync(file("c.txt"))]).toEqual([a, b, c]);
    }
    expect(await filehand(...undo)).toMatchObject({ code: 0 });
    expect(readdirSync(workspace)).toEqual(["a.txt"]);
  });

  test("without it, they count as another program's", async () => {
    expect(await batch(steps, [])).toEqual({ code: 0, stderr: "" });
    const back = await filehand("rewind", "start", "--session", "agent", "--yes");
    expect(back.stdout).toContain("left as it is: b.txt (somebody else changed it since; --force overwrites that)");
    expect(text("a.txt")).toBe("a shell was here\n");
  });

  test("what cannot be brought back is said on stderr", async () => {
    writeFileSync(file(".env"), "KEY=1\n");
    const [first] = steps;
    const between = (): void => writeFileSync(file(".env"), "KEY=2, longer\n");
    const { code, stderr } = await batch([{ input: first?.input, between }], ["--observe"]);
    expect([code, stderr]).toEqual([0, "filehand: changed by others, and cannot be brought back: .env\n"]);
  });

  test("wrong usage: several calls at once, a dry run, no history", async () => {
    expect(await filehand("batch", "--observe", "--parallel", "2")).toMatchObject({ code: 2 });
    expect(await filehand("batch", "--observe", "--dry-run")).toMatchObject({ code: 2 });
    mkdirSync(join(home, ".config", "filehand"), { recursive: true });
    writeFileSync(join(home, ".config", "filehand", "filehand.jsonc"), '{"history": false}');
    const refused = await filehand("batch", "--observe");
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("no history is kept")]);
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
    for (const [words, says] of [
      [["--if-due"], "--if-due is of use only with gc"],
      [["verify", "--if-due"], "--if-due is of use only with gc"],
      [["verify", "--session", "x"], "--session is of no use with verify, which is about all that is kept"],
      [["gc", "--limit", "3"], "--limit is of no use with gc, which is about all that is kept"],
    ] as const) {
      expect(await filehand("history", ...words)).toEqual({ code: 2, stdout: "", stderr: `filehand: ${says}\n` });
    }
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
