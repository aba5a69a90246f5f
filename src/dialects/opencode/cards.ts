/** The tools of the `opencode` dialect. */

import * as z from "zod/mini";
import { lineNumber } from "../../contract/target.ts";
import type { Card } from "../dialect.ts";
import { changeCards } from "./changes.ts";
import { historyCards, lspCards } from "./history.ts";
import { grepCard, searchCards } from "./search.ts";
import { columnOf, integer, jsonSchemaOf, parseArguments } from "../parameters.ts";
import editDescription from "./edit.txt";
import grepDescription from "./grep.txt";
import lspDescription from "./lsp.txt";
import renameDescription from "./rename.txt";
import historyDescription from "./history.txt";
import globDescription from "./glob.txt";
import listDescription from "./list.txt";
import patchDescription from "./patch.txt";
import readDescription from "./read.txt";
import rewindDescription from "./rewind.txt";
import writeDescription from "./write.txt";

const linesDefault = 2_000;

const readInput = z.strictObject({
  filePath: z.string(),
  offset: z.optional(integer({ min: 1 })),
  limit: z.optional(integer({ min: 1 })),
  column: z.optional(integer({ min: 1 })),
});

/** What a call of `read` may hold. */
export interface ReadInput {
  readonly filePath: string;
  /** First line or entry to return, counted from 1. */
  readonly offset?: number;
  /** How many lines or entries to return; 2000 by default. */
  readonly limit?: number;
  /** To see the rest of a cut line: its first character to show, counted from 1; only the line at offset is shown then. */
  readonly column?: number;
}

const read: Card = {
  name: "read",
  verb: "read",
  description: readDescription,
  readOnly: true,
  get inputSchema() {
    return jsonSchemaOf(readInput, {
      filePath: { description: "Path of the file or folder" },
      offset: { description: "First line or entry to return, counted from 1", default: 1 },
      limit: { description: "How many lines or entries to return", default: linesDefault },
      column: {
        description:
          "To see the rest of a cut line: its first character to show, counted from 1; only the line at offset is shown then",
      },
    });
  },
  toRequest(input, profile) {
    const { filePath, offset, limit, column } = parseArguments(readInput, "read", input);
    return {
      verb: "read",
      path: filePath,
      ranges: [{ from: lineNumber(offset ?? 1), linesMax: limit ?? linesDefault, ...columnOf(column) }],
      overBudget: "first page",
      whole: offset == null && limit == null && column == null,
      profile,
    };
  },
};

export const cards: readonly Card[] = [
  read,
  ...searchCards({ glob: globDescription, list: listDescription }),
  grepCard(grepDescription),
  ...changeCards({ edit: editDescription, write: writeDescription, patch: patchDescription }),
  ...historyCards({ history: historyDescription, rewind: rewindDescription }, 1),
  ...lspCards({ lsp: lspDescription, rename: renameDescription }, 1),
];
