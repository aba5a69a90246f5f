/** How a call says which name in a file is meant, for tools that ask language servers. */

import * as z from "zod/mini";
import { integer } from "./parameters.ts";

export interface CodePlaceInput {
  readonly line?: number;
  /** The name that is meant, as it stands on the line. */
  readonly symbol?: string;
  /** Where it stands, if there is no symbol; counted from 1. */
  readonly column?: number;
}

export const placeShape = {
  line: z.optional(integer({ min: 1 })),
  symbol: z.optional(z.string().check(z.minLength(1))),
  column: z.optional(integer({ min: 1 })),
};

export const placeWords = {
  line: { description: "The line that the symbol stands on, counted from 1" },
  symbol: { description: "The name that is meant, as it stands on that line" },
  column: { description: "Instead of symbol: the column, counted from 1" },
} as const;

interface Given {
  readonly line?: number | undefined;
  readonly symbol?: string | undefined;
  readonly column?: number | undefined;
}

export const placeIn = ({ line, symbol, column }: Given) => ({ line, symbol, column });
