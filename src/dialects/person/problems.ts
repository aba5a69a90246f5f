/** Failures in words for the person who typed the command: options instead of parameters, and remedies that only a person has. */

import type { ProblemOf } from "../../contract/problem.ts";
import type { Names } from "../change-words.ts";
import type { GrepNames } from "../grep-text.ts";
import type { LspNames } from "../lsp-text.ts";
import type { OutlineNames } from "../outline-text.ts";
import { sentencesWith } from "../problem-sentences.ts";
import { denialClause } from "../words.ts";

const names: Names = {
  old: "the old text",
  new: "the new text",
  allPlaces: "give --all",
  reading: (from, lines) => `offset ${from} and limit ${lines}`,
  readingRest: (line, column) => `column ${column} and offset ${line}`,
  line: (number, text) => `${number}→${text}`,
  notebookTool: "filehand notebook-edit",
  repair: "read its text with offset 1 and limit 200 and repair that with Edit",
};

export const outlineNames: OutlineNames = { reading: names.reading, search: "Grep" };
export const lspNames: LspNames = { search: "Grep", read: "Read" };
export const grepNames: GrepNames = { offset: "offset", glob: "glob", multiline: "multiline" };

function denialForPerson(problem: ProblemOf<"ACCESS_DENIED">): string {
  switch (problem.reason) {
    case "mode":
      return `in ${problem.mode} mode nothing is written, use --mode default`;
    case "rejected":
      return "you said no";
    case "nobody to ask": {
      const hasRemedy = problem.remedy !== undefined && problem.everyTime !== true;
      return denialClause(problem) + (hasRemedy ? " (--allow), or answer with --yes" : "");
    }
    case "outside":
    case "root changed":
    case "system":
    case "other mount":
    case "other names":
    case "rule":
    case "read-only":
      return denialClause(problem);
  }
}

const all = { change: names, outline: outlineNames, lsp: lspNames, grep: grepNames };

export const sentenceForPerson = sentencesWith({ ...all, denial: denialForPerson });

/** For a page, which has no options. */
export const sentenceForPage = sentencesWith({ ...all, denial: denialClause });
