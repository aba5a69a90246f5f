/** Checks a request field by field. Nothing of it is trusted before. */

import { isRecord } from "../../contract/common.ts";
import type { Refused, RefusedCode } from "./wire.ts";

export type Fields = Readonly<Record<string, unknown>>;

export const textCharsMax = 8_192; // twice the longest path

export function fieldsOf(value: unknown, what: string): Fields {
  if (!isRecord(value)) throw bad(`${what} must be an object`);
  return value;
}

export function text(fields: Fields, name: string, charsMax = textCharsMax): string {
  const value = maybeText(fields, name, charsMax);
  if (value === undefined) throw bad(`"${name}" is missing`);
  return value;
}

export function maybeText(fields: Fields, name: string, charsMax = textCharsMax): string | undefined {
  const value = own(fields, name);
  if (value === undefined) return undefined;
  if (typeof value !== "string") throw bad(`"${name}" must be a text`);
  if (value.length > charsMax) throw bad(`"${name}" must have at most ${charsMax} characters`);
  return value;
}

export function integer(fields: Fields, name: string, min: number, max: number, usual: number): number {
  const value = own(fields, name);
  if (value === undefined) return usual;
  if (typeof value !== "number" || !Number.isInteger(value) || value < min || value > max) {
    throw bad(`"${name}" must be a whole number from ${min} to ${max}`);
  }
  return value;
}

export function flag(fields: Fields, name: string): boolean {
  const value = own(fields, name);
  if (value === undefined) return false;
  if (typeof value !== "boolean") throw bad(`"${name}" must be true or false`);
  return value;
}

export function texts(fields: Fields, name: string, countMax: number): readonly string[] | undefined {
  const value = own(fields, name);
  if (value === undefined) return undefined;
  const isFine = (one: unknown): one is string => typeof one === "string" && one.length <= textCharsMax;
  if (!Array.isArray(value) || value.length > countMax || !value.every(isFine)) {
    throw bad(`"${name}" must be a list of at most ${countMax} texts`);
  }
  return value;
}

export function counts(fields: Fields, name: string, countMax: number): readonly number[] | undefined {
  const value = own(fields, name);
  if (value === undefined) return undefined;
  const isFine = (one: unknown): one is number => Number.isSafeInteger(one) && Number(one) >= 0;
  if (!Array.isArray(value) || value.length > countMax || !value.every(isFine)) {
    throw bad(`"${name}" must be a list of at most ${countMax} integers from 0 on`);
  }
  return value;
}

export function choice<Value extends string>(fields: Fields, name: string, values: readonly Value[]): Value {
  const given = text(fields, name);
  const value = values.find((one) => one === given);
  if (value === undefined) throw bad(`"${name}" must be one of ${values.join(", ")}`);
  return value;
}

export const own = (fields: Fields, name: string): unknown => (Object.hasOwn(fields, name) ? fields[name] : undefined);

export function numberIn(query: URLSearchParams, name: string, min: number, max: number): number | undefined {
  const value = query.get(name);
  if (value === null) return undefined;
  const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
  if (!(number >= min && number <= max)) throw bad(`"${name}" must be a whole number from ${min} to ${max}`);
  return number;
}

// A refused request: the status, a code for the page and a sentence for the person.

export class RequestRefused extends Error {
  override readonly name = "Refusal";
  readonly status: number;
  readonly code: RefusedCode;
  readonly more: Partial<Omit<Refused["error"], "code" | "message">>;
  constructor(status: number, code: RefusedCode, message: string, more: RequestRefused["more"] = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.more = more;
  }
}

export const bad = (message: string): RequestRefused => new RequestRefused(400, "BAD_REQUEST", message);

/** An expected failure of the library, recognised by its name: its class may be in another bundle. */
export const isFailure = (error: unknown): error is Error & { readonly code: string } =>
  error instanceof Error && error.name === "FilehandError" && "code" in error && typeof error.code === "string";
