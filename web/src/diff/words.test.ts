import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { changedWords } from "./words.ts";

const marked = (text: string, other: string): string => {
  let shown = "";
  let at = 0;
  for (const { from, to } of changedWords(text, other)) {
    shown += `${text.slice(at, from)}{${text.slice(from, to)}}`;
    at = to;
  }
  return shown + text.slice(at);
};

describe("marks on words", () => {
  for (const [name, text, other, shown] of [
    ["one word in the middle", "const port = 8080;", "const port = 80;", "const port = {8080};"],
    ["a word that came has no mark on the other side", "return value", "return value + 1", "return value"],
    ["a word that came", "return value + 1", "return value", "return value{ + 1}"],
    ["a name is one word", "readFileSync(path)", "readFile(path)", "{readFileSync}(path)"],
    ["two places are two marks", "a(b, c, d)", "a(x, c, y)", "a({b}, c, {d})"],
    ["blanks between two marks are marked too", "let one two = 3 + 4", "let x y = 3 + 4", "let {one two} = 3 + 4"],
    ["an indentation that came", "    x = 1", "  x = 1", "{    }x = 1"],
    ["lines that have nothing in common are not marked", "import fs from 'fs'", "return 42", "import fs from 'fs'"],
    ["equal lines", "same", "same", "same"],
    ["an empty line", "", "x", ""],
    ["characters beyond the basic plane stay whole", "face 😀 end", "face 😁 end", "face {😀} end"],
  ] as const) {
    test(name, () => expect(marked(text, other)).toBe(shown));
  }

  test("long lines are compared by head and tail only", () => {
    const words = Array.from({ length: 20_000 }, (_, index) => `w${index}`);
    const other = words.map((word, index) => (index % 2 === 1 && index > 8_000 && index < 12_000 ? "x" : word));
    const spans = changedWords(words.join(" "), other.join(" "));
    expect(spans.length).toBe(1);
  });

  test("marks are in order, inside the line, and do not touch", () => {
    const line = fc
      .array(fc.constantFrom("a", "b", " ", "(", "word", "7", "é"), { maxLength: 30 })
      .map((l) => l.join(""));
    fc.assert(
      fc.property(line, line, (text, other) => {
        let at = -1;
        for (const { from, to } of changedWords(text, other)) {
          expect(from).toBeGreaterThan(at);
          expect(to).toBeGreaterThan(from);
          at = to;
        }
        expect(at).toBeLessThanOrEqual(text.length);
      }),
    );
  });
});
