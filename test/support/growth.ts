/**
 * How much more work four times the input is, without a limit of time: processor time of this process, the least of several tries, so that
 * neither other processes nor a pause of the collector count. Linear work takes four times as much, the square sixteen times.
 */

import { ok } from "node:assert/strict";

/** Between the two, nearer to the square: what is linear stays below it on any machine. */
const timesMax = 10;
/** Less cannot be measured: the input is made larger until one try takes so long. */
const leastMs = 15;
const triesMax = 5;

/** `make` builds an input of a size; `work` is what is measured. Fails if the work grows like the square of the size. */
export async function growsLikeItsInput<Input>(
  size: number,
  make: (size: number) => Input,
  work: (input: Input) => unknown,
): Promise<void> {
  const { times, from } = await growthOf(size, make, work);
  ok(times < timesMax, `four times ${from} is ${times.toFixed(1)} times the work`);
}

export async function growthOf<Input>(
  size: number,
  make: (size: number) => Input,
  work: (input: Input) => unknown,
): Promise<{ readonly times: number; readonly from: number }> {
  let from = size;
  let small = make(from);
  await leastOf(small, work, 1, 0); // the first call compiles
  while ((await leastOf(small, work, 2, 0)) < leastMs && from < size * 64) small = make((from *= 2));
  const base = await leastOf(small, work, triesMax, 0);
  const large = make(4 * from);
  // One try that is good enough is enough.
  // What is hardly measurable even then is no matter of growth.
  const least = Math.max(base, leastMs);
  return { times: (await leastOf(large, work, triesMax, least * timesMax)) / least, from };
}

async function leastOf<Input>(
  input: Input,
  work: (input: Input) => unknown,
  tries: number,
  enoughMs: number,
): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let count = 0; count < tries && least >= enoughMs; count += 1) {
    const before = process.cpuUsage();
    await work(input);
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1_000);
  }
  return Math.max(least, 0.01);
}
