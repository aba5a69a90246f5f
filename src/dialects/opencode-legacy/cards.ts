/** The tools of the `opencode-legacy` dialect, which counts lines from 0 in calls. That ends here. */

import * as z from "zod/mini";
import { lineNumber } from "../../contract/brand.ts";
import type { Card } from "../dialect.ts";
import { changeCards } from "../opencode-changes.ts";
import { historyCards } from "../opencode-history.ts";
import { lspCards } from "../opencode-lsp.ts";
import { grepCard } from "../opencode-grep.ts";
import { columnOf, integer, jsonSchemaOf, parseArguments } from "../parameters.ts";
import { searchCards } from "../opencode-search.ts";
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
  offset: z.optional(integer({ min: 0 })),
  limit: z.optional(integer({ min: 1 })),
  column: z.optional(integer({ min: 0 })),
});

/** What a call of `read` may hold. */
export interface ReadInput {
  readonly filePath: string;
  /** How many lines to skip; 0 is the beginning. */
  readonly offset?: number;
  /** How many lines to return; 2000 by default. */
  readonly limit?: number;
  /** To see the rest of a cut line: how many of its characters to skip; only the line after the skipped ones is shown then. */
  readonly column?: number;
}

const read: Card = {
  name: "read",
  verb: "read",
  description: readDescription,
  readOnly: true,
  get inputSchema() {
    return jsonSchemaOf(readInput, {
      filePath: { description: "Path of the file" },
      offset: { description: "How many lines to skip; 0 is the beginning", default: 0 },
      limit: { description: "How many lines to return", default: linesDefault },
      column: {
        description:
          "To see the rest of a cut line: how many of its characters to skip; only the line after the skipped ones is shown then",
      },
    });
  },
  toRequest(input, profile) {
    const { filePath, offset, limit, column } = parseArguments(readInput, "read", input);
    return {
      verb: "read",
      path: filePath,
      ranges: [
        { from: lineNumber((offset ?? 0) + 1), linesMax: limit ?? linesDefault, ...columnOf((column ?? 0) + 1) },
      ],
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
  ...historyCards({ history: historyDescription, rewind: rewindDescription }, 0),
  ...lspCards({ lsp: lspDescription, rename: renameDescription }, 0),
];
