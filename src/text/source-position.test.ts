import { describe, expect, test } from "vitest";
import type { AskedPlace } from "../contract/lsp.ts";
import { findCodePlace, wordAt } from "./source-position.ts";

const text = "const apple = 1;\r\nuse(apple, pineapple, apples);\n\n\n\n\n\n\n\n// apple\n  café.apple(𝒳);";

const at = (asked: Partial<AskedPlace>): string => {
  const found = findCodePlace(text, { line: undefined, column: undefined, symbol: undefined, ...asked });
  if (found.found === "no") return JSON.stringify({ ...found, found: undefined });
  const { line, column, symbol, elsewhere } = found.place;
  return `${line}:${column} ${symbol}${elsewhere ? " elsewhere" : ""}`;
};

describe("a place", () => {
  for (const [name, asked, expected] of [
    ["by line and column, with the name there", { line: 1, column: 9 }, "1:9 apple"],
    ["right behind a name is in it", { line: 1, column: 12 }, "1:12 apple"],
    ["between names there is none", { line: 1, column: 13 }, "1:13 "],
    ["by a name on a line, whole words only", { line: 2, symbol: "apple" }, "2:5 apple"],
    ["by a name on a line, near a column", { line: 2, symbol: "apples", column: 1 }, "2:23 apples"],
    ["by a name a few lines away", { line: 4, symbol: "pineapple" }, "2:12 pineapple elsewhere"],
    ["the nearest line has it", { line: 9, symbol: "apple" }, "10:4 apple elsewhere"],
    ["not by a name that is far away", { line: 9, symbol: "pineapple" }, '{"why":"symbol","lines":[2]}'],
    ["by a name alone: where it stands first", { symbol: "apples" }, "2:23 apples"],
    ["not by a name that is nowhere", { symbol: "pear" }, '{"why":"symbol","lines":[]}'],
    ["not by a part of a name", { symbol: "pine" }, '{"why":"symbol","lines":[]}'],
    ["a name of several words is a text", { line: 2, symbol: "use(apple" }, "2:1 use(apple"],
    ["letters of other scripts are parts of names", { line: 11, column: 4 }, "11:4 café"],
    ["letters beyond 16 bits too", { line: 11, column: 14 }, "11:14 𝒳"],
    ["not on a line that is not there", { line: 12, column: 1 }, '{"why":"line","linesTotal":11}'],
    ["not at a column behind the line", { line: 1, column: 40 }, '{"why":"column","columnsMax":17}'],
    ["not without a column or a name", { line: 1 }, '{"why":"nothing named"}'],
    ["not by nothing", {}, '{"why":"nothing named"}'],
  ] as const) {
    test(name, () => expect(at(asked)).toBe(expected));
  }
  test("a word at the end of a line", () => expect(wordAt("a.bc", 5)).toBe("bc"));
});
