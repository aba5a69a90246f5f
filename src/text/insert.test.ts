/** Inserting lines after a line and replacing lines: the place, and the line endings. */

import { describe, expect, test } from "vitest";
import { countLines, insertion, lineReplacement } from "./pieces.ts";

const inserted = (text: string, afterLine: number, newText: string): string | undefined => {
  const found = insertion(text, afterLine, newText);
  if (found === undefined) return undefined;
  const { from, to, text: put } = found.change;
  return text.slice(0, from) + put + text.slice(to);
};

describe("insertion", () => {
  for (const [what, text, line, put, expected] of [
    ["before the first line", "a\nb\n", 0, "x", "x\na\nb\n"],
    ["behind the first", "a\nb\n", 1, "x", "a\nx\nb\n"],
    ["a final newline of the new text counts once", "a\nb\n", 1, "x\n", "a\nx\nb\n"],
    ["an empty line", "a\nb\n", 1, "", "a\n\nb\n"],
    ["at the end", "a\nb\n", 2, "x", "a\nb\nx\n"],
    ["at an end without newline", "a\nb", 2, "x\ny\n", "a\nb\nx\ny"],
    ["CRLF stays CRLF", "a\r\nb\r\n", 1, "x\ny", "a\r\nx\r\ny\r\nb\r\n"],
    ["CRLF before the first line", "a\r\nb\r\n", 0, "x", "x\r\na\r\nb\r\n"],
    ["CRLF at an end without newline", "a\r\nb", 2, "x", "a\r\nb\r\nx"],
    ["LF in a mixed file beside an LF", "a\r\nb\nc\n", 2, "x", "a\r\nb\nx\nc\n"],
    ["an empty text", "", 0, "x", "x\n"],
    ["one line without newline", "a", 1, "x", "a\nx"],
    ["past the end", "a\nb\n", 3, "x", undefined],
    ["past an empty text", "", 1, "x", undefined],
    ["before the beginning", "a\n", -1, "x", undefined],
  ] as const) {
    test(what, () => expect(inserted(text, line, put)).toBe(expected));
  }

  test("the line before is what must have been seen", () => {
    expect(insertion("ab\ncd\n", 2, "x")?.beside).toEqual({ from: 3, to: 6 });
    expect(insertion("ab\ncd\n", 0, "x")?.beside).toEqual({ from: 0, to: 0 });
  });
});

test("lines are counted by their ends", () => {
  expect(["", "a", "a\n", "a\nb", "a\n\n"].map(countLines)).toEqual([0, 1, 1, 2, 2]);
});

describe("lines that replace others", () => {
  for (const [what, text, from, to, put, expected] of [
    ["one by one", "a\nb\nc\n", 2, 2, "B", "a\nB\nc\n"],
    ["two by three", "a\nb\nc\n", 1, 2, "x\ny\nz", "x\ny\nz\nc\n"],
    ["a final newline of the new text counts once", "a\nb\n", 1, 1, "x\n", "x\nb\n"],
    ["by an empty line", "a\nb\n", 1, 1, "\n", "\nb\n"],
    ["by nothing", "a\nb\nc\n", 2, 2, "", "a\nc\n"],
    ["all by nothing", "a\nb\n", 1, 2, "", ""],
    ["with CRLF", "a\r\nb\r\nc", 2, 2, "x\ny", "a\r\nx\r\ny\r\nc"],
    ["with the end of the line that goes", "a\nb\r\nc\n", 2, 2, "x\ny", "a\nx\r\ny\r\nc\n"],
    ["the last line without a newline", "a\nb", 2, 2, "x\ny", "a\nx\ny"],
    ["the last line without a newline by nothing", "a\r\nb", 2, 2, "", "a"],
    ["the only line by nothing", "a", 1, 1, "", ""],
    ["nothing at the end without a newline", "a\nb", 3, 2, "x", "a\nb\nx"],
    ["nothing at the start", "a\nb\n", 1, 0, "x", "x\na\nb\n"],
    ["$ is text", "a\n", 1, 1, "$& $1", "$& $1\n"],
  ] as const) {
    test(what, () => {
      const starts = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
      const at = starts[from - 1] ?? text.length;
      const change = lineReplacement(text, { at, until: starts[to] ?? text.length }, put);
      expect(text.slice(0, change.from) + change.text + text.slice(change.to)).toBe(expected);
      expect(change.replaced).toBe(text.slice(change.from, change.to));
    });
  }
});
