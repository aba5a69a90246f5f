import { expect, test } from "vitest";
import type { CallEvent } from "../../contract/event.ts";
import { percentiles, summed } from "./usage.ts";

for (const [values, expected] of [
  [[], { p50: 0, p90: 0, p99: 0, max: 0 }],
  [[5], { p50: 5, p90: 5, p99: 5, max: 5 }],
  [[4, 1, 3, 2], { p50: 2, p90: 4, p99: 4, max: 4 }],
  [Array.from({ length: 100 }, (_, index) => 100 - index), { p50: 50, p90: 90, p99: 99, max: 100 }],
] as const) {
  test(`percentiles of ${values.length} values`, () => expect(percentiles(values)).toEqual(expected));
}

const call = (more: Partial<CallEvent>): CallEvent =>
  ({
    tool: "Read",
    verb: "read",
    path: "a",
    outcome: "ok",
    reason: "text",
    startedMs: 0,
    elapsedMs: 1,
    tokensGiven: 10,
    tokensSaved: 0,
    changes: [],
    ...more,
  }) as CallEvent; // what else a call has is not summed

test("no calls come to nothing", () => {
  expect(summed([], 1_000, 2)).toMatchObject({
    fromMs: 1_000,
    all: { calls: 0 },
    tools: [],
    files: [],
    failedEdits: [],
  });
});

test("calls are summed by tool, file, time and reason", () => {
  const edit = { tool: "Edit", verb: "edit", outcome: "NO_MATCH", reason: null, tokensGiven: 1 } as const;
  const sums = summed(
    [
      call({ startedMs: 0 }),
      call({ startedMs: 99, path: "b", tokensGiven: 50 }),
      call({ startedMs: 100, reason: "unchanged", tokensSaved: 9, tokensGiven: 1 }),
      call({ ...edit, startedMs: 50 }),
      call({ ...edit, startedMs: 51 }),
      call({ ...edit, outcome: "STALE", reason: "changed" }),
      call({ tool: "__proto__", verb: null, path: null, outcome: "UNKNOWN_TOOL", reason: null }),
    ],
    100,
    2,
  );
  expect(sums.all).toEqual({ calls: 7, failures: 4, tokensGiven: 74, tokensSaved: 9 });
  expect(sums.tools.map(({ tool, calls, failures }) => [tool, calls, failures])).toEqual([
    ["Read", 3, 0],
    ["Edit", 3, 3],
    ["__proto__", 1, 1],
  ]);
  expect(sums.files.map(({ path, tokensGiven }) => [path, tokensGiven])).toEqual([
    ["b", 50],
    ["a", 14],
  ]);
  expect(sums.time.map(({ fromMs, calls }) => [fromMs, calls])).toEqual([
    [0, 3],
    [50, 4],
  ]);
  expect(sums.givenByTool).toEqual({
    layers: [
      { name: "Read", values: [10, 51] },
      { name: "__proto__", values: [10, 0] },
      { name: "Edit", values: [1, 2] },
    ],
    others: null,
  });
  expect(sums.givenByFile.layers).toEqual([
    { name: "b", values: [0, 50] },
    { name: "a", values: [11, 3] },
  ]);
  expect(sums.savedByFile).toEqual({ layers: [{ name: "a", values: [0, 9] }], others: null });
  expect(sums.failedByReason.layers).toEqual([
    { name: "NO_MATCH", values: [0, 2] },
    { name: "STALE: changed", values: [1, 0] },
  ]);
  expect(sums.failedEdits).toEqual([
    { tool: "Edit", code: "NO_MATCH", reason: null, count: 2 },
    { tool: "Edit", code: "STALE", reason: "changed", count: 1 },
  ]);
  expect(sums.failedOthers).toMatchObject([{ code: "UNKNOWN_TOOL", count: 1 }]);
});

test("10,000 calls of 10,000 tools, files and reasons are no more in the answer than the limits say", () => {
  const calls = Array.from({ length: 10_000 }, (_, index) =>
    call({
      tool: `tool ${index}`,
      verb: "edit",
      path: `${"folder/".repeat(20)}file ${index}`,
      outcome: "NO_MATCH",
      // What no dialect has: reasons are a short list.
      reason: `reason ${index}`,
      startedMs: index,
      tokensGiven: index + 1,
      tokensSaved: 10_000 - index,
    }),
  );
  const { givenByTool, givenByFile, savedByFile, failedByReason, time, files, filesTotal, all } = summed(
    calls,
    10_000,
    500,
  );
  for (const series of [givenByTool, givenByFile, savedByFile, failedByReason]) {
    expect(series.layers).toHaveLength(5);
    expect(series.others?.names).toBe(9_995);
    for (const { values } of [...series.layers, series.others ?? { values: [] }]) expect(values).toHaveLength(500);
  }
  expect(givenByFile.layers[0]?.name).toMatch(/file 9999$/);
  expect(savedByFile.layers[0]?.name).toMatch(/file 0$/);
  const sum = (values: readonly number[]): number => values.reduce((before, value) => before + value, 0);
  const given = [...givenByFile.layers, givenByFile.others ?? { values: [] }].map(({ values }) => sum(values));
  expect(sum(given)).toBe(all.tokensGiven);
  expect([time.length, files.length, filesTotal]).toEqual([500, 100, 10_000]);
});
