import * as fc from "fast-check";
import { expect, test } from "vitest";
import { FirstOnes } from "./first-ones.ts";

interface Item {
  readonly key: number;
  readonly weight: number;
}

test("holds what sorting all of them and taking the first ones would", () => {
  const items = fc.uniqueArray(fc.record({ key: fc.integer(), weight: fc.integer({ min: 1, max: 900 }) }), {
    selector: ({ key }) => key,
    maxLength: 60,
  });
  fc.assert(
    fc.property(items, fc.integer({ min: 0, max: 3_000 }), (all, wanted) => {
      const first = new FirstOnes<Item>(
        wanted,
        (a, b) => a.key - b.key,
        ({ weight }) => weight,
      );
      for (const item of all) first.add(item);
      const expected: Item[] = [];
      let weight = 0;
      for (const item of all.toSorted((a, b) => a.key - b.key)) {
        if (weight >= wanted) break;
        expected.push(item);
        weight += item.weight;
      }
      expect(first.sorted()).toEqual(expected);
    }),
  );
});

test("does not hold what cannot be among the first any more", () => {
  const first = new FirstOnes<number>(
    10,
    (a, b) => a - b,
    () => 1,
  );
  for (let number = 5_000; number > 0; number -= 1) first.add(number);
  expect(first.accepts(4_999)).toBe(false);
  expect(first.sorted()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
});
