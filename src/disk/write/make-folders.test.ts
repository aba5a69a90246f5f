/** Missing folders are created with their parents; where that is impossible, the call ends with an error. */

import * as fs from "node:fs";
import { tmpdir } from "node:os";
import * as nodePath from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { makeFolders } from "./make-folders.ts";

const top = fs.mkdtempSync(nodePath.join(fs.realpathSync(tmpdir()), "filehand-make-folders-"));
afterAll(() => fs.rmSync(top, { recursive: true, force: true }));
const at = (name: string): string => nodePath.join(top, name);
fs.mkdirSync(at("there"));
fs.writeFileSync(at("file"), "");

describe("creating folders", () => {
  test("all that are missing, each with its mode", () => {
    makeFolders(at("a/b/c"), 0o700);
    const modes = ["a", "a/b", "a/b/c"].map((name) => fs.statSync(at(name)).mode & 0o777);
    expect(modes).toEqual(process.platform === "win32" ? [0o666, 0o666, 0o666] : [0o700, 0o700, 0o700]);
  });

  test("one that is there stays as it is", () => {
    fs.writeFileSync(at("there/kept"), "kept");
    makeFolders(at("there"), 0o700);
    expect(fs.readFileSync(at("there/kept"), "utf8")).toBe("kept");
  });

  test.skipIf(process.platform === "win32")("a link to a folder is one, and leads on", () => {
    fs.symlinkSync("there", at("link"));
    makeFolders(at("link"));
    makeFolders(at("link/below"));
    expect(fs.statSync(at("there/below")).isDirectory()).toBe(true);
    expect(fs.lstatSync(at("link")).isSymbolicLink()).toBe(true);
  });
});

describe.skipIf(process.platform === "win32")("folders that cannot be made", () => {
  fs.symlinkSync("nowhere", at("leads nowhere"));
  fs.symlinkSync("in a circle", at("in a circle"));
  for (const [what, path, errno] of [
    ["a file has the name", at("file"), "EEXIST"],
    ["a file is on the way", at("file/below/it"), "ENOTDIR"],
    ["a link that leads nowhere has the name", at("leads nowhere"), "EEXIST"],
    ["a link that leads nowhere is on the way", at("leads nowhere/below"), "EEXIST"],
    ["a link that leads in a circle is on the way", at("in a circle/below"), "ELOOP"],
    ["a name is too long", at(`${"x".repeat(300)}/below`), "ENAMETOOLONG"],
  ] as const) {
    test(what, () => expect(() => makeFolders(path)).toThrow(expect.objectContaining({ code: errno })));
  }

  // Reports ENOENT for every new name.
  test.skipIf(process.platform !== "linux")("a file system that takes none", () => {
    for (const path of ["/proc/filehand", "/proc/filehand/state/history", "/proc/self/filehand"]) {
      expect(() => makeFolders(path), path).toThrow(expect.objectContaining({ code: "ENOENT" }));
    }
  });
});
