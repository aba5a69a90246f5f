/** The tools of the `envelope` dialect, which takes nothing but what its schema says. */

import * as z from "zod/mini";
import { lineNumber } from "../../contract/brand.ts";
import type { Card } from "../dialect.ts";
import { columnOf, integer, jsonSchemaOf, parseArguments } from "../parameters.ts";
import { changeCards } from "./change-cards.ts";
import { grep } from "./grep-card.ts";
import { historyCards } from "./history-cards.ts";
import { lspCards } from "./lsp-cards.ts";
import readDescription from "./read.txt";
import { searchCards } from "./search-cards.ts";

const linesDefault = 500;
const linesMax = 2_000;

const readInput = z.strictObject({
  path: z.string(),
  start_line: z.optional(integer({ min: 1 })),
  limit: z.optional(integer({ min: 1, max: linesMax })),
  column: z.optional(integer({ min: 1 })),
});

/** What a call of `Read` may hold. */
export interface ReadInput {
  readonly path: string;
  /** First line to read, counted from 1. */
  readonly start_line?: number;
  /** How many lines to read, at most 2000; 500 by default. */
  readonly limit?: number;
  /** To see the rest of a cut line: its first character to show, counted from 1; only the line at start_line is shown then. */
  readonly column?: number;
}

const read: Card = {
  name: "Read",
  verb: "read",
  description: readDescription,
  readOnly: true,
  get inputSchema() {
    return jsonSchemaOf(readInput, {
      path: { description: "Path of the file, relative to the project root" },
      start_line: { description: "First line to read, counted from 1", default: 1 },
      limit: { description: "How many lines to read", default: linesDefault },
      column: {
        description:
          "To see the rest of a cut line: its first character to show, counted from 1; only the line at start_line is shown then",
      },
    });
  },
  toRequest(input, profile) {
    const { path, start_line, limit, column } = parseArguments(readInput, "Read", input);
    return {
      verb: "read",
      path,
      ranges: [{ from: lineNumber(start_line ?? 1), linesMax: limit ?? linesDefault, ...columnOf(column) }],
      overBudget: "first page",
      whole: start_line === undefined && limit === undefined && column === undefined,
      profile,
    };
  },
};

export const cards: readonly Card[] = [read, grep, ...searchCards, ...changeCards, ...historyCards, ...lspCards];
