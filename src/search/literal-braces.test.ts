import { equal } from "node:assert/strict";
import { spawnSync } from "node:child_process";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { growsLikeItsInput } from "../../test/support/growth.ts";
import { withLiteralBraces } from "./literal-braces.ts";
import { ripgrep } from "./ripgrep.ts";

const cases: readonly (readonly [pattern: string, taken: string])[] = [
  ["interface{}", "interface\\{}"],
  ["onDelete={handle}", "onDelete=\\{handle}"],
  ["metadata.*{|url.*metadata", "metadata.*\\{|url.*metadata"],
  ["map[string]struct{}", "map[string]struct\\{}"],
  ["${name}", "\\$\\{name}"],
  ["{2}", "\\{2}"],
  ["a|{ x", "a|\\{ x"],
  ["a{1", "a\\{1"],
  ["a{2}{x}", "a{2}\\{x}"],
  ["\\d{x}", "\\d\\{x}"],
  ["\\b{x}", "\\b\\{x}"],
  // As they are: repetitions, escapes, classes, and what can be meant in two ways.
  ["a{2}b{3,}c{4,5}d{ 6 }", "a{2}b{3,}c{4,5}d{ 6 }"],
  ["a{,3}", "a{,3}"],
  ["interface\\{\\}", "interface\\{\\}"],
  ["\\p{Greek}\\x{41}\\u{61}\\b{start}", "\\p{Greek}\\x{41}\\u{61}\\b{start}"],
  ["[{x}][^]{x][a[{]][[:alpha:]{]", "[{x}][^]{x][a[{]][[:alpha:]{]"],
  ["(?x) a{ # {x}", "(?x) a{ # {x}"],
  ["a}", "a}"],
  ["\\({2}", "\\({2}"],
  ["\\|{2}", "\\|{2}"],
  ["${2}", "${2}"],
];

for (const [pattern, taken] of cases) {
  test(`${pattern} is taken as ${taken === pattern ? "it is" : taken}`, () => equal(withLiteralBraces(pattern), taken));
}

describe("as ripgrep has it", async () => {
  const { command = "rg", kind } = (await ripgrep()) ?? {};
  const accepts = (pattern: string): boolean =>
    spawnSync(command, ["--quiet", `--regexp=${pattern}`, "--", "-"], { input: "" }).status !== 2;

  test.skipIf(kind === "wasm")("what was changed is accepted now", () => {
    for (const [pattern, taken] of cases) {
      if (taken !== pattern) expect([accepts(pattern), accepts(taken)]).toEqual([false, true]);
    }
  });

  test.skipIf(kind === "wasm")("a pattern that ripgrep accepts stays as it is", () => {
    const braces = ["{", "}", "{2}", "{2,3}", "{x}", "\\p{L}", "\\x{41}"];
    const pieces = [
      ...braces,
      "a",
      "[",
      "]",
      "[^",
      "\\",
      "|",
      "(",
      ")",
      "(?:",
      "$",
      "^",
      "-",
      "&&",
      "[:alpha:]",
      "*",
      ",",
    ];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 8 }), (parts) => {
        const pattern = parts.join("");
        if (withLiteralBraces(pattern) !== pattern) expect(accepts(pattern)).toBe(false);
      }),
      { numRuns: 1_000 },
    );
  });
});

test("four times a pattern of braces, brackets or escapes is four times the work", async () => {
  for (const unit of ["{", "[", "\\", "\\p{", "{1", "{ ", "${"]) {
    await growsLikeItsInput(20_000, (count) => unit.repeat(count), withLiteralBraces);
  }
});
