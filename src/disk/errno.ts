/**
 * Errors of the system, by number. Node's `code` is not to be trusted: EDQUOT, ESTALE and EUCLEAN have no name in
 * Node 20 to 24, while `errno` is always right.
 */

import { constants } from "node:os";

const names = new Map<number, string>(Object.entries(constants.errno).map(([name, value]) => [value, name]));
names.set(117, "EUCLEAN");

/** The name of a system error ("ENOENT"), or undefined if `error` is none and so a bug. */
export function errnoName(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("errno" in error) || typeof error.errno !== "number") return undefined;
  const number = Math.abs(error.errno);
  return names.get(number) ?? `errno ${number}`;
}
