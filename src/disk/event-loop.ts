/** Yields to the event loop within long synchronous work. */

import type { Steps } from "../text/text.ts";

export const yieldToEventLoop = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

export type TimeSlices = ReturnType<typeof timeSlices>;

/** A fifth of the 50 ms that one call may block the event loop, so several calls can share a turn. */
const sliceMsMax = 10;

/** Long work in time slices; between them the event loop runs and the work can be cancelled. */
export function timeSlices(signal?: AbortSignal) {
  let untilMs = performance.now() + sliceMsMax;
  return {
    isOver: (): boolean => performance.now() >= untilMs,
    async next(): Promise<void> {
      await yieldToEventLoop();
      signal?.throwIfAborted();
      untilMs = performance.now() + sliceMsMax;
    },
  };
}

/** Does the same with each item, in time slices. */
export async function mapInSlices<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Result,
  signal?: AbortSignal,
): Promise<readonly Result[]> {
  const slices = timeSlices(signal);
  const results: Result[] = [];
  for (const item of items) {
    if (slices.isOver()) await slices.next();
    results.push(work(item));
  }
  return results;
}

/** Runs a step generator to its end in time slices. Throws the signal's reason between two of them. */
export async function runInSlices<Result>(steps: Steps<Result>, signal?: AbortSignal): Promise<Result> {
  const slices = timeSlices(signal);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (slices.isOver()) await slices.next();
  }
}
