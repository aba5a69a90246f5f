import { expect, test } from "vitest";
import { diffRows } from "./rows.ts";

const hunk = {
  oldStart: 10,
  oldLines: 4,
  newStart: 10,
  newLines: 5,
  lines: [" a", "-b", "-c", "+B", "+C", "+D", " e"],
};

test("a unified diff keeps the order of its hunk, with both numbers where both have the line", () => {
  const { unified, additions, deletions } = diffRows([hunk]);
  expect(
    unified.map((row) => (row.kind === "hunk" ? row.title : [row.old, row.new, row.line.sign + row.line.text])),
  ).toEqual([
    "@@ -10,4 +10,5 @@",
    [10, 10, " a"],
    [11, undefined, "-b"],
    [12, undefined, "-c"],
    [undefined, 11, "+B"],
    [undefined, 12, "+C"],
    [undefined, 13, "+D"],
    [13, 14, " e"],
  ]);
  expect([additions, deletions]).toEqual([3, 2]);
});

test("side by side, what went stands next to what came", () => {
  const { split } = diffRows([hunk]);
  expect(split.map((row) => (row.kind === "hunk" ? row.title : [row.old?.text, row.new?.text]))).toEqual([
    "@@ -10,4 +10,5 @@",
    ["a", "a"],
    ["b", "B"],
    ["c", "C"],
    [undefined, "D"],
    ["e", "e"],
  ]);
});

test("a missing line end at the end of the file belongs to its line", () => {
  const { unified } = diffRows([
    { oldStart: 1, oldLines: 1, newStart: 1, newLines: 1, lines: ["-a", "\\ No newline at end of file", "+a"] },
  ]);
  expect(unified.flatMap((row) => (row.kind === "line" ? [row.line.open] : []))).toEqual([true, false]);
});

test("a new file counts from line 1", () => {
  const { unified } = diffRows([{ oldStart: 0, oldLines: 0, newStart: 1, newLines: 2, lines: ["+a", "+b"] }]);
  expect(unified.flatMap((row) => (row.kind === "line" ? [row.new] : []))).toEqual([1, 2]);
});

test("two runs of changes do not become partners of each other", () => {
  const { unified } = diffRows([
    { oldStart: 1, oldLines: 3, newStart: 1, newLines: 3, lines: ["-a", " x", "+b", " y"] },
  ]);
  expect(unified.flatMap((row) => (row.kind === "line" ? [row.line.partner] : []))).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});
