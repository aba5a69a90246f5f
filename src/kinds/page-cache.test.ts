/** Kept pages: worth keeping from the second read on, found only under the same key, bounded. */

import { expect, test } from "vitest";
import { lineNumber } from "../contract/target.ts";
import type { TextOutcome } from "../contract/read.ts";
import { createPageCache } from "./page-cache.ts";

const outcome = (line: string): TextOutcome =>
  ({
    kind: "text",
    pages: [
      {
        from: lineNumber(1),
        lines: [line],
        count: 1,
        linesTotal: 1,
        stopped: "end",
        next: undefined,
        cut: [],
        lineEndChars: 1,
      },
    ],
    encoding: "utf-8",
    lossy: false,
    sizeBytes: line.length,
    mtimeMs: 0,
  }) as unknown as TextOutcome; // no cache looks at the target

test("a page is kept when it is read the second time, and found under its own key only", () => {
  const cache = createPageCache();
  cache.keep("a", outcome("one"));
  expect(cache.find("a")).toBeUndefined();
  cache.keep("a", outcome("one"));
  expect(cache.find("a")?.pages[0].lines).toEqual(["one"]);
  expect(cache.find("b")).toBeUndefined();
});

test("the oldest pages go when there are too many characters, and a huge one is not kept at all", () => {
  const cache = createPageCache();
  const big = "x".repeat(300_000);
  for (const key of ["a", "b", "c", "d", "e", "f"]) {
    cache.keep(key, outcome(big));
    cache.keep(key, outcome(big));
  }
  expect(cache.find("a")).toBeUndefined();
  expect(cache.find("f")).toBeDefined();
  cache.keep("huge", outcome("x".repeat(500_000)));
  cache.keep("huge", outcome("x".repeat(500_000)));
  expect(cache.find("huge")).toBeUndefined();
});

test("what the first bytes said is kept for a bounded number of files", () => {
  const cache = createPageCache();
  const recognition = { form: undefined, guess: { encoding: "utf-8", decided: false } } as const;
  for (let file = 0; file < 1_001; file += 1) cache.keepRecognition(String(file), recognition);
  expect(cache.recognition("0")).toBeUndefined();
  expect(cache.recognition("1000")).toEqual(recognition);
});
