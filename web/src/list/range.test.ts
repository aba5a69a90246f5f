import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { rowAfterKey, scrollTopFor, visibleRange } from "./range.ts";

const view = { scrollTop: 0, height: 300, rowHeight: 30, count: 10_000 };

describe("the rows in the page", () => {
  for (const [name, viewport, range] of [
    ["at the top, with some below", view, { from: 0, to: 22 }],
    ["in the middle, with some on both sides", { ...view, scrollTop: 3_000 }, { from: 88, to: 122 }],
    ["at the end, none beyond it", { ...view, scrollTop: 299_700 }, { from: 9_978, to: 10_000 }],
    ["a list that has shrunk below its scroll", { ...view, scrollTop: 90_000, count: 5 }, { from: 4, to: 5 }],
    ["an empty list", { ...view, count: 0 }, { from: 0, to: 0 }],
    ["a list that is not laid out yet", { ...view, rowHeight: 0 }, { from: 0, to: 0 }],
  ] as const) {
    test(name, () => expect(visibleRange(viewport)).toEqual(range));
  }

  test("are never many, and hold all that is in sight", () => {
    fc.assert(
      fc.property(fc.nat(300_000), fc.integer({ min: 1, max: 2_000 }), fc.nat(10_000), (scrollTop, height, count) => {
        const { from, to } = visibleRange({ scrollTop, height, rowHeight: 30, count });
        expect(to - from).toBeLessThanOrEqual(Math.ceil(height / 30) + 26);
        for (let y = scrollTop; y < Math.min(scrollTop + height, count * 30); y += 30) {
          expect(Math.floor(y / 30)).toBeGreaterThanOrEqual(from);
          expect(Math.floor(y / 30)).toBeLessThan(to);
        }
      }),
    );
  });
});

test("a row in sight needs no scroll, others just as much as it takes", () => {
  expect(scrollTopFor(3, view)).toBeUndefined();
  expect(scrollTopFor(10, view)).toBe(30);
  expect(scrollTopFor(2, { ...view, scrollTop: 90 })).toBe(60);
});

test("keys lead from row to row and stay in the list", () => {
  expect(rowAfterKey("ArrowDown", 3, view)).toBe(4);
  expect(rowAfterKey("ArrowUp", 0, view)).toBe(0);
  expect(rowAfterKey("PageDown", 0, view)).toBe(9);
  expect(rowAfterKey("End", 0, view)).toBe(9_999);
  expect(rowAfterKey("Home", 50, view)).toBe(0);
  expect(rowAfterKey("a", 3, view)).toBeUndefined();
  expect(rowAfterKey("End", 0, { ...view, count: 0 })).toBeUndefined();
});
