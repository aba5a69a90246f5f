/** What a session changed is brought back through the library: turns, rewinds, conflicts. */

import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import * as fs from "node:fs";
import { describe, test } from "vitest";
import { onWindows, workspace } from "../support/workspace.ts";
import { type DeskOptions, openWorkspace, rewindTwice, told } from "./desk.ts";

const { path: place } = workspace({});
let desks = 0;
const desk = (options: DeskOptions = {}) => openWorkspace(place(`desk-${(desks += 1)}`), options);

const turnsOf = async ({ session }: ReturnType<typeof desk>) =>
  ((await session.history())?.snapshots() ?? []).map(({ messageId }) => messageId);

describe("turns", () => {
  test("a checkpoint groups the calls after it", async () => {
    const d = desk();
    await d.session.checkpoint("m1");
    await d.write("a.txt", "one\n");
    await d.edit("a.txt", "one", "two");
    await d.session.checkpoint("m2");
    await d.edit("a.txt", "two", "three");
    deepEqual(await turnsOf(d), ["m1", "m2"]);
    await d.session.rewind("m2");
    equal(d.read("a.txt"), "two\n");
    await d.session.rewind("m1");
    deepEqual(d.tree(), {});
  });

  test("no turn may have the name of the start, which would be ambiguous", async () => {
    const d = desk();
    d.stranger("a.txt", "a0\n");
    await d.session.checkpoint("m1");
    await rejects(d.session.checkpoint("start"), {
      code: "INVALID_PARAM",
      message: 'Cannot begin a turn "start": that is the name of what was before the first one, use another id',
    });
    await d.edit("a.txt", "a0", "a1");
    deepEqual(await turnsOf(d), ["m1"]);
  });

  test("without one every call is a turn of its own", async () => {
    const d = desk();
    await d.write("a.txt", "one\n");
    await d.edit("a.txt", "one", "two");
    equal((await turnsOf(d)).length, 2);
    await d.session.undo();
    equal(d.read("a.txt"), "one\n");
    await d.session.undo();
    deepEqual(d.tree(), {});
  });

  test("all files of one patch are one turn, also without a checkpoint", async () => {
    const d = desk();
    await d.patch("*** Add File: a.txt", "+one", "*** Add File: b.txt", "+two");
    equal((await turnsOf(d)).length, 1);
  });

  test("a call that changes nothing leaves no turn", async () => {
    const d = desk();
    d.stranger("a.txt", "one\n");
    await rejects(d.edit("a.txt", "missing", "two"));
    await d.session.call("read", { filePath: "a.txt" });
    await d.session.call("write", { filePath: "a.txt", content: "two\n" }, { dryRun: true });
    deepEqual(await turnsOf(d), []);
  });

  test("a snapshot names its files and how many lines changed", async () => {
    const d = desk();
    d.stranger("a.txt", "one\ntwo\n");
    await d.session.checkpoint("m1");
    await d.edit("a.txt", "two", "2\n3");
    const history = await d.session.history();
    const [snapshot] = history?.snapshots() ?? [];
    deepEqual(Object.keys(snapshot?.trackedFileBackups ?? {}), [fs.realpathSync(d.at("a.txt"))]);
    deepEqual(await history?.diffStats("m1"), { insertions: 2, deletions: 1, filesChanged: 1, uncounted: 0 });
  });
});

describe("rewind", () => {
  test("brings back edits, creations, deletions, moves and modes, and touches nothing else", async () => {
    const d = desk();
    d.stranger("edited.txt", "one\n");
    d.stranger("deleted.txt", "gone\n");
    d.stranger("moved.sh", "#!/bin/sh\necho one\n");
    d.stranger("other.txt", "not ours\n");
    fs.chmodSync(d.at("moved.sh"), 0o755);
    fs.chmodSync(d.at("deleted.txt"), 0o640);
    const before = d.tree();
    const { mtimeNs } = fs.statSync(d.at("other.txt"), { bigint: true });
    await d.session.checkpoint("m1");
    await d.patch(
      "*** Update File: edited.txt",
      "@@",
      "-one",
      "+two",
      "*** Delete File: deleted.txt",
      "*** Update File: moved.sh",
      "*** Move to: bin/run.sh",
      "@@",
      "-echo one",
      "+echo two",
      "*** Add File: deep/new/file.txt",
      "+new",
    );
    if (!onWindows) match(d.tree()["bin/run.sh"] ?? "", /^755 /);
    const { dry, real } = await rewindTwice(d, "m1");
    deepEqual(dry, real);
    deepEqual(real, {
      "edited.txt": "restore: done",
      "deleted.txt": "create: done",
      "moved.sh": "create: done",
      "bin/run.sh": "delete: done",
      "deep/new/file.txt": "delete: done",
    });
    deepEqual(d.tree(), before);
    equal(fs.statSync(d.at("other.txt"), { bigint: true }).mtimeNs, mtimeNs);
  });

  test.skipIf(onWindows)("the mode of a file stays, through the edit and back", async () => {
    const d = desk();
    d.stranger("run.sh", "one\n");
    fs.chmodSync(d.at("run.sh"), 0o755);
    await d.edit("run.sh", "one", "two");
    deepEqual(d.tree(), { "run.sh": "755 two\n" });
    await d.session.undo();
    deepEqual(d.tree(), { "run.sh": "755 one\n" });
  });

  test("brings back a notebook to the byte", async () => {
    const d = desk();
    const cell = { cell_type: "code", id: "c1", source: ["1 + 1"], metadata: {}, outputs: [], execution_count: 1 };
    const text = JSON.stringify({ cells: [cell], metadata: {}, nbformat: 4, nbformat_minor: 5 });
    d.stranger("n.ipynb", text);
    const session = d.filehand.session({ dialect: "claude", id: "notes" });
    const input = { notebook_path: d.at("n.ipynb"), cell_id: "c1", new_source: "2 + 2" };
    const { error } = await session.call("NotebookEdit", input);
    equal(error, undefined);
    ok(d.read("n.ipynb").includes("2 + 2"));
    await session.undo();
    equal(d.read("n.ipynb"), text);
  });

  test("only the files that are asked for", async () => {
    const d = desk();
    await d.session.checkpoint("m1");
    await d.write("a.txt", "one\n");
    await d.write("b.txt", "two\n");
    deepEqual(told(await d.session.rewind("m1", { files: ["a.txt"] })), { "a.txt": "delete: done" });
    deepEqual(Object.keys(d.tree()), ["b.txt"]);
  });

  test("a dry run changes nothing and leaves no turn", async () => {
    const d = desk();
    await d.session.checkpoint("m1");
    await d.write("a.txt", "one\n");
    const outcome = await d.session.rewind("m1", { dryRun: true });
    deepEqual([outcome.dryRun, outcome.turn, told(outcome)], [true, undefined, { "a.txt": "delete: planned" }]);
    deepEqual([d.read("a.txt"), await turnsOf(d)], ["one\n", ["m1"]]);
  });

  test("after it the file counts as not read", async () => {
    const d = desk({ readFirst: true });
    d.stranger("a.txt", "one\n");
    await d.session.call("read", { filePath: "a.txt" });
    await d.edit("a.txt", "one", "two");
    await d.session.undo();
    await rejects(d.edit("a.txt", "one", "three"), /NOT_READ|STALE|must read/i);
  });

  test.skipIf(onWindows)("a file that was made read-only since is refused, as the dry run says", async () => {
    const d = desk();
    await d.session.checkpoint("m1");
    await d.write("a.txt", "one\n");
    await d.write("b.txt", "two\n");
    fs.chmodSync(d.at("a.txt"), 0o444);
    const { dry, real } = await rewindTwice(d, "m1");
    deepEqual(dry, real);
    deepEqual(real, { "a.txt": "delete: ACCESS_DENIED", "b.txt": "delete: done" });
  });

  test("goes through the rules as every change does", async () => {
    const d = desk();
    await d.session.checkpoint("m1");
    await d.write("locked/a.txt", "one\n");
    await d.write("b.txt", "two\n");
    const again = openWorkspace(d.top, { permissions: { deny: ["Edit(locked/**)"] } });
    const { dry, real } = await rewindTwice(again, "m1");
    deepEqual(dry, real);
    deepEqual(real, {
      "locked/a.txt": "delete: ACCESS_DENIED",
      "b.txt": "delete: done",
    });
    equal(d.read("locked/a.txt"), "one\n");
  });
});

describe("another program", () => {
  const twoFiles = async (options: DeskOptions = {}) => {
    const d = desk(options);
    d.stranger("a.txt", "a0\n");
    d.stranger("b.txt", "b0\n");
    await d.session.checkpoint("m1");
    await d.edit("a.txt", "a0", "a1");
    await d.edit("b.txt", "b0", "b1");
    return d;
  };

  test("changed a file since: that one is left, the others are restored", async () => {
    const d = await twoFiles();
    d.stranger("a.txt", "theirs\n");
    const { dry, real } = await rewindTwice(d, "m1");
    deepEqual(dry, real);
    deepEqual(real, { "a.txt": "conflict (changed since): left", "b.txt": "restore: done" });
    deepEqual([d.read("a.txt"), d.read("b.txt")], ["theirs\n", "b0\n"]);
  });

  test("force overwrites it, and even that can be undone", async () => {
    const d = await twoFiles();
    d.stranger("a.txt", "theirs\n");
    await d.session.rewind("m1", { force: true });
    deepEqual([d.read("a.txt"), d.read("b.txt")], ["a0\n", "b0\n"]);
    await d.session.redo();
    deepEqual([d.read("a.txt"), d.read("b.txt")], ["theirs\n", "b1\n"]);
  });

  test("a conflict has all three versions", async () => {
    const d = await twoFiles();
    d.stranger("a.txt", "theirs\n");
    const { files } = await d.session.rewind("m1", { dryRun: true, files: ["a.txt"] });
    const [step] = files.map((file) => file.step);
    ok(step?.does === "conflict" && step.base.kind === "file" && step.ours.kind === "file");
    equal(new Set([step.base.content, step.ours.content, step.theirs]).size, 3);
  });

  test("deleted a file: that is a conflict too", async () => {
    const d = await twoFiles();
    fs.unlinkSync(d.at("a.txt"));
    deepEqual(told(await d.session.rewind("m1")), {
      "a.txt": "conflict (changed since): left",
      "b.txt": "restore: done",
    });
    ok(!fs.existsSync(d.at("a.txt")));
  });

  test("restored a file: a file that is as it was before needs nothing", async () => {
    const d = await twoFiles();
    d.stranger("a.txt", "a0\n");
    deepEqual(told(await d.session.rewind("m1")), { "a.txt": "nothing: left", "b.txt": "restore: done" });
  });

  test("another session's change counts like another program's", async () => {
    const d = await twoFiles();
    const other = openWorkspace(d.top, { id: "two" });
    await other.edit("a.txt", "a1", "a2");
    deepEqual(told(await d.session.rewind("m1")), {
      "a.txt": "conflict (changed since): left",
      "b.txt": "restore: done",
    });
    await other.session.undo();
    equal(d.read("a.txt"), "a1\n");
    deepEqual(((await d.filehand.history())?.sessions() ?? []).map(({ id }) => id).toSorted(), ["one", "two"]);
  });
});

test("whether a file may be shown is decided without reading it, even if it is deleted", async () => {
  const d = openWorkspace(place("may be shown"), { permissions: { deny: ["Read(private-*)"] } });
  d.stranger("open.txt", "1\n");
  d.stranger("private-a.txt", "1\n");
  const refused = await Promise.all(
    ["open.txt", "gone.txt", "private-a.txt", "private-gone.txt", "../outside.txt"].map(async (name) => {
      const words = await d.session.readRefusal(name);
      return words === undefined ? "no" : (/Read\(private|outside/u.exec(words)?.[0] ?? words);
    }),
  );
  deepEqual(refused, ["no", "no", "Read(private", "Read(private", "outside"]);
});
