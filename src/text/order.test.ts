import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compareCodePoints, compareNames, comparePaths } from "./order.ts";

/** The reference: code points one by one, then the length. */
function reference(a: string, b: string): number {
  const left = Array.from(a, (character) => character.codePointAt(0) ?? 0);
  const right = Array.from(b, (character) => character.codePointAt(0) ?? 0);
  for (const [at, point] of left.entries()) {
    const other = right[at];
    if (other === undefined) return 1;
    if (point !== other) return point - other;
  }
  return left.length - right.length;
}

/** Few characters, so that long common prefixes occur; with lone surrogates and neighbours of the surrogate range. */
const names = fc.oneof(
  fc.string({ unit: fc.constantFrom("a", "B", "b", "ÿ", "\ud83d", "\ude00", "\ue000", "\uffff", "😀", "𝒳", "İ") }),
  fc.string({ unit: "binary" }),
);

describe("compareCodePoints", () => {
  for (const [name, a, b, sign] of [
    ["equal texts are equal", "abc", "abc", 0],
    ["a beginning comes before the whole", "ab", "abc", -1],
    ["upper case comes before lower case", "Z", "a", -1],
    ["an astral character comes after U+FFFF", "😀", "\uffff", 1],
    ["an astral character comes after U+E000", "a😀", "a\ue000", 1],
    ["pairs with the same first half are compared whole", "\u{1f600}", "\u{1f601}", -1],
    ["half a pair comes before any whole one", "\ud83d\ue000", "\ud83d\ude00", -1],
  ] as const) {
    test(name, () => expect(Math.sign(compareCodePoints(a, b))).toBe(sign));
  }

  test("it agrees with the order spelled out", () => {
    fc.assert(
      fc.property(names, names, (a, b) => {
        expect(Math.sign(compareCodePoints(a, b))).toBe(Math.sign(reference(a, b)));
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("compareNames", () => {
  test("case decides only between names that are otherwise equal", () => {
    expect(["b", "a", "B", "A", "_", "Z"].sort(compareNames)).toEqual(["_", "A", "a", "B", "b", "Z"]);
  });

  test("letters beyond ASCII are lower-cased too", () => {
    expect(["é", "É", "z", "Zoë", "zoé"].sort(compareNames)).toEqual(["z", "zoé", "Zoë", "É", "é"]);
  });

  test("it agrees with lower-casing first", () => {
    fc.assert(
      fc.property(names, names, (a, b) => {
        const spelledOut = reference(a.toLowerCase(), b.toLowerCase()) || reference(a, b);
        expect(Math.sign(compareNames(a, b))).toBe(Math.sign(spelledOut));
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("paths", () => {
  test("what lies in a folder stays together", () => {
    const paths = ["a/b", "a/b/c", "a/z", "a-b", "a.txt", "a0", "b"];
    expect(paths.toReversed().toSorted(comparePaths)).toEqual(paths);
  });

  test("the order is that of the lists of their names", () => {
    const byNames = (a: string, b: string): number => {
      const [left, right] = [a.split("/"), b.split("/")];
      const at = left.findIndex((name, index) => name !== right[index]);
      if (at < 0) return left.length - right.length;
      const other = right[at];
      return other === undefined ? 1 : compareCodePoints(left[at] ?? "", other);
    };
    const path = fc
      .array(fc.string({ unit: fc.constantFrom("a", "-", "0", "😀", "\ue000"), minLength: 1, maxLength: 3 }), {
        minLength: 1,
        maxLength: 4,
      })
      .map((parts) => parts.join("/"));
    fc.assert(
      fc.property(path, path, (a, b) => {
        expect(Math.sign(comparePaths(a, b))).toBe(Math.sign(byNames(a, b)));
      }),
    );
  });
});
