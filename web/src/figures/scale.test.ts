import { expect, test } from "vitest";
import { powersAround, shareByPower, ticksUpTo } from "./scale.ts";

for (const [max, expected] of [
  [0, [0, 1]],
  [1, [0, 0.25, 0.5, 0.75, 1]],
  [7, [0, 2, 4, 6, 8]],
  [1_000, [0, 250, 500, 750, 1_000]],
  [1_300, [0, 500, 1_000, 1_500]],
  [43_210, [0, 20_000, 40_000, 60_000]],
] as const) {
  test(`marks up to ${max}`, () => expect(ticksUpTo(max)).toEqual(expected));
}

test("what is counted has no fractions", () => {
  expect(ticksUpTo(1, true)).toEqual([0, 1]);
  expect(ticksUpTo(3, true)).toEqual([0, 1, 2, 3]);
  expect(ticksUpTo(9, true)).toEqual([0, 3, 6, 9]);
});

for (const [min, max, expected] of [
  [0.3, 0.4, [0.1, 1]],
  [1, 1, [1, 10]],
  [2, 4_500, [1, 10, 100, 1_000, 10_000]],
] as const) {
  test(`powers around ${min} to ${max}`, () => expect(powersAround(min, max)).toEqual(expected));
}

test("a share of the axis is one of the powers", () => {
  const ticks = [1, 10, 100];
  expect([0.5, 1, 10, 100, 1_000].map((value) => shareByPower(value, ticks))).toEqual([0, 0, 0.5, 1, 1]);
});
