import { describe, expect, test } from "vitest";
import { isAtRest, isCoarse, isRacy } from "./time-grain.ts";

const msNs = 1_000_000n;
/** 1,000 s after the beginning of time, and some nanoseconds. */
const at = (ns: bigint): bigint => 1_000_000_000_000n + ns;
const times = (mtimeNs: bigint, ctimeNs = mtimeNs) => ({ mtimeNs, ctimeNs });
const nowMs = (afterMs: number): number => 1_000_000 + afterMs;

describe("a file is at rest when a change would show in its times", () => {
  for (const [what, file, afterMs, atRest] of [
    ["fine times, 5 ms ago", times(at(123_456_789n)), 128, false],
    ["fine times, 20 ms ago", times(at(123_456_789n)), 144, true],
    ["times of 10 ms, 15 ms ago", times(at(120n * msNs)), 135, false],
    ["times of 10 ms, 25 ms ago", times(at(120n * msNs)), 145, true],
    ["whole seconds, 20 ms ago", times(at(0n)), 20, false],
    ["whole seconds, 999 ms ago", times(at(0n)), 999, false],
    ["whole seconds, 1,999 ms ago, which FAT needs", times(at(0n)), 1_999, false],
    ["whole seconds, 2,020 ms ago", times(at(0n)), 2_020, true],
    ["a time set to a whole second long ago, changed just now", times(0n, at(123_456_789n)), 128, false],
    ["a time set to a whole second long ago, nothing since", times(0n, at(123_456_789n)), 200, true],
    ["a time in the future", times(at(5_000_000_001n)), 100, false],
  ] as const) {
    test(`${what}: ${atRest ? "it is" : "it is not"}`, () => expect(isAtRest(file, nowMs(afterMs))).toBe(atRest));
  }
});

test("the comparison before a replace covers the grain of the times", () => {
  expect(isRacy(times(at(1n)), nowMs(900))).toBe(true);
  expect(isRacy(times(at(1n)), nowMs(1_100))).toBe(false);
  expect(isRacy(times(at(0n)), nowMs(2_900))).toBe(true);
  expect(isRacy(times(at(0n)), nowMs(3_100))).toBe(false);
});

test("times are coarse when both are whole seconds", () => {
  expect(isCoarse(times(at(0n)))).toBe(true);
  expect(isCoarse(times(at(0n), at(1n)))).toBe(false);
  expect(isCoarse(times(at(10n * msNs)))).toBe(false);
});
