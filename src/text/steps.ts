/** Long work as a generator that yields where its caller may yield to the event loop. Each step is short. */

export type Steps<Result> = Generator<undefined, Result, undefined>;

/** Elements of a list between two yields: a few milliseconds of work at most. */
export const partLength = 4_096;

/** Splits the work on a range into parts. The inner loop does not yield, which is faster. */
export function* inParts(length: number, work: (from: number, to: number) => void): Steps<void> {
  for (let from = 0; from < length; from += partLength) {
    if (from > 0) yield;
    work(from, Math.min(length, from + partLength));
  }
}

export function finish<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
