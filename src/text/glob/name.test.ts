/** One name against one part of a pattern. */

import { execFileSync } from "node:child_process";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compileName, testName } from "./name.ts";

function matches(pattern: string, name: string, syntax: "glob" | "ignore" = "glob"): boolean | string {
  const test = compileName(pattern, { syntax });
  return "fault" in test ? test.fault : testName(test, name);
}

describe("names", () => {
  for (const [pattern, name, expected] of [
    ["a.ts", "a.ts", true],
    ["a.ts", "axts", false],
    ["*.ts", "a.ts", true],
    ["*.ts", ".ts", true],
    ["*.ts", "a.tsx", false],
    ["a*b*c", "aXbYc", true],
    ["a*b*c", "abc", true],
    ["a*b*c", "acb", false],
    ["a*a", "a", false],
    ["?", "é", true],
    ["?", "😀", true],
    ["??", "😀", false],
    ["[a-c]x", "bx", true],
    ["[!a-c]x", "bx", false],
    ["[^a-c]x", "dx", true],
    ["[]a]", "]", true],
    ["[a-]", "-", true],
    ["[[:digit:]]", "7", true],
    ["[[:alpha:]_]", "_", true],
    ["[\\]]", "]", true],
    ["\\*", "*", true],
    ["\\*", "a", false],
    ["@(a|b).ts", "b.ts", true],
    ["@(a|b).ts", "c.ts", false],
    ["?(a)b", "b", true],
    ["*(ab)c", "ababc", true],
    ["+(ab)c", "c", false],
    ["!(a).ts", "b.ts", true],
    ["!(a).ts", "a.ts", false],
    ["!(*.test).ts", "x.test.ts", false],
    ["!(*.test).ts", "x.ts", true],
    ["!(a|!(b))", "b", true],
    ["+(a|b|+(c))d", "abccd", true],
    ["(group)", "(group)", true],
    ["+page.svelte", "+page.svelte", true],
    ["@modal", "@modal", true],
    ["[a", "[a", "unclosed bracket"],
    ["@(a", "@(a", "unclosed group"],
    ["a\\", "a\\", "trailing backslash"],
    ["[z-a]", "b", "reversed range"],
    ["[[:nope:]]", "b", "unknown class"],
  ] as const) {
    test(`${pattern} and ${name}`, () => expect(matches(pattern, name)).toBe(expected));
  }

  test("ignore files know no groups", () => {
    expect(matches("@(a|b)", "a", "ignore")).toBe(false);
    expect(matches("@(a|b)", "@(a|b)", "ignore")).toBe(true);
  });

  test("patterns made to take long do not", () => {
    const name = "a".repeat(255);
    expect(matches(`${"*a".repeat(100)}*b`, name)).toBe(false);
    expect(matches(`${"*?".repeat(100)}*b`, name)).toBe(false);
    expect(matches("+(+(+(+(+(a)))))b", name)).toBe(false);
    expect(matches("!(!(!(a*)*a*)*b)", name)).toBeTypeOf("boolean");
    expect(matches("@(a)".repeat(30), name)).toBe("too many groups");
  });
});

test.skipIf(process.platform === "win32")("bash finds the same names", () => {
  const inner = fc.letrec((tie) => ({
    leaf: fc.constantFrom("a", "b", "*", "?", "[ab]", "[!a]", "[a-b]", "\\*", ".", "x"),
    group: fc
      .tuple(fc.constantFrom("?", "*", "+", "@", "!"), fc.array(tie("sequence"), { minLength: 1, maxLength: 2 }))
      .map(([mark, choices]) => `${mark}(${(choices as readonly string[]).join("|")})`),
    part: fc.oneof({ maxDepth: 2 }, tie("leaf"), tie("leaf"), tie("group")),
    sequence: fc.array(tie("part"), { minLength: 1, maxLength: 4 }).map((parts) => parts.join("")),
  }));
  // With a star near `!(…)`, bash misses names: `.?@(*!(b)|a)` matches `.a`, as both may be empty, but not in bash.
  const isSure = (pattern: string): boolean => !pattern.includes("!(") || !/(?<!\\)\*(?!\()/.test(pattern);
  const cases = fc.sample(fc.tuple(inner.sequence.filter(isSure), fc.stringMatching(/^[abx*.]{1,6}$/)), {
    numRuns: 3_000,
    seed: 11,
  });
  const script = cases.map(([pattern, name]) => `[[ '${name}' == ${pattern} ]] && echo 1 || echo 0`).join("\n");
  const env = { PATH: process.env["PATH"], LC_ALL: "C.UTF-8" };
  const lines = execFileSync("bash", ["-O", "extglob"], { input: script, encoding: "utf8", env }).split("\n");
  const wrong = cases.filter(([pattern, name], index) => matches(pattern, name) !== (lines[index] === "1"));
  expect(wrong).toEqual([]);
});
