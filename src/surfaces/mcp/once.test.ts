import { expect, test } from "vitest";
import { createOnce } from "./approval-state.ts";

test("a number works once", () => {
  const once = createOnce(1_000);
  const nonce = once.give();
  expect([once.take(nonce), once.take(nonce), once.take("made up")]).toEqual([true, false, false]);
});

test("after a while it works no more", () => {
  let now = 0;
  const once = createOnce(1_000, 10, () => now);
  const [early, late] = [once.give(), once.give()];
  now = 1_000;
  expect(once.take(early)).toBe(true);
  now = 1_001;
  expect(once.take(late)).toBe(false);
});

test("there are never more than agreed: the oldest goes first", () => {
  const once = createOnce(1_000, 2, () => 0);
  const [first, second, third] = [once.give(), once.give(), once.give()];
  expect([once.take(first), once.take(second), once.take(third)]).toEqual([false, true, true]);
});
