/** `filehand grep` as a user has it: the built program, with the ripgrep that is there, another one, or none. */

import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ripgrep } from "../../src/search/ripgrep.ts";
import { commandLine, environment, project, run, type RunOptions, temporaryFolder } from "./run.ts";

const top = temporaryFolder();
const work = join(top.path, "work");
const put = (name: string, text: string): void => {
  fs.mkdirSync(dirname(join(work, name)), { recursive: true });
  fs.writeFileSync(join(work, name), text);
};
beforeAll(() => {
  put("src/a.ts", "const first = 1;\nconst second = 2;\nlet third = \u001b[31m3;\n");
  put("src/b.ts", "export const first = 1;\n");
  put("notes.md", "First things first\n");
  put(".env", "first=secret\n");
});
afterAll(() => top.remove());

const grep = (args: readonly string[], options: Partial<RunOptions> = {}) =>
  run(process.execPath, [commandLine, "grep", ...args], { cwd: work, ...options });

describe("on a pipe", () => {
  test("lines go to stdout, notes about them to stderr", async () => {
    expect(await grep(["const \\w+ = 1"])).toEqual({
      code: 0,
      stdout: "src/a.ts:1:const first = 1;\nsrc/b.ts:1:export const first = 1;\n",
      stderr: expect.stringContaining("1 file was not searched because a permission rule hides it"),
    });
  });

  test("nothing found is 1, a refusal is 1 and says why, wrong usage is 2", async () => {
    expect(await grep(["nowhere", "src"])).toEqual({ code: 1, stdout: "", stderr: "No matches found\n" });
    expect(await grep(["(", "src"])).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining("unclosed group"),
    });
    expect(await grep(["x", "missing"])).toMatchObject({ code: 1, stderr: expect.stringContaining("does not exist") });
    expect(await grep([])).toMatchObject({ code: 2, stderr: expect.stringContaining("<pattern> is missing") });
    expect(await grep(["x", "--limit", "0"])).toMatchObject({ code: 2 });
    expect(await grep(["x", "-l", "-c"])).toMatchObject({ code: 2 });
    expect(await grep(["x", "-Q"])).toMatchObject({ code: 2, stderr: expect.stringContaining("no option -Q") });
  });

  test("short options are those that one knows", async () => {
    expect((await grep(["-il", "FIRST", "src"])).stdout.split("\n").toSorted()).toEqual(["", "src/a.ts", "src/b.ts"]);
    expect((await grep(["-c", "const", "src"])).stdout).toBe("src/a.ts:2\nsrc/b.ts:1\n");
    expect((await grep(["second", "-A1", "-B", "1", "src/a.ts"])).stdout).toBe(
      "1-const first = 1;\n2:const second = 2;\n3-let third = \u001b[31m3;\n",
    );
    expect((await grep(["first", "-g", "*.md", "--glob", "b.*"])).stdout).toBe(
      "notes.md:1:First things first\nsrc/b.ts:1:export const first = 1;\n",
    );
    expect((await grep(["-t", "md", "-i", "first"])).stdout).toBe("notes.md:1:First things first\n");
    expect((await grep(["-U", "1;.const", "src"])).stdout.split("\n")).toHaveLength(3);
    expect((await grep(["--", "-x", "src"])).code).toBe(1);
  });

  test("--json has the reply of the dialect", async () => {
    const { stdout, code } = await grep(["first", "src", "--json", "--dialect", "envelope"]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      isError: false,
      structured: { status: "success", stats: { files_matched: 2, lines_matched: 2 } },
    });
    expect((await grep(["nowhere", "src", "--json"])).code).toBe(1);
  });
});

test("on a terminal files are headings, matches stand out, and nothing in a file can act on it", async () => {
  const { stdout } = await grep(["third|const", "src"], { env: { FORCE_COLOR: "1" } });
  const marked = stdout.replaceAll("\u001b[31m\u001b[1m", "<").replaceAll("\u001b[22m\u001b[39m", ">");
  const plain = marked.replaceAll(/\u001b\[\d+m/g, "");
  expect(plain).toBe(
    "src/a.ts\n1 <const> first = 1;\n2 <const> second = 2;\n3 let <third> = ^[[31m3;\n\nsrc/b.ts\n1 export <const> first = 1;\n",
  );
});

test("a million matching lines need no more memory than a few", async () => {
  put("many/lines.txt", "match\n".repeat(1_000_000));
  for (let file = 0; file < 200; file += 1) put(`many/${file}.txt`, "match\n".repeat(1_000));
  const args = ["--max-old-space-size=40", commandLine, "grep", "match", "many", "--json", "--limit", "3"];
  const { stdout, stderr, code } = await run(process.execPath, args, { cwd: work });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(JSON.parse(stdout)).toMatchObject({
    structured: { content: "many/0.txt:1:match\nmany/0.txt:2:match\nmany/0.txt:3:match", numMatches: 1_200_000 },
  });
});

describe("whatever ripgrep there is", () => {
  /** The program in a folder of its own, with nothing but these packages. */
  function installed(name: string, packages: readonly string[]): string {
    const folder = join(top.path, name);
    fs.cpSync(join(project, "dist"), join(folder, "dist"), { recursive: true });
    for (const each of packages) {
      fs.cpSync(join(project, "node_modules", each), join(folder, "node_modules", each), { recursive: true });
    }
    return join(folder, "dist", "filehand.cjs");
  }
  const search = (program: string, path: string, args: readonly string[] = ["const first", "src"]) =>
    run(process.execPath, [program, "grep", ...args], { cwd: work, env: { PATH: path } });
  const lines = "src/a.ts:1:const first = 1;\nsrc/b.ts:1:export const first = 1;\n";

  test("one on the PATH serves", async () => {
    const bin = join(top.path, "bin");
    const binary = await ripgrep({ path: undefined, notBeneath: [], kinds: ["package"] });
    fs.mkdirSync(bin);
    fs.copyFileSync(binary?.command ?? "", join(bin, "rg"));
    expect(await search(installed("with-path", []), bin)).toEqual({ code: 0, stdout: lines, stderr: "" });
  });

  test("the WebAssembly build serves", async () => {
    const program = installed("with-wasm", []);
    expect(await search(program, "/nonexistent")).toEqual({ code: 0, stdout: lines, stderr: "" });
    expect((await search(program, "/nonexistent", ["-c", "const", "."])).stdout).toBe("src/a.ts:2\nsrc/b.ts:1\n");
    expect((await search(program, "/nonexistent", ["third", "src/a.ts", "-B1"])).stdout).toContain("2-const second");
    expect((await search(program, "/nonexistent", ["("])).stderr).toContain("unclosed group");
  });

  test("what it cannot read is counted", async (context) => {
    const closed = join(work, "closed");
    put("closed/open.txt", "to find\n");
    put("closed/a.txt", "to find\n");
    put("closed/sub/b.txt", "to find\n");
    for (const name of ["a.txt", "sub"]) fs.chmodSync(join(closed, name), 0o000);
    try {
      // Nothing is closed to root, so somebody else has to look.
      const another = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
      for (const each of [top.path, work, closed]) fs.chmodSync(each, 0o755);
      const program = installed("for-others", ["@vscode"]);
      const args = [program, "grep", "to find", "--state-dir", join(top.path, "none")];
      const options = { cwd: closed, env: environment({ HOME: "/" }), encoding: "utf8", ...another } as const;
      const tried = spawnSync(process.execPath, ["-e", "0"], options);
      if (tried.status !== 0) context.skip("another user cannot run Node here");
      const { status, stdout, stderr } = spawnSync(process.execPath, args, options);
      expect({ status, stdout, stderr }).toEqual({
        status: 0,
        stdout: "open.txt:1:to find\n",
        stderr: "2 files or folders could not be read, so there may be more\n",
      });
    } finally {
      for (const name of ["a.txt", "sub"]) fs.chmodSync(join(closed, name), 0o755);
    }
  });

  test("without any the answer says how to get it", async () => {
    const program = installed("without", []);
    fs.rmSync(join(program, "..", "parts"), { recursive: true });
    const { code, stdout, stderr } = await search(program, "/nonexistent");
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/Cannot search: ripgrep.*not installed.*npm install @vscode\/ripgrep.*rg is on the PATH/);
  });
});

describe.skipIf(process.platform === "win32")("a search without a free file descriptor", () => {
  /** Takes all descriptors, then gives them back one by one, with a search in between. */
  const script = `
    import * as fs from "node:fs";
    const { createFilehand } = await import(process.argv[1]);
    const session = createFilehand({ roots: [process.cwd()] }).session({ dialect: "claude" });
    const search = async () => {
      const { isError, content } = await session.call("Grep", { pattern: "needle" });
      return [isError === true, content[0].text];
    };
    const answers = [await search()];
    const taken = [];
    for (;;) try { taken.push(fs.openSync("/dev/null", "r")); } catch { break; }
    for (let free = 0; taken.length > 0 && free < 40; free += 1) {
      answers.push(await search());
      fs.closeSync(taken.pop());
    }
    console.log(JSON.stringify(answers));
  `;

  test("is an error that says so, never an answer without what was found", async () => {
    const top = temporaryFolder();
    try {
      fs.mkdirSync(join(top.path, "sub"));
      fs.writeFileSync(join(top.path, "sub", "a.txt"), "needle\n");
      const node = [process.execPath, "--input-type=module", "-e", script, join(project, "dist", "index.js")];
      const args = ["-c", 'ulimit -n 128 && exec "$@"', "sh", ...node];
      const { code, stdout, stderr } = await run("/bin/sh", args, { cwd: top.path });
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      const answers = JSON.parse(stdout) as readonly (readonly [boolean, string])[];
      expect(answers.at(0)).toEqual([false, "Found 1 file\nsub/a.txt"]);
      expect(answers.at(-1)).toEqual([false, "Found 1 file\nsub/a.txt"]);
      for (const [isError, text] of answers) {
        expect(text).toMatch(isError ? /no file descriptors left \(EMFILE\)/ : /^Found 1 file\nsub\/a\.txt$/);
      }
      expect(answers.filter(([isError]) => isError).length).toBeGreaterThan(1);
    } finally {
      top.remove();
    }
  });
});
