/**
 * Something to stop each call with. To make an AbortController costs more than a look at a file, and nearly no call is ever
 * stopped; so those of calls that are over are used again.
 */

export interface Stops {
  take(): AbortController;
  /** The call is over and nothing of it goes on. One that was aborted is not used again. */
  giveBack(stop: AbortController): void;
}

export function createStops(keptMax = 64): Stops {
  const kept: AbortController[] = [];
  return {
    take: () => kept.pop() ?? new AbortController(),
    giveBack(stop) {
      if (!stop.signal.aborted && kept.length < keptMax) kept.push(stop);
    },
  };
}
