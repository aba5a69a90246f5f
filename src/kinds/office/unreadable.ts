/** What can be wrong with an office file, and the exception that carries it from inside a part to `office.ts`. */

import type { LeftOut, Markdown } from "./markdown.ts";
import type { Package, Part } from "./package.ts";

export type OfficeFailure =
  | { readonly kind: "damaged"; readonly detail: string }
  | { readonly kind: "encrypted" }
  | { readonly kind: "bomb"; readonly detail: string }
  | { readonly kind: "too large"; readonly detail: string };

export class Unreadable extends Error {
  override readonly name = "Unreadable";
  readonly failure: OfficeFailure;
  constructor(failure: OfficeFailure) {
    super(failure.kind);
    this.failure = failure;
  }
}

export const damaged = (detail: string): Unreadable => new Unreadable({ kind: "damaged", detail });
export const bomb = (detail: string): Unreadable => new Unreadable({ kind: "bomb", detail });
export const tooLarge = (detail: string): Unreadable => new Unreadable({ kind: "too large", detail });

/** For lists that are in memory as a whole: relationships, styles, numberings, slides, notes. */
const entriesMax = 100_000;

export function checkCount(count: number, what: string): void {
  if (count > entriesMax) throw bomb(`it has more than ${entriesMax} ${what}`);
}

// The input of the reader of one format, and its result besides the text.

export interface OfficeReading {
  readonly main: Part;
  readonly office: Package;
  readonly markdown: Markdown;
  readonly leftOut: LeftOut;
  readonly cellsMax: number;
}

export interface OfficeSummary {
  readonly parts: readonly string[];
  readonly notes: readonly string[];
}
