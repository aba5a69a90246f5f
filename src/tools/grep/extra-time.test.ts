import { expect, test } from "vitest";
import { extraMs } from "./folder.ts";

for (const [what, tookMs, listed, ms] of [
  ["a quick search has time left", 399, "at least", 2_000],
  ["a long one gets a tenth", 12_345, "at least", 1_235],
  ["a small folder that was searched at once", 5, "all", 2_000],
  ["a slow machine makes no small folder large", 12_345, "all", 12_345],
] as const) {
  test(what, () => expect(extraMs(tookMs, listed)).toBe(ms));
}
