import { describe, expect, test } from "vitest";
import { changesOfEdits } from "./pieces.ts";

const text = "let a = 1;\r\nuse(a, { a });\né𝒳 a";
const edit = (line: number, from: number, to: number, put: string, toLine = line) => ({
  range: { start: { line, column: from }, end: { line: toLine, column: to } },
  text: put,
});
const applied = (...edits: ReturnType<typeof edit>[]): string => {
  const result = changesOfEdits(text, edits, "a");
  if (result.are !== "fine") return result.are;
  return result.changes
    .toReversed()
    .reduce((all, { from, to, text: put }) => all.slice(0, from) + put + all.slice(to), text);
};

describe("edits by line and column", () => {
  for (const [name, edits, expected] of [
    ["change just their places", [edit(1, 5, 6, "b"), edit(2, 5, 6, "b")], "let b = 1;\r\nuse(b, { a });\né𝒳 a"],
    ["in any order", [edit(2, 5, 6, "b"), edit(1, 5, 6, "b")], "let b = 1;\r\nuse(b, { a });\né𝒳 a"],
    ["put in without taking away", [edit(2, 10, 10, "a: ")], "let a = 1;\r\nuse(a, { a: a });\né𝒳 a"],
    ["count UTF-16 units", [edit(3, 5, 6, "b")], "let a = 1;\r\nuse(a, { a });\né𝒳 b"],
    [
      "put in right before what changes",
      [edit(2, 10, 11, "b"), edit(2, 10, 10, "a: ")],
      "let a = 1;\r\nuse(a, { a: b });\né𝒳 a",
    ],
    ["may be said twice", [edit(1, 5, 6, "b"), edit(1, 5, 6, "b")], "let b = 1;\r\nuse(a, { a });\né𝒳 a"],
    ["are stale where the old name is not", [edit(1, 1, 4, "b")], "stale"],
    ["are stale behind the end", [edit(9, 1, 2, "b")], "stale"],
    ["are stale behind the end of a line", [edit(1, 5, 40, "b")], "stale"],
    ["are stale where they end before they begin", [edit(1, 6, 5, "b")], "stale"],
    ["contradict each other where they overlap", [edit(1, 5, 6, "b"), edit(1, 4, 6, "c")], "overlapping"],
    ["change nothing that is so already", [edit(1, 5, 6, "a")], text],
  ] as const) {
    test(name, () => expect(applied(...edits)).toBe(expected));
  }
});
