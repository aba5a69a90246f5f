import { deepEqual, equal } from "node:assert/strict";
import { tmpdir } from "node:os";
import { test } from "vitest";
import { createDisk } from "../../disk/disk.ts";
import { isQuick, wasSearched } from "./folder.ts";

for (const [name, tookMs, entries, quick] of [
  ["a small folder that took a moment", 10, 100, true],
  ["one that took long, whatever is in there", 51, 3, false],
  ["one with many entries", 10, 1_001, false],
  ["one of which not all was seen", 10, undefined, false],
] as const) {
  test(`${name} is ${quick ? "left to one thread" : "searched by several"}`, () => {
    const disk = createDisk([tmpdir()]);
    equal(isQuick(disk, "/a"), false);
    wasSearched(disk, "/a", tookMs, entries);
    deepEqual([isQuick(disk, "/a"), isQuick(disk, "/b"), isQuick(createDisk([tmpdir()]), "/a")], [quick, false, false]);
  });
}

test("what has grown slow is searched by several again, and only the latest folders are remembered", () => {
  const disk = createDisk([tmpdir()]);
  wasSearched(disk, "/a", 1, 1);
  wasSearched(disk, "/a", 60, 1);
  equal(isQuick(disk, "/a"), false);
  for (let folder = 0; folder < 150; folder += 1) wasSearched(disk, `/${folder}`, 1, 1);
  deepEqual([isQuick(disk, "/0"), isQuick(disk, "/149")], [false, true]);
});
