import { expect, test } from "vitest";
import { withParts } from "./load.ts";

test("parts of one hunk on two pages become one hunk again", () => {
  const first = { oldStart: 1, oldLines: 2, newStart: 1, newLines: 1, lines: ["-a", "-b", "+c"], continued: false };
  const second = { oldStart: 3, oldLines: 1, newStart: 2, newLines: 2, lines: [" d", "+e"], continued: true };
  const third = { oldStart: 90, oldLines: 0, newStart: 91, newLines: 1, lines: ["+f"], continued: false };
  const hunks = withParts(withParts([], [first]), [second, third]);
  expect(
    hunks.map(({ oldStart, oldLines, newLines, lines }) => [oldStart, oldLines, newLines, lines.join("")]),
  ).toEqual([
    [1, 3, 3, "-a-b+c d+e"],
    [90, 0, 1, "+f"],
  ]);
});

test("a side that begins on the second page has the numbers of that page", () => {
  const first = { oldStart: 0, oldLines: 0, newStart: 1, newLines: 2, lines: ["+a", "+b"], continued: false };
  const second = { oldStart: 1, oldLines: 1, newStart: 3, newLines: 1, lines: [" c"], continued: true };
  expect(withParts([first], [second])).toMatchObject([{ oldStart: 1, oldLines: 1, newStart: 1, newLines: 3 }]);
});
