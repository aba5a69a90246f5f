/** The page kernel against plain JavaScript: the same text for any characters, numbers and lengths. */

import { equal } from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { NumberStyle } from "../../contract/profile.ts";
import { numberLines, shownNumber, pagesSourceSha256, decodeUtf8 } from "./page-kernel.ts";

const styles: readonly NumberStyle[] = [
  { digitsMin: 1, pad: " ", mark: "→" },
  { digitsMin: 1, pad: " ", mark: "\t" },
  { digitsMin: 1, pad: " ", mark: ": " },
  { digitsMin: 5, pad: "0", mark: "| " },
  { digitsMin: 4, pad: " ", mark: " | " },
];

const plain = (text: string, from: number, style: NumberStyle): string =>
  text
    .split("\n")
    .map((line, index) => shownNumber(from + index, style) + line)
    .join("\n");

for (const every of [5, 10]) {
  test(`a number on every ${every}th line, on the first one, and on the last one before a notice`, () => {
    const some: NumberStyle = { digitsMin: 1, pad: " ", mark: "\t", every };
    const wanted = (text: string, from: number, last: boolean): string => {
      const lines = text.split("\n");
      const isNumbered = (at: number): boolean =>
        at === 0 || (from + at) % every === 0 || (last && at === lines.length - 1);
      return lines.map((line, at) => (isNumbered(at) ? `${from + at}\t${line}` : line)).join("\n");
    };
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom("", "a", "7\tb", "è"), { minLength: 1, maxLength: 40 }),
        fc.integer({ min: -50, max: 1_000 }).filter((from) => from !== 0),
        fc.constantFrom("", "\n\n[note]"),
        (lines, from, after) => {
          const text = lines.join("\n");
          equal(numberLines(text, from, some, false, "<", after), `<${wanted(text, from, after !== "")}${after}`);
        },
      ),
    );
  });
}

/** Long enough for the kernel: a few characters, repeated. */
const texts = (unit: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc
    .tuple(fc.array(unit, { minLength: 1, maxLength: 60 }), fc.integer({ min: 4_096, max: 20_000 }))
    .map(([units, length]) => units.join("").repeat(Math.ceil(length / units.join("").length)));

const asciiUnit = fc.constantFrom(
  "a",
  "\n",
  " ",
  "\t",
  "\r",
  "some words ",
  "x".repeat(15),
  "y".repeat(16),
  "9",
  "\x7f",
);
const anyUnit = fc.oneof(
  asciiUnit,
  fc.constantFrom("é", "\u07ff", "\u0800", "日本", "\uffff", "\ufeff", "😀", "\u{10ffff}"),
);

test("UTF-8 is decoded as Node does it", () => {
  fc.assert(
    fc.property(texts(anyUnit), (text) => {
      equal(decodeUtf8(Buffer.from(text).subarray(0, Buffer.byteLength(text))), text);
    }),
  );
});

test("what is short, or longer than the kernel's memory, is left to others", () => {
  expect(decodeUtf8(Buffer.from("é"))).toBeUndefined();
  expect(decodeUtf8(Buffer.from("é".repeat(262_145)))).toBeUndefined();
  equal(decodeUtf8(Buffer.from("é".repeat(262_144))), "é".repeat(262_144));
});

test("lines are numbered as if one by one", () => {
  const starts = fc.constantFrom(1, 2, 8, 9, 95, 999, 9_990, 99_999, 123_456_789, 9_007_199_254_700_000);
  const style = fc.constantFrom(...styles);
  fc.assert(
    fc.property(texts(anyUnit), starts, style, (text, from, shape) => {
      equal(numberLines(text, from, shape, false, "", ""), plain(text, from, shape));
    }),
  );
  fc.assert(
    fc.property(texts(asciiUnit), starts, style, (text, from, shape) => {
      equal(numberLines(text, from, shape, true, "", ""), plain(text, from, shape));
    }),
  );
});

test.each(styles)("a text of several pieces and of nothing but newlines goes on counting: $mark", (style) => {
  for (const text of ["\n".repeat(200_000), `${"ab\n".repeat(50_000)}end`, "one long line ".repeat(10_000)]) {
    for (const ascii of [true, false]) equal(numberLines(text, 7, style, ascii, "", ""), plain(text, 7, style));
  }
});

test.each(styles)("short texts and numbers counted from the end: $mark", (style) => {
  equal(numberLines("", 1, style, true, "", ""), shownNumber(1, style));
  equal(numberLines("a\n\nb", 9, style, true, "", ""), plain("a\n\nb", 9, style));
  const long = "line\n".repeat(2_000);
  equal(numberLines(long, -2_001, style, true, "", ""), plain(long, -2_001, style));
});

test.each(styles)("what stands around the lines may be anything of any length: $mark", (style) => {
  const text = "some line\n".repeat(20_000);
  for (const around of ["", "<x>", "é日😀", "y".repeat(20_000)]) {
    const expected = `${around}${plain(text, 1, style)}\n${around}`;
    for (const ascii of [true, false]) equal(numberLines(text, 1, style, ascii, around, `\n${around}`), expected);
  }
});

test("the module was made from scripts/pages.wat as it is now", () => {
  const source = readFileSync(new URL("../../../scripts/pages.wat", import.meta.url));
  equal(createHash("sha256").update(source).digest("hex"), pagesSourceSha256, "run scripts/kernel.js");
});
