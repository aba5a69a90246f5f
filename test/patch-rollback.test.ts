/** A patch whose last file cannot be written: what was written before is put back, and nothing else is touched. */

import { deepEqual, equal, match } from "node:assert/strict";
import * as fs from "node:fs";
import { afterEach, beforeEach, describe, test, vi } from "vitest";
import { nodeSystem } from "../src/disk/system.ts";
import { createFilehand, type FilehandOptions, type Reply } from "../src/index.ts";
import { onWindows, workspace } from "./support/workspace.ts";
import { replyTo } from "./support/reading.ts";

const { top, path: at } = workspace({});

beforeEach(() => {
  for (const name of fs.readdirSync(top)) fs.rmSync(at(name), { recursive: true, force: true });
  fs.writeFileSync(at("a.txt"), "one\n");
  fs.writeFileSync(at("last.txt"), "last\n");
});
afterEach(() => vi.restoreAllMocks());

/** When `last.txt` is to be replaced the disk fails, and somebody else may do something right before. */
function failAtLast(meanwhile: () => void = () => undefined): void {
  const rename = nodeSystem.rename.bind(nodeSystem);
  vi.spyOn(nodeSystem, "rename").mockImplementation((from, to) => {
    if (!to.endsWith("/last.txt")) return rename(from, to);
    meanwhile();
    throw Object.assign(new Error("EIO: made up"), { code: "EIO", errno: -5 });
  });
}

const last = ["*** Update File: last.txt", "@@", "-last", "+LAST"];

async function patched(options: Partial<FilehandOptions>, ...lines: readonly string[]): Promise<Reply> {
  const toolkit = createFilehand({ roots: [top], ask: "yes", readFirst: false, ...options });
  const patchText = ["*** Begin Patch", ...lines, ...last, "*** End Patch"].join("\n");
  return replyTo(toolkit.session({ dialect: "opencode" }), (profile) => ({ verb: "patch", patchText, profile }));
}

const update = ["*** Update File: a.txt", "@@", "-one", "+two"];
const there = (name: string): string => fs.readFileSync(at(name), "utf8");
const tree = (): readonly string[] => fs.readdirSync(top, { recursive: true, encoding: "utf8" }).toSorted();

describe.skipIf(onWindows)("a patch that fails at its last file", () => {
  test("gives the other names of a file its old content back, where they are kept", async () => {
    fs.linkSync(at("a.txt"), at("twin.txt"));
    failAtLast();
    const { error } = await patched({ hardLinks: "keep" }, ...update);
    equal(error?.code, "ROLLED_BACK");
    match(error?.message ?? "", /no file was changed/);
    deepEqual([there("a.txt"), there("twin.txt")], ["one\n", "one\n"]);
    equal(fs.statSync(at("a.txt")).nlink, 2);
  });

  test("leaves no folder that was made for a file", async () => {
    fs.mkdirSync(at("old"));
    failAtLast();
    const added = [
      "*** Add File: new/deep/b.txt",
      "+b",
      "*** Add File: new/c.txt",
      "+c",
      "*** Add File: old/d.txt",
      "+d",
    ];
    const moved = ["*** Update File: a.txt", "*** Move to: other/a.txt"];
    equal((await patched({}, ...added, ...moved)).error?.code, "ROLLED_BACK");
    deepEqual(tree(), ["a.txt", "last.txt", "old"]);
  });

  test("leaves a folder into which somebody has put something", async () => {
    failAtLast(() => fs.writeFileSync(at("new/theirs"), ""));
    await patched({}, "*** Add File: new/deep/b.txt", "+b");
    deepEqual(tree(), ["a.txt", "last.txt", "new", "new/theirs"]);
  });

  for (const size of [1, 300_000]) {
    const theirs = "theirs\n".repeat(size);
    test(`takes nothing away that somebody else wrote meanwhile, and says so (${theirs.length} bytes)`, async () => {
      failAtLast(() => {
        fs.writeFileSync(at("a.txt"), theirs);
        fs.writeFileSync(at("new.txt"), theirs);
      });
      const { error } = await patched({}, ...update, "*** Add File: new.txt", "+new");
      equal(error?.code, "ROLLED_BACK");
      match(error?.message ?? "", /"new\.txt" and "a\.txt" could not be put back and must be looked at/);
      deepEqual([there("a.txt"), there("new.txt"), there("last.txt")], [theirs, theirs, "last\n"]);
    });
  }

  test("makes deleted files again with the mode that they had", async () => {
    fs.chmodSync(at("a.txt"), 0o4775);
    const rename = nodeSystem.rename.bind(nodeSystem);
    vi.spyOn(nodeSystem, "rename").mockImplementation((from, to) => {
      if (!from.endsWith("/z.txt")) return rename(from, to);
      throw Object.assign(new Error("EIO: made up"), { code: "EIO", errno: -5 });
    });
    fs.writeFileSync(at("z.txt"), "");
    equal((await patched({}, "*** Delete File: a.txt", "*** Delete File: z.txt")).error?.code, "ROLLED_BACK");
    deepEqual([there("a.txt"), (fs.statSync(at("a.txt")).mode & 0o7777).toString(8)], ["one\n", "4775"]);
  });

  test("changes nothing when the disk is full at the second file, and needs no room to say so", async () => {
    fs.writeFileSync(at("last.txt"), `last\n${"line\n".repeat(50_000)}`);
    const before = [fs.statSync(at("a.txt")), fs.statSync(at("last.txt"))].map(({ ino }) => ino);
    let isFull = false;
    for (const call of ["write", "writeLater"] as const) {
      const real: (...given: Parameters<typeof nodeSystem.write>) => unknown = nodeSystem[call].bind(nodeSystem);
      vi.spyOn(nodeSystem, call).mockImplementation((...given): never => {
        isFull ||= given[3] > 10_000;
        if (isFull) throw Object.assign(new Error("ENOSPC: made up"), { code: "ENOSPC", errno: -28 });
        return real(...given) as never;
      });
    }
    const { error } = await patched({}, ...update);
    equal(error?.code, "IO_ERROR");
    match(error?.message ?? "", /ENOSPC|full|room|space/i);
    equal(there("a.txt"), "one\n");
    deepEqual(
      [fs.statSync(at("a.txt")), fs.statSync(at("last.txt"))].map(({ ino }) => ino),
      before,
    );
    deepEqual(tree(), ["a.txt", "last.txt"]);
  });

  test("puts large files back too", async () => {
    const large = `one\n${"line\n".repeat(300_000)}`;
    fs.writeFileSync(at("a.txt"), large);
    failAtLast();
    match((await patched({}, ...update)).error?.message ?? "", /no file was changed/);
    equal(there("a.txt"), large);
  });
});
