/** The `opencode-legacy` dialect: read, with lines counted from 0 in calls. */

import * as z from "zod/mini";
import type { ProblemData } from "../../contract/problem.ts";
import type { Profile } from "../../contract/profile.ts";
import type { DirectoryOutcome, TextOutcome } from "../../contract/read.ts";
import { lineNumber } from "../../contract/target.ts";
import { escapeName } from "../../text/encoding/escape.ts";
import type { Card, Dialect } from "../dialect.ts";
import { firstLines, numbered } from "../media-text.ts";
import { columnOf, integer, jsonSchemaOf, parseArguments } from "../parameters.ts";
import { failure } from "../words.ts";
import { changeCards, type ChangeTools, lateBlocks } from "./changes.ts";
import { historyCards, type HistoryTools, lspCards, type LspTools } from "./history.ts";
import editDescription from "./legacy/edit.txt";
import globDescription from "./legacy/glob.txt";
import grepDescription from "./legacy/grep.txt";
import historyDescription from "./legacy/history.txt";
import listDescription from "./legacy/list.txt";
import lspDescription from "./legacy/lsp.txt";
import patchDescription from "./legacy/patch.txt";
import readDescription from "./legacy/read.txt";
import renameDescription from "./legacy/rename.txt";
import rewindDescription from "./legacy/rewind.txt";
import writeDescription from "./legacy/write.txt";
import { rendererOf } from "./render.ts";
import { grepCard, type GrepTools, searchCards, type SearchTools } from "./search.ts";
import { footerOf, previewLines, type ReadResult, resultOf, sentenceOf } from "./sentences.ts";

// The tools of the `opencode-legacy` dialect, which counts lines from 0 in calls. That ends here.

const linesDefault = 2_000;

const readInput = z.strictObject({
  filePath: z.string(),
  offset: z.optional(integer({ min: 0 })),
  limit: z.optional(integer({ min: 1 })),
  column: z.optional(integer({ min: 0 })),
});

/** What a call of `read` may hold. */
interface ReadInput {
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

const cards: readonly Card[] = [
  read,
  ...searchCards({ glob: globDescription, list: listDescription }),
  grepCard(grepDescription),
  ...changeCards({ edit: editDescription, write: writeDescription, patch: patchDescription }),
  ...historyCards({ history: historyDescription, rewind: rewindDescription }, 0),
  ...lspCards({ lsp: lspDescription, rename: renameDescription }, 0),
];

// Reading in the `opencode-legacy` dialect: lines are what stands between newlines, and `\r` stays in them.

const profile: Profile = {
  lines: "split",
  lineCharsMax: 2_000,
  cutMark: "...",
  pageBytesMax: 51_200,
  pageTokensMax: undefined,
  numbers: undefined,
  total: "at the end",
  pastEnd: "empty",
  nulSampleBytes: 4_096,
  longCode: "first page",
  repeats: "content",
  documents: "attached",
  kinds: { directory: "refuse", image: "read", pdf: "read", notebook: "skip", office: "skip" },
};

// Answers in the `opencode-legacy` dialect: five-digit numbers inside `<file>`.

const bar = { digitsMin: 5, pad: "0", mark: "| " } as const;

const numberLine = (number: number, text: string): string => `${String(number).padStart(5, "0")}| ${text}`;

function textResult(outcome: TextOutcome): ReadResult {
  const page = outcome.pages[0];
  const output = numbered(page, bar, "<file>\n", `\n\n${footerOf(page, profile.pageBytesMax)}\n</file>`);
  return resultOf(outcome.target, output, firstLines(page, previewLines), page.stopped !== "end", outcome);
}

/** This dialect reads no folders; a list of names serves `filehand ls`. */
function directoryResult(outcome: DirectoryOutcome): ReadResult {
  const names = outcome.entries.map(({ name, kind }) => escapeName(name) + (kind === "directory" ? "/" : ""));
  const last = outcome.from + names.length - 1;
  const foot =
    outcome.next === undefined
      ? []
      : [
          `(Showing ${names.length} of ${outcome.entriesTotal} entries. Use 'offset' parameter to read beyond entry ${last})`,
        ];
  const output = [`${escapeName(outcome.target.absolute)}/`, ...names.map((name) => `  ${name}`), ...foot].join("\n");
  return resultOf(outcome.target, output, names, outcome.next !== undefined);
}

const render = rendererOf({ first: 0, numberLine, textResult, directoryResult });

/** The tools of this dialect with their types. */
export interface Tools extends ChangeTools, HistoryTools, SearchTools, GrepTools, LspTools {
  readonly read: { readonly input: ReadInput; readonly output: ReadResult };
}

export const opencodeLegacy: Dialect = {
  name: "opencode-legacy",
  failures: "thrown",
  numbers: "lenient",
  profile,
  cards,
  render,
  renderLate: (reports) => lateBlocks(reports).join("\n"),
  renderProblem: (problem: ProblemData, { verb }) =>
    failure(problem.code, sentenceOf(problem, verb ?? "read", numberLine, 0)),
};

export type { ReadInput, ReadResult };
