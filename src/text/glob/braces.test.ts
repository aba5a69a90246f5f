/** Brace expansion. */

import { execFileSync } from "node:child_process";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { expandBraces } from "./braces.ts";

describe("braces", () => {
  for (const [pattern, texts] of [
    ["a", ["a"]],
    ["{a,b}", ["a", "b"]],
    ["x{a,b}y{1,2}", ["xay1", "xay2", "xby1", "xby2"]],
    ["{a,{b,c}d}", ["a", "bd", "cd"]],
    ["{,x}a", ["a", "xa"]],
    ["{1..3}", ["1", "2", "3"]],
    ["{3..1}", ["3", "2", "1"]],
    ["{08..10}", ["08", "09", "10"]],
    ["{1..9..4}", ["1", "5", "9"]],
    ["{-1..1}", ["-1", "0", "1"]],
    ["{a..c}", ["a", "b", "c"]],
    ["{a}", ["\\{a\\}"]],
    ["{}", ["\\{\\}"]],
    ["{{name}}/x", ["\\{\\{name\\}\\}/x"]],
    ["{a..3}", ["\\{a..3\\}"]],
    ["\\{a,b}", ["\\{a,b}"]],
    ["[{,]{a,b}", ["[{,]a", "[{,]b"]],
    ["a,b}", ["a,b}"]],
    ["{a,a}", ["a"]],
  ] as const) {
    test(`${pattern} is ${texts.join(" ")}`, () => expect(expandBraces(pattern, 100)).toEqual(texts));
  }

  test("an open brace is a fault", () => {
    expect(expandBraces("{a,b", 100)).toEqual({ fault: "unclosed brace" });
    expect(expandBraces("a{{b,c}", 100)).toEqual({ fault: "unclosed brace" });
  });

  test("what stands for too many texts is refused before any of them is made", () => {
    expect(expandBraces("{a,b}".repeat(7), 100)).toEqual({ fault: "too many choices" });
    expect(expandBraces("{a,b}".repeat(400), 100)).toEqual({ fault: "too many choices" });
    expect(expandBraces("{0..999999999}", 100)).toEqual({ fault: "too many choices" });
    expect(expandBraces(`${"{".repeat(900)}a,b${"}".repeat(900)}`, 100)).toHaveLength(2);
    expect(expandBraces(`${"{".repeat(5_000)}a,b${"}".repeat(5_000)}`, 100)).toEqual({ fault: "too many choices" });
    expect(expandBraces(`${"{a,".repeat(5_000)}${"}".repeat(5_000)}`, 100)).toEqual({ fault: "too many choices" });
  });

  test("braces around braces, and brackets that never close, take linear time", () => {
    const nested = (inner: string): string => `${"{".repeat(990)}${inner}${"}".repeat(990)}`;
    const startMs = performance.now();
    for (let round = 0; round < 10; round += 1) {
      expect(expandBraces(nested("/"), 64)).toHaveLength(1);
      expect(expandBraces(nested("{a,b}".repeat(6)), 64)).toHaveLength(64);
      expect(expandBraces(`{${"[".repeat(30_000)}`, 64)).toEqual({ fault: "unclosed brace" });
    }
    // Quadratic, these take half a minute.
    expect(performance.now() - startMs).toBeLessThan(10_000);
  });
});

/** Compared with the shell. Braces without a choice, and escapes, are written differently and left out here. */
test.skipIf(process.platform === "win32")("bash expands to the same texts", () => {
  const inner = fc.letrec((tie) => ({
    text: fc.stringMatching(/^[a-c]{1,2}$/),
    range: fc.tuple(fc.integer({ min: -3, max: 12 }), fc.integer({ min: -3, max: 12 })).map(([a, b]) => `{${a}..${b}}`),
    choice: fc
      .array(tie("pattern"), { minLength: 2, maxLength: 3 })
      .map((parts) => `{${(parts as readonly string[]).join(",")}}`),
    pattern: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      tie("text"),
      tie("range"),
      tie("choice"),
      fc.tuple(tie("text"), tie("choice")).map((both) => both.join("")),
    ),
  }));
  const patterns = fc.sample(inner.pattern as fc.Arbitrary<string>, { numRuns: 300, seed: 7 });
  const script = patterns.map((pattern) => `printf '%s ' ${pattern}; echo`).join("\n");
  const lines = execFileSync("bash", ["-c", script], { encoding: "utf8" }).split("\n");
  for (const [index, pattern] of patterns.entries()) {
    const expected = [...new Set((lines[index] ?? "").trim().split(" "))];
    expect({ pattern, texts: expandBraces(pattern, 1e6) }).toEqual({ pattern, texts: expected });
  }
});
