/** Another store than that of files can stand behind the history. */

import { deepEqual, equal, ok } from "node:assert/strict";
import * as fs from "node:fs";
import { test } from "vitest";
import { workspace } from "../support/workspace.ts";
import { makeBed } from "./bed.ts";
import { memoryStore } from "./memory-store.ts";

const { path: place } = workspace({});

test("keeping, listing, pruning, collecting and going back work with a store in memory", async () => {
  const { at, history, session, store, turn, write, remove, rewind, tree } = makeBed(place("bed"), {
    store: memoryStore(),
    snapshotsMax: 3,
  });
  fs.writeFileSync(at("a"), "0");
  const before = tree();
  for (const n of [1, 2, 3, 4, 5]) {
    await turn(`m${n}`);
    await write("a", `${n}`.repeat(n));
    await write(`new-${n}`, "x");
  }
  await remove("new-1");
  deepEqual(
    session.snapshots().map(({ messageId }) => messageId),
    ["m3", "m4", "m5"],
  );
  deepEqual(await session.diffStats("m4"), { insertions: 2, deletions: 1, filesChanged: 2, uncounted: 0 });
  const contents = (await history.usage()).contents;
  const collected = await history.gc();
  ok(collected !== "not due");
  ok((await history.usage()).contents < contents, "what only pruned turns needed is gone");
  deepEqual((await history.verify()).faults, []);
  await rewind("m4", { id: "r1" });
  equal(tree()["a"], "644 333");
  await rewind("start", { id: "r2" });
  deepEqual(tree(), before);
  ok(!fs.existsSync(store));
});
