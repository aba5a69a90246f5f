/** Taking back what others did, with the built program: agents over MCP, a person's commands, a batch, from any folder. */

import { execFileSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { connect, textOf } from "../mcp/server.ts";
import { commandLine, type Ran, run, temporaryFolder } from "./run.ts";
import { hasTerminal, typing } from "./terminal.ts";

let folder = "";
let workspace = "";
const file = (name: string): string => join(workspace, name);
const text = (name: string): string => readFileSync(file(name), "utf8");

beforeEach(() => {
  const made = temporaryFolder();
  onTestFinished(() => made.remove());
  folder = made.path;
  workspace = join(folder, "workspace");
  mkdirSync(join(workspace, "src", "deep"), { recursive: true });
  mkdirSync(join(folder, "home"));
  writeFileSync(file("a.txt"), "0\n");
});

const env = () => ({ HOME: join(folder, "home"), XDG_STATE_HOME: join(folder, "state") });
const within = (cwd: string, ...args: readonly string[]): Promise<Ran> =>
  run(process.execPath, [commandLine, ...args], { cwd, input: "", env: env() });
const filehand = (...args: readonly string[]): Promise<Ran> => within(workspace, ...args);

/** A client of its own process of `filehand mcp`. */
async function agent(name: string, cwd = workspace) {
  const { client } = await connect({ era: "legacy", cwd, args: ["--yes"], env: env(), name });
  const call = async (tool: string, input: Record<string, unknown>) => {
    const result = await client.callTool({ name: tool, arguments: input });
    return { isError: result.isError === true, text: textOf(result), all: JSON.stringify(result.content) };
  };
  return {
    call,
    close: () => client.close(),
    write: async (path: string, content: string): Promise<void> => {
      await call("Read", { file_path: path });
      expect(await call("Write", { file_path: path, content })).toMatchObject({ isError: false });
    },
  };
}

const edit = async (before: string, after: string, ...more: readonly string[]): Promise<void> => {
  expect(await filehand("edit", "a.txt", "--old", before, "--new", after, "--yes", ...more)).toMatchObject({ code: 0 });
};

const listed = async (...args: readonly string[]) => JSON.parse((await filehand("history", "--json", ...args)).stdout);

describe("what an agent did", () => {
  test("is shown and taken back from a subfolder, and the agent notices", async () => {
    const claude = await agent("claude-code");
    await claude.write("new.txt", "new\n");
    await claude.write("a.txt", "agent\n");
    const sub = join(workspace, "src", "deep");
    const dry = await within(sub, "undo", "--dry-run");
    expect(dry).toMatchObject({ code: 0, stderr: "" });
    expect(dry.stdout).toMatch(/^By Claude Code, \d\d:\d\d: Write, \d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/m);
    expect(dry.stdout).toContain("would be restored: ../../a.txt");
    const undone = JSON.parse((await within(sub, "undo", "--yes", "--json")).stdout);
    expect(undone).toMatchObject({ client: "Claude Code", tools: ["Write"], files: [{ path: file("a.txt") }] });
    expect([text("a.txt"), existsSync(file("new.txt"))]).toEqual(["0\n", true]);
    // What it knows of the file is no longer so.
    const stale = await claude.call("Edit", { file_path: "a.txt", old_string: "agent", new_string: "again" });
    expect([stale.isError, text("a.txt")]).toEqual([true, "0\n"]);
    expect(stale.text).toContain("somebody else changed it since it was read");

    expect(await within(sub, "undo", "--yes")).toMatchObject({ code: 0 });
    expect(existsSync(file("new.txt"))).toBe(false);
    expect(await within(sub, "undo", "--yes")).toMatchObject({
      code: 1,
      stderr: "filehand: Cannot undo: there is nothing to undo\n",
    });
    for (const [name, content] of [
      ["new.txt", "new\n"],
      ["a.txt", "agent\n"],
    ] as const) {
      expect(await within(sub, "redo", "--yes")).toMatchObject({ code: 0 });
      expect(text(name)).toBe(content);
    }
    expect(await filehand("history", "verify")).toMatchObject({ code: 0 });
  });

  test("an answer to another call says that the file was changed", async () => {
    const claude = await agent("claude-code");
    await claude.call("Read", { file_path: "a.txt" });
    await claude.write("a.txt", "agent\n");
    expect(await filehand("undo", "--yes")).toMatchObject({ code: 0 });
    await new Promise((resolve) => setTimeout(resolve, 1_500)); // notices are for calls after a pause
    writeFileSync(file("b.txt"), "b\n");
    expect((await claude.call("Read", { file_path: "b.txt" })).all).toContain("a.txt");
  });

  test.skipIf(!hasTerminal)("at a terminal one question says whose it is and what happens", async () => {
    const codex = await agent("codex-mcp-client");
    await codex.write("a.txt", "agent\n");
    await codex.write("new\u202e.txt", "new\n");
    const where = { cwd: join(workspace, "src"), env: env() };
    const no = await typing(["n\n"], ["undo"], where);
    expect([no.code, no.stdout]).toEqual([1, expect.stringContaining("Nothing was changed")]);
    expect(no.stdout).toMatch(/By Codex, \d\d:\d\d: Write, /);
    expect(no.stdout).toContain("would be deleted: ../new\\u202e.txt");
    expect(no.stdout.match(/Undo this\?/g)).toHaveLength(1);
    expect(existsSync(file("new\u202e.txt"))).toBe(true);
    const yes = await typing(["?\n", "yes\n"], ["undo"], where);
    expect([yes.code, existsSync(file("new\u202e.txt"))]).toEqual([0, false]);
    const back = await typing(["y\n"], ["rewind", "start"], where);
    expect([back.code, text("a.txt")]).toEqual([0, "0\n"]);
    expect(back.stdout).toContain("-agent");
  });

  test.skipIf(!hasTerminal)("what it does while the person thinks is left, and is next", async () => {
    const codex = await agent("codex-mcp-client");
    await codex.write("a.txt", "first\n");
    await codex.write("b.txt", "first\n");
    const undoing = typing(["y\n"], ["undo"], { cwd: workspace, env: env(), answerAfterMs: 3_000 });
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    await codex.write("b.txt", "second\n");
    await codex.write("c.txt", "second\n");
    const asked = await undoing;
    expect([asked.code, text("b.txt"), text("c.txt")]).toEqual([1, "second\n", "second\n"]);
    // Newest first, none forgotten.
    for (const [name, content] of [
      ["c.txt", undefined],
      ["b.txt", "first\n"],
      ["b.txt", undefined],
      ["a.txt", "0\n"],
    ] as const) {
      expect(await filehand("undo", "--yes")).toMatchObject({ code: 0 });
      expect(existsSync(file(name)) ? text(name) : undefined).toBe(content);
    }
  });
});

describe("several sessions", () => {
  /** Claude Code 1, the person 2, Codex 3, Claude Code 4, a batch 5: all in one file. */
  const mixed = async () => {
    const [claude, codex] = [await agent("claude-code"), await agent("codex-mcp-client")];
    await claude.write("a.txt", "1\n");
    await edit("1", "2");
    await codex.write("a.txt", "3\n");
    await claude.write("a.txt", "4\n");
    const input = { file_path: "a.txt", content: "5\n" };
    const calls = `${JSON.stringify({ id: 1, tool: "Write", input })}\n`;
    const args = [commandLine, "batch", "--yes", "--no-read-first"];
    expect(await run(process.execPath, args, { cwd: workspace, input: calls, env: env() })).toMatchObject({ code: 0 });
    return { claude, codex };
  };
  const clients = ["filehand batch", "Claude Code", "Codex", "command line", "Claude Code"];

  test("history, diff, show and rewind count the same list; undo and redo go through it", async () => {
    await mixed();
    const { turns, sessions } = await listed();
    expect(turns.map(({ client }: { readonly client: string }) => client)).toEqual(clients);
    expect(sessions).toHaveLength(4);
    for (const [at, [before, after]] of ["45", "34", "23", "12", "01"].entries()) {
      expect((await filehand("diff", `-${at + 1}`)).stdout).toContain(`-${before}\n+${after}\n`);
      expect((await filehand("show", `-${at + 1}:a.txt`)).stdout).toBe(`${before}\n`);
    }
    expect((await filehand("diff", "-4..-2")).stdout).toContain("-1\n+4\n");
    for (const content of ["4\n", "3\n", "2\n", "1\n", "0\n"]) {
      expect(await filehand("undo", "--yes")).toMatchObject({ code: 0, stderr: "" });
      expect(text("a.txt")).toBe(content);
    }
    expect(await filehand("undo", "--yes")).toMatchObject({ code: 1 });
    for (const content of ["1\n", "2\n", "3\n", "4\n", "5\n"]) {
      expect(await filehand("redo", "--yes")).toMatchObject({ code: 0, stderr: "" });
      expect(text("a.txt")).toBe(content);
    }
    expect(await filehand("redo", "--yes")).toMatchObject({ code: 1 });
    expect((await filehand("history")).stdout).toMatch(/Claude Code, \d\d:\d\d {2,}mcp-[0-9a-f]{16} {2}/);
  });

  test("a rewind over several is one turn, for all of them", async () => {
    await mixed();
    const back = JSON.parse((await filehand("rewind", "-4", "--yes", "--json")).stdout);
    expect([back.client, text("a.txt")]).toEqual(["command line", "1\n"]);
    const { turns } = await listed();
    expect(turns).toHaveLength(6);
    expect(turns[0]).toMatchObject({ id: back.turn, rewinds: { as: "rewind" } });
    expect(turns.map(({ undone }: { readonly undone: string }) => undone)).toEqual([
      "no",
      "all",
      "all",
      "all",
      "all",
      "no",
    ]);
    expect(await filehand("undo", "--yes")).toMatchObject({ code: 0 });
    expect(text("a.txt")).toBe("0\n");
    for (const content of ["1\n", "5\n"]) {
      expect(await filehand("redo", "--yes")).toMatchObject({ code: 0 });
      expect(text("a.txt")).toBe(content);
    }
    expect(await filehand("rewind", "start", "--yes")).toMatchObject({ code: 0 });
    expect(text("a.txt")).toBe("0\n");
  });

  test("--mine, --agent and --session narrow it; what others changed since is left, shown and kept", async () => {
    await mixed();
    for (const [option, session] of [
      [["--mine"], "command line"],
      [["--agent", "codex"], "Codex"],
      [["--agent", "Claude Code"], "Claude Code"],
      [["--agent", "filehand-batch"], "filehand batch"],
    ] as const) {
      const dry = JSON.parse((await filehand("undo", "--dry-run", "--json", ...option)).stdout);
      expect(dry.client).toBe(session);
    }
    const left = await filehand("undo", "--mine", "--yes", "--verbose");
    expect([left.code, text("a.txt")]).toEqual([1, "5\n"]);
    expect(left.stdout).toContain("left as it is: a.txt (somebody else changed it since; --force overwrites that)");
    expect(left.stdout).toContain("    -1\n    +2\n");
    expect(left.stdout).toContain("    -2\n    +5\n");
    const { sessions } = await listed();
    const codex = sessions.find(({ client }: { readonly client: string }) => client === "Codex").id;
    expect(await filehand("undo", "--session", codex, "--force", "--yes")).toMatchObject({ code: 0 });
    expect(text("a.txt")).toBe("2\n");
    expect(await filehand("redo", "--yes")).toMatchObject({ code: 0 });
    expect(text("a.txt")).toBe("5\n");
  });

  test("what was undone of one session stays so when the others are undone and redone", async () => {
    const [claude, codex] = [await agent("claude-code"), await agent("codex-mcp-client")];
    await claude.write("claude.txt", "1\n");
    await codex.write("codex.txt", "1\n");
    const there = (): readonly boolean[] => [existsSync(file("claude.txt")), existsSync(file("codex.txt"))];
    for (const [args, expected] of [
      [
        ["undo", "--agent", "claude"],
        [false, true],
      ],
      [["undo"], [false, false]],
      [
        ["redo", "--agent", "claude"],
        [true, false],
      ],
      [["redo"], [true, true]],
    ] as const) {
      expect(await filehand(...args, "--yes")).toMatchObject({ code: 0 });
      expect(there()).toEqual(expected);
    }
  });

  test("the list is the same from every folder of the workspace", async () => {
    await mixed();
    const deep = file("src/deep");
    for (const args of [
      ["history", "--json"],
      ["diff", "-2"],
      ["diff", "-3..-1", "--json"],
      ["rewind", "-3", "--dry-run", "--json"],
      ["undo", "--dry-run", "--json"],
      ["show", "-2:a.txt"],
    ]) {
      expect(await within(deep, ...args)).toEqual(await filehand(...args));
    }
    expect((await within(deep, "show", "-2:../../a.txt")).stdout).toBe("3\n");
    expect((await within(deep, "history")).stdout).toMatch(/Codex, \d\d:\d\d +Write +\+1 -1 {2}\.\.\/\.\.\/a\.txt$/m);
    expect(await within(deep, "rewind", "-2", "--file", "../../a.txt", "--yes")).toMatchObject({ code: 0 });
    expect(text("a.txt")).toBe("3\n");
    expect(await within(deep, "redo", "--yes")).toMatchObject({ code: 1 });
    expect(await within(deep, "undo", "--yes")).toMatchObject({ code: 0 });
    expect(text("a.txt")).toBe("5\n");
  });

  test("one after another from two processes at once: nothing is lost", async () => {
    const codex = await agent("codex-mcp-client");
    const rounds = [0, 1, 2, 3, 4, 5, 6, 7];
    for (const round of rounds) await codex.write(`old-${round}.txt`, "old\n");
    const writing = Promise.all(rounds.map((round) => codex.write(`new-${round}.txt`, "new\n")));
    const undoing = (async () => {
      for (const _ of [1, 2, 3]) expect((await filehand("undo", "--yes")).code).toBe(0);
    })();
    await Promise.all([writing, undoing]);
    const there = (): number =>
      [...rounds, ...rounds].filter((round, at) => existsSync(file(`${at < 8 ? "old" : "new"}-${round}.txt`))).length;
    expect(there()).toBe(13);
    for (let left = 13; left > 0; left -= 1) expect(await filehand("undo", "--yes")).toMatchObject({ code: 0 });
    expect(there()).toBe(0);
    expect(await filehand("undo", "--yes")).toMatchObject({ code: 1 });
    expect(await filehand("history", "verify")).toMatchObject({ code: 0 });
  });
});

describe("nothing to take back", () => {
  test("names the sessions that have something, here or elsewhere", async () => {
    const codex = await agent("codex-mcp-client");
    await codex.write("a.txt", "1\n");
    const none = await filehand("undo", "--mine", "--yes");
    expect([none.code, none.stdout]).toEqual([1, ""]);
    expect(none.stderr).toMatch(
      /^filehand: Cannot undo: there is nothing to undo; in this workspace there is something of Codex, \d\d:\d\d \(mcp-[0-9a-f]{16}\)\n$/,
    );
    expect((await filehand("diff", "-1", "--mine")).stderr).toMatch(/nothing was changed.*Codex, \d\d:\d\d \(mcp-/);
    const elsewhere = join(folder, "elsewhere");
    mkdirSync(elsewhere);
    expect((await within(elsewhere, "undo", "--yes")).stderr).toMatch(
      /nothing was changed in this workspace, in others there is something of Codex, \d\d:\d\d \(mcp-[0-9a-f]{16}\), the newest in \S+workspace\n$/,
    );
    expect((await within(elsewhere, "history")).stdout).toMatch(
      /^Nothing was changed in this workspace yet; in others: Codex/,
    );
    expect(text("a.txt")).toBe("1\n");
  });

  test("wrong names are answered with the right ones", async () => {
    const codex = await agent("codex-mcp-client");
    await codex.write("a.txt", "1\n");
    for (const [args, code, words] of [
      [["--agent", "claude"], 1, 'Cannot find changes of "claude": here are changes of "Codex", see filehand history'],
      [["--session", "nobody"], 1, 'Cannot look at the session "nobody": nothing is kept of it, here are Codex, '],
      [["--mine", "--agent", "codex"], 2, "--session, --mine and --agent exclude each other"],
      [["--session", ""], 2, "--session must not be empty"],
      [["--agent", ""], 2, "--agent must not be empty"],
    ] as const) {
      const refused = await filehand("undo", "--yes", ...args);
      expect([refused.code, refused.stdout, refused.stderr]).toEqual([code, "", expect.stringContaining(words)]);
    }
    expect(text("a.txt")).toBe("1\n");
  });
});

describe("the workspace", () => {
  test("is the checkout of git around the folder, also for a person's own commands", async () => {
    execFileSync("git", ["init", "-q", workspace]);
    mkdirSync(file("lib"));
    expect(await within(file("lib"), "write", "x.txt", "--content", "x\n", "--yes")).toMatchObject({ code: 0 });
    expect(await within(file("src"), "undo", "--yes")).toMatchObject({ code: 0 });
    expect(existsSync(file("lib/x.txt"))).toBe(false);
  });

  test("a folder beside it has a list of its own, and --root names another", async () => {
    const codex = await agent("codex-mcp-client");
    await codex.write("a.txt", "1\n");
    const beside = join(folder, "workspace-2");
    mkdirSync(beside);
    expect(await within(beside, "undo", "--yes")).toMatchObject({ code: 1 });
    expect(await within(beside, "undo", "--yes", "--root", workspace)).toMatchObject({ code: 0 });
    expect(text("a.txt")).toBe("0\n");
  });

  test("of a session in a folder above, only what it did in here counts", async () => {
    const codex = await agent("codex-mcp-client", folder);
    execFileSync("git", ["init", "-q", workspace]);
    await codex.write(file("a.txt"), "1\n");
    await codex.write(join(folder, "outside.txt"), "1\n");
    expect(await filehand("undo", "--yes")).toMatchObject({ code: 0 });
    expect([text("a.txt"), existsSync(join(folder, "outside.txt"))]).toEqual(["0\n", true]);
  });

  test("ids that two sessions use are told apart", async () => {
    const script = [
      `import { createFilehand } from ${JSON.stringify(join(commandLine, "..", "index.js"))};`,
      `const filehand = createFilehand({ roots: [${JSON.stringify(workspace)}], stateDir: ${JSON.stringify(join(folder, "state", "filehand"))}, ask: "yes" });`,
      "for (const id of ['one', 'two']) {",
      "  const session = filehand.session({ dialect: 'claude', id, client: 'IDE ' + id });",
      "  await session.checkpoint('message');",
      "  await session.call('Write', { file_path: id + '.txt', content: id });",
      "}",
    ].join("\n");
    writeFileSync(join(folder, "host.mjs"), script);
    expect(await run(process.execPath, [join(folder, "host.mjs")], { cwd: folder, env: env() })).toMatchObject({
      code: 0,
    });
    const { turns } = await listed();
    expect(turns.map(({ id }: { readonly id: string }) => id)).toEqual(["two/message", "one/message"]);
    expect((await filehand("diff", "message")).stderr).toContain('is: "one/message" or "two/message"');
    expect((await filehand("diff", "one/message")).stdout).toContain("+one");
    expect(await filehand("rewind", "one/message", "--session", "one", "--yes")).toMatchObject({ code: 1 });
    expect(await filehand("rewind", "message", "--session", "one", "--yes")).toMatchObject({ code: 0 });
    expect([existsSync(file("one.txt")), existsSync(file("two.txt"))]).toEqual([false, true]);
    appendFileSync(file("two.txt"), "!");
    expect(await filehand("undo", "--agent", "ide two", "--yes")).toMatchObject({ code: 1 });
  });
});
