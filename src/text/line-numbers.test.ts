import * as fc from "fast-check";
import { expect, test } from "vitest";
import { LineNumbers } from "./line-numbers.ts";

/** Two lists of lines, as a map of them would number them. */
function byMap(a: readonly string[], b: readonly string[]) {
  const numbers = new Map<string, number>();
  const given = a.map((line) => {
    const id = numbers.get(line) ?? numbers.size;
    numbers.set(line, id);
    return id;
  });
  return { given, found: b.map((line) => numbers.get(line) ?? -1), size: numbers.size };
}

function numbered(a: readonly string[], b: readonly string[]) {
  const numbers = new LineNumbers();
  const given = a.map((line) => numbers.give(line));
  return { given, found: b.map((line) => numbers.find(line)), size: numbers.size };
}

const short = fc.string({ unit: fc.constantFrom("a", "b", "\n"), maxLength: 3 });
/** Alike in length and in most characters. */
const alike = fc
  .nat(40)
  .map((number) => `const value = someFunction(${String(number).padStart(4, "0")}, other, more);\n`);
const lists = fc.array(fc.oneof(short, alike, fc.string()), { maxLength: 120, size: "max" });

test("equal lines have equal numbers, in the order in which they came", () => {
  const same = fc.property(lists, lists, (a, b) => {
    expect(numbered(a, b)).toEqual(byMap(a, b));
  });
  fc.assert(same);
});

test("lines that differ where nobody looks are told apart, however many there are", () => {
  const line = (number: number) => `${"x".repeat(100)}${String(number).padStart(6, "0")}${"y".repeat(100)}\n`;
  const a = Array.from({ length: 3_000 }, (_, at) => line(at % 1_000));
  const b = Array.from({ length: 1_500 }, (_, at) => line(at));
  expect(numbered(a, b)).toEqual(byMap(a, b));
});
