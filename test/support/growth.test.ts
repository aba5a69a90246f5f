/** The measure itself: it must tell the square from a line, or the tests that use it show nothing. */

import { expect, test } from "vitest";
import { growsLikeItsInput } from "./growth.ts";

const numbers = (size: number): Uint32Array => Uint32Array.from({ length: size }, (_, at) => at);
let sink = 0;

test("work that grows like its input is let through", async () => {
  await growsLikeItsInput(100_000, numbers, (input) => {
    for (let times = 0; times < 20; times += 1) for (const value of input) sink = (sink + value) % 1_000_003;
  });
});

test("work that grows like the square is found out", async () => {
  const square = (input: Uint32Array): void => {
    for (const one of input) for (const other of input) sink = (sink + one * other) % 1_000_003;
  };
  await expect(growsLikeItsInput(1_000, numbers, square)).rejects.toThrow(/four times \d+ is 1\d\.\d times the work/);
});
