import { expect, test } from "vitest";
import { segmentsOf } from "./segments.ts";

const tokens = [
  { kind: "keyword", text: "const" },
  { kind: "plain", text: " a = " },
  { kind: "number", text: "12" },
] as const;

test("without marks the tokens stay as they are", () => {
  expect(segmentsOf(tokens, [])).toEqual({ segments: tokens.map((token) => ({ ...token, marked: false })), left: 0 });
});

test("a mark may begin and end inside of tokens", () => {
  expect(segmentsOf(tokens, [{ from: 6, to: 11 }]).segments).toEqual([
    { kind: "keyword", marked: false, text: "const" },
    { kind: "plain", marked: false, text: " " },
    { kind: "plain", marked: true, text: "a = " },
    { kind: "number", marked: true, text: "1" },
    { kind: "number", marked: false, text: "2" },
  ]);
});

test("two marks in one token", () => {
  const marks = [
    { from: 0, to: 1 },
    { from: 3, to: 4 },
  ];
  expect(
    segmentsOf([{ kind: "plain", text: "abcde" }], marks).segments.map(({ text, marked }) => [text, marked]),
  ).toEqual([
    ["a", true],
    ["bc", false],
    ["d", true],
    ["e", false],
  ]);
});

test("a long line is cut and says by how much", () => {
  const { segments, left } = segmentsOf([{ kind: "plain", text: "x".repeat(5_000) }], [{ from: 1_000, to: 4_000 }]);
  expect([segments.map(({ text }) => text.length), left]).toEqual([[1_000, 1_000], 3_000]);
});
