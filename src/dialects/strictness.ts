/** How literally a dialect takes the arguments of a call: what two dialects call alike differs in nothing else. */

import * as z from "zod/mini";
import { integer, optional, strictInteger } from "./parameters.ts";

export interface Strictness {
  readonly optional: typeof optional;
  readonly integer: typeof integer;
}

/** Null counts as left out, and "10" as 10. */
export const leniently: Strictness = { optional, integer };

/** Nothing but what the schema says. */
export const strictly: Strictness = {
  // Both take less than the lenient ones and give a part of what those give, so whoever is ready for these is ready for them.
  optional: z.optional as unknown as typeof optional,
  integer: strictInteger as unknown as typeof integer,
};
