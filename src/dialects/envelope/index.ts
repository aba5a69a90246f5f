/** The `envelope` dialect: every outcome, failures included, in one and the same envelope. */

import type { Dialect } from "../dialect.ts";
import { cards, type ReadInput } from "./cards.ts";
import { profile } from "./profile.ts";
import { type ReadResult, render, renderProblem } from "./render.ts";

/** The tools of this dialect with their types. */
export interface Tools {
  readonly Read: { readonly input: ReadInput; readonly output: ReadResult };
}

export const envelope: Dialect = { name: "envelope", failures: "returned", profile, cards, render, renderProblem };

export type { ReadInput, ReadResult };
