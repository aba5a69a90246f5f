import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hunksOfTexts } from "./hunks.ts";
import { diffOfText, moreLine, noDiffLine, unified } from "./unified.ts";

describe("a diff that was written out comes back as it was", () => {
  for (const [name, before, after] of [
    ["a changed line", "a\nb\nc\n", "a\nB\nc\n"],
    ["lines that look like headers", "", "@@ -1 +1 @@\n--- a\n+++ b\n"],
    ["a line that looks like the remark behind a long diff", "", `${moreLine(1, 2)}\n`],
    ["two hunks and a missing final newline", `a\n${"x\n".repeat(20)}b\n`, `A\n${"x\n".repeat(20)}B`],
    ["lines that end in CRLF", "a\r\nb\r\nc", "a\r\nB\r\nc"],
    ["a changed line end", "a\r\nb\r\n", "a\nb\r\n"],
    ["nothing", "a\n", "a\n"],
  ] as const) {
    test(name, () => {
      const { hunks, additions, deletions } = hunksOfTexts(before, after);
      expect(diffOfText(unified("a b", hunks, "update"))).toEqual({ hunks, additions, deletions, complete: true });
    });
  }

  test("any, also with what stands behind a long one", () => {
    const piece = fc.constantFrom(
      "a\n",
      "b\n",
      "a\r\n",
      "b\r\n",
      "c\r\r\n",
      "\n",
      "\\ x\n",
      "@@ -1 +1 @@\n",
      `${moreLine(3, 4)}\n`,
      "x",
    );
    const text = fc.array(piece, { maxLength: 25 }).map((pieces) => pieces.join(""));
    fc.assert(
      fc.property(text, text, (before, after) => {
        const { hunks, additions, deletions } = hunksOfTexts(before, after);
        const written = unified("x", hunks, "update");
        expect(diffOfText(written)).toEqual({ hunks, additions, deletions, complete: true });
        const cut = diffOfText(`${written}${moreLine(700, 800)}\n`);
        expect(cut).toEqual({ hunks, additions: 700, deletions: 800, complete: false });
      }),
      { numRuns: 1_000 },
    );
  });
});

test("that not all is shown is no row of the diff", () => {
  const text = `--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n${moreLine(7, 8)}\n`;
  expect(diffOfText(text)).toEqual({
    hunks: [{ oldStart: 1, oldLines: 1, newStart: 1, newLines: 1, lines: ["-a", "+b"] }],
    additions: 7,
    deletions: 8,
    complete: false,
  });
});

test("where a text says that there is no diff there is none, and a line of a file does not say it", () => {
  expect(diffOfText(`${noDiffLine}\n`)).toBeUndefined();
  const { hunks } = hunksOfTexts("", `${noDiffLine}\n`);
  expect(diffOfText(unified("x", hunks, "create"))).toMatchObject({ additions: 1, deletions: 0 });
});
