/** What a session leaves in the state folder, what it must never leave there, and what it does when that fails. */

import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import * as fs from "node:fs";
import { afterEach, describe, test, vi } from "vitest";
import { nodeSystem } from "../../src/disk/system.ts";
import { onLinux, onWindows, workspace } from "../support/workspace.ts";
import { blobFiles } from "./bed.ts";
import { bytesBelow, type DeskOptions, openWorkspace, rewindTwice, whileFull } from "./desk.ts";

const { path: place } = workspace({});
let desks = 0;
const desk = (options: DeskOptions = {}) => openWorkspace(place(`desk-${(desks += 1)}`), options);

describe("after a restart", () => {
  test("a session of the same name goes on: rewind, undo and redo", async () => {
    const first = desk();
    await first.session.checkpoint("m1");
    await first.write("a.txt", "one\n");
    await first.session.checkpoint("m2");
    await first.edit("a.txt", "one", "two");
    const second = openWorkspace(first.top);
    await second.session.undo();
    equal(second.read("a.txt"), "one\n");
    const third = openWorkspace(first.top);
    await third.session.redo();
    equal(third.read("a.txt"), "two\n");
    await third.session.checkpoint("m3");
    await third.edit("a.txt", "two", "three");
    await openWorkspace(first.top).session.rewind("m1");
    deepEqual(third.tree(), {});
  });

  test("two processes of one session keep their turns side by side", async () => {
    const first = desk();
    const second = openWorkspace(first.top);
    await Promise.all([first.write("a.txt", "one\n"), second.write("b.txt", "two\n")]);
    await Promise.all([first.edit("a.txt", "one", "1"), second.edit("b.txt", "two", "2")]);
    equal((await first.session.history())?.snapshots().length, 4);
    await first.session.rewind("start");
    deepEqual(first.tree(), {});
  });
});

describe("secrets", () => {
  const secret = "hunter2-correct-horse";

  for (const [name, options] of [
    [".env", {}],
    ["config/.env.production", {}],
    ["server.pem", {}],
    [".env", { secrets: "allow" }],
    ["private/plan.txt", { permissions: { ask: ["Read(private/**)"] }, isFree: true }],
  ] as const) {
    const { isFree, ...rest } = { isFree: false, ...options };
    test(`${name} is ${isFree ? "kept, since it is only asked about" : "never stored"} ${JSON.stringify(rest)}`, async () => {
      const d = desk(rest);
      await d.session.checkpoint("m1");
      await d.write(name, `${secret}=1\n`);
      await d.write("plain.txt", "plain\n");
      await d.session.checkpoint("m2");
      await d.edit(name, "=1", "=2");
      await d.edit("plain.txt", "plain", "changed");
      await (await d.filehand.history())?.gc({ graceMs: 0 });
      equal(bytesBelow(d.stateDir).includes(secret), isFree);
      const { dry, real } = await rewindTwice(d, "m2");
      deepEqual(dry, real);
      const expected = isFree ? "restore: done" : "unavailable (secret): left";
      deepEqual(real, { [name]: expected, "plain.txt": "restore: done" });
      equal(d.read(name), isFree ? `${secret}=1\n` : `${secret}=2\n`);
    });
  }

  test("a file that may be edited but not read is not stored", async () => {
    const d = desk({ permissions: { deny: ["Read(hidden/**)"] } });
    fs.mkdirSync(d.at("hidden"));
    const reply = await d.session.call("write", { filePath: "hidden/a.txt", content: `${secret}\n` });
    ok(!bytesBelow(d.stateDir).includes(secret), JSON.stringify(reply.error));
  });

  test("a file that became a secret by moving there is not stored under its new name", async () => {
    const d = desk();
    d.stranger("a.txt", "one\n");
    await d.patch("*** Update File: a.txt", "*** Move to: .env", "@@", "-one", `+${secret}`);
    ok(!bytesBelow(d.stateDir).includes(secret));
    ok(d.read(".env").includes(secret));
  });

  test.skipIf(onWindows)("the store is its owner's alone", async () => {
    const before = process.umask(0);
    try {
      const d = desk();
      await d.write("a.txt", "one\n".repeat(100_000));
      await d.write("a.txt", "two\n");
      const store = `${d.stateDir}/history`;
      for (const name of ["", ...fs.readdirSync(store, { recursive: true, encoding: "utf8" })]) {
        const stat = fs.statSync(`${store}/${name}`);
        equal((stat.mode & 0o777).toString(8), stat.isDirectory() ? "700" : "600", name);
      }
    } finally {
      process.umask(before);
    }
  });
});

describe("a path that is something else now", () => {
  for (const [what, make, word] of [
    [
      "a link to a file",
      (path: string, outside: string) => fs.symlinkSync(outside, path),
      /^unavailable \((link|outside)\): left$/,
    ],
    ["a folder", (path: string) => fs.mkdirSync(path), /^unavailable \(folder\): left$/],
    ["a link that leads nowhere", (path: string) => fs.symlinkSync("nowhere", path), /^unavailable \(\w+\): left$/],
  ] as const) {
    test.skipIf(onWindows)(`${what}: that file is left, the other is restored`, async () => {
      const d = desk();
      d.stranger("a.txt", "a0\n");
      d.stranger("b.txt", "b0\n");
      fs.writeFileSync(`${d.top}/outside.txt`, "a1\n");
      await d.session.checkpoint("m1");
      await d.edit("a.txt", "a0", "a1");
      await d.edit("b.txt", "b0", "b1");
      fs.unlinkSync(d.at("a.txt"));
      make(d.at("a.txt"), `${d.top}/outside.txt`);
      const { dry, real } = await rewindTwice(d, "m1", { force: true });
      deepEqual(dry, real);
      match(real["a.txt"] ?? "", word);
      deepEqual([real["b.txt"], d.read("b.txt")], ["restore: done", "b0\n"]);
      equal(fs.readFileSync(`${d.top}/outside.txt`, "utf8"), "a1\n");
    });
  }

  test.skipIf(onWindows)("its folder is a link now: nothing behind the link is touched", async () => {
    const d = desk();
    await d.session.checkpoint("m1");
    await d.write("sub/a.txt", "one\n");
    await d.write("b.txt", "two\n");
    fs.renameSync(d.at("sub"), d.at("moved"));
    fs.symlinkSync("moved", d.at("sub"));
    const { dry, real } = await rewindTwice(d, "m1", { force: true });
    deepEqual(dry, real);
    deepEqual(real, { "sub/a.txt": "unavailable (link): left", "b.txt": "delete: done" });
    equal(d.read("moved/a.txt"), "one\n");
  });
});

describe("a folder that is something else now", () => {
  for (const [what, make] of [
    ["a link to another folder", (path: string) => fs.symlinkSync("elsewhere", path)],
    ["a link that leads nowhere", (path: string) => fs.symlinkSync("nowhere", path)],
    ["a file", (path: string) => fs.writeFileSync(path, "file\n")],
  ] as const) {
    test.skipIf(onWindows)(`${what}: no file is made again there`, async () => {
      const d = desk();
      fs.mkdirSync(d.at("sub"));
      fs.mkdirSync(d.at("elsewhere"));
      d.stranger("sub/a.txt", "one\n");
      d.stranger("b.txt", "b0\n");
      await d.session.checkpoint("m1");
      await d.patch("*** Delete File: sub/a.txt", "*** Delete File: b.txt");
      fs.rmSync(d.at("sub"), { recursive: true, force: true });
      make(d.at("sub"));
      const { dry, real } = await rewindTwice(d, "m1", { force: true });
      deepEqual(dry, real);
      match(real["sub/a.txt"] ?? "", /^unavailable \((link|special)\): left$/);
      equal(real["b.txt"], "create: done");
      deepEqual(fs.readdirSync(d.at("elsewhere")), []);
    });
  }

  test("a folder deleted with its content is created again", async () => {
    const d = desk();
    fs.mkdirSync(d.at("deep/er"), { recursive: true });
    d.stranger("deep/er/a.txt", "one\n");
    const before = d.tree();
    await d.patch("*** Delete File: deep/er/a.txt");
    fs.rmSync(d.at("deep"), { recursive: true, force: true });
    await d.session.undo();
    deepEqual(d.tree(), before);
  });
});

describe("contents that are no longer stored", () => {
  test("a damaged content fails by name, the others are restored", async () => {
    const d = desk();
    d.stranger("a.txt", `${"a".repeat(300)}\n`);
    d.stranger("b.txt", `${"b".repeat(300)}\n`);
    await d.session.checkpoint("m1");
    await d.write("a.txt", "1\n");
    await d.write("b.txt", "2\n");
    await (await d.filehand.history())?.gc({ graceMs: 0 });
    const [blob = ""] = blobFiles(`${d.stateDir}/history`).filter((file) =>
      fs.readFileSync(file, "utf8").startsWith("aaa"),
    );
    fs.writeFileSync(blob, `${"x".repeat(300)}\n`);
    const again = openWorkspace(d.top);
    const { dry, real } = await rewindTwice(again, "m1");
    deepEqual(dry, real);
    deepEqual(real, { "a.txt": "unavailable (damaged): left", "b.txt": "restore: done" });
    equal(d.read("a.txt"), "1\n");
    equal((await (await again.filehand.history())?.verify())?.faults[0]?.fault, "damaged content");
  });

  test("of 101 turns the oldest is pruned, but a rewind to the start still works", async () => {
    const d = desk();
    d.stranger("a.txt", "0\n");
    for (let n = 1; n <= 101; n += 1) {
      await d.session.checkpoint(`m${n}`);
      await d.edit("a.txt", String(n - 1), String(n));
    }
    const turns = (await d.session.history())?.snapshots() ?? [];
    deepEqual([turns.length, turns[0]?.messageId], [100, "m2"]);
    await rejects(d.session.rewind("m1"), { code: "NO_TURN", message: /"m1".*no longer kept/ });
    await rejects(d.session.rewind("what"), { code: "NO_TURN", message: /"what".*no such turn/ });
    await d.session.rewind("m2");
    equal(d.read("a.txt"), "1\n");
    await d.session.rewind("start");
    equal(d.read("a.txt"), "0\n");
  });
});

describe("a patch that fails", () => {
  afterEach(() => vi.restoreAllMocks());

  test.skipIf(!onLinux)("on its third file puts the others back and leaves nothing in the history", async () => {
    const d = desk();
    for (const name of ["a", "b", "c"]) d.stranger(`${name}.txt`, `${name}0\n`);
    d.stranger("d.txt", "d0\n");
    const before = d.tree();
    await d.session.checkpoint("m1");
    const rename = nodeSystem.rename.bind(nodeSystem);
    vi.spyOn(nodeSystem, "rename").mockImplementation((from, to) => {
      if (to.endsWith("/c.txt")) throw Object.assign(new Error("EIO: made up"), { code: "EIO", errno: -5 });
      rename(from, to);
    });
    const update = (name: string) => [`*** Update File: ${name}.txt`, "@@", `-${name}0`, `+${name}1`];
    const lines = [...update("a"), "*** Add File: new.txt", "+new", ...update("c"), "*** Delete File: d.txt"];
    await rejects(d.patch(...lines), ({ message }: Error) => {
      match(message, /^ROLLED_BACK: .*c\.txt.*"new\.txt" and "a\.txt"|^ROLLED_BACK: .*"a\.txt".*"new\.txt"/);
      return true;
    });
    vi.restoreAllMocks();
    deepEqual(d.tree(), before);
    deepEqual((await d.session.history())?.snapshots(), []);
    await rejects(d.session.undo(), { code: "NO_TURN" });
    await d.patch(...lines);
    await d.session.rewind("m1");
    deepEqual(d.tree(), before);
  });
});

describe("where nothing can be stored", () => {
  const undone = /The old content could not be kept, so this change cannot be undone/;

  test.skipIf(!onLinux)("a full state folder: the change is made and says that it cannot be undone", async () => {
    const d = desk();
    d.stranger("a.txt", "one\n");
    const said = await whileFull(d.stateDir, () => d.edit("a.txt", "one", "two"));
    match(said, undone);
    equal(d.read("a.txt"), "two\n");
    ok(!undone.test(await d.edit("a.txt", "two", "three")), "once there is room, it is kept again");
    await d.session.undo();
    equal(d.read("a.txt"), "two\n");
  });

  test("a state folder that cannot be used", async () => {
    const d = desk();
    fs.mkdirSync(d.stateDir, { recursive: true });
    fs.writeFileSync(`${d.stateDir}/history`, "in the way");
    d.stranger("a.txt", "one\n");
    match(await d.edit("a.txt", "one", "two"), undone);
    match(await d.write("b.txt", "new\n"), /could not be recorded in the history, so undo does not know of it/);
    match(await d.patch("*** Delete File: b.txt"), undone);
    equal(d.read("a.txt"), "two\n");
    await rejects(d.session.undo(), /history/);
  });

  for (const [what, options] of [
    ["history is off", { history: false }],
    ["there is no state folder", { stateDir: undefined }],
  ] as const) {
    test(`${what}: there is no store, and a rewind says so`, async () => {
      const d = desk(Object.fromEntries(Object.entries(options)));
      ok(!undone.test(await d.write("a.txt", "one\n")));
      ok(!fs.existsSync(`${d.stateDir}/history`));
      deepEqual([await d.session.history(), await d.filehand.history()], [undefined, undefined]);
      await rejects(d.session.undo(), { code: "NO_TURN", message: /no history is kept/ });
      await rejects(d.session.rewind("m1"), { code: "NO_TURN", message: /no history is kept/ });
      await d.session.checkpoint("m1");
    });
  }
});
