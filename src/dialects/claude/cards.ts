/** The tools of the `claude` dialect. */

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

const readInput = z.strictObject({
  file_path: z.string(),
  offset: z.optional(integer({ min: 1 })),
  limit: z.optional(integer({ min: 1 })),
  column: z.optional(integer({ min: 1 })),
  pages: z.optional(z.string()),
});

/** What a call of `Read` may hold. */
export interface ReadInput {
  readonly file_path: string;
  /** First line to read; lines count from 1. */
  readonly offset?: number;
  /** How many lines to read; all of them by default. */
  readonly limit?: number;
  /** To see the rest of a cut line: its first character to show, counted from 1; only the line at offset is shown then. */
  readonly column?: number;
  /** Pages of a PDF: "1-5", "3", "10-20". */
  readonly pages?: string;
}

const read: Card = {
  name: "Read",
  verb: "read",
  description: readDescription,
  readOnly: true,
  get inputSchema() {
    return jsonSchemaOf(readInput, {
      file_path: { description: "Path of the file" },
      offset: { description: "First line to read; lines count from 1" },
      limit: { description: "How many lines to read; all of them by default" },
      column: {
        description:
          "To see the rest of a cut line: its first character to show, counted from 1; only the line at offset is shown then",
      },
      pages: { description: 'Pages of a PDF: "1-5", "3", "10-20"' },
    });
  },
  toRequest(input, profile) {
    const { file_path, offset, limit, column, pages } = parseArguments(readInput, "Read", input);
    return {
      verb: "read",
      path: file_path,
      ranges: [{ from: lineNumber(offset ?? 1), linesMax: limit ?? Number.POSITIVE_INFINITY, ...columnOf(column) }],
      // Who names an end wants all of it; who does not is served the first page of the rest.
      overBudget: limit == null ? "first page" : "refuse",
      whole: offset == null && limit == null && column == null,
      profile,
      ...(pages == null ? {} : { pages }),
    };
  },
};

export const cards: readonly Card[] = [read, grep, ...searchCards, ...changeCards, ...historyCards, ...lspCards];
