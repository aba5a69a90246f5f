/** Facts about folders, real ones and simulated ones of other systems. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { nodeSystem, type System } from "../system.ts";
import { folderFacts } from "./folder-facts.ts";

let top = "";
beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), "filehand-facts-"));
  onTestFinished(() => rmSync(top, { recursive: true, force: true }));
});

test("a folder, a file, and a missing one, which can be created where the folder above is writable", () => {
  mkdirSync(join(top, "folder"), { mode: 0o700 });
  writeFileSync(join(top, "file"), "");
  expect(folderFacts(join(top, "folder"))).toMatchObject({ there: "folder", writable: true, openToOthers: false });
  expect(folderFacts(join(top, "file"))).toMatchObject({ there: "something else", writable: false });
  expect(folderFacts(join(top, "a", "b"))).toMatchObject({ there: "nothing", writable: true });
  expect(folderFacts(join(top, "file", "b"))).toMatchObject({ there: "nothing", writable: false });
});

/** A system on which `a` and `A` are one name. */
const folding: System = {
  ...nodeSystem,
  statLink: (path) => nodeSystem.statLink(join(top, path.slice(top.length).toLowerCase())),
};

test("case sensitivity is read off a name in the folder, or unknown", () => {
  writeFileSync(join(top, "1"), "");
  writeFileSync(join(top, "name"), "");
  expect(folderFacts(top, folding).foldsCase).toBe(true);
  const exact: System = {
    ...nodeSystem,
    statLink: (path) => {
      if (path.endsWith("NAME")) throw new Error("there is no such file");
      return nodeSystem.statLink(path);
    },
  };
  expect(folderFacts(top, exact).foldsCase).toBe(false);
});

test("a file system is known by its number on Linux, and nowhere else", () => {
  const linux: System = { ...nodeSystem, platform: "linux", fileSystemType: () => 0x9123683e };
  expect(folderFacts(top, linux)).toMatchObject({ fileSystem: { name: "btrfs", clones: true }, isLocal: true });
  expect(folderFacts(top, { ...linux, fileSystemType: () => 0x6969 })).toMatchObject({
    fileSystem: { name: "nfs" },
    isLocal: false,
  });
  expect(folderFacts(top, { ...linux, fileSystemType: () => 1 }).fileSystem).toBeUndefined();
  expect(folderFacts(top, { ...linux, platform: "darwin" })).toMatchObject({
    fileSystem: undefined,
    isLocal: undefined,
  });
});
