/** The suite `growth` of the bench: what its numbers mean, that a row can fail, and the quick form of some rows, by the build. */

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, test } from "vitest";
import { bounds, faultsOf, fitOf, looseBounds, type Point, slopeOf } from "../../bench/growth/fit.js";
import { measureRow } from "../../bench/growth/measure.js";
import { inMemory } from "../../bench/growth/row.js";
import { onLinux } from "../support/workspace.ts";
import { rows } from "./growth-rows.js";

const points = (...given: readonly (readonly [size: number, ms: number, pauseMs?: number])[]): Point[] =>
  given.map(([size, ms, pauseMs = 1]) => ({ size, ms, pauseMs, peakMb: 1 }));

describe("a fit", () => {
  for (const [name, grows, given, faults] of [
    ["twice the work for twice the cost passes", "linear", points([1, 1], [10, 10], [100, 100]), []],
    ["what every call costs does not count", "linear", points([1, 5], [10, 5], [100, 6], [1_000, 15], [1e4, 105]), []],
    [
      "the square fails by its slope and its jump",
      "linear",
      points([1, 1], [10, 100], [100, 10_000]),
      ["slope 2.00 > 1.15", "the step to 10 costs 10.0x its share"],
    ],
    [
      "a square behind a flat beginning fails",
      "linear",
      points([1, 1], [10, 1], [100, 1.5], [1_000, 100], [10_000, 10_000], [100_000, 1_000_000]),
      ["slope 2.00 > 1.15", "the step to 10,000 costs 10.0x its share"],
    ],
    ["growth of what should not grow fails", "constant", points([1, 1], [10, 2], [100, 4]), ["slope 0.30 > 0.15"]],
    ["a pause fails", "constant", points([1, 1], [10, 1, 51], [100, 1]), ["a pause of 51 ms"]],
    ["less than a measurable time is no jump", "constant", points([1, 0.01], [10, 0.1], [100, 0.01]), []],
  ] as const)
    test(name, () => deepEqual(faultsOf(fitOf(given, grows), grows, bounds), faults));

  test("of costs that are the cube of the size has the slope 3", () =>
    ok(Math.abs(slopeOf(points([1, 1], [2, 8], [4, 64])) - 3) < 1e-9));
});

describe.runIf(onLinux)("the harness", () => {
  const measured = (name: string) => {
    const row = rows.find((one) => one.name === name);
    if (row === undefined) throw new Error(name);
    const module = pathToFileURL(join(import.meta.dirname, "growth-rows.js")).href;
    return measureRow(row, { quick: true, bounds: looseBounds, shared: inMemory(), module, progress: () => undefined });
  };

  test("lets work pass that grows like its size", async () => {
    const { faults, points: found } = await measured("linear");
    deepEqual(faults, []);
    equal(found.length, 5);
  });

  test("finds work that grows like the square of its size", async () => {
    const { faults } = await measured("square");
    match(faults.join(), /^slope (?:1\.[6-9]|2)/);
  });

  test("finds work that holds the event loop", async () => {
    const { fit } = await measured("pauses");
    ok((fit?.pauseMs ?? 0) > 50, `a pause of ${fit?.pauseMs} ms`);
  });

  test("reports a process that ends", async () => {
    const { faults } = await measured("ends");
    match(faults.join(), /^the process of size 400 ended with 7/);
  });
});

describe.runIf(onLinux)("the build", () => {
  // Those that were once worse than linear.
  for (const row of ["glob-depth", "multiedit-failing", "patch-failing"]) {
    test(`${row} grows like its work`, () => {
      const { status, stdout, stderr } = spawnSync(
        process.execPath,
        [join(import.meta.dirname, "../../bench/run.js"), "growth", "--quick", "--row", row],
        { encoding: "utf8" },
      );
      equal(status, 0, `${stdout}\n${stderr}`);
      match(stdout, /rows pass/);
    });
  }
});
