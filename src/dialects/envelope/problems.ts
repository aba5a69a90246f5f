/** Failures in the words of the `envelope` dialect. */

import type { ArgumentIssue, Code, ProblemData, ProblemOf } from "../../contract/problem.ts";
import {
  argumentFault,
  bounds,
  denial,
  didYouMean,
  mediaFault,
  pagesFault,
  pathFaults,
  specialWords,
  spelled,
} from "../words.ts";

const named = (path: string): string => `'${spelled(path)}'`;

const sentences: { readonly [C in Code]: (problem: ProblemOf<C>) => string } = {
  UNKNOWN_TOOL: ({ tool, known, nearest }) =>
    `Tool ${named(tool)} does not exist. ${nearest === undefined ? `Use one of: ${known.join(", ")}.` : `Did you mean ${nearest}?`}`,
  INVALID_PARAM: (problem) => {
    switch (problem.reason) {
      case "arguments":
        return problem.issues.map(issueSentence).join(" ");
      case "path":
        return `Invalid path ${named(problem.asked)}: ${pathFaults[problem.fault]}.`;
      case "pages":
        return `Invalid pages for ${named(problem.place.asked)}: ${pagesFault(problem)}.`;
      case "range":
        return problem.total === 0
          ? `Invalid start_line: ${problem.from}. File ${named(problem.place.asked)} is empty (0 lines), so only start_line=1 is legal.`
          : `Invalid start_line: ${problem.from}. File ${named(problem.place.asked)} has ${problem.total} lines, so start_line must be from 1 to ${problem.total}.`;
    }
  },
  NOT_FOUND: ({ place, suggestions }) => {
    const meant = didYouMean(suggestions, (one) => one.relative || ".").replace(", did you mean ", " Did you mean ");
    return `File ${named(place.asked)} does not exist.${meant === "" ? "" : `${meant}?`}`;
  },
  ACCESS_DENIED: (problem) =>
    problem.reason === "outside"
      ? "Access denied. Path must be within project root."
      : `Access denied to ${named(problem.place.asked)}: ${denial(problem)}.`,
  IS_DIRECTORY: ({ place }) => `Path ${named(place.asked)} is a directory. Use LS to explore it.`,
  NOT_DIRECTORY: ({ place }) => `Path ${named(place.asked)} is not a directory. Use Read to see it.`,
  LINK_LOOP: ({ place }) => `Path ${named(place.asked)} is a circle of links. Use another path.`,
  SPECIAL_FILE: ({ place, special }) =>
    `Path ${named(place.asked)} is ${specialWords[special]}. Only regular files can be read.`,
  // The path names the extension too, where that is the reason.
  BINARY_FILE: ({ place }) => `File ${named(place.asked)} appears to be binary.`,
  DAMAGED: (problem) => `File ${named(problem.place.asked)} cannot be read: ${mediaFault(problem)}.`,
  ENCRYPTED: (problem) => `File ${named(problem.place.asked)} cannot be read: ${mediaFault(problem)}.`,
  TOO_LARGE: (problem) => `File ${named(problem.place.asked)} cannot be read: ${mediaFault(problem)}.`,
  NO_CODEC: (problem) => `File ${named(problem.place.asked)} cannot be read: ${mediaFault(problem)}.`,
  OVER_BUDGET: ({ place, tokens, tokensMax }) =>
    `File ${named(place.asked)} is over the budget: about ${Math.round(tokens)} tokens of ${tokensMax}. Use a smaller limit.`,
  CHANGED: ({ place }) => `File ${named(place.asked)} kept changing while it was read. Try again.`,
  IO_ERROR: ({ place, errno, during }) => `File ${named(place.asked)} cannot be read: ${errno} while ${during}.`,
  CANCELLED: ({ tool }) => `${tool} was cancelled.`,
};

function issueSentence(issue: ArgumentIssue): string {
  if (issue.fault !== "range") return `${argumentFault(issue)}.`;
  const limit = issue.name === "limit" ? bounds(1, 2_000) : bounds(issue.min, issue.max);
  return `Invalid ${issue.name}: ${issue.got}. It must be ${limit}.`;
}

export function sentenceOf(problem: ProblemData): string {
  const sentence = sentences[problem.code] as (problem: ProblemData) => string; // the table pairs them by code
  return sentence(problem);
}
