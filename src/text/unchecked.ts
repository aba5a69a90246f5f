/** Values out of JSON of which nothing is known: what is not of the wanted type is read as if it were missing. */

import { cutChars } from "./encoding.ts";

export type Unchecked = Readonly<Record<string, unknown>>;

/** A text that is written as one string or as a list of them. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  return Array.isArray(value) ? value.filter((piece) => typeof piece === "string").join("") : undefined;
}

export function isRecord(value: unknown): value is Unchecked {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const nothing: Unchecked = {};
export const recordOf = (value: unknown): Unchecked => (isRecord(value) ? value : nothing);
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
/** Of languages and kinds of data, which are short. */
export const nameCharsMax = 100;
export const filled = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? cutChars(value, nameCharsMax) : undefined;
export const wholeNumber = (value: unknown): number | undefined =>
  Number.isSafeInteger(value) ? Number(value) : undefined;
