import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { chooseItems, type WholeItem } from "./items.ts";

/** `a 1 b` is an item of depth 0 named a, with one of depth 1 named b in it. */
const itemsOf = (...depths: readonly number[]): readonly WholeItem[] =>
  depths.map((depth, at) => ({ name: `item ${at}`, kind: "function", from: at + 1, to: at + 1, depth }));

describe("an outline", () => {
  for (const [name, depths, depth, itemsMax, expected, depthShown] of [
    [
      "is shown whole if it has room",
      [0, 1, 2, 0],
      20,
      10,
      [
        [0, 0],
        [1, 0],
        [2, 0],
        [3, 0],
      ],
      undefined,
    ],
    [
      "leaves out levels and counts what was in them",
      [0, 1, 2, 2, 0, 1],
      20,
      4,
      [
        [0, 0],
        [1, 2],
        [4, 0],
        [5, 0],
      ],
      2,
    ],
    [
      "leaves out the deepest levels first",
      [0, 1, 2, 2, 0, 1],
      20,
      3,
      [
        [0, 3],
        [4, 1],
      ],
      1,
    ],
    [
      "shows the levels that were asked for",
      [0, 1, 2],
      2,
      10,
      [
        [0, 0],
        [1, 1],
      ],
      2,
    ],
    [
      "cuts the first level where that alone is too long",
      [0, 0, 0, 0],
      20,
      2,
      [
        [0, 0],
        [1, 0],
      ],
      undefined,
    ],
    ["may be empty", [], 20, 2, [], undefined],
  ] as const) {
    test(name, () => {
      const chosen = chooseItems(itemsOf(...depths), depth, itemsMax);
      const shown = chosen.items.map((item) => [item.from - 1, item.hidden]);
      expect({ shown, depthShown: chosen.depthShown }).toEqual({ shown: expected, depthShown });
    });
  }
  test("never has more than it may, and loses no item without counting it", () => {
    const deep = fc.array(fc.nat(4), { maxLength: 40 }).map((steps) => {
      // An item is at most one deeper than the one before it.
      let at = -1;
      return steps.map((step) => (at = Math.min(step, at + 1)));
    });
    fc.assert(
      fc.property(deep, fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 40 }), (depths, depth, itemsMax) => {
        const all = itemsOf(...depths);
        const { items } = chooseItems(all, depth, itemsMax);
        expect(items.length).toBeLessThanOrEqual(itemsMax);
        const told = items.reduce((sum, { hidden }) => sum + 1 + hidden, 0);
        const firstLevel = depths.filter((one) => one === 0).length;
        if (firstLevel <= itemsMax) expect(told).toBe(all.length);
      }),
    );
  });
});
