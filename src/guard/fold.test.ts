import { equal, notEqual } from "node:assert/strict";
import { describe, test } from "vitest";
import { foldCase, foldCaseFully, foldPattern } from "./group.ts";

/** Pairs that some disk takes for one name; ASCII letters are compared without case by who uses the fold. */
const sameInSimple: readonly (readonly [string, string])[] = [
  ["\u017f", "s"],
  ["\u212a", "k"],
  ["\u212b", "\u00e5"], // the Angstrom sign
  ["\u00c4", "\u00e4"],
  ["A\u0308", "\u00e4"],
  ["\u03a3", "\u03c3"],
  ["\u03c2", "\u03c3"],
  ["\u1e9e", "\u00df"],
  ["\u00b5", "\u03bc"],
  ["\u{10400}", "\u{10428}"],
];

describe("characters that are one to a disk without letter case", () => {
  for (const [one, other] of sameInSimple) {
    test(`${JSON.stringify(one)} and ${JSON.stringify(other)}`, () => {
      equal(foldCase(one).toLowerCase(), foldCase(other).toLowerCase());
      equal(foldCaseFully(one).toLowerCase(), foldCaseFully(other).toLowerCase());
    });
  }

  for (const [one, other] of [
    ["stra\u00dfe", "strasse"],
    ["stra\u1e9ee", "strasse"],
    ["con\ufb01g", "config"],
    ["\ufb06", "st"],
  ] as const) {
    test(`${one} and ${other} only where one may be several`, () => {
      notEqual(foldCase(one), other);
      equal(foldCaseFully(one), other);
    });
  }

  test("look-alikes stay what they are", () => {
    for (const other of ["\uff0e", "\u2024", "\u200b", "\u0455", "\u0131\u0307"]) {
      for (const fold of [foldCase, foldCaseFully]) notEqual(fold(other), ".");
      for (const fold of [foldCase, foldCaseFully]) notEqual(fold(other), "s");
    }
  });

  test("every character is folded to one in the simple form, and folding twice changes nothing", () => {
    for (let point = 0x80; point < 0x2_0000; point += 1) {
      const character = String.fromCodePoint(point).normalize("NFC");
      if (point >= 0xd800 && point < 0xe000) continue;
      const folded = foldCase(character);
      if (Array.from(folded).length !== Array.from(character).length)
        throw new Error(`U+${point.toString(16)} changes its length`);
      if (foldCase(folded) !== folded) throw new Error(`U+${point.toString(16)} is not folded at once`);
    }
  });
});

test("a backslash before a character that becomes ASCII goes, any other stays", () => {
  equal(foldPattern("\\\u017f.txt", foldCase), "s.txt");
  equal(foldPattern("\\\\\u017f", foldCase), "\\\\s");
  equal(foldPattern("\\*\u017f\\[", foldCase), "\\*s\\[");
});
