import { expect, test } from "vitest";
import { type ProgressNote, progressFor } from "./tool-call.ts";

test("who gave no token is told nothing", () => {
  expect(progressFor(undefined, async () => undefined)).toBeUndefined();
  expect(progressFor({}, async () => undefined)).toBeUndefined();
});

test("it is told ten times a second at most, and only forwards", () => {
  const told: ProgressNote["params"][] = [];
  let now = 0;
  const tell = progressFor(
    0,
    async ({ params }) => {
      told.push(params);
    },
    () => now,
  );
  for (const [at, done] of [
    [0, 1],
    [50, 2],
    [100, 3],
    [200, 3],
    [300, 2],
    [400, 9],
  ] as const) {
    now = at;
    tell?.(done, 10);
  }
  expect(told.map(({ progress, total, progressToken }) => [progress, total, progressToken])).toEqual([
    [1, 10, 0],
    [3, 10, 0],
    [9, 10, 0],
  ]);
});

test("a client that is gone is no failure of the call", async () => {
  const tell = progressFor("t", () => Promise.reject(new Error("closed")));
  expect(() => tell?.(1, 2)).not.toThrow();
  await new Promise(setImmediate);
});
