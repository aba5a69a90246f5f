/**
 * Long work without `await`: a generator that yields wherever its caller may do something else, such as let the event loop
 * turn or notice that the call was cancelled. Each stretch between two yields is short whatever the input.
 */

export type Steps<Result> = Generator<undefined, Result, undefined>;

/** Does all of it at once. */
export function finish<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
