import * as fc from "fast-check";
import { expect, test } from "vitest";
import { estimateTokens } from "./tokens.ts";
import { growsLikeItsInput } from "../../test/support/growth.ts";

const prose =
  "The quick brown fox jumps over the lazy dog, and nobody in the village seems to mind. " +
  "Later that evening, three children found a small wooden boat near the river.\n";
const code = `export function add(left: number, right: number): number {
  const total = left + right;
  return total > limits.totalMax ? limits.totalMax : total;
}
`;
const json = `{"name": "filehand", "version": "0.1.0", "files": ["dist", "CHANGELOG.md"], "engines": {"node": ">=20.19.0"}}`;
const chinese = "读取文件的内容并返回给模型，同时记录已经显示过的行。";
const russian = "Прочитать содержимое файла и вернуть его модели";
const base64 = Buffer.from(Array.from({ length: 3_000 }, (_, at) => (at * 167 + (at >> 3)) % 256)).toString("base64");

for (const [name, text, from, to] of [
  ["nothing takes nothing", "", 0, 0],
  ["a word takes about one", "hello", 0.5, 1.5],
  ["English prose takes about one for a word", prose, 28, 38],
  ["TypeScript takes more than its words", code, 32, 44],
  ["JSON takes about one for three characters", json, 34, 52],
  ["Chinese takes less than one for a character", chinese, 12, 20],
  ["Russian takes about one for three characters", russian, 11, 18],
  ["a long run of spaces takes little", " ".repeat(100_000), 1, 1_000],
  ["base64 takes more than one for four characters", base64, 1_000, 3_000],
  ["CRLF takes what LF does", "a\r\nb\r\n", estimateTokens("a\nb\n"), estimateTokens("a\nb\n")],
] as const) {
  test(name, () => {
    expect(estimateTokens(text)).toBeGreaterThanOrEqual(from);
    expect(estimateTokens(text)).toBeLessThanOrEqual(to);
  });
}

const texts = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({ unit: fc.constantFrom("a", "B", "7", " ", "\t", "\n", "\r", ";", "é", "д", "数", "😀"), maxLength: 300 }),
  fc
    .array(fc.constantFrom(...prose.split(" "), ...code.split(" "), "\n", "\n\n"), { maxLength: 200 })
    .map((words) => words.join(" ")),
);

test("it is never negative and never more than the bytes", () => {
  fc.assert(
    fc.property(texts, (text) => {
      expect(estimateTokens(text)).toBeGreaterThanOrEqual(0);
      expect(estimateTokens(text)).toBeLessThanOrEqual(Buffer.byteLength(text));
    }),
  );
});

test("the lines, each with its newline, add up to the text", () => {
  fc.assert(
    fc.property(texts, (text) => {
      const lines = text.split("\n");
      const sum =
        lines.reduce((total, line) => total + estimateTokens(line), 0) + (lines.length - 1) * estimateTokens("\n");
      expect(sum).toBeCloseTo(estimateTokens(text), 6);
    }),
  );
});

for (const unit of [" ", "a", "A", "7", ";", "\n", "数", "aA7; "]) {
  test(`the work grows with the length and with nothing else: ${JSON.stringify(unit)}`, async () => {
    await growsLikeItsInput(1_000_000, (chars) => unit.repeat(chars / unit.length), estimateTokens);
  });
}
