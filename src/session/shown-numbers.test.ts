import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { LineChange } from "./line-spans.ts";
import { linesMeant, type NumberedSpan, numbersAligned, numbersMoved, numbersShown } from "./shown-numbers.ts";

const page = (from: number, to: number): readonly NumberedSpan[] => numbersShown([], [{ from, to }]);
const change = (line: number, linesBefore: number, linesAfter: number): LineChange => ({
  line,
  linesBefore,
  linesAfter,
});

describe("numbers after changes", () => {
  for (const [name, spans, changes, asked, meant] of [
    ["nothing changed", page(1, 9), [], [4, 5], [[4, 5]]],
    ["lines were inserted above", page(1, 9), [change(2, 0, 3)], [4, 5], [[7, 8]]],
    ["lines were deleted above", page(1, 9), [change(1, 2, 0)], [4, 5], [[2, 3]]],
    ["lines were inserted below", page(1, 9), [change(6, 0, 3)], [4, 5], [[4, 5]]],
    ["a line of them changed", page(1, 9), [change(5, 1, 1)], [4, 5], []],
    ["lines were inserted between them", page(1, 9), [change(5, 0, 1)], [4, 5], []],
    ["several changes", page(1, 9), [change(1, 1, 3), change(3, 1, 0)], [4, 4], [[5, 5]]],
    ["they were not shown", page(1, 9), [], [9, 10], []],
  ] as const) {
    test(`${name}: ${asked.join("-")}`, () => {
      const [from, to] = asked;
      const found = linesMeant(numbersMoved(spans, changes), { from, to });
      expect(found.map((one) => [one.from, one.to])).toEqual(meant);
    });
  }

  test("a page shown again after a change gives its numbers a second meaning", () => {
    const moved = numbersMoved(page(1, 9), [change(1, 0, 2)]);
    expect(linesMeant(numbersShown(moved, [{ from: 3, to: 6 }]), { from: 4, to: 4 })).toMatchObject([
      { from: 6, to: 6 },
      { from: 4, to: 4 },
    ]);
  });

  test("two pages that meet are one", () => {
    expect(linesMeant(numbersShown(page(1, 4), [{ from: 5, to: 9 }]), { from: 3, to: 6 })).toMatchObject([
      { from: 3, to: 6 },
    ]);
  });

  test("only lines that another program moved are marked", () => {
    const moved = numbersAligned(page(1, 9), [
      { was: 1, now: 1, count: 4 },
      { was: 6, now: 7, count: 4 },
    ]);
    expect(linesMeant(moved, { from: 5, to: 5 })).toEqual([]);
    expect(linesMeant(moved, { from: 2, to: 2 })).toEqual([{ from: 2, to: 2, byOthers: false }]);
    expect(linesMeant(moved, { from: 8, to: 8 })).toEqual([{ from: 9, to: 9, byOthers: true }]);
  });
});

test("a number never means a line that was not shown under it", () => {
  const change = fc.record({ at: fc.nat(30), out: fc.nat(3), put: fc.nat(3) });
  const step = fc.oneof(
    fc.record({ shows: fc.nat(30), count: fc.integer({ min: 1, max: 8 }) }),
    fc.record({ changes: change }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), fc.nat(30), fc.nat(3), (steps, first, more) => {
      // The model: each line is an object that keeps all numbers under which it was shown.
      let lines = Array.from({ length: 20 }, () => new Set<number>());
      let spans: readonly NumberedSpan[] = [];
      for (const one of steps) {
        if ("changes" in one) {
          const line = Math.min(one.changes.at, lines.length);
          const out = Math.min(one.changes.out, lines.length - line);
          const put = Array.from({ length: one.changes.put }, () => new Set<number>());
          lines = [...lines.slice(0, line), ...put, ...lines.slice(line + out)];
          const moved = { line: line + 1, linesBefore: out, linesAfter: put.length };
          spans = numbersMoved(spans, [moved]);
        } else {
          const from = Math.min(one.shows, lines.length - 1);
          const to = Math.min(from + one.count, lines.length) - 1;
          if (from < 0 || to < from) continue;
          for (let at = from; at <= to; at += 1) lines[at]?.add(at + 1);
          spans = numbersShown(spans, [{ from: from + 1, to: to + 1 }]);
        }
      }
      const asked = { from: first + 1, to: first + 1 + more };
      const meant = linesMeant(spans, asked).map(({ from }) => from);
      const expected = lines.flatMap((_, at) => {
        const isMeant = Array.from({ length: more + 1 }).every((_, k) => lines[at + k]?.has(asked.from + k) === true);
        return isMeant ? [at + 1] : [];
      });
      expect(meant.toSorted((a, b) => a - b)).toEqual(expected);
    }),
    { numRuns: 2_000 },
  );
});
