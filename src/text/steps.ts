/**
 * Long work without `await`: a generator that yields wherever its caller may do something else, such as let the event loop
 * turn or notice that the call was cancelled. Each stretch between two yields is short whatever the input.
 */

export type Steps<Result> = Generator<undefined, Result, undefined>;

/** Elements of a list between two yields: some milliseconds of work at most, whatever is done with each. */
export const partLength = 4_096;

/** Does the work on a range part by part. The inner loop stays a plain one, which is faster than one that yields. */
export function* inParts(length: number, work: (from: number, to: number) => void): Steps<void> {
  for (let from = 0; from < length; from += partLength) {
    if (from > 0) yield;
    work(from, Math.min(length, from + partLength));
  }
}

/** Does all of it at once. */
export function finish<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
