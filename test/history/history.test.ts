/** Keeping, listing and going back, on real files. */

import { deepEqual, equal, match, ok } from "node:assert/strict";
import * as fs from "node:fs";
import { describe, test } from "vitest";
import { createDisk } from "../../src/disk/disk.ts";
import { workspace } from "../support/workspace.ts";
import { type BedOptions, blobFiles, makeBed } from "./bed.ts";

const { path: place } = workspace({});
let beds = 0;
const bed = (options: BedOptions = {}) => makeBed(place(`bed-${(beds += 1)}`), options);

const big = (fill: string, megabytes: number): Buffer => Buffer.alloc(megabytes * 1_048_576, fill);

describe("keeping", () => {
  test("no folder is created before something is stored", async () => {
    const { store, history } = bed();
    deepEqual([fs.existsSync(store), history.sessions(), (await history.usage()).bytes], [false, [], 0]);
  });

  test("folders are 0700, files 0600, also below a wide umask", async () => {
    const before = process.umask(0);
    try {
      const { store, turn, write } = bed();
      await turn("m1");
      await write("a.ts", "x".repeat(10_000));
      for (const name of fs.readdirSync(store, { recursive: true, encoding: "utf8" })) {
        const stat = fs.statSync(`${store}/${name}`);
        equal((stat.mode & 0o777).toString(8), stat.isDirectory() ? "700" : "600", name);
      }
    } finally {
      process.umask(before);
    }
  });

  test("the oldest time is the start of a session, not its last write", async () => {
    let nowMs = 1_000;
    const { turn, write, history } = bed({ nowMs: () => nowMs });
    await turn("m1");
    await write("a", "1");
    nowMs = 90_000;
    await turn("m2");
    await write("a", "2");
    equal((await history.usage()).oldestMs, 1_000);
  });

  test("one content is stored once, and its name is its hash", async () => {
    const { store, turn, write, history } = bed();
    await turn("m1");
    for (const name of ["a", "b", "c"]) await write(name, "the same");
    equal((await history.usage()).contents, 1);
    await history.gc({ graceMs: 0 });
    const [file = ""] = blobFiles(store);
    equal(fs.readFileSync(file, "utf8"), "the same");
    deepEqual((await history.verify()).faults, []);
  });

  test("contents are compressed only if that makes them smaller", async () => {
    const { store, turn, write, history } = bed();
    await turn("m1");
    await write("text", "a line of text\n".repeat(1_000));
    const noise = Buffer.from(Array.from({ length: 20_000 }, () => Math.floor(Math.random() * 256)));
    await write("noise", noise);
    await history.gc({ graceMs: 0 });
    const sizes = blobFiles(store).map((file) => fs.statSync(file).size);
    deepEqual([sizes.filter((size) => size === 20_000).length, sizes.filter((size) => size < 500).length], [1, 1]);
  });

  test("a secret is never stored, and a rewind says so", async () => {
    const { store, turn, write, plan } = bed({ isSecret: (path) => path.endsWith(".env") });
    await turn("m1");
    await write(".env", "TOKEN=hunter2");
    await turn("m2");
    await write(".env", "TOKEN=hunter3");
    deepEqual(blobFiles(store), []);
    ok(!fs.readFileSync(`${store}/sessions/s-one/log`, "utf8").includes("hunter"));
    const planned = await plan("m2");
    ok(planned.found === "turn");
    deepEqual(
      planned.files.map(({ step }) => step),
      [{ does: "unavailable", why: "secret" }],
    );
  });

  test("a large file is stored as a hard link to the old inode", async () => {
    const { at, store, turn, write, rewind } = bed();
    fs.writeFileSync(at("big"), big("a", 3));
    const { ino } = fs.statSync(at("big"));
    await turn("m1");
    await write("big", big("b", 3));
    deepEqual(
      blobFiles(store).map((file) => fs.statSync(file).ino),
      [ino],
    );
    deepEqual(
      Object.values(await rewind("m1", { id: "r" })).map(({ does }) => does),
      ["restore"],
    );
    ok(fs.readFileSync(at("big")).equals(big("a", 3)));
  });

  test("a file too large to be hashed is known by its inode", async () => {
    const { at, store, turn, write, plan, history } = bed();
    fs.writeFileSync(at("huge"), "a");
    fs.truncateSync(at("huge"), 70_000_000);
    await turn("m1");
    await write("huge", "small now");
    const [kept = ""] = blobFiles(store);
    ok(kept.includes("/inode/inode-"));
    const planned = await plan("m1");
    ok(planned.found === "turn");
    deepEqual(
      planned.files.map(({ step }) => step.does),
      ["restore"],
    );
    fs.writeFileSync(kept, "somebody had it open");
    deepEqual(
      (await history.verify()).faults.map(({ fault }) => fault),
      ["damaged content"],
    );
  });

  test("a file with another hard link is copied, not linked, and one that was linked in vain is copied again", async () => {
    const { at, session, store, turn, write } = bed();
    fs.writeFileSync(at("big"), big("a", 2));
    fs.linkSync(at("big"), at("other name"));
    await turn("m1");
    await write("big", big("b", 2));
    fs.appendFileSync(at("other name"), "changed in place");
    const content = session.versionOf("m1", at("big"), "before");
    ok(content?.kind === "file" && content.content !== undefined);
    const read = await session.open(content.content);
    ok(typeof read !== "string");
    read.close();
    deepEqual(
      blobFiles(store).map((file) => fs.statSync(file).nlink),
      [1],
    );
  });

  test("a file linked for a rename that turned out to be impossible is copied before it is written in place", async () => {
    const { at, session, history } = bed();
    fs.writeFileSync(at("big"), big("a", 2));
    const disk = createDisk([at(".")]);
    const found = disk.lookup(at("big"));
    ok(found.seen === "node");
    const file = disk.open(found);
    ok(!("errno" in file));
    const shared = { messageId: "m1", path: at("big"), relative: "big", tool: "Edit", after: { sizeBytes: 9 } };
    const first = await session.keep({ ...shared, before: { file, will: "be renamed over" } });
    equal(fs.statSync(at("big")).nlink, 2);
    await session.keep({ ...shared, before: { file, will: "be written in place" }, instead: first });
    equal(fs.statSync(at("big")).nlink, 1);
    fs.writeFileSync(at("big"), "in place!");
    file.close();
    found.handle.close();
    deepEqual((await history.verify()).faults, []);
    equal(session.snapshots().length, 1);
  });

  test("a store that cannot be written is reported, and the change can go on", async () => {
    const { store, turn, write, tree } = bed();
    fs.mkdirSync(store.replace(/\/history$/u, ""), { recursive: true });
    fs.writeFileSync(store, "a file in the way");
    await turn("m1");
    const kept = await write("a", "text");
    match(kept.failed ?? "", /^Cannot (?:store in|read) ".*history/);
    equal(kept.id, undefined);
    deepEqual(Object.keys(tree()), ["a"]);
  });
});

describe("snapshots", () => {
  test("a snapshot has what files were before the first change of its turn", async () => {
    const { at, turn, write, remove, session, text } = bed();
    fs.writeFileSync(at("old"), "one");
    await turn("m1");
    await write("old", "two");
    await write("old", "three");
    await write("new", "x");
    await turn("only talk");
    await turn("m3");
    await remove("old");
    const [first, second, ...others] = session.snapshots();
    deepEqual(others, []);
    const backup = first?.trackedFileBackups[at("old")];
    equal(await text(backup?.kind === "file" ? backup.content : undefined), "one");
    deepEqual(first?.trackedFileBackups[at("new")], { kind: "absent" });
    deepEqual([first?.messageId, second?.messageId], ["m1", "m3"]);
    deepEqual(Object.keys(second?.trackedFileBackups ?? {}), [at("old")]);
  });

  test("lines are counted from the state before the turn to that after it", async () => {
    const { at, turn, write, session } = bed();
    fs.writeFileSync(at("a"), "1\n2\n3\n");
    await turn("m1");
    await write("a", "1\n2\nthree\n");
    await write("a", "1\nthree\nfour\n");
    await write("b", "1\n");
    await write("c", Buffer.from([0, 1, 2]));
    deepEqual(await session.diffStats("m1"), { insertions: 3, deletions: 2, filesChanged: 3, uncounted: 1 });
    equal(await session.diffStats("m2"), undefined);
  });

  test("the history survives a restart", async () => {
    const top = place("restart");
    const first = makeBed(top);
    await first.turn("m1");
    await first.write("a", "1");
    const second = makeBed(top);
    deepEqual(second.session.snapshots(), first.session.snapshots());
    deepEqual(
      second.history.sessions().map(({ id, turns, dialect }) => [id, turns, dialect]),
      [["one", 1, "claude"]],
    );
    await second.rewind("m1", { id: "r" });
    deepEqual(second.tree(), {});
  });

  test("sessions with any name are distinguished", async () => {
    const names = ["A", "a", "../../x", "con", "é", "s".repeat(300), "sessions/x", ""];
    const top = place("names");
    for (const sessionId of names) {
      const one = makeBed(top, { sessionId });
      await one.turn("m1");
      await one.write(`file-${names.indexOf(sessionId)}`, sessionId);
    }
    const { history } = makeBed(top);
    deepEqual(
      history
        .sessions()
        .map(({ id }) => id)
        .toSorted(),
      names.toSorted(),
    );
    equal(fs.readdirSync(`${top}/state`).length, 1);
  });
});

describe("going back", () => {
  test("creations, deletions, renames and modes are undone, and the rewind can be rewound", async () => {
    const { at, turn, write, remove, move, rewind, tree } = bed();
    fs.writeFileSync(at("script"), "#!/bin/sh\n");
    fs.chmodSync(at("script"), 0o755);
    fs.writeFileSync(at("gone"), "gone");
    fs.writeFileSync(at("edited"), "before");
    const before = tree();
    await turn("m1");
    await write("edited", "after");
    await write("created", "new");
    await remove("gone");
    await turn("m2");
    await move("script", "moved");
    await write("edited", "after that");
    const after = tree();
    const steps = await rewind("m1", { id: "r1" });
    deepEqual(tree(), before);
    deepEqual(Object.fromEntries(Object.entries(steps).map(([name, { does }]) => [name, does])), {
      edited: "restore",
      created: "delete",
      gone: "create",
      moved: "delete",
      script: "create",
    });
    await rewind("r1", { id: "r2" });
    deepEqual(tree(), after);
  });

  test("a later change by another program is a conflict with three sides, and stays unless forced", async () => {
    const { at, turn, write, rewind, text, tree } = bed();
    fs.writeFileSync(at("a"), "base");
    fs.writeFileSync(at("b"), "b");
    await turn("m1");
    await write("a", "ours");
    await write("b", "bb");
    fs.writeFileSync(at("a"), "theirs");
    const { a } = await rewind("m1", { id: "r1" });
    ok(a?.does === "conflict" && a.base.kind === "file" && a.ours.kind === "file");
    deepEqual([a.why, await text(a.base.content), await text(a.ours.content)], ["changed since", "base", "ours"]);
    deepEqual([tree()["a"], tree()["b"]], ["644 theirs", "644 b"]);
    await rewind("m1", { id: "r2", force: true });
    equal(tree()["a"], "644 base");
    await rewind("r2", { id: "r3" });
    equal(tree()["a"], "644 theirs");
  });

  test("a change by another program between two of the session's is a conflict as well", async () => {
    const { at, turn, write, rewind, tree } = bed();
    fs.writeFileSync(at("a"), "1");
    await turn("m1");
    await write("a", "2");
    fs.writeFileSync(at("a"), "2, and a stranger's line");
    await turn("m2");
    await write("a", "3, and a stranger's line");
    const { a } = await rewind("m1", { id: "r1" });
    ok(a?.does === "conflict");
    equal(a.why, "changed in between");
    await rewind("m2", { id: "r2" });
    equal(tree()["a"], "644 2, and a stranger's line");
  });

  test("a file that is gone, a link, a folder", async () => {
    const { at, turn, write, plan } = bed();
    for (const name of ["gone", "link", "folder"]) fs.writeFileSync(at(name), "1");
    await turn("m1");
    for (const name of ["gone", "link", "folder"]) await write(name, "2");
    for (const name of ["gone", "link", "folder"]) fs.unlinkSync(at(name));
    fs.symlinkSync("nowhere-else", at("link"));
    fs.writeFileSync(at("nowhere-else"), "");
    fs.mkdirSync(at("folder"));
    const planned = await plan("m1");
    ok(planned.found === "turn");
    deepEqual(
      planned.files.map(({ relative, step }) => [relative, step.does, "why" in step && step.why]),
      [
        ["gone", "conflict", "changed since"],
        ["link", "unavailable", "link"],
        ["folder", "unavailable", "folder"],
      ],
    );
  });

  test("a damaged or missing content fails by name, the others go on", async () => {
    const { at, store, turn, write, rewind, tree, history } = bed();
    for (const name of ["a", "b", "c"]) fs.writeFileSync(at(name), `old ${name}`);
    await turn("m1");
    for (const name of ["a", "b", "c"]) await write(name, `new ${name}`);
    await history.gc({ graceMs: 0 });
    for (const file of blobFiles(store)) {
      const text = fs.readFileSync(file, "utf8");
      if (text === "old a") fs.writeFileSync(file, "old z");
      if (text === "old b") fs.unlinkSync(file);
    }
    const { a, b, c } = await rewind("m1", { id: "r" });
    deepEqual(
      [a, b, c?.does],
      [{ does: "unavailable", why: "damaged" }, { does: "unavailable", why: "pruned" }, "restore"],
    );
    deepEqual(tree(), { a: "644 new a", b: "644 new b", c: "644 old c" });
  });

  test("a damaged content is replaced when a new process stores the same content", async () => {
    const top = place("healed");
    const first = makeBed(top);
    await first.turn("m1");
    await first.write("a", "precious");
    await first.history.gc({ graceMs: 0 });
    for (const file of blobFiles(first.store)) fs.writeFileSync(file, "");
    const second = makeBed(top);
    await second.turn("m2");
    await second.write("a", "other");
    deepEqual((await second.history.verify()).faults, []);
  });

  test("a change that was recorded and not made is no change", async () => {
    const { session, turn, write, plan } = bed();
    await turn("m1");
    session.undone(
      await session.keep({
        messageId: "m1",
        path: "/x",
        relative: "x",
        tool: "Write",
        before: "absent",
        after: "absent",
      }),
    );
    await write("a", "1");
    const planned = await plan("m1");
    ok(planned.found === "turn");
    deepEqual(
      planned.files.map(({ relative }) => relative),
      ["a"],
    );
  });

  test("a journal compacted in the middle of a change still has that change", async () => {
    const { session, turn, write, plan } = bed();
    await turn("m1");
    for (const text of ["1", "2", "3"]) await write("a", text);
    const shared = { messageId: "m1", path: "/x", relative: "x", tool: "Write" };
    const kept = await session.keep({ ...shared, before: "absent", after: { bytes: Buffer.from("x") } });
    await session.tidy();
    session.undone(kept);
    const planned = await plan("m1");
    ok(planned.found === "turn");
    deepEqual(
      planned.files.map(({ relative }) => relative),
      ["a"],
    );
  });

  test("unknown and pruned turns are distinguished", async () => {
    const { turn, write, plan } = bed({ snapshotsMax: 3 });
    for (let n = 1; n <= 5; n += 1) {
      await turn(`m${n}`);
      await write("a", `${n}`);
    }
    deepEqual(
      [(await plan("m1")).found, (await plan("m9")).found, (await plan("m3")).found],
      ["pruned", "unknown", "turn"],
    );
  });

  test("undo and redo alternate, and a new change ends redo", async () => {
    const { session, turn, write, rewind, tree } = bed();
    for (const n of ["1", "2", "3"]) {
      await turn(`m${n}`);
      await write("a", n);
    }
    let count = 0;
    const go = async (kind: "undo" | "redo"): Promise<string | undefined> => {
      const to = session.undoTargets()[kind][0];
      if (to === undefined) return "none";
      await rewind(to, { id: `${kind}-${(count += 1)}`, kind });
      return tree()["a"]?.slice(4);
    };
    deepEqual(
      [await go("undo"), await go("undo"), await go("redo"), await go("redo"), await go("redo")],
      ["2", "1", "2", "3", "none"],
    );
    deepEqual([await go("undo"), await go("undo"), await go("undo"), await go("undo")], ["2", "1", undefined, "none"]);
    deepEqual([await go("redo"), await go("redo")], ["1", "2"]);
    await turn("m4");
    await write("a", "4");
    deepEqual([await go("redo"), await go("undo"), await go("undo")], ["none", "2", "1"]);
  });
});
