import * as fc from "fast-check";
import { expect, test } from "vitest";
import { collidingLines } from "../../../test/support/colliding-lines.ts";
import { growsLikeItsInput } from "../../../test/support/growth.ts";
import { finish } from "../steps.ts";
import { splitLines, numbered } from "./line-numbers.ts";

const split = (text: string): readonly string[] => text.match(/[^\n]*\n|[^\n]+$/gu) ?? [];

/** Numbers the lines of two texts with a map of strings. */
function byMap(a: string, b: string) {
  const numbers = new Map<string, number>();
  const give = (line: string): number => {
    const id = numbers.get(line) ?? numbers.size;
    numbers.set(line, id);
    return id;
  };
  const aIds = split(a).map(give);
  const known = numbers.size;
  return { a: aIds, b: split(b).map(give), known, size: numbers.size };
}

function byBytes(a: string, b: string) {
  const { a: aIds, b: bIds, known, size } = finish(numbered(finish(splitLines(a)), finish(splitLines(b))));
  return { a: [...aIds], b: [...bIds], known, size };
}

const short = fc.string({ unit: fc.constantFrom("a", "b", "\r"), maxLength: 9 });
/** Equal in length and in most characters. */
const alike = fc
  .nat(40)
  .map((number) => `const value = someFunction(${String(number).padStart(4, "0")}, other, more);`);
const wide = fc.string({ unit: fc.constantFrom("ä", "漢", "\ud83d", "\ude00", "€", "x"), maxLength: 6 });
const texts = (line: fc.Arbitrary<string>) =>
  fc.tuple(fc.array(line, { maxLength: 120, size: "max" }), fc.boolean()).map(([lines, ends]) => {
    const text = lines.join("\n");
    return ends ? `${text}\n` : text;
  });
const narrowTexts = texts(fc.oneof(short, alike));
const allTexts = texts(fc.oneof(short, alike, wide, fc.string({ unit: "binary" })));

test("equal lines have equal numbers, in the order in which they came", () => {
  const same = (a: string, b: string): void => {
    expect(byBytes(a, b)).toEqual(byMap(a, b));
  };
  fc.assert(fc.property(narrowTexts, narrowTexts, same));
  fc.assert(fc.property(allTexts, allTexts, same));
});

test("lines tell where they start, and the text how long it is", () => {
  fc.assert(
    fc.property(allTexts, (text) => {
      const { starts, count } = finish(splitLines(text));
      const lines = Array.from({ length: count }, (_, at) => text.slice(starts[at], starts[at + 1]));
      expect(lines).toEqual([...split(text)]);
      expect(starts[count]).toBe(text.length);
    }),
  );
});

test("texts too large for the room that is kept, and small ones after them", () => {
  const line = (number: number) => `${"x".repeat(30)}${number}${"ü".repeat(number % 7)}\n`;
  const text = (count: number, step: number) => Array.from({ length: count }, (_, at) => line(at * step)).join("");
  for (const count of [10, 5_000, 10, 2_100, 3]) {
    const [a, b] = [text(count, 2), text(count, 3)];
    expect(byBytes(a, b)).toEqual(byMap(a, b));
  }
});

test("lines made to be mixed to the same number are told apart", () => {
  const lines = collidingLines(500);
  const [a, b] = [lines.slice(0, 300).join(""), lines.slice(200).join("")];
  expect(byBytes(a, b)).toEqual(byMap(a, b));
});

test("four times such lines are four times the work", async () => {
  const input = (count: number): string => collidingLines(count).join("");
  await growsLikeItsInput(4_000, input, (text) => finish(numbered(finish(splitLines(text)), finish(splitLines(text)))));
});
