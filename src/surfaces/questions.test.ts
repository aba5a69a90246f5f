import { describe, expect, test } from "vitest";
import { hunksOfTexts } from "../text/diff/hunks.ts";
import { shortened } from "./questions.ts";

describe("shortened", () => {
  test("what is left out is still counted", () => {
    const { hunks } = hunksOfTexts("", "line\n".repeat(100));
    const short = shortened(hunks, 10);
    expect(short).toMatchObject({ totals: { additions: 100, deletions: 0 }, lines: 10 });
    expect(short.hunks[0]?.lines).toHaveLength(10);
    expect(shortened(hunks, 0)).toEqual({ hunks: [], totals: { additions: 100, deletions: 0 }, lines: 0 });
  });

  test("a long line is cut around what changed in it, whichever of several it is", () => {
    const long = (word: string): string => `first ${word}\n${"x".repeat(30_000)}${word}${"y".repeat(30_000)}\n`;
    const [hunk] = shortened(hunksOfTexts(long("old"), long("new")).hunks, 10).hunks;
    expect(hunk?.lines[0]).toBe("-first old");
    expect(hunk?.lines[2]).toBe("+first new");
    for (const [at, word] of [
      [1, "old"],
      [3, "new"],
    ] as const) {
      expect(hunk?.lines[at]).toMatch(new RegExp(`^[-+]…x{100,200}${word}y+… \\(\\d+ more characters\\)$`));
    }
  });

  test("a long line without a partner is cut at its end, and no pair is cut in half", () => {
    const [hunk] = shortened(hunksOfTexts("", `${"😀".repeat(5_000)}\n`).hunks, 10).hunks;
    expect(hunk?.lines[0]).toMatch(/^\+(?:😀)+… \(8000 more characters\)$/u);
  });
});
