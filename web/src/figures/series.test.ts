import { expect, test } from "vitest";
import { seriesOf, stacked } from "./series.ts";

const part = (fromMs: number, tools: Readonly<Record<string, number>>) => ({
  fromMs,
  tools,
  calls: 1,
  failures: 0,
  tokensGiven: 0,
  tokensSaved: 3,
});

test("tools are ranked by what they gave, and a missing one gave nothing", () => {
  expect(seriesOf([part(1_000, { Read: 5, Grep: 10 }), part(2_000, { Read: 20 })])).toEqual({
    tools: ["Read", "Grep"],
    times: [1, 2],
    given: [
      [5, 20],
      [10, 0],
    ],
    saved: [3, 3],
  });
});

test("many tools become a few layers and the rest", () => {
  const { tools, given } = seriesOf([part(0, { a: 7, b: 6, c: 5, d: 4, e: 3, f: 2, g: 1 })]);
  expect(tools).toEqual(["a", "b", "c", "d", "others"]);
  expect(given.at(-1)).toEqual([6]);
});

test("layers stand on each other", () => {
  expect(
    stacked([
      [1, 2],
      [3, 0],
      [1, 1],
    ]),
  ).toEqual([
    [1, 2],
    [4, 2],
    [5, 3],
  ]);
});
