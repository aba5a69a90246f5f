import { deepEqual, equal, ok, throws } from "node:assert/strict";
import * as fs from "node:fs";
import { describe, test } from "vitest";
import { onWindows, workspace } from "../../../test/support/workspace.ts";
import { openStoreFolder, StoreFailed } from "./store-folder.ts";

const { path: at } = workspace({});
let count = 0;
const fresh = () => openStoreFolder(at(`store-${(count += 1)}`));
const bytes = (text: string): Buffer => Buffer.from(text);
const identity = (path: string) => {
  const { dev, ino, size, mtimeNs, ctimeNs } = fs.statSync(path, { bigint: true });
  return { device: dev, inode: ino, sizeBytes: Number(size), mtimeNs, ctimeNs };
};

describe("a store folder", () => {
  test("makes nothing until something is stored", () => {
    const folder = fresh();
    deepEqual(
      [folder.look("a"), folder.read("a"), folder.open("a"), folder.list("x"), folder.sweep()],
      [undefined, undefined, undefined, [], 0],
    );
    ok(!fs.existsSync(folder.path));
  });

  test("puts, appends, lists, renames, removes", () => {
    const folder = fresh();
    folder.put("a/b/c", bytes("one"));
    folder.put("a/b/c", bytes("two"));
    equal(folder.append("log", bytes("1")), 1);
    equal(folder.append("log", bytes("23")), 3);
    deepEqual([folder.read("a/b/c")?.toString(), folder.read("log")?.toString()], ["two", "123"]);
    ok(folder.rename("a/b/c", "d/e"));
    ok(!folder.rename("a/b/c", "d/e"));
    deepEqual(folder.list("d"), ["e"]);
    folder.remove("d");
    deepEqual(folder.list("d"), []);
    deepEqual(folder.list("drafts"), []);
  });

  test("an append to a file that was removed meanwhile goes to the new one", () => {
    const folder = fresh();
    folder.append("log", bytes("1"));
    folder.rename("log", "old");
    folder.append("log", bytes("2"));
    deepEqual([folder.read("old")?.toString(), folder.read("log")?.toString()], ["1", "2"]);
  });

  test("is created again when all of it is removed", () => {
    const folder = fresh();
    folder.put("a", bytes("1"));
    fs.rmSync(folder.path, { recursive: true });
    folder.put("a", bytes("2"));
    equal(folder.read("a")?.toString(), "2");
  });

  test("a draft that is dropped leaves nothing", () => {
    const folder = fresh();
    const draft = folder.draft();
    draft.write(bytes("half"));
    draft.drop();
    deepEqual(folder.list("drafts"), []);
  });

  test("a link is not followed and a folder is not a file", () => {
    const folder = fresh();
    folder.put("a", bytes("1"));
    fs.symlinkSync("a", `${folder.path}/link`);
    fs.mkdirSync(`${folder.path}/folder`);
    throws(() => folder.read("link"), StoreFailed);
    deepEqual([folder.look("link"), folder.look("folder")], [undefined, undefined]);
  });

  test.skipIf(onWindows)("is closed to others, also if it was open before", () => {
    const path = at("open-to-all");
    fs.mkdirSync(path, { mode: 0o777 });
    fs.chmodSync(path, 0o777);
    openStoreFolder(path).put("a", bytes("1"));
    equal(fs.statSync(path).mode & 0o777, 0o700);
  });

  test("a system error becomes a message with a reason", () => {
    fs.writeFileSync(at("a file"), "");
    throws(
      () => openStoreFolder(at("a file")).put("a", bytes("")),
      (error) => error instanceof StoreFailed && error.message.startsWith("Cannot store in"),
    );
  });
});

describe("a link", () => {
  test("keeps the inode of a file that is then replaced", () => {
    const folder = fresh();
    fs.writeFileSync(at("big"), "old");
    ok(folder.link(at("big"), identity(at("big")), "kept"));
    fs.writeFileSync(at("big.new"), "new");
    fs.renameSync(at("big.new"), at("big"));
    deepEqual([folder.read("kept")?.toString(), folder.look("kept")?.links], ["old", 1]);
  });

  test("is not created for a file with two names, another file, or a missing one", () => {
    const folder = fresh();
    fs.writeFileSync(at("two"), "");
    fs.linkSync(at("two"), at("names"));
    fs.writeFileSync(at("other"), "");
    const other = identity(at("other"));
    ok(!folder.link(at("two"), identity(at("two")), "kept"));
    ok(!folder.link(at("other"), { ...other, inode: other.inode + 1n }, "kept"));
    ok(!folder.link(at("none"), other, "kept"));
    deepEqual([folder.list("drafts"), folder.look("kept")], [[], undefined]);
  });

  test("touching moves ctime and leaves mtime", async () => {
    const folder = fresh();
    folder.put("a", bytes("1"));
    const before = folder.look("a");
    await new Promise((resolve) => setTimeout(resolve, 20));
    folder.touch("a");
    const after = folder.look("a");
    equal(after?.mtimeNs, before?.mtimeNs);
    ok((after?.ctimeMs ?? 0) > (before?.ctimeMs ?? 0));
  });
});
