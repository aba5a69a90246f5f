/** Journals: torn, damaged, appended to by several processes, compacted meanwhile. */

import { deepEqual, equal, ok } from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import { afterAll, beforeAll, describe, test } from "vitest";
import type { HistoryRecord } from "../../src/contract/history.ts";
import { openFileStore } from "../../src/state/state.ts";
import { workspace } from "../support/workspace.ts";
import { buildChild, type Child } from "./program.ts";

const { path: place } = workspace({});
let child: Child;
beforeAll(async () => {
  child = await buildChild();
});
afterAll(() => child.remove());

const storeAt = (folder: string) => openFileStore({ folder: place(folder), lockFolder: place("locks") });
const turn = (messageId: string): HistoryRecord => ({ type: "turn", messageId, timeMs: 1 });
const messages = (store: ReturnType<typeof storeAt>, session = "s"): readonly string[] =>
  store.records(session).entries.flatMap(({ record }) => (record.type === "turn" ? [record.messageId] : []));

describe("a journal", () => {
  test("cut at any byte it has the records before, and the next one is read", () => {
    const store = storeAt("torn");
    const log = place("torn/sessions/s-s/log");
    for (const id of ["one", "two\nlines", "drei — ü"]) store.append("s", [turn(id)]);
    const whole = fs.readFileSync(log);
    const ends = [0, ...[...whole.keys()].filter((at) => at > 0 && whole[at] === 10), whole.length];
    for (let cut = 0; cut <= whole.length; cut += 1) {
      fs.writeFileSync(log, whole.subarray(0, cut));
      store.append("s", [turn("next")]);
      const complete = ends.filter((end) => end > 0 && end <= cut).length;
      deepEqual(messages(store), [...["one", "two\nlines", "drei — ü"].slice(0, complete), "next"]);
      const isTorn = !ends.includes(cut) && whole[cut - 1] !== 10;
      equal(store.records("s").faults.length, isTorn ? 1 : 0, `cut at ${cut}`);
    }
  });

  test("a changed byte costs one record and is reported with its place", () => {
    const store = storeAt("changed");
    const log = place("changed/sessions/s-s/log");
    for (const id of ["one", "two", "three"]) store.append("s", [turn(id)]);
    const whole = fs.readFileSync(log);
    for (let at = 0; at < whole.length; at += 1) {
      const damaged = Buffer.from(whole);
      damaged[at] = (damaged[at] ?? 0) ^ 1;
      fs.writeFileSync(log, damaged);
      const { entries, faults } = store.records("s");
      ok(entries.length >= (whole[at] === 10 ? 1 : 2), `byte ${at}`);
      ok(faults.length === 1 || (at === 0 && whole[at] === 10), `byte ${at}`);
    }
  });

  test("a power cut that leaves zeros at the end costs no later record", () => {
    const store = storeAt("zeros");
    store.append("s", [turn("one")]);
    fs.appendFileSync(place("zeros/sessions/s-s/log"), Buffer.alloc(300));
    store.append("s", [turn("two")]);
    equal(store.records("s").faults.length, 1);
    ok(messages(store).includes("two"));
  });

  test("an entry that was written again because its file was taken away counts once", async () => {
    const store = storeAt("twice");
    store.append("s", [turn("one")]);
    const log = place("twice/sessions/s-s/log");
    const line = fs.readFileSync(log);
    await store.rewrite("s", (entries) => entries.map(({ record }) => record));
    fs.writeFileSync(log, line);
    deepEqual(messages(store), ["one"]);
  });

  test("a compaction killed between any two of its steps changes nothing", async () => {
    const folder = place("killed");
    const make = () => openFileStore({ folder, lockFolder: place("locks") });
    make().append("s", [turn("one"), turn("two")]);
    const at = `${folder}/sessions/s-s`;
    // After the rename.
    fs.renameSync(`${at}/log`, `${at}/old-00000001-x`);
    deepEqual(messages(make()), ["one", "two"]);
    make().append("s", [turn("three")]);
    deepEqual(messages(make()), ["one", "two", "three"]);
    // After base is in place and before the old file is removed.
    const old = fs.readFileSync(`${at}/old-00000001-x`);
    await make().rewrite("s", (entries) => entries.map(({ record }) => record));
    fs.writeFileSync(`${at}/old-00000001-x`, old);
    deepEqual(messages(make()), ["one", "two", "three"]);
    await make().rewrite("s", (entries) => entries.map(({ record }) => record));
    deepEqual([messages(make()), fs.readdirSync(at)], [["one", "two", "three"], ["base"]]);
  });

  test("processes append while others compact, and nothing is lost, doubled or out of order", async () => {
    const folder = place("processes");
    const count = 400;
    const run = async (task: string, id: string): Promise<void> => {
      const process = fork(child.path, [task, folder, place("locks"), id, String(count)], { stdio: "inherit" });
      const [code] = await once(process, "exit");
      equal(code, 0);
    };
    await Promise.all([run("append", "a"), run("append", "b"), run("append", "c"), run("compact", "d")]);
    const found = messages(openFileStore({ folder }));
    equal(found.length, 3 * count);
    for (const id of ["a", "b", "c"]) {
      deepEqual(
        found.filter((message) => message.startsWith(id)),
        Array.from({ length: count }, (_, n) => `${id}${n}`),
      );
    }
    deepEqual(openFileStore({ folder }).records("s").faults, []);
  });
});
