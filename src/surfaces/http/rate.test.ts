import { expect, test } from "vitest";
import { createRate } from "./exchange.ts";

test("a burst goes through, then it is as many as time allows, for everybody alone", () => {
  let now = 0;
  const rate = createRate(10, 3, () => now);
  const take = (who: string, times: number) => Array.from({ length: times }, () => rate.take(who));
  expect(take("a", 4)).toEqual([true, true, true, false]);
  expect(take("b", 1)).toEqual([true]);
  now = 100;
  expect(take("a", 2)).toEqual([true, false]);
  now = 100_000;
  expect(take("a", 4)).toEqual([true, true, true, false]);
});

test("it remembers only so many", () => {
  const rate = createRate(1, 1, () => 0, 2);
  for (const who of ["a", "b", "c"]) rate.take(who);
  expect(rate.take("a")).toBe(true); // forgotten, and so as good as new
  expect(rate.take("c")).toBe(false);
});
