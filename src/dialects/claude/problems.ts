/** Failures in the words of the `claude` dialect: what cannot be done, what is the case, what to do next. */

import type { Code, ProblemData, ProblemOf } from "../../contract/problem.ts";
import {
  argumentFault,
  binaryReason,
  denial,
  didYouMean,
  mediaFault,
  pagesFault,
  pathFaults,
  quoted,
  specialWords,
} from "../words.ts";

const cannotRead = (path: string): string => `Cannot read ${quoted(path)}`;

const sentences: { readonly [C in Code]: (problem: ProblemOf<C>) => string } = {
  UNKNOWN_TOOL: ({ tool, known, nearest }) =>
    `Cannot call ${quoted(tool)}: there is no such tool, ${nearest === undefined ? `use one of ${known.join(", ")}` : `did you mean ${nearest}`}`,
  INVALID_PARAM: (problem) => {
    switch (problem.reason) {
      case "arguments":
        return `Cannot call ${problem.tool}: ${problem.issues.map(argumentFault).join("; ")}`;
      case "path":
        return `Cannot use the path ${quoted(problem.asked)}: ${pathFaults[problem.fault]}`;
      case "pages":
        return `Cannot read pages of ${quoted(problem.place.asked)}: ${pagesFault(problem)}`;
      case "range": {
        const start = `${cannotRead(problem.place.asked)} from ${{ lines: "line", entries: "entry", cells: "cell" }[problem.of]} ${problem.from}`;
        if (problem.total === 0) return `${start}: it is empty, leave offset out`;
        return `${start}: it has ${problem.total} ${problem.of}, use an offset from 1 to ${problem.total}`;
      }
    }
  },
  NOT_FOUND: ({ place, reason, suggestions }) => {
    const meant = didYouMean(suggestions, (suggestion) => suggestion.absolute);
    const what = reason === "missing" ? "it does not exist" : "a name before the last one is a file, not a folder";
    return `${cannotRead(place.asked)}: ${what}${meant || ", check the path"}`;
  },
  ACCESS_DENIED: (problem) => {
    const meant = problem.reason === "outside" ? didYouMean(problem.suggestions, (one) => one.absolute) : "";
    return `${cannotRead(problem.place.asked)}: ${denial(problem)}${meant}`;
  },
  IS_DIRECTORY: ({ place }) => `${cannotRead(place.asked)}: it is a folder, name a file in it`,
  NOT_DIRECTORY: ({ place }) => `Cannot list ${quoted(place.asked)}: it is not a folder, read it instead`,
  LINK_LOOP: ({ place }) => `${cannotRead(place.asked)}: its links lead in a circle, use another path`,
  SPECIAL_FILE: ({ place, special }) =>
    `${cannotRead(place.asked)}: it is ${specialWords[special]}, only regular files can be read`,
  BINARY_FILE: (problem) =>
    `${cannotRead(problem.place.asked)}: ${binaryReason(problem)}, use another tool if you need its bytes`,
  DAMAGED: (problem) => `${cannotRead(problem.place.asked)}: ${mediaFault(problem)}`,
  ENCRYPTED: (problem) => `${cannotRead(problem.place.asked)}: ${mediaFault(problem)}`,
  TOO_LARGE: (problem) => `${cannotRead(problem.place.asked)}: ${mediaFault(problem)}`,
  NO_CODEC: (problem) => `${cannotRead(problem.place.asked)}: ${mediaFault(problem)}`,
  OVER_BUDGET: ({ place, tokens, counted, tokensMax, of, from, lines, linesThatFit }) => {
    const cost = `${counted === "at least" ? "at least" : "about"} ${Math.round(tokens)} tokens`;
    const range = `${of} ${from} to ${from + lines - 1}`;
    const fewer =
      of === "pages" ? `read at most ${linesThatFit} pages at once` : `use a limit of at most ${linesThatFit}`;
    const next = linesThatFit > 0 ? fewer : `read ${of.slice(0, -1)} ${from} alone`;
    return `${cannotRead(place.asked)}: ${range} have ${cost}, the budget is ${tokensMax}, ${next}`;
  },
  CHANGED: ({ place }) => `${cannotRead(place.asked)}: it kept changing while it was read, try again`,
  IO_ERROR: ({ place, errno, during }) => `${cannotRead(place.asked)}: ${errno} while ${during}, try again`,
  CANCELLED: ({ tool }) => `${tool} was cancelled, nothing was changed`,
};

export function sentenceOf(problem: ProblemData): string {
  const sentence = sentences[problem.code] as (problem: ProblemData) => string; // the table pairs them by code
  return sentence(problem);
}
