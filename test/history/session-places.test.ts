/** Files in places that other tools' undo does not reach or goes too far in: links, repositories, ignored and large ones. */

import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import * as fs from "node:fs";
import { test } from "vitest";
import { rewoundWords } from "../../src/dialects/rewind-text.ts";
import { snapshot } from "../support/snapshot.ts";
import { onWindows, workspace } from "../support/workspace.ts";
import { openWorkspace, rewindTwice, told } from "./desk.ts";

const { path: place } = workspace({});

test.skipIf(onWindows)(
  "a change through a link is recorded for the file behind it, and the link stays one",
  async () => {
    const d = openWorkspace(place("links"));
    fs.mkdirSync(d.at("real"));
    d.stranger("real/a.txt", "one\n");
    fs.symlinkSync("real/a.txt", d.at("link"));
    fs.symlinkSync("real", d.at("folder"));
    await d.session.checkpoint("m1");
    await d.edit("link", "one", "two");
    await d.write("folder/new.txt", "new\n");
    const { dry, real } = await rewindTwice(d, "m1");
    deepEqual(dry, real);
    deepEqual(real, { "real/a.txt": "restore: done", "real/new.txt": "delete: done" });
    deepEqual(
      [d.read("real/a.txt"), fs.readlinkSync(d.at("link")), fs.readlinkSync(d.at("folder"))],
      ["one\n", "real/a.txt", "real"],
    );
  },
);

test("nested repositories, ignored and large files are restored like others; .git is not touched", async () => {
  const d = openWorkspace(place("repositories"), { ask: "yes" });
  for (const folder of [".git", "inner/.git"]) {
    fs.mkdirSync(d.at(folder), { recursive: true });
    d.stranger(`${folder}/HEAD`, "ref: refs/heads/main\n");
    d.stranger(`${folder}/index`, "not a real one");
  }
  d.stranger(".gitignore", "*.log\nbuild/\n");
  fs.mkdirSync(d.at("build"));
  const large = "0123456789abcde\n".repeat(200_000);
  ok(large.length > 3_000_000);
  const names = ["a.txt", "debug.log", "build/out.txt", "inner/b.txt", "large.txt"];
  for (const name of names) d.stranger(name, name === "large.txt" ? `first\n${large}` : "first\n");
  const before = d.tree();
  const git = [snapshot(d.at(".git")), snapshot(d.at("inner/.git"))];
  const times = [".git/index", "inner/.git/index"].map((name) => fs.statSync(d.at(name), { bigint: true }).mtimeNs);
  await d.session.checkpoint("m1");
  for (const name of names) await d.edit(name, "first", "second");
  const { dry, real } = await rewindTwice(d, "m1");
  deepEqual(dry, real);
  deepEqual(real, Object.fromEntries(names.map((name) => [name, "restore: done"])));
  deepEqual(d.tree(), before);
  deepEqual([snapshot(d.at(".git")), snapshot(d.at("inner/.git"))], git);
  deepEqual(
    [".git/index", "inner/.git/index"].map((name) => fs.statSync(d.at(name), { bigint: true }).mtimeNs),
    times,
  );
});

test("a rewind reports its progress", async () => {
  const d = openWorkspace(place("progress"));
  await d.session.checkpoint("m1");
  for (let n = 0; n < 5; n += 1) await d.write(`${n}.txt`, "x\n");
  const toldBy = async (dryRun: boolean): Promise<readonly string[]> => {
    const steps: string[] = [];
    await d.session.rewind("m1", { dryRun, onProgress: (done, total) => steps.push(`${done} of ${total}`) });
    return steps;
  };
  const numbered = ["0 of 5", "1 of 5", "2 of 5", "3 of 5", "4 of 5"];
  deepEqual(await toldBy(true), numbered);
  // While they are looked at, none is done yet.
  deepEqual(await toldBy(false), [...numbered.map(() => "0 of 5"), ...numbered, "5 of 5"]);
});

test("cancelled in the middle, it says which files it restored, and that can be undone; before the first file, that nothing changed", async () => {
  const d = openWorkspace(place("cancelled"));
  await d.session.checkpoint("m1");
  for (let n = 0; n < 4; n += 1) await d.write(`${n}.txt`, "x\n");
  const before = d.tree();
  const cancelledAt = (file: number, dryRun = false) => {
    const stop = new AbortController();
    const onProgress = (done: number): void => {
      if (done === file) stop.abort();
    };
    return d.session.rewind("m1", { signal: stop.signal, onProgress, dryRun });
  };
  for (const dryRun of [false, true]) {
    await rejects(cancelledAt(0, dryRun), { code: "CANCELLED" });
    deepEqual(d.tree(), before);
  }
  equal((await d.session.history())?.snapshots().length, 1);

  const outcome = await cancelledAt(2);
  deepEqual(told(outcome), {
    "0.txt": "delete: done",
    "1.txt": "delete: done",
    "2.txt": "delete: CANCELLED",
    "3.txt": "delete: CANCELLED",
  });
  deepEqual(Object.keys(d.tree()), ["2.txt", "3.txt"]);
  deepEqual(
    outcome.files.map((file) => rewoundWords(file, () => "").did),
    ["deleted", "deleted", "left as it is", "left as it is"],
  );
  await d.session.rewind(outcome.turn ?? "");
  deepEqual(d.tree(), before);
});
