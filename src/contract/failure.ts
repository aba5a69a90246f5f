/** What the library throws: a code that programs can rely on, and a sentence that says what to do next. */

import type { Code } from "./problem.ts";

export type FailureCode = Code | "NO_ROOT" | "UNCLEAR_RULE" | "UNKNOWN_DIALECT";

export class FilehandError extends Error {
  override readonly name = "FilehandError";
  readonly code: FailureCode;
  constructor(code: FailureCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** Told to people by its message: what the library throws on purpose. `StoreFailed`: the history cannot be read. */
export const isFailure = (error: unknown): error is Error & { readonly code: FailureCode } =>
  error instanceof FilehandError || (error instanceof Error && error.name === "StoreFailed");
