/** The verdicts of an ignore file. */

import { describe, expect, test } from "vitest";
import { readIgnoreRules } from "./ignore-rules.ts";
import { finish } from "../steps.ts";

const rulesOf = (text: string) => finish(readIgnoreRules(text));

/** `path` ends in a slash for a folder. */
function judged(text: string, path: string): "ignored" | "kept" | undefined {
  const names = path.replace(/\/$/, "").split("/");
  const name = names.pop() ?? "";
  return rulesOf(text)?.judge(names, 0, name, path.endsWith("/") ? "folder" : "file");
}

describe("ignore files", () => {
  for (const [text, path, verdict] of [
    ["a", "a", "ignored"],
    ["a", "x/a", "ignored"],
    ["/a", "x/a", undefined],
    ["/a", "a", "ignored"],
    ["x/a", "x/a", "ignored"],
    ["x/a", "y/x/a", undefined],
    ["a/", "a", undefined],
    ["a/", "a/", "ignored"],
    ["*.log", "x/y.log", "ignored"],
    ["*.log\n!keep.log", "keep.log", "kept"],
    ["!keep.log\n*.log", "keep.log", "ignored"],
    ["**/a", "x/y/a", "ignored"],
    ["x/**/a", "x/a", "ignored"],
    ["x/**/a", "x/y/z/a", "ignored"],
    ["x/**", "x/", undefined],
    ["x/**", "x/y", "ignored"],
    ["**", "anything", "ignored"],
    ["/*\n!/a", "a", "kept"],
    ["/*\n!/a", "b", "ignored"],
    ["# a", "# a", undefined],
    ["\\#a", "#a", "ignored"],
    ["\\!a", "!a", "ignored"],
    ["a   ", "a", "ignored"],
    ["a\\ ", "a ", "ignored"],
    ["a\\  ", "a ", "ignored"],
    ["a\r\nb", "a", "ignored"],
    ["\ufeffa", "a", "ignored"],
    ["[ab", "[ab", undefined],
    ["a\\", "a\\", undefined],
    ["a*b*c", "aXbYc", "ignored"],
    ["cafe\u0301", "caf\u00e9", "ignored"],
    ["", "a", undefined],
  ] as const) {
    test(`${JSON.stringify(text)} about ${path}`, () => expect(judged(text, path)).toBe(verdict));
  }

  test("many ** cost no more than one", () => {
    const rule = `${"**/a/".repeat(200)}b`;
    expect(judged(rule, `${"a/".repeat(300)}c`)).toBeUndefined();
    expect(judged(rule, `${"a/".repeat(300)}b`)).toBe("ignored");
  });
});
