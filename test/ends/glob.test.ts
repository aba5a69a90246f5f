/** `filehand glob` and `filehand ls`, as the built program runs. */

import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { commandLine, type Folder, type Ran, run, temporaryFolder } from "./run.ts";

let folder: Folder;
let top = "";

beforeAll(() => {
  folder = temporaryFolder();
  top = join(folder.path, "work");
  for (const path of ["src/deep", "node_modules/zod", "empty"]) mkdirSync(join(top, path), { recursive: true });
  for (const [path, text, seconds] of [
    ["src/a.ts", "1", 1_000],
    ["src/b.ts", "22", 3_000],
    ["src/deep/c.ts", "333", 2_000],
    ["src/d.md", "x".repeat(2_500), 1_000],
    ["node_modules/zod/index.ts", "", 1_000],
    [".gitignore", "node_modules\n", 1_000],
  ] as const) {
    writeFileSync(join(top, path), text);
    utimesSync(join(top, path), seconds, seconds);
  }
  if (process.platform !== "win32") symlinkSync("src", join(top, "link"));
});
afterAll(() => folder.remove());

const filehand = (args: readonly string[], cwd = top, env: Readonly<Record<string, string>> = {}): Promise<Ran> =>
  run(process.execPath, [commandLine, ...args], { cwd, env: { HOME: folder.path, ...env } });

const found = (...paths: readonly string[]): string => paths.map((path) => `${join(top, path)}\n`).join("");

describe("filehand glob", () => {
  test("names files, newest first, and says what is ignored", async () => {
    expect(await filehand(["glob", "**/*.ts"])).toEqual({
      code: 0,
      stdout: found("src/b.ts", "src/deep/c.ts", "src/a.ts"),
      stderr:
        "1 ignored file matches also, begin the pattern with the path of the ignored folder or file to see them\n",
    });
  });

  test("no match prints no data and exits with 1 in every dialect", async () => {
    expect(await filehand(["glob", "*.zzz"])).toEqual({ code: 1, stdout: "", stderr: "No files found\n" });
    for (const dialect of ["claude", "opencode", "opencode-legacy", "envelope"]) {
      const none = await filehand(["glob", "*.zzz", "--dialect", dialect, "--json"]);
      expect(none).toMatchObject({ code: 1, stderr: "" });
      expect(JSON.parse(none.stdout)).toMatchObject({ isError: false });
      expect(await filehand(["glob", "src/*.md", "--dialect", dialect])).toMatchObject({ code: 0, stderr: "" });
    }
  });

  test("searches the working directory, or the given path", async () => {
    expect((await filehand(["glob", "./*.ts"], join(top, "src"))).stdout).toBe(found("src/b.ts", "src/a.ts"));
    expect((await filehand(["glob", "*.ts", "src/deep"])).stdout).toBe(found("src/deep/c.ts"));
    expect((await filehand(["glob", "*.ts", "deep", "--root", join(top, "src")])).stdout).toBe(found("src/deep/c.ts"));
  });

  test("--limit says how many are named", async () => {
    expect(await filehand(["glob", "src/**", "--limit", "1"])).toEqual({
      code: 0,
      stdout: found("src/b.ts"),
      stderr: "The newest 1 of 4 files are shown, narrow the pattern or the path to see others\n",
    });
  });

  test("--json is the whole reply", async () => {
    const { stdout } = await filehand(["glob", "src/*.md", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({
      isError: false,
      structured: { filenames: [join(top, "src/d.md")], numFiles: 1, totalMatches: 1, countIsComplete: true },
    });
  });

  for (const [what, args, code, words] of [
    ["a pattern that is none", ["glob", "[a"], 1, /a "\[" is not closed/],
    ["a folder that is missing", ["glob", "*", "scr"], 1, /did you mean the folder ".*src"/],
    ["a file for a folder", ["glob", "*", "src/a.ts"], 1, /it is not a folder/],
    ["a way out", ["glob", "*", ".."], 1, /outside the workspace/],
    ["no pattern", ["glob"], 2, /<pattern> is missing/],
    ["a limit of 0", ["glob", "*", "--limit", "0"], 2, /--limit must be at least 1/],
    ["a depth of 0", ["ls", "--depth", "0"], 2, /--depth must be from 1 to/],
    ["a pattern to leave out that is none", ["ls", "--ignore", "{a"], 1, /a "\{" is not closed/],
  ] as const) {
    test(`${what} goes to stderr with the exit code ${code}`, async () => {
      const ran = await filehand(args);
      expect({ code: ran.code, stdout: ran.stdout }).toEqual({ code, stdout: "" });
      expect(ran.stderr).toMatch(words);
    });
  }

  test("a pattern that begins with a dash goes after --", async () => {
    writeFileSync(join(folder.path, "-x.txt"), "");
    expect((await filehand(["glob", "--", "-x*"], folder.path)).stdout).toBe(`${join(folder.path, "-x.txt")}\n`);
  });

  test("colours are for terminals, and for those who ask", async () => {
    const { stdout } = await filehand(["glob", "src/*.md"], top, { FORCE_COLOR: "1" });
    expect(stdout).toContain("\u001b[");
    expect(stdout.replaceAll(/\u001b\[\d+m/g, "")).toBe(found("src/d.md")); // oxlint-disable-line no-control-regex
  });
});

describe("filehand ls", () => {
  test("is a list with sizes and kinds", async () => {
    const { stdout } = await filehand(["ls", "src"]);
    expect(stdout).toBe(`${join(top, "src")}/\n  - a.ts (1 B)\n  - b.ts (2 B)\n  - d.md (2.5 kB)\n  - deep/\n`);
  });

  test("--depth makes it a tree, in which what is ignored is not opened", async () => {
    const { stdout } = await filehand(["ls", "--depth", "2", "--ignore", "link"]);
    expect(stdout).toBe(
      [
        `${top}/`,
        "  - .gitignore (13 B)",
        "  - empty/ (empty)",
        "  - node_modules/ (1 entry, ignored)",
        "  - src/",
        "    - a.ts (1 B)",
        "    - b.ts (2 B)",
        "    - d.md (2.5 kB)",
        "    - deep/ (1 entry)",
        ...(process.platform === "win32" ? [] : ["[1 entry is left out as asked by ignore]"]),
        "",
      ].join("\n"),
    );
  });

  test("--offset and --limit page it, in every dialect", async () => {
    const page = ["ls", "src", "--offset", "2", "--limit", "2"];
    expect((await filehand(page)).stdout).toContain("[Entries 2 to 3 of 4, go on with offset 4]");
    for (const dialect of ["opencode", "opencode-legacy", "envelope"]) {
      const { stdout } = await filehand([...page, "--dialect", dialect]);
      expect(stdout).toContain("b.ts (2 B)");
      expect(stdout).toContain("Entries 2 to 3 of 4");
    }
  });

  test("folders, links and notes have colours of their own", async () => {
    const { stdout } = await filehand(["ls"], top, { FORCE_COLOR: "1" });
    expect(stdout).toContain("\u001b[34msrc/\u001b[39m");
  });
});
