import { expect, test } from "vitest";
import { partAfterKey } from "./part-after-key.ts";

for (const [key, at, expected] of [
  ["ArrowRight", undefined, 0],
  ["ArrowRight", 3, 4],
  ["ArrowRight", 59, 59],
  ["ArrowLeft", 3, 2],
  ["ArrowLeft", 0, undefined],
  ["ArrowLeft", undefined, undefined],
  ["PageUp", undefined, 9],
  ["PageUp", 55, 59],
  ["PageDown", 30, 20],
  ["PageDown", 5, undefined],
  ["Home", 9, undefined],
  ["End", undefined, 59],
  ["Escape", 9, undefined],
  ["x", 9, 9],
] as const) {
  test(`${key} at ${at}`, () => expect(partAfterKey(key, at, 60)).toBe(expected));
}
