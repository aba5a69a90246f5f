/** Failures in words for the person who typed the command: options instead of parameters, and remedies that only a person has. */

import { ownSource } from "../../contract/permission.ts";
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
      if (problem.everyTime === true) return "such a change always needs an answer, run it at a terminal";
      return denialClause(problem) + (problem.remedy !== undefined ? " (--allow), or answer with --yes" : "");
    }
    case "read-only":
      return "it is read-only, make it writable (or check it out) if it should be changed";
    case "system":
      return "the system does not permit it, change the file's permissions or run the command as another user";
    case "other names":
      return "the file has other names (hard links), maybe outside the workspace, and denyHardlinks is set, use a copy";
    case "rule":
      return problem.source === ownSource
        ? `it is one of Filehand's own files (the built-in rule ${problem.rule}), change it in an editor`
        : `the rule ${problem.rule} (${problem.source}) denies it, change the rule: filehand permissions explains it`;
    case "outside":
      return denialClause(problem) + ", or name the folder with --root";
    case "root changed":
    case "other mount":
      return denialClause(problem);
  }
}

export const sentenceForPerson = sentencesWith({ names, denial: denialForPerson });

/** For a page, which has no options. */
export const sentenceForPage = sentencesWith({ names });
