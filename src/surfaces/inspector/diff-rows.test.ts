import * as fc from "fast-check";
import { expect, test } from "vitest";
import { hunksOfTexts } from "../../text/diff/hunks.ts";
import { diffOfText, unified } from "../../text/diff/unified.ts";
import { rowsIn, rowsOf } from "./diffs.ts";

const hunk = { oldStart: 10, oldLines: 3, newStart: 11, newLines: 3, lines: [" a", "-b", "+B", " c"] };

for (const [from, count, expected] of [
  [0, 10, [{ ...hunk, continued: false }]],
  [0, 1, [{ oldStart: 10, oldLines: 1, newStart: 11, newLines: 1, lines: [" a"], continued: false }]],
  [1, 1, [{ oldStart: 11, oldLines: 1, newStart: 11, newLines: 0, lines: ["-b"], continued: true }]],
  [2, 1, [{ oldStart: 11, oldLines: 0, newStart: 12, newLines: 1, lines: ["+B"], continued: true }]],
  [3, 5, [{ oldStart: 12, oldLines: 1, newStart: 13, newLines: 1, lines: [" c"], continued: true }]],
  [4, 5, []],
] as const) {
  test(`rows ${from} to ${from + count} of one hunk`, () => expect(rowsOf([hunk], from, count)).toEqual(expected));
}

test("a new file begins at its first line, also in the middle of its hunk", () => {
  const { hunks } = hunksOfTexts("", "1\n2\n3\n");
  expect(rowsOf(hunks, 1, 1)).toEqual([
    { oldStart: 0, oldLines: 0, newStart: 2, newLines: 1, lines: ["+2"], continued: true },
  ]);
});

const texts = fc.array(fc.constantFrom("a", "b", "c", "@@ -1 +1 @@", "-x", "+y", "\\ z", ""), { maxLength: 30 });

test("all pages together are the diff, and a diff that was written out comes back as it was", () => {
  fc.assert(
    fc.property(texts, texts, fc.boolean(), fc.integer({ min: 1, max: 7 }), (a, b, ends, step) => {
      const { hunks, additions, deletions } = hunksOfTexts(a.join("\n") + (ends ? "\n" : ""), b.join("\n"));
      const rows: string[] = [];
      for (let from = 0; from < rowsIn(hunks); from += step) {
        rows.push(...rowsOf(hunks, from, step).flatMap(({ lines }) => lines));
      }
      expect(rows).toEqual(hunks.flatMap(({ lines }) => lines));
      expect(diffOfText(unified("x", hunks, "update"))).toEqual({ hunks, additions, deletions, complete: true });
    }),
  );
});

test("a diff that says there is more is not complete", () => {
  const text = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n(+7 -8, not all of it is shown)\n";
  expect(diffOfText(text)).toMatchObject({
    additions: 7,
    deletions: 8,
    complete: false,
    hunks: [{ lines: ["-a", "+b"] }],
  });
});
