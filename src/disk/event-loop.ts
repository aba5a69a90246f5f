/** Yields to the event loop in the middle of long work: much that is done on a disk does not wait itself. */

import type { Steps } from "../text/text.ts";

export const yieldToEventLoop = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** Long work in slices of time, between which the event loop turns and the work can be cancelled. */
export interface TimeSlices {
  /** Is the time of this slice over? Then `next` is to be awaited. */
  isOver(): boolean;
  next(): Promise<void>;
}

const sliceMsMax = 10;

export function timeSlices(signal?: AbortSignal): TimeSlices {
  let untilMs = performance.now() + sliceMsMax;
  return {
    isOver: () => performance.now() >= untilMs,
    async next() {
      await yieldToEventLoop();
      signal?.throwIfAborted();
      untilMs = performance.now() + sliceMsMax;
    },
  };
}

/** Does work step by step; the event loop turns between slices of time, and a cancelled call ends there. */
export async function inTurns<Result>(steps: Steps<Result>, signal: AbortSignal): Promise<Result> {
  const slices = timeSlices(signal);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (slices.isOver()) await slices.next();
  }
}
