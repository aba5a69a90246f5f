/**
 * Random trees with random ignore files: what a search finds is what `git ls-files -co --exclude-standard` and `rg --files`
 * find. Where those two disagree we go with ripgrep, since Grep is built on it; `differences` lists the cases by hand.
 */

import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as nodePath from "node:path";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createFilehand } from "../../src/index.ts";
import { ripgrep } from "../../src/search/ripgrep.ts";
import { noGit, plant, type Tree, workspace } from "../support/workspace.ts";

const quiet = { PATH: process.env["PATH"], HOME: "/nonexistent", GIT_CONFIG_NOSYSTEM: "1", LC_ALL: "C.UTF-8" };
const git = (top: string, ...args: readonly string[]): string =>
  execFileSync("git", args, { cwd: top, encoding: "utf8", env: quiet, stdio: ["ignore", "pipe", "ignore"] });

const sorted = (paths: readonly string[]): readonly string[] => paths.toSorted();
const split = (text: string): readonly string[] => sorted(text.split("\0").filter((path) => path !== ""));

const byGit = (top: string): readonly string[] => split(git(top, "ls-files", "-coz", "--exclude-standard"));

const rg = await ripgrep();

function byRipgrep(top: string): readonly string[] {
  if (rg === undefined) throw new Error("there is no ripgrep, although it is a dependency");
  const args = [...rg.before, "--no-config", "--files", "--hidden", "-0", "--no-ignore-global", "--no-ignore-parent"];
  const excludes = ["--no-messages", "-g", "!.git"];
  try {
    return split(execFileSync(rg.command, [...args, ...excludes], { cwd: top, encoding: "utf8", env: {} }));
  } catch (error) {
    // 1: no file at all.
    if (error instanceof Error && "status" in error && error.status === 1) return [];
    throw error;
  }
}

/** Hidden names are found only where a dot is written, so each level of these trees has its own `.*`. */
const everything = `{${[1, 2, 3, 4, 5, 6].map((depth) => `./${Array(depth).fill("{*,.*}").join("/")}`).join(",")}}`;

async function byGlob(top: string): Promise<readonly string[]> {
  const session = createFilehand({ roots: [top], secrets: "allow" }).session({ dialect: "claude" });
  const { reply } = await session.run(() => ({
    verb: "glob",
    pattern: everything,
    path: undefined,
    filesMax: 1e6,
  }));
  const { filenames } = reply.structured as { readonly filenames: readonly string[] };
  return sorted(filenames.map((path) => nodePath.relative(top, path)));
}

const names = ["a", "b", "ab", "c.log", "d.txt", "build", ".x", "#e", "!f", "g h", "[i]"] as const;

const line = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...names) },
  { weight: 3, arbitrary: fc.constantFrom("*", "*.log", "*.txt", "a*", "?", "[ab]", "[!a]", ".*", "*b") },
  fc.constantFrom("# comment", "", "\\#e", "\\!f", "g\\ h", "a ", "a\\ ", "\\[i\\]", "  "),
);

const pattern = fc
  .tuple(
    fc.constantFrom("", "", "", "!"),
    fc.constantFrom("", "", "/", "**/", "a/", "build/", "a/**/", "*/"),
    line,
    fc.constantFrom("", "", "/", "/**", "/*"),
  )
  .map((parts) => parts.join(""));

/**
 * To git a line of nothing but `!` says nothing, nor does one with an empty name behind `**`; to ripgrep the first brings
 * everything back and the second leaves every folder out.
 */
const saysNothing = (text: string): boolean => /^!\/?\s*$|^!?\*\*\/\//.test(text);

const ignoreFile = fc
  .array(
    pattern.filter((text) => !saysNothing(text)),
    { minLength: 1, maxLength: 5 },
  )
  .map((lines) => `${lines.join("\n")}\n`);

const tree = fc.letrec<{ folder: Tree; node: string | Tree }>((tie) => ({
  folder: fc
    .tuple(
      fc.dictionary(fc.constantFrom(...names), tie("node"), { minKeys: 1, maxKeys: 5, noNullPrototype: true }),
      fc.option(ignoreFile, { freq: 2 }),
    )
    .map(([entries, ignored]) => (ignored === null ? entries : { ...entries, ".gitignore": ignored })),
  node: fc.oneof({ maxDepth: 3 }, fc.constant("x"), tie("folder")),
})).folder;

describe("random trees with random ignore files", () => {
  const runs = Number(process.env["RUNS"] ?? 80);

  test.skipIf(noGit !== undefined)("are found as git and ripgrep find them", async () => {
    let agreed = 0;
    await fc.assert(
      fc.asyncProperty(tree, fc.option(ignoreFile), async (entries, exclude) => {
        const { top } = workspace(entries);
        git(top, "init", "-q");
        if (exclude !== null) fs.writeFileSync(`${top}/.git/info/exclude`, exclude);
        const [first, second, ours] = [byGit(top), byRipgrep(top), await byGlob(top)];
        fs.rmSync(top, { recursive: true });
        if (JSON.stringify(first) !== JSON.stringify(second)) return;
        agreed += 1;
        expect(ours).toEqual(first);
      }),
      { numRuns: runs },
    );
    // Else this test would say nothing.
    expect(agreed).toBeGreaterThan(runs / 2);
  });

  test("are found as ripgrep finds them, with .ignore and .rgignore among them", async () => {
    const places = fc.constantFrom("", "a/", "build/", "a/b/");
    const more = fc.array(fc.tuple(places, fc.constantFrom(".ignore", ".rgignore", ".gitignore"), ignoreFile), {
      minLength: 1,
      maxLength: 4,
    });
    await fc.assert(
      fc.asyncProperty(tree, more, async (entries, files) => {
        const { top } = workspace(entries);
        // All that ripgrep wants of a repository.
        fs.mkdirSync(`${top}/.git`);
        for (const [place, name, text] of files) {
          if (fs.existsSync(`${top}/${place}.`)) fs.writeFileSync(`${top}/${place}${name}`, text);
        }
        const [theirs, ours] = [byRipgrep(top), await byGlob(top)];
        fs.rmSync(top, { recursive: true });
        expect(ours).toEqual(theirs);
      }),
      { numRuns: runs },
    );
  });
});

describe.skipIf(noGit !== undefined)("where git and ripgrep differ", () => {
  const seen = async (entries: Tree, prepare: (top: string) => void = () => {}) => {
    const { top } = workspace(entries);
    git(top, "init", "-q");
    prepare(top);
    return { git: byGit(top), rg: byRipgrep(top), ours: await byGlob(top) };
  };

  test("a tracked file that is ignored: git lists it, ripgrep does not, nor do we", async () => {
    const found = await seen({ "a.log": "x", ".gitignore": "*.log\n" }, (top) => git(top, "add", "-f", "a.log"));
    expect(found).toEqual({ git: [".gitignore", "a.log"], rg: [".gitignore"], ours: [".gitignore"] });
  });

  test("a repository in a repository: git stops there, ripgrep and we go in, without the outer .gitignore", async () => {
    const found = await seen({ ".gitignore": "*.log\n", sub: { "a.log": "x" } }, (top) => {
      git(`${top}/sub`, "init", "-q");
    });
    expect(found.git).toEqual([".gitignore", "sub/"]);
    expect(found.rg).toEqual([".gitignore", "sub/a.log"]);
    expect(found.ours).toEqual(found.rg);
  });

  test("a link: git lists it, ripgrep does not; we list it as a link", async () => {
    const found = await seen({ a: "x", b: { link: "a" } });
    expect(found).toEqual({ git: ["a", "b"], rg: ["a"], ours: ["a", "b"] });
  });

  test(".ignore and .rgignore: git does not know them, ripgrep and we do", async () => {
    const found = await seen({ a: "x", b: "x", ".ignore": "a\n", ".rgignore": "b\n" });
    expect(found.git).toEqual([".ignore", ".rgignore", "a", "b"]);
    expect(found.ours).toEqual(found.rg);
  });

  test("without a repository ripgrep reads no .gitignore; we do, since the folder means it", async () => {
    const { top } = workspace({});
    plant(top, { "a.log": "x", ".gitignore": "*.log\n" });
    expect(byRipgrep(top)).toEqual([".gitignore", "a.log"]);
    expect(await byGlob(top)).toEqual([".gitignore"]);
  });
});
