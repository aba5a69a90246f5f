/** The store is kept within its limits without being asked: when that is due, and that it fails nobody. */

import { deepEqual, equal, ok } from "node:assert/strict";
import * as fs from "node:fs";
import { describe, onTestFinished, test, vi } from "vitest";
import { createUpkeep } from "../../src/history/history.ts";
import { workspace } from "../support/workspace.ts";
import { makeBed } from "./bed.ts";
import { openWorkspace } from "./desk.ts";

const { path: place } = workspace({});
let tops = 0;
const top = (): string => place(`top-${(tops += 1)}`);
const [hourMs, dayMs] = [3_600_000, 86_400_000];

const ago = (path: string, ms: number): void => {
  const seconds = (Date.now() - ms) / 1_000;
  fs.utimesSync(path, seconds, seconds);
};

async function kept(folder = top()) {
  const bed = makeBed(folder);
  await bed.turn("m1");
  await bed.write("a", "1");
  return bed;
}

describe("a collection is due", () => {
  test("not in a store that does not exist, and none is created", () => {
    const { history, store } = makeBed(top());
    equal(history.isDue(), false);
    ok(!fs.existsSync(store));
  });

  test("a day after the first question", async () => {
    const { history, store } = await kept();
    equal(history.isDue(), false);
    ago(`${store}/collected`, dayMs - 60_000);
    equal(history.isDue(), false);
    ago(`${store}/collected`, dayMs + 60_000);
    equal(history.isDue(), true);
    ok((await history.gc({ ifDue: true })) !== "not due");
    deepEqual([history.isDue(), await history.gc({ ifDue: true })], [false, "not due"]);
  });

  test("not while another process collects, but again when that was killed", async () => {
    const { history, store } = await kept();
    await history.gc();
    ago(`${store}/collected`, 2 * dayMs);
    fs.writeFileSync(`${store}/collecting`, "");
    equal(history.isDue(), false);
    ago(`${store}/collecting`, 11 * 60_000);
    equal(history.isDue(), true);
    await history.gc();
    ok(!fs.existsSync(`${store}/collecting`));
  });

  test("an hour later once more, if something was moved to the trash, which usage counts", async () => {
    const { history, store } = await kept();
    await history.gc();
    fs.mkdirSync(`${store}/trash`, { recursive: true });
    fs.writeFileSync(`${store}/trash/${Date.now() - 2 * hourMs}_ab_${"ab".repeat(32)}`, "12345");
    equal((await history.usage()).asideBytes, 5);
    equal(history.isDue(), false);
    ago(`${store}/collected`, hourMs + 60_000);
    equal(history.isDue(), true);
    await history.gc({ ifDue: true });
    deepEqual([(await history.usage()).asideBytes, fs.readdirSync(`${store}/trash`)], [0, []]);
  });

  test("not where the store cannot be used", () => {
    const bed = makeBed(top());
    fs.mkdirSync(bed.store.replace(/\/history$/u, ""), { recursive: true });
    fs.writeFileSync(bed.store, "in the way");
    equal(bed.history.isDue(), false);
  });
});

describe("upkeep", () => {
  test("runs some seconds after a change, at most once an hour, and its failure is ignored", async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    let nowMs = 0;
    let count = 0;
    const onKept = createUpkeep(
      async () => {
        count += 1;
        throw new Error("the disk is full");
      },
      () => nowMs,
    );
    for (const [timeMs, expected] of [
      [0, 1],
      [hourMs - 1, 1],
      [hourMs, 2],
    ] as const) {
      nowMs = timeMs;
      onKept();
      onKept();
      await vi.advanceTimersByTimeAsync(60_000);
      equal(count, expected);
    }
  });

  test("of the library removes old sessions, some time after a change", async () => {
    const folder = top();
    const old = openWorkspace(folder, { id: "old" });
    await old.write("old.txt", "old\n");
    const store = `${old.stateDir}/history`;
    await (await old.filehand.history())?.gc();
    ago(`${store}/sessions/s-old/log`, 40 * dayMs);
    ago(`${store}/collected`, 2 * dayMs);
    const timers = vi.spyOn(globalThis, "setTimeout");
    try {
      await openWorkspace(folder, { id: "new" }).write("new.txt", "new\n");
      const later = timers.mock.calls.filter(([, delayMs]) => delayMs === 5_000);
      equal(later.length, 1);
      deepEqual(fs.readdirSync(`${store}/sessions`).toSorted(), ["s-new", "s-old"]);
      later[0]?.[0]();
    } finally {
      timers.mockRestore();
    }
    await vi.waitUntil(() => !fs.existsSync(`${store}/sessions/s-old`) && !fs.existsSync(`${store}/collecting`), {
      timeout: 150_000,
    });
    deepEqual(fs.readdirSync(`${store}/sessions`), ["s-new"]);
  });
});
