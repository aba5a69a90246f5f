/** Changes that others make around a turn, found by a look before and one after, and brought back by a rewind. */

import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import * as fs from "node:fs";
import { describe, test } from "vitest";
import { onWindows, workspace } from "../support/workspace.ts";
import { bytesBelow, type DeskOptions, openWorkspace, readDuring, rewindTwice, told } from "./desk.ts";

const { path: place } = workspace({});
let desks = 0;
const desk = (options: DeskOptions = {}) => openWorkspace(place(`desk-${(desks += 1)}`), options);

const nothing = { observed: 0, notCovered: [], complete: true };

/** A desk with two files, looked at, in the message m1. */
async function looked(options: DeskOptions = {}) {
  const d = desk(options);
  d.stranger("a.txt", "a0\n");
  d.stranger("b.txt", "b0\n");
  await d.session.checkpoint("m1");
  deepEqual(await d.session.observe(), nothing);
  return d;
}

describe("observe", () => {
  test.skipIf(onWindows)(
    "finds what others edited, made, took away, moved and set free, and a rewind brings all back",
    async () => {
      const d = await looked();
      for (const name of ["gone.txt", "moved.txt", "mode.sh"]) d.stranger(name, `${name}\n`);
      await d.session.observe();
      const before = d.tree();
      await d.session.checkpoint("m2");
      d.stranger("a.txt", "a1\n");
      fs.unlinkSync(d.at("gone.txt"));
      fs.mkdirSync(d.at("deep/er"), { recursive: true });
      fs.renameSync(d.at("moved.txt"), d.at("deep/er/moved.txt"));
      fs.chmodSync(d.at("mode.sh"), 0o755);
      deepEqual(await d.session.observe(), { ...nothing, observed: 7, turn: "m2" });
      deepEqual(await d.session.observe(), nothing);
      const { dry, real } = await rewindTwice(d, "m2");
      deepEqual(dry, real);
      deepEqual(real, {
        "a.txt": "restore: done",
        "gone.txt": "create: done",
        "moved.txt": "create: done",
        "deep/er/moved.txt": "delete: done",
        "deep/er": "delete: done",
        deep: "delete: done",
        "mode.sh": "restore: done",
      });
      deepEqual(d.tree(), before);
      deepEqual(await d.session.observe(), nothing, "a rewind is ours");
    },
  );

  test("changes by the session's own tools are not found again", async () => {
    const d = await looked();
    await d.edit("a.txt", "a0", "a1");
    await d.write("new.txt", "new\n");
    await d.patch("*** Update File: b.txt", "*** Move to: c.txt", "@@", "-b0", "+b1");
    deepEqual(await d.session.observe(), nothing);
  });

  test("a change by another program after the session's own is distinguished from it", async () => {
    const d = await looked();
    await d.edit("a.txt", "a0", "a1");
    await d.session.checkpoint("m2");
    d.stranger("a.txt", "a2\n");
    deepEqual(await d.session.observe(), { ...nothing, observed: 1, turn: "m2" });
    await d.session.rewind("m2");
    equal(d.read("a.txt"), "a1\n");
    await d.session.rewind("m1");
    equal(d.read("a.txt"), "a0\n");
  });

  test("the same size within a moment is noticed", async () => {
    const d = await looked();
    const { atime, mtime } = fs.statSync(d.at("a.txt"));
    d.stranger("a.txt", "x0\n");
    fs.utimesSync(d.at("a.txt"), atime, mtime);
    equal((await d.session.observe()).observed, 1);
  });

  test("a file that was only touched is not changed", async () => {
    const d = await looked();
    fs.utimesSync(d.at("a.txt"), 1, 1);
    deepEqual(await d.session.observe(), nothing);
  });

  test("belongs to the current message, and to a turn of its own without one", async () => {
    const d = desk();
    await d.session.observe();
    d.stranger("a.txt", "one\n");
    await d.session.observe();
    await d.session.undo();
    deepEqual(d.tree(), {});
    await d.session.redo();
    equal(d.read("a.txt"), "one\n");
  });

  test("ignored files and dependencies are left out, as git has it; a new one is named", async () => {
    const d = await looked();
    d.stranger(".gitignore", "*.log\n/build/\n!keep.log\n");
    for (const folder of ["build", "node_modules/x", ".cache", "src"]) fs.mkdirSync(d.at(folder), { recursive: true });
    d.stranger("src/.gitignore", "!own.log\n");
    const first = await d.session.observe();
    equal(first.observed, 4);
    deepEqual(first.notCovered.toSorted(), [d.at("build"), d.at("node_modules")]);
    for (const name of ["x.log", "src/x.log"]) d.stranger(name, "x\n");
    deepEqual(await d.session.observe(), nothing);
    for (const name of ["keep.log", "src/own.log", ".hidden", ".cache/x", "src/x"]) d.stranger(name, "x\n");
    deepEqual(await d.session.observe(), { ...nothing, observed: 5, turn: "m1" });
  });

  test("a file that is no longer ignored does not count as new, and is covered from then on", async () => {
    const d = await looked();
    d.stranger(".gitignore", "*.log\n");
    d.stranger("x.log", "precious\n");
    await d.session.observe();
    d.stranger(".gitignore", "");
    await d.session.observe();
    await d.session.observe();
    await d.session.checkpoint("m2");
    d.stranger("x.log", "other\n");
    equal((await d.session.observe()).observed, 1);
    await d.session.rewind("m1", { force: true });
    equal(d.read("x.log"), "precious\n");
  });

  test.skipIf(onWindows)("a file whose place a link took comes back", async () => {
    const d = await looked();
    const before = d.tree();
    fs.renameSync(d.at("a.txt"), d.at("c.txt"));
    fs.symlinkSync("c.txt", d.at("a.txt"));
    const { observed, notCovered } = await d.session.observe();
    deepEqual([observed, notCovered], [3, []]);
    deepEqual(await d.session.observe(), nothing);
    await d.session.rewind("m1");
    deepEqual(d.tree(), before);
  });

  test("a file that becomes ignored is still compared", async () => {
    const d = await looked();
    d.stranger(".gitignore", "a.txt\n");
    await d.session.observe();
    deepEqual(await d.session.observe(), nothing);
    d.stranger("a.txt", "a1\n");
    deepEqual(await d.session.observe(), { ...nothing, observed: 1, turn: "m1" });
  });

  test("secrets and large files are named, and secrets are nowhere in the store", async () => {
    const d = desk();
    d.stranger(".env", "hunter2=1\n");
    d.stranger("big.txt", "x".repeat(11_000_000));
    await d.session.observe();
    deepEqual(await d.session.observe(), nothing);
    d.stranger(".env", "hunter2=2\n");
    d.stranger("big.txt", "y".repeat(11_000_000));
    const { observed, notCovered } = await d.session.observe();
    deepEqual([observed, notCovered.toSorted()], [0, [d.at(".env"), d.at("big.txt")]]);
    ok(!bytesBelow(d.stateDir).includes("hunter2"));
  });

  test("a large new file can be removed by undo", async () => {
    const d = await looked();
    d.stranger("big.txt", "x".repeat(11_000_000));
    deepEqual(await d.session.observe(), { ...nothing, observed: 1, turn: "m1" });
    deepEqual(told(await d.session.rewind("m1")), { "big.txt": "delete: done" });
  });

  test("without a history it says so", async () => {
    await rejects(desk({ history: false }).session.observe(), { code: "NO_TURN", message: /no history is kept/ });
  });

  test("of ten thousand files only the one that changed is read", async () => {
    const d = desk();
    for (let folder = 0; folder < 100; folder += 1) {
      fs.mkdirSync(d.at(`f${folder}`));
      for (let file = 0; file < 100; file += 1) {
        d.stranger(`f${folder}/${file}.txt`, `${folder} ${file}\n`);
        fs.utimesSync(d.at(`f${folder}/${file}.txt`), 1_000, 1_000);
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 1_100)); // until their times tell them apart
    equal((await readDuring(d.at("."), () => d.session.observe())).size, 10_000);
    d.stranger("f50/50.txt", "changed\n");
    let observed = 0;
    const read = await readDuring(d.at("."), async () => ({ observed } = await d.session.observe()));
    deepEqual([observed, [...read]], [1, [d.at("f50/50.txt")]]);
  });
});
