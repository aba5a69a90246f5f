/** Grep and Glob leave the same files out, wherever ignore files lie and whichever folder is named. */

import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as nodePath from "node:path";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createFilehand } from "../../src/index.ts";
import { textOf } from "../support/reading.ts";
import { onWindows, type Tree, workspace } from "../support/workspace.ts";

/** Hidden names are found by Glob only where a dot is written. */
const everything = `{${[1, 2, 3, 4, 5].map((depth) => `./${Array(depth).fill("{*,.*}").join("/")}`).join(",")}}`;

function searches(root: string) {
  const session = createFilehand({ roots: [root], secrets: "allow" }).session({ dialect: "claude" });
  const { tools } = session;
  return {
    session,
    /** Every file has a line, so each that is searched is found. */
    grep: async (path = "."): Promise<readonly string[]> =>
      (await tools.Grep({ pattern: ".", path, head_limit: 10_000 })).filenames.toSorted(),
    glob: async (path = "."): Promise<readonly string[]> =>
      (await tools.Glob({ pattern: everything, path })).filenames
        .filter((file) => !fs.lstatSync(file).isSymbolicLink())
        .map((file) => nodePath.relative(root, file).replaceAll(nodePath.sep, "/"))
        .toSorted(),
  };
}

describe("an ignored folder is searched if it is named", () => {
  const tree: Tree = {
    ".gitignore": "dist/*\nout/**\nbuild/\n*.log\n/gen/*\n!/gen/.gitkeep\n/some/*\n!/some/kept.txt\n",
    ".venv": { ".gitignore": "*\n", "y.py": "x", lib: { "x.py": "x" } },
    "kept-by-git": { ".gitignore": "*\n!.gitignore\n", "a.bin": "x" },
    dist: { "a.js": "x", sub: { "b.js": "x" } },
    out: { "c.js": "x", sub: { "d.js": "x" } },
    build: { "e.js": "x", ".gitignore": "deep/\n", deep: { "f.js": "x" } },
    gen: { ".gitkeep": "x", "g.ts": "x" },
    logs: { "a.log": "x", "b.log": "x" },
    some: { "kept.txt": "x", "dropped.txt": "x" },
    mixed: { "a.log": "x", "b.txt": "x" },
    listed: { ".gitignore": "/*\n!/src\n", "a.txt": "x", src: { "b.txt": "x" } },
  };
  for (const [why, path, files] of [
    ["all is ignored by its own file", ".venv", [".venv/.gitignore", ".venv/lib/x.py", ".venv/y.py"]],
    ["it lies in such a folder", ".venv/lib", [".venv/lib/x.py"]],
    ["all but the ignore file is", "kept-by-git", ["kept-by-git/.gitignore", "kept-by-git/a.bin"]],
    ["all right in it is ignored from above", "dist", ["dist/a.js", "dist/sub/b.js"]],
    ["all below it is", "out", ["out/c.js", "out/sub/d.js"]],
    ["and below that", "out/sub", ["out/sub/d.js"]],
    ["it is ignored itself; ignore files in it hold", "build", ["build/.gitignore", "build/e.js"]],
    ["what one in it leaves out can be named in turn", "build/deep", ["build/deep/f.js"]],
    ["only a placeholder is not ignored", "gen", ["gen/.gitkeep", "gen/g.ts"]],
    ["every file there is happens to be ignored", "logs", ["logs/a.log", "logs/b.log"]],
    ["but not what is ignored beside something else", "mixed", ["mixed/b.txt"]],
    ["nor beside what is kept by a line of its own", "some", ["some/kept.txt"]],
    ["nor where a file says what is to be kept", "listed", ["listed/src/b.txt"]],
  ] as const) {
    test(why, async () => {
      const { top } = workspace(tree);
      const { grep, glob } = searches(top);
      expect({ grep: await grep(path), glob: await glob(path) }).toEqual({ grep: files, glob: files });
    });
  }

  test("by a pattern too, and it is shown as a tree", async () => {
    const { top } = workspace(tree);
    const { session } = searches(top);
    expect(textOf(await session.call("Glob", { pattern: ".venv/**" }))).toContain("x.py");
    expect(textOf(await session.call("LS", { path: ".venv" }))).toContain("x.py");
  });
});

describe("what lies above a root says nothing", () => {
  for (const name of [".gitignore", ".ignore", ".rgignore"]) {
    test(name, async () => {
      const { path: at } = workspace({
        [name]: "*.txt\nsrc/\n",
        ws: { "a.txt": "x", "b.log": "x", ".gitignore": "*.log\n", src: { "c.txt": "x", "d.log": "x", "e.ts": "x" } },
      });
      const { grep, glob } = searches(at("ws"));
      const found = { top: await grep(), src: await grep("src") };
      expect(found).toEqual({ top: [".gitignore", "a.txt", "src/c.txt", "src/e.ts"], src: ["src/c.txt", "src/e.ts"] });
      expect({ top: await glob(), src: await glob("src") }).toEqual(found);
    });
  }

  test("nor what lies above a folder that is ignored and named", async () => {
    const { top } = workspace({
      ".gitignore": "trees/**\n*.log\n",
      trees: { one: { ".gitignore": "*.tmp\n", "a.log": "x", src: { "b.log": "x", "c.tmp": "x" } } },
    });
    const { grep, glob } = searches(top);
    expect(await grep("trees/one/src")).toEqual(["trees/one/src/b.log"]);
    expect(await glob("trees/one/src")).toEqual(["trees/one/src/b.log"]);
  });
});

describe("ignore files of Git end at a repository", () => {
  for (const [where, git] of [
    ["inside another one", { ".git": {} }],
    ["inside a folder that is none", {}],
  ] as const) {
    test(where, async () => {
      const { top } = workspace({
        ...git,
        ".gitignore": "*.log\n",
        ".ignore": "*.tmp\n",
        "a.log": "x",
        deep: { inner: { ".git": { info: { exclude: "*.bak\n" } }, "b.log": "x", "c.tmp": "x", "d.bak": "x" } },
      });
      const { grep, glob } = searches(top);
      for (const path of [".", "deep", "deep/inner"]) {
        const found = (await grep(path)).filter((file) => file.startsWith("deep"));
        expect([path, found]).toEqual([path, ["deep/inner/b.log"]]);
        expect([path, await glob(path)]).toEqual([path, await grep(path)]);
      }
    });
  }
});

describe.skipIf(onWindows)("an ignore file that is a link is not read", () => {
  for (const name of [".gitignore", ".ignore", ".rgignore"]) {
    for (const depth of ["", "a/", "a/b/"]) {
      test(`${depth}${name}`, async () => {
        const files = { "guess-right": "x", "guess-wrong": "x" };
        const { path: at } = workspace({
          secret: "guess-right\n",
          ws: { ...files, a: { ...files, b: files }, left: { "c.txt": "x" }, "d.txt": "x" },
        });
        fs.writeFileSync(at("ws", ".gitignore"), "left/\nd.txt\n");
        fs.rmSync(at("ws", depth + name), { force: true });
        fs.symlinkSync(at("secret"), at("ws", depth + name));
        const { grep, glob } = searches(at("ws"));
        for (const path of [".", "a", "a/b"]) {
          const found = await grep(path);
          expect(found).toEqual(await glob(path));
          expect(found.filter((file) => file.endsWith("guess-right")).length).toBe({ ".": 3, a: 2, "a/b": 1 }[path]);
        }
      });
    }
  }

  test("however many files there are besides", async () => {
    const { path: at } = workspace({
      secret: "guess\n",
      ws: { "a.txt": "x", many: { deep: { ".gitignore": { link: "../../../secret" }, guess: "x" } } },
    });
    for (let file = 0; file < 4_100; file += 1) fs.writeFileSync(at("ws", "many", `${file}.ts`), "");
    expect(await searches(at("ws")).grep()).toEqual(["a.txt", "many/deep/guess"]);
  });

  test("nor is Git's exclude file, or one of a linked repository", async () => {
    for (const link of [".git", ".git/info", ".git/info/exclude"]) {
      const { path: at } = workspace({
        out: { ".git": { info: { exclude: "guess\n" } } },
        ws: { ".git": { info: { exclude: "other\n" } }, guess: "x", "a.txt": "x" },
      });
      fs.rmSync(at("ws", link), { recursive: true });
      fs.symlinkSync(at("out", link), at("ws", link));
      expect([link, await searches(at("ws")).grep()]).toEqual([link, ["a.txt", "guess"]]);
    }
  });
});

test("an exclude file elsewhere, which a .git file leads to, is not read", async () => {
  for (const outer of ["other\n", ""]) {
    const { path: at } = workspace({
      out: { ".git": { info: { exclude: "guess\n" }, worktrees: { one: { commondir: "../..\n" } } } },
      ws: { ".git": { info: { exclude: outer } }, "a.txt": "x", sub: { guess: "x", deep: { guess: "x" } } },
    });
    fs.writeFileSync(at("ws", "sub", ".git"), `gitdir: ${at("out", ".git", "worktrees", "one")}\n`);
    const { grep, glob } = searches(at("ws"));
    for (const path of [".", "sub", "sub/deep"]) {
      const found = await grep(path);
      expect([path, found]).toEqual([path, (await glob(path)).filter((file) => file !== "sub/.git")]);
      expect(found).toContain("sub/deep/guess");
    }
  }
});

describe("random trees", () => {
  const names = ["a", "b", "c.log", "d.txt", "build", ".x", "e {f}", "[g]"] as const;
  const pattern = fc
    .tuple(
      fc.constantFrom("", "", "", "!"),
      fc.constantFrom("", "", "/", "**/", "a/", "build/", "*/"),
      // Braces are alternatives to ripgrep, not to Git.
      fc.oneof(
        fc.constantFrom(...names.filter((name) => !name.includes("{"))),
        fc.constantFrom("*", "*.log", "a*", "?", ".*"),
      ),
      fc.constantFrom("", "", "/", "/**", "/*"),
    )
    .map((parts) => parts.join(""));
  const ignoreFile = fc.array(pattern, { minLength: 1, maxLength: 4 }).map((lines) => `${lines.join("\n")}\n`);
  const ignoreFiles = fc.dictionary(
    fc.constantFrom(".gitignore", ".gitignore", ".ignore", ".rgignore"),
    fc.oneof({ weight: 5, arbitrary: ignoreFile }, fc.constant(onWindows ? "*\n" : { link: "/etc/passwd" })),
    { maxKeys: 2, noNullPrototype: true },
  );
  const git = fc.option(
    fc.option(ignoreFile).map((exclude) => ({ info: exclude === null ? {} : { exclude } })),
    {
      freq: 4,
    },
  );
  const tree = fc.letrec<{ folder: Tree; node: string | Tree }>((tie) => ({
    folder: fc
      .tuple(
        fc.dictionary(fc.constantFrom(...names), tie("node"), { minKeys: 1, maxKeys: 4, noNullPrototype: true }),
        ignoreFiles,
        git,
      )
      .map(([entries, more, repository]) => ({ ...entries, ...more, ...(repository && { ".git": repository }) })),
    node: fc.oneof({ maxDepth: 3 }, fc.constant("x"), tie("folder")),
  })).folder;

  test("are searched alike by Grep and Glob, from every folder", { timeout: 60_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(tree, ignoreFiles, async (entries, above) => {
        const { top, path: at } = workspace({ ...above, ws: entries });
        const { grep, glob } = searches(at("ws"));
        for (const path of foldersIn(at("ws"))) expect([path, await grep(path)]).toEqual([path, await glob(path)]);
        fs.rmSync(top, { recursive: true });
      }),
      { numRuns: Number(process.env["RUNS"] ?? 15) },
    );
  });

  const foldersIn = (top: string): readonly string[] => [
    ".",
    ...fs
      .readdirSync(top, { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => nodePath.relative(top, nodePath.join(entry.parentPath, entry.name)))
      .filter((path) => !path.split(nodePath.sep).includes(".git")),
  ];
});

describe.skipIf(onWindows)("an ignore file that is no file holds nothing up", () => {
  for (const name of [".gitignore", ".ignore", ".rgignore", "deep/er/.gitignore"]) {
    test(name, async () => {
      const { top, path } = workspace({ "a.txt": "x\n", deep: { er: { "b.txt": "x\n" } } });
      execFileSync("mkfifo", [path(...name.split("/"))]);
      const startedMs = performance.now();
      expect(await searches(top).grep()).toEqual(["a.txt", "deep/er/b.txt"]);
      expect(performance.now() - startedMs).toBeLessThan(10_000); // it was stopped after 20 s
    });
  }
});
