/** Glob as programs use it: counts that are exact or said to be floors, several roots, folders that cannot be read. */

import * as fs from "node:fs";
import { describe, expect, test } from "vitest";
import { limits } from "../../src/contract/limits.ts";
import { createDisk } from "../../src/disk/disk.ts";
import { createFilehand, type Reply } from "../../src/index.ts";
import { walkFiles } from "../../src/search/files.ts";
import { nothingIgnored } from "../../src/search/files-ignored.ts";
import { parseGlob } from "../../src/text/glob.ts";
import { startState } from "../../src/text/glob-state.ts";
import { onWindows, openDescriptors, workspace } from "../support/workspace.ts";

const textOf = (reply: Reply): string => reply.content.map((part) => (part.type === "text" ? part.text : "")).join("");

function manyFiles(folder: string, count: number): void {
  fs.mkdirSync(folder, { recursive: true });
  for (let index = 0; index < count; index += 1) fs.writeFileSync(`${folder}/${index}.txt`, "");
}

describe("counts", () => {
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
    const look = disk.look(top);
    const parsed = parseGlob("**");
    if (look.seen !== "node" || "fault" in parsed) throw new Error("it is there");
    const tally = await walkFiles(disk.walk(look), {
      above: [],
      ignored: nothingIgnored,
      state: startState(parsed),
      hides: () => false,
      shows: () => true,
      take: () => true,
      onTurn: () => "enough",
    });
    look.held.close();
    expect(tally).toMatchObject({ ended: "enough", matched: 5_000 });
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
  test("the first root by default, any other by its path", async () => {
    const { top } = workspace({ one: { "a.ts": "x" }, two: { "b.ts": "x" } });
    const { tools } = createFilehand({ roots: [`${top}/one`, `${top}/two`] }).session({ dialect: "claude" });
    expect((await tools.Glob({ pattern: "**/*.ts" })).filenames).toEqual([`${top}/one/a.ts`]);
    expect((await tools.Glob({ pattern: "**/*.ts", path: `${top}/two` })).filenames).toEqual([`${top}/two/b.ts`]);
    expect((await tools.Glob({ pattern: `${top}/two/*` })).filenames).toEqual([`${top}/two/b.ts`]);
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
