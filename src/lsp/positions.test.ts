import { describe, expect, test } from "vitest";
import { linesOf, positionIn, rangeIn, wirePosition } from "./diagnostics.ts";

const text = "one\r\nzwölf 😀 x\rlast\n";

describe("lines", () => {
  test.each([
    [1, "one"],
    [2, "zwölf 😀 x"],
    [3, "last"],
    [4, ""],
    [5, undefined],
    [0, undefined],
  ])("line %i is %j", (line, expected) => expect(linesOf(text).at(line)).toBe(expected));

  test("a text without lines has one", () => expect(linesOf("").count).toBe(1));
});

describe("places", () => {
  test.each([
    ["utf-16", 0, 0, 1, 1],
    ["utf-16", 1, 6, 2, 7],
    ["utf-16", 1, 9, 2, 10],
    ["utf-16", 1, 99, 2, 11],
    ["utf-8", 1, 7, 2, 7],
    ["utf-8", 1, 12, 2, 10],
    ["utf-8", 1, 9, 2, 7],
    ["utf-16", 99, 0, 4, 1],
  ] as const)("%s %i:%i is %i:%i", (encoding, line, character, ...expected) => {
    const { line: ours, column } = positionIn(linesOf(text), { line, character }, encoding) ?? { line: 0, column: 0 };
    expect([ours, column]).toEqual(expected);
  });

  test.each([
    [null],
    [{}],
    [{ line: -1, character: 0 }],
    [{ line: 1.5, character: 0 }],
    [{ line: "1", character: 0 }],
    [{ line: 2 ** 60, character: 0 }],
  ])("%j is none", (value) => expect(positionIn(linesOf(text), value, "utf-16")).toBeUndefined());

  test("a range needs both ends", () => {
    expect(rangeIn(undefined, { start: { line: 0, character: 1 }, end: { line: 2, character: 3 } }, "utf-16")).toEqual({
      start: { line: 1, column: 2 },
      end: { line: 3, column: 4 },
    });
    expect(rangeIn(undefined, { start: { line: 0, character: 1 } }, "utf-16")).toBeUndefined();
  });

  test.each(["utf-16", "utf-8"] as const)("there and back is the same (%s)", (encoding) => {
    const lines = linesOf(text);
    for (const column of [1, 3, 4, 7, 9, 10, 11]) {
      const wire = wirePosition(lines, { line: 2, column }, encoding);
      expect(positionIn(lines, wire, encoding)).toEqual({ line: 2, column });
    }
  });
});
