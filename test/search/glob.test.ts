/** Glob as programs use it: counts that are exact or said to be floors, several roots, folders that cannot be read. */

import * as fs from "node:fs";
import { describe, expect, test } from "vitest";
import { limits } from "../../src/contract/limits.ts";
import { createDisk } from "../../src/disk/disk.ts";
import { createFilehand, type Reply } from "../../src/index.ts";
import { walkFiles } from "../../src/search/files.ts";
import { nothingIgnored } from "../../src/search/ignored.ts";
import { parseGlob } from "../../src/text/glob/glob.ts";
import { startGlobState } from "../../src/text/glob/glob-state.ts";
import { onWindows, openDescriptors, workspace } from "../support/workspace.ts";

const textOf = (reply: Reply): string => reply.content.map((part) => (part.type === "text" ? part.text : "")).join("");

function manyFiles(folder: string, count: number): void {
  fs.mkdirSync(folder, { recursive: true });
  for (let index = 0; index < count; index += 1) fs.writeFileSync(`${folder}/${index}.txt`, "");
}

describe.skipIf(process.platform !== "linux")("folders whose names are not UTF-8", () => {
  test("are passed over, and the answer says so", async () => {
    const { top } = workspace({ "a.txt": "x" });
    for (const last of [0xfe, 0xff]) {
      const folder = Buffer.concat([Buffer.from(`${top}/odd`), Buffer.from([last])]);
      fs.mkdirSync(folder);
      fs.writeFileSync(Buffer.concat([folder, Buffer.from("/in.txt")]), "x");
    }
    const session = createFilehand({ roots: [top] }).session({ dialect: "claude" });
    const text = textOf(await session.call("Glob", { pattern: "**/in.txt" }));
    expect(text).toContain("[2 folders were not searched: their names are not UTF-8");
    expect(textOf(await session.call("Glob", { pattern: "./a.*" }))).not.toContain("UTF-8");
  });
});

describe("counts", () => {
  test("hidden files in a hidden folder are counted, also if the folder itself matches", async () => {
    const { top } = workspace({ ".cfg": { ".env2": "x", deep: { ".env2": "x" } }, "a.txt": "x" });
    const { tools } = createFilehand({ roots: [top] }).session({ dialect: "claude" });
    expect(await tools.Glob({ pattern: "**/.*" })).toMatchObject({ totalMatches: 0, hiddenMatches: 2 });
    expect(await tools.Glob({ pattern: "**/.env2" })).toMatchObject({ totalMatches: 0, hiddenMatches: 2 });
    expect(await tools.Glob({ pattern: "**/.*/.env2" })).toMatchObject({ totalMatches: 1 });
  });

  test("ignored files are counted up to a limit, and then the number is called a floor", async () => {
    const { top } = workspace({ ".gitignore": "big/\n", "a.txt": "x" });
    for (let part = 0; part < 3; part += 1) manyFiles(`${top}/big/${part}`, limits.globCountedEntriesMax / 2);
    const { tools } = createFilehand({ roots: [top] }).session({ dialect: "claude" });
    const before = openDescriptors();
    const found = await tools.Glob({ pattern: "**/*.txt" });
    expect(found).toMatchObject({ totalMatches: 1, countIsComplete: true, leftOutIsComplete: false });
    expect(found.ignoredMatches).toBe(limits.globCountedEntriesMax);
    const session = createFilehand({ roots: [top] }).session({ dialect: "claude" });
    expect(textOf(await session.call("Glob", { pattern: "**/*.txt" }))).toContain("At least 10000 ignored files match");
    expect((await tools.Glob({ pattern: "big/0/*" })).totalMatches).toBe(limits.globCountedEntriesMax / 2);
    expect(openDescriptors()).toBe(before);
  });

  test("a walk that is told to stop says so", async () => {
    const { top } = workspace({});
    manyFiles(`${top}/a`, 5_000);
    manyFiles(`${top}/b`, 5_000);
    const disk = createDisk([top]);
    const lookup = disk.lookup(top);
    const parsed = parseGlob("**");
    if (lookup.seen !== "node" || "fault" in parsed) throw new Error("it is there");
    const tally = await walkFiles(disk.walk(lookup), {
      above: [],
      ignored: nothingIgnored,
      state: startGlobState(parsed),
      hides: () => false,
      shows: () => true,
      hidesEnd: () => false,
      take: () => true,
      onTurn: () => "enough",
    });
    lookup.handle.close();
    expect(tally.ended).toBe("enough");
    expect(tally.matched).toBeLessThanOrEqual(5_000);
  });

  test("a hundred are named, and all are counted", async () => {
    const { top } = workspace({});
    for (let part = 0; part < 4; part += 1) manyFiles(`${top}/${part}`, 2_500);
    const { tools } = createFilehand({ roots: [top] }).session({ dialect: "claude" });
    const found = await tools.Glob({ pattern: "**" });
    expect(found).toMatchObject({ numFiles: 100, totalMatches: 10_000, truncated: true, countIsComplete: true });
  });
});

describe("where it searches", () => {
  const dated = (path: string, seconds: number) => fs.utimesSync(path, seconds, seconds);

  test("all roots by default, newest first over all of them; one of them by its path", async () => {
    const { top } = workspace({ one: { "a.ts": "x", "c.ts": "x" }, two: { "b.ts": "x", "d.ts": "x" }, "e.ts": "x" });
    for (const [at, path] of ["one/a.ts", "two/b.ts", "one/c.ts", "two/d.ts"].entries())
      dated(`${top}/${path}`, 9 - at);
    const { tools } = createFilehand({ roots: [`${top}/one`, `${top}/two`] }).session({ dialect: "claude" });
    const all = ["one/a.ts", "two/b.ts", "one/c.ts", "two/d.ts"].map((path) => `${top}/${path}`);
    expect(await tools.Glob({ pattern: "**/*.ts" })).toMatchObject({ filenames: all, totalMatches: 4 });
    expect((await tools.Glob({ pattern: "*.ts", path: `${top}/two` })).filenames).toEqual([all[1], all[3]]);
    expect((await tools.Glob({ pattern: "*.ts", path: "." })).filenames).toEqual([all[0], all[2]]);
    expect((await tools.Glob({ pattern: `${top}/two/*` })).filenames).toEqual([all[1], all[3]]);
  });

  test("files of the same time are ordered by path over all roots, and the limit holds for all together", async () => {
    const { top } = workspace({ one: { b: "x" }, two: { a: "x" } });
    for (const path of ["one/b", "two/a"]) dated(`${top}/${path}`, 5);
    const session = createFilehand({ roots: [`${top}/two`, `${top}/one`] }).session({ dialect: "claude" });
    const found = async (filesMax: number) =>
      (await session.run(() => ({ verb: "glob", pattern: "**", path: undefined, filesMax }))).reply.structured;
    expect(await found(9)).toMatchObject({ filenames: [`${top}/one/b`, `${top}/two/a`] });
    expect(await found(1)).toMatchObject({ filenames: [`${top}/one/b`], totalMatches: 2, truncated: true });
  });

  test("each root has its own ignore files, and what is left out is counted over all", async () => {
    const { top } = workspace({
      one: { ".gitignore": "*.log\n", "a.log": "x", "a.txt": "x", ".h.txt": "x" },
      two: { "b.log": "x", "b.txt": "x", ".h.txt": "x" },
    });
    const { tools } = createFilehand({ roots: [`${top}/one`, `${top}/two`] }).session({ dialect: "claude" });
    expect(await tools.Glob({ pattern: "*.log" })).toMatchObject({
      filenames: [`${top}/two/b.log`],
      ignoredMatches: 1,
    });
    expect(await tools.Glob({ pattern: "*.txt" })).toMatchObject({ totalMatches: 2, hiddenMatches: 2 });
  });

  test("a root in a root, a root that is named twice, and one that holds the start are searched once", async () => {
    const { top } = workspace({ one: { in: { "a.ts": "x" }, beside: { "b.ts": "x" } }, two: { "c.ts": "x" } });
    const [one, inner, two] = [`${top}/one`, `${top}/one/in`, `${top}/two`];
    const found = async (roots: string[], cwd?: string) => {
      const { tools } = createFilehand({ roots, ...(cwd === undefined ? {} : { cwd }) }).session({ dialect: "claude" });
      const { filenames, totalMatches } = await tools.Glob({ pattern: "**/*.ts" });
      expect(filenames).toHaveLength(totalMatches);
      return filenames.map((path) => path.slice(top.length + 1)).toSorted();
    };
    const all = ["one/beside/b.ts", "one/in/a.ts", "two/c.ts"];
    expect(await found([one, inner, two, two])).toEqual(all);
    expect(await found([inner, one, two])).toEqual(all);
    expect(await found([one, two], inner)).toEqual(["one/in/a.ts", "two/c.ts"]);
    expect(await found([one, inner, two], `${one}/beside`)).toEqual(all);
  });

  test("a folder at the beginning of the pattern that only one root has", async () => {
    const { top } = workspace({ one: { lib: { "a.ts": "x" } }, two: { src: { "b.ts": "x" } } });
    const session = createFilehand({ roots: [`${top}/one`, `${top}/two`] }).session({ dialect: "claude" });
    expect(textOf(await session.call("Glob", { pattern: "src/*" }))).toBe(`${top}/two/src/b.ts`);
    expect(textOf(await session.call("Glob", { pattern: "nope/*" }))).toContain("There is no folder");
    fs.writeFileSync(`${top}/two/a[1.txt`, "");
    expect(textOf(await session.call("Glob", { pattern: "a[1.txt" }))).toBe(`${top}/two/a[1.txt`);
    expect((await session.call("Glob", { pattern: "b[1.txt" })).error?.code).toBe("INVALID_PARAM");
  });

  test("a root that is denied is told and ends nothing, unless it is all there is", async () => {
    const { top } = workspace({ one: { "a.ts": "x" }, two: { "b.ts": "x" } });
    const before = openDescriptors();
    for (const [shut, open] of [
      ["one", "two/b.ts"],
      ["two", "one/a.ts"],
    ]) {
      const { tools } = createFilehand({
        roots: [`${top}/one`, `${top}/two`],
        permissions: { deny: [`Read(/${top}/${shut})`, `Read(/${top}/${shut}/**)`] },
      }).session({ dialect: "claude" });
      expect(await tools.Glob({ pattern: "**" })).toMatchObject({
        filenames: [`${top}/${open}`],
        foldersHiddenByRules: 1,
      });
    }
    const session = createFilehand({
      roots: [`${top}/one`, `${top}/two`],
      permissions: { deny: [`Read(/${top}/**)`, `Read(/${top}/*)`] },
    }).session({ dialect: "claude" });
    expect((await session.call("Glob", { pattern: "**" })).error?.code).toBe("ACCESS_DENIED");
    expect(openDescriptors()).toBe(before);
  });

  test("a folder outside that the session was let into is no root", async () => {
    const { top } = workspace({ one: { "a.ts": "x" }, two: { "b.ts": "x" }, out: { "c.ts": "x" } });
    const session = createFilehand({
      roots: [`${top}/one`, `${top}/two`],
      home: `${top}/home`,
      permissions: { allow: [`external_directory(/${top}/out/**)`] },
    }).session({ dialect: "claude" });
    expect((await session.call("Read", { file_path: `${top}/out/c.ts` })).isError).toBe(false);
    const { structured } = await session.call("Glob", { pattern: "*.ts" });
    expect(structured).toMatchObject({ totalMatches: 2 });
    expect(JSON.stringify(structured)).not.toContain("c.ts");
  });

  test("where paths are relative, those of another root are absolute: they can be given back", async () => {
    const { top } = workspace({ one: { "a.ts": "x" }, two: { "b.ts": "x" } });
    for (const [at, path] of ["one/a.ts", "two/b.ts"].entries()) dated(`${top}/${path}`, 9 - at);
    const session = createFilehand({ roots: [`${top}/one`, `${top}/two`] }).session({ dialect: "envelope" });
    const reply = await session.call("Glob", { pattern: "**" });
    expect(reply.structured).toMatchObject({ data: { files: ["a.ts", `${top}/two/b.ts`] } });
    for (const path of ["a.ts", `${top}/two/b.ts`]) {
      expect((await session.call("Read", { path })).isError).toBe(false);
    }
  });

  test.skipIf(onWindows)("a folder that is reached through a link is named as it was asked for", async () => {
    const { top } = workspace({ real: { x: { "a.ts": "x" } }, link: { link: "real" } });
    const { tools } = createFilehand({ roots: [top] }).session({ dialect: "claude" });
    expect((await tools.Glob({ pattern: "*.ts", path: "link" })).filenames).toEqual([`${top}/link/x/a.ts`]);
    expect((await tools.Glob({ pattern: "link/**" })).filenames).toEqual([`${top}/link/x/a.ts`]);
  });

  // Root reads everything.
  test.skipIf(onWindows || process.getuid?.() === 0)("folders that cannot be read are counted, not fatal", async () => {
    const { top } = workspace({ open: { "a.ts": "x" }, shut: { "b.ts": "x" } });
    fs.chmodSync(`${top}/shut`, 0);
    const session = createFilehand({ roots: [top] }).session({ dialect: "claude" });
    const reply = await session.call("Glob", { pattern: "**" });
    const listed = await session.call("LS", { path: "." });
    fs.chmodSync(`${top}/shut`, 0o755);
    expect(reply.structured).toMatchObject({ filenames: [`${top}/open/a.ts`], unreadableFolders: 1 });
    expect(textOf(listed)).toContain("shut/ (cannot be read)");
  });

  test("a folder that is ignored is searched if it is named, with the ignore files in it", async () => {
    const { top } = workspace({
      ".gitignore": "dist\n*.log\n",
      dist: { "a.js": "x", "b.log": "x", ".gitignore": "c.js\n", "c.js": "x" },
    });
    const { tools } = createFilehand({ roots: [top] }).session({ dialect: "claude" });
    const found = await tools.Glob({ pattern: "dist/*" });
    expect(found.filenames.toSorted()).toEqual([`${top}/dist/a.js`, `${top}/dist/b.log`]);
    expect(found).toMatchObject({ ignoredMatches: 1, hiddenMatches: 1 });
    expect(await tools.Glob({ pattern: "{dist,src}/*.log" })).toMatchObject({ totalMatches: 0, ignoredMatches: 1 });
  });
});
