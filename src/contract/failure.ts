/** What the library throws: a code that programs can rely on, and a sentence that says what to do next. */

import type { Code } from "./problem.ts";

export type FailureCode = Code | "NO_ROOT" | "UNKNOWN_DIALECT";

export class FilehandError extends Error {
  override readonly name = "FilehandError";
  readonly code: FailureCode;
  constructor(code: FailureCode, message: string) {
    super(message);
    this.code = code;
  }
}
