/** A request that is answered with a no: the status, a code for the page and a sentence for the person. */

import type { Refused, RefusedCode } from "../../contract/inspector.ts";

export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly status: number;
  readonly code: RefusedCode;
  readonly more: Partial<Omit<Refused["error"], "code" | "message">>;
  constructor(status: number, code: RefusedCode, message: string, more: Refusal["more"] = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.more = more;
  }
}

export const bad = (message: string): Refusal => new Refusal(400, "BAD_REQUEST", message);

/** What the library throws for an expected failure. By its name: it may be bundled apart from this. */
export const isFailure = (error: unknown): error is Error & { readonly code: string } =>
  error instanceof Error && error.name === "FilehandError" && "code" in error && typeof error.code === "string";
