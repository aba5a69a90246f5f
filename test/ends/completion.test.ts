/** Completion in real shells, the man page, and other comforts of the command line. */

import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { clients } from "../../src/surfaces/cli/clients.ts";
import { commands } from "../../src/surfaces/cli/commands/index.ts";
import { initNames } from "../../src/surfaces/mcp/client-titles.ts";
import { commandLine, run, temporaryFolder } from "./run.ts";

const folder = temporaryFolder();
afterAll(() => folder.remove());
const workspace = join(folder.path, "workspace");
mkdirSync(workspace);
writeFileSync(join(workspace, "a.txt"), "one\ntwo\nthree\n");
writeFileSync(join(workspace, "b.txt"), "four\n");
writeFileSync(join(workspace, "odd:1"), "the whole name\n");

const filehand = (...args: readonly string[]) =>
  run(process.execPath, [commandLine, ...args], { cwd: workspace, env: { HOME: folder.path } });

const has = (program: string): boolean => spawnSync(program, ["--version"], { stdio: "ignore" }).status === 0;

async function script(shell: string): Promise<string> {
  const { code, stdout } = await filehand("completion", shell);
  expect(code).toBe(0);
  const path = join(folder.path, `completion.${shell}`);
  writeFileSync(path, stdout);
  return path;
}

const shown = (program: string, args: readonly string[]): readonly string[] => {
  const { stdout, stderr } = spawnSync(program, args, { encoding: "utf8", cwd: workspace });
  expect(stderr).toBe("");
  return stdout.split("\n").filter((line) => line !== "");
};

describe("completion", () => {
  for (const [typed, expected, not] of [
    [["filehand", "re"], ["read", "rename", "rewind", "redo", "replay"], "grep"],
    [["filehand", "--root", ".", "gr"], ["grep"], "read"],
    [["filehand", "grep", "--ign"], ["--ignore-case"], "--tail"],
    [["filehand", "read", "--sta"], ["--state-dir"], "--tail"],
    [["filehand", "read", "a"], ["a.txt"], "b.txt"],
  ] as const) {
    test.skipIf(!has("bash"))(`bash completes ${typed.join(" ")}`, async () => {
      const words = typed.map((word) => `'${word}'`).join(" ");
      const asks = `source ${await script("bash")}; COMP_WORDS=(${words}); COMP_CWORD=${typed.length - 1}; _filehand; printf '%s\\n' "\${COMPREPLY[@]}"`;
      const found = shown("bash", ["--norc", "-c", asks]);
      expect(found).toEqual(expect.arrayContaining([...expected]));
      expect(found).not.toContain(not);
    });

    test.skipIf(!has("fish"))(`fish completes ${typed.join(" ")}`, async () => {
      const asks = `source ${await script("fish")}; complete -C '${typed.join(" ")}'`;
      const found = shown("fish", ["--no-config", "-c", asks]).map((line) => line.split("\t")[0]);
      expect(found).toEqual(expect.arrayContaining([...expected]));
      expect(found).not.toContain(not);
    });
  }

  test.skipIf(!has("zsh"))("zsh accepts the script, and it registers itself for filehand", async () => {
    const path = await script("zsh");
    expect(shown("zsh", ["-f", "-n", path])).toEqual([]);
    const asks = `autoload -Uz compinit; compinit -u -d ${folder.path}/dump; source ${path}; print $_comps[filehand]`;
    expect(shown("zsh", ["-f", "-c", asks])).toEqual(["_filehand"]);
  });

  test("an unknown shell is refused with the known ones", async () => {
    const { code, stderr } = await filehand("completion", "tcsh");
    expect([code, stderr]).toEqual([2, expect.stringContaining("use one of bash, zsh, fish")]);
  });
});

test.skipIf(spawnSync("mandoc", ["-T", "lint", "/dev/null"]).error !== undefined)("the man page has no faults", () => {
  const { stdout, status } = spawnSync("mandoc", ["-T", "lint", "-W", "warning", "man/filehand.1"], {
    encoding: "utf8",
  });
  // A page without a date is meant: it would change with every generation.
  const faults = stdout.split("\n").filter((line) => line !== "" && !/missing date/.test(line));
  expect({ faults, isUsable: status !== null && status <= 2 }).toEqual({ faults: [], isUsable: true });
  const page = spawnSync("mandoc", ["-T", "utf8", "man/filehand.1"], { encoding: "utf8" }).stdout.replace(/.\x08/g, "");
  for (const { name } of commands) expect(page).toContain(`filehand ${name}`);
});

describe("at the terminal", () => {
  test("options of every command may stand before its name", async () => {
    const { code, stdout } = await filehand("--root", ".", "--json", "read", "b.txt");
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ isError: false });
    expect((await filehand("--root", workspace, "reed", "b.txt")).stderr).toContain("did you mean read");
    expect((await filehand("--rot", workspace, "read", "b.txt")).code).toBe(2);
  });

  test("lines are named after a colon, and several files can be read", async () => {
    const { stdout, code } = await filehand("read", "a.txt:2-3", "b.txt");
    expect(code).toBe(0);
    expect(stdout).toMatch(/==> a\.txt:2-3 <==\n\s*2.two\n\s*3.three\n==> b\.txt <==\n\s*1.four\n/);
    expect((await filehand("read", "a.txt:3")).stdout).not.toContain("two");
    expect((await filehand("read", "odd:1")).stdout).toContain("the whole name");
    const missing = await filehand("read", "none.txt", "b.txt");
    expect([missing.code, missing.stdout]).toEqual([1, expect.stringContaining("four")]);
  });

  test("grep takes -n, and --color decides about colours", async () => {
    const plain = await filehand("grep", "-n", "two", "a.txt");
    expect(plain.stdout).toMatch(/2.*two/);
    expect((await filehand("grep", "two", "a.txt", "--color", "always")).stdout).toContain("\x1b[");
    expect((await filehand("grep", "two", "a.txt", "--color", "never")).stdout).toBe(plain.stdout);
    expect((await filehand("grep", "two", "--color", "sometimes")).code).toBe(2);
  });

  test("a person is not told to ask the user", async () => {
    const { stderr, code } = await filehand("edit", "a.txt", "--old", "one", "--new", "1", "--deny", "Edit(a.txt)");
    expect([code, stderr]).toEqual([1, expect.stringContaining("change the rule: filehand permissions")]);
    expect(stderr).not.toContain("ask the user");
  });
});

test("the ways out of a refusal name clients as init does", () => {
  for (const [title, id] of initNames)
    expect(clients.find((client) => client.id === id)).toMatchObject({ title, asks: false });
});
