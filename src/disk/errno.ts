/** System errors by `errno`, since `code` has no name for EDQUOT, ESTALE and EUCLEAN in Node 20 to 24. */

import { constants } from "node:os";

const names = new Map<number, string>(Object.entries(constants.errno).map(([name, value]) => [value, name]));
names.set(117, "EUCLEAN");

/** The name of a system error ("ENOENT"); undefined for any other error, which is a bug. */
export function errnoName(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("errno" in error) || typeof error.errno !== "number") return undefined;
  const number = Math.abs(error.errno);
  return names.get(number) ?? `errno ${number}`;
}

/** The result of `call`; for a system error, what `otherwise` makes of its name. Any other error is a bug and is thrown. */
export function orErrno<Value, Other>(call: () => Value, otherwise: (errno: string) => Other): Value | Other {
  try {
    return call();
  } catch (error) {
    const errno = errnoName(error);
    if (errno === undefined) throw error;
    return otherwise(errno);
  }
}

export function unlessMissing<Result>(call: () => Result): Result | undefined {
  try {
    return call();
  } catch (error) {
    if (errnoName(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** The result of `action`; undefined if it throws. For cleanup and optional facts only: it hides bugs too. */
export function attempt<Value>(action: () => Value): Value | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}
