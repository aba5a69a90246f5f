import { expect, test } from "vitest";
import { writtenPlace } from "./lsp.ts";

for (const [text, path, line, column] of [
  ["src/a.ts", "src/a.ts", undefined, undefined],
  ["src/a.ts:12", "src/a.ts", 12, undefined],
  ["src/a.ts:12:5", "src/a.ts", 12, 5],
  ["a:b.ts:3", "a:b.ts", 3, undefined],
  ["C:\\a.ts:3:4", "C:\\a.ts", 3, 4],
  ["a.ts:0", "a.ts:0", undefined, undefined],
  ["a.ts:", "a.ts:", undefined, undefined],
  [":3", ":3", undefined, undefined],
  ["a:1:2:3", "a:1", 2, 3],
] as const) {
  test(`the place ${text}`, () => expect(writtenPlace(text)).toEqual({ path, line, column }));
}
