import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { lineDiff, type LineDiff } from "./line-diff.ts";

/** Applies the diff; fails if a change is not at its place in `b`. */
function applied(a: readonly string[], b: readonly string[], { changed }: LineDiff): readonly string[] {
  const made: string[] = [];
  let at = 0;
  for (const { aFrom, aTo, bFrom, bTo } of changed) {
    made.push(...a.slice(at, aFrom));
    expect(made.length).toBe(bFrom);
    made.push(...b.slice(bFrom, bTo));
    at = aTo;
  }
  return [...made, ...a.slice(at)];
}

const cost = ({ changed }: LineDiff) =>
  changed.reduce((total, { aFrom, aTo, bFrom, bTo }) => total + (aTo - aFrom) + (bTo - bFrom), 0);

/** The least number of lines deleted and added, by the textbook algorithm. */
function leastCost(a: readonly string[], b: readonly string[]): number {
  let above = Array.from({ length: b.length + 1 }, (_, y) => y);
  for (const [x, line] of a.entries()) {
    const row = [x + 1];
    for (const [y, other] of b.entries()) {
      row.push(line === other ? (above[y] ?? 0) : 1 + Math.min(above[y + 1] ?? 0, row[y] ?? 0));
    }
    above = row;
  }
  return above[b.length] ?? 0;
}

const letters = (text: string) => Array.from(text);
const linesOf = (kinds: number, maxLength: number) =>
  fc.array(fc.nat(kinds - 1).map(String), { maxLength, size: "max" });

/** The same numbers in every run. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

describe("lineDiff", () => {
  for (const [name, a, b, changed] of [
    ["nothing and nothing", "", "", []],
    ["equal lists", "abc", "abc", []],
    ["all new", "", "abc", [[0, 0, 0, 3]]],
    ["all gone", "abc", "", [[0, 3, 0, 0]]],
    ["one line in the middle", "abc", "axc", [[1, 2, 1, 2]]],
    ["nothing in common", "abc", "xyz", [[0, 3, 0, 3]]],
    ["a repeated block is added at its lowest place", "f{}.h{}", "f{}.g{}.h{}", [[4, 4, 4, 8]]],
    ["a dropped repeat is the last one", "xaaay", "xay", [[2, 4, 2, 2]]],
    [
      "two places",
      "abcdef",
      "aXcdYf",
      [
        [1, 2, 1, 2],
        [4, 5, 4, 5],
      ],
    ],
    [
      "a moved line",
      "abcd",
      "bcda",
      [
        [0, 1, 0, 0],
        [4, 4, 3, 4],
      ],
    ],
  ] as const) {
    test(name, () => {
      const diff = lineDiff(letters(a), letters(b));
      expect(diff.changed.map(({ aFrom, aTo, bFrom, bTo }) => [aFrom, aTo, bFrom, bTo])).toEqual(changed);
      expect(diff.coarse).toBe(false);
    });
  }

  for (const kinds of [2, 4, 30]) {
    test(`the script is valid and the shortest, of ${kinds} kinds of lines`, () => {
      fc.assert(
        fc.property(linesOf(kinds, 60), linesOf(kinds, 60), (a, b) => {
          const diff = lineDiff(a, b);
          expect(applied(a, b, diff)).toEqual(b);
          expect(cost(diff)).toBe(leastCost(a, b));
          for (const [index, { aFrom, bFrom }] of diff.changed.entries()) {
            expect(aFrom).toBeGreaterThan(diff.changed[index - 1]?.aTo ?? -1);
            expect(bFrom).toBeGreaterThan(diff.changed[index - 1]?.bTo ?? -1);
          }
        }),
        { numRuns: 300 },
      );
    });
  }

  for (const [name, kinds, costMax] of [
    ["few kinds of lines", 6, 1.2],
    ["many kinds of lines", 200, 1.2],
    ["lines that stand once or twice", 1_500, 1.2],
  ] as const) {
    test(`beyond the cap it is valid and not much longer than the shortest: ${name}`, () => {
      const next = random(kinds);
      const a = Array.from({ length: 1_500 }, () => String(next(kinds)));
      const b = Array.from({ length: 1_500 }, () => String(next(kinds)));
      const diff = lineDiff(a, b);
      expect(applied(a, b, diff)).toEqual(b);
      expect(cost(diff)).toBeLessThanOrEqual(costMax * leastCost(a, b));
    });
  }

  test("a block that moved is one dropped and one added", () => {
    const a = Array.from({ length: 3_000 }, (_, at) => (at % 5 === 0 ? "" : `line ${at}`));
    const b = [...a.slice(0, 500), ...a.slice(1_000, 2_000), ...a.slice(500, 1_000), ...a.slice(2_000)];
    const diff = lineDiff(a, b);
    expect(applied(a, b, diff)).toEqual(b);
    expect(cost(diff)).toBe(1_000);
  });

  test("what would take minutes is cut short and still valid", () => {
    const next = random(1);
    for (const kinds of [2, 400]) {
      const a = Array.from({ length: 20_000 }, () => String(next(kinds)));
      const b = Array.from({ length: 30_000 }, () => String(next(kinds)));
      expect(applied(a, b, lineDiff(a, b))).toEqual(b);
    }
    const turned = Array.from({ length: 40_000 }, (_, at) => `pair ${at >> 1}`);
    expect(applied(turned, turned.toReversed(), lineDiff(turned, turned.toReversed()))).toEqual(turned.toReversed());
  });

  test("when the budget is spent the rest is one replacement, and it says so", () => {
    const next = random(5);
    const a = Array.from({ length: 2_000 }, () => String(next(6)));
    const b = Array.from({ length: 2_000 }, () => String(next(6)));
    const full = lineDiff(a, b);
    for (const stepsMax of [0, 5_000, 50_000]) {
      const diff = lineDiff(a, b, stepsMax);
      expect(applied(a, b, diff)).toEqual(b);
      expect(diff.coarse).toBe(true);
      expect(diff.changed.length).toBeLessThan(full.changed.length);
    }
    expect(full.coarse).toBe(false);
  });

  test("lists without a common line need no budget", () => {
    expect(lineDiff(["a", "b"], ["c", "d"], 0)).toEqual({
      changed: [{ aFrom: 0, aTo: 2, bFrom: 0, bTo: 2 }],
      coarse: false,
    });
  });
});
