/** Failures in words for the person who typed the command: options instead of parameters, and remedies that only a person has. */

import type { ProblemOf } from "../../contract/problem.ts";
import { sentencesWith } from "../problem-sentences.ts";
import { denialClause, type Names, plainNames } from "../words.ts";

export const names: Names = {
  ...plainNames,
  history: "filehand history",
  rewind: "filehand rewind",
  notebookTool: "filehand notebook-edit",
  old: "the old text",
  new: "the new text",
  allPlaces: "give --all",
  force: "--force",
};

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

export const sentenceForPerson = sentencesWith({ names, denial: denialForPerson });

/** For a page, which has no options. */
export const sentenceForPage = sentencesWith({ names });
