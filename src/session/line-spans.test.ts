import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { covers, mergeSpans, shiftSpans } from "./line-spans.ts";

test.each([
  ["none", [], []],
  [
    "touching ones become one",
    [
      { from: 4, to: 6 },
      { from: 1, to: 3 },
    ],
    [{ from: 1, to: 6 }],
  ],
  [
    "overlapping ones too",
    [
      { from: 1, to: 9 },
      { from: 2, to: 3 },
    ],
    [{ from: 1, to: 9 }],
  ],
  [
    "a gap stays",
    [
      { from: 1, to: 2 },
      { from: 4, to: 5 },
    ],
    [
      { from: 1, to: 2 },
      { from: 4, to: 5 },
    ],
  ],
])("merged: %s", (_, spans, expected) => {
  expect(mergeSpans(spans)).toEqual(expected);
});

test("a gap is not covered", () => {
  expect(
    covers(
      [
        { from: 1, to: 2 },
        { from: 4, to: 5 },
      ],
      { from: 2, to: 4 },
    ),
  ).toBe(false);
  expect(
    covers(
      [
        { from: 1, to: 3 },
        { from: 4, to: 5 },
      ],
      { from: 2, to: 4 },
    ),
  ).toBe(true);
});

describe("shifted", () => {
  test("lines know where they went: as a list of seen lines would", () => {
    const lines = fc.array(fc.boolean(), { minLength: 1, maxLength: 30 });
    const change = fc.record({ gap: fc.nat(6), linesBefore: fc.nat(3), linesAfter: fc.nat(3) });
    fc.assert(
      fc.property(lines, fc.array(change, { maxLength: 4 }), (seen, steps) => {
        const spans = seen.flatMap((is, at) => (is ? [{ from: at + 1, to: at + 1 }] : []));
        const changes: { line: number; linesBefore: number; linesAfter: number }[] = [];
        let line = 1;
        for (const { gap, linesBefore, linesAfter } of steps) {
          line += gap;
          if (line + linesBefore > seen.length + 1) break;
          changes.push({ line, linesBefore, linesAfter });
          line += linesBefore;
        }
        const expected = [...seen];
        for (const { line: first, linesBefore, linesAfter } of changes.toReversed()) {
          const wasSeen = seen.slice(first - 1, first - 1 + linesBefore).every(Boolean);
          expected.splice(first - 1, linesBefore, ...Array.from({ length: linesAfter }, () => wasSeen));
        }
        const wanted = expected.flatMap((is, at) => (is ? [{ from: at + 1, to: at + 1 }] : []));
        expect(mergeSpans(shiftSpans(spans, changes))).toEqual(mergeSpans(wanted));
      }),
    );
  });
});
