import * as fc from "fast-check";
import { expect, test } from "vitest";
import { aligned } from "./align.ts";

const shown = (old: readonly string[], fresh: readonly string[]): readonly string[] =>
  aligned(old, fresh).map((pair) => {
    const [left, right] = [pair.old === undefined ? "" : old[pair.old], pair.new === undefined ? "" : fresh[pair.new]];
    return `${left} ${pair.alike ? "=" : "|"} ${right}`;
  });

test("a line with one above it that came is still beside what it was", () => {
  expect(shown(["const total = sum(prices);"], ["/** In cents. */", "const total = sum(prices, tax);"])).toEqual([
    " | /** In cents. */",
    "const total = sum(prices); = const total = sum(prices, tax);",
  ]);
});

test("lines that have nothing in common stand side by side and are no partners", () => {
  expect(shown(["alpha()", "beta()"], ["x = 1"])).toEqual(["alpha() | x = 1", "beta() | "]);
});

test("what went between two that stayed alike is a gap", () => {
  expect(shown(["port = 80", "// gone", "host = 1"], ["port = 81", "host = 2"])).toEqual([
    "port = 80 = port = 81",
    "// gone | ",
    "host = 1 = host = 2",
  ]);
});

test("large blocks are laid side by side from the top", () => {
  const lines = Array.from({ length: 100 }, (_, index) => `line ${index}`);
  expect(aligned(lines, lines.slice(1))).toHaveLength(100);
});

test("every line is there once, in its order", () => {
  const lines = fc.array(fc.constantFrom("a b", "a c", "b c d", "x", ""), { maxLength: 12 });
  fc.assert(
    fc.property(lines, lines, (old, fresh) => {
      const pairs = aligned(old, fresh);
      expect(pairs.flatMap((pair) => pair.old ?? [])).toEqual(old.map((_, index) => index));
      expect(pairs.flatMap((pair) => pair.new ?? [])).toEqual(fresh.map((_, index) => index));
    }),
  );
});
