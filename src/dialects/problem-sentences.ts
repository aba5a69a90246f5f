/**
 * Failures in plain sentences: what cannot be done, what is the case, what to do next. The dialects that use them differ in the
 * names of parameters, tools and options that a sentence tells the reader to use.
 */

import type { Code, ProblemData, ProblemOf } from "../contract/problem.ts";
import {
  alreadyWords,
  columnWords,
  ambiguousWords,
  cellFaultWords,
  type Doing,
  doing,
  editFaultWords,
  encodingWords,
  errnoIn,
  errnoRemedy,
  existsWords,
  lockedWords,
  type Names,
  noCellWords,
  noMatchWords,
  notReadWords,
  staleWords,
  tooLargeWords,
} from "./change-words.ts";
import { folderFaultWords, linkWords, patchFaultWords, rolledBackWords } from "./change-text.ts";
import { type GrepNames, noRipgrepWords, patternFaults, searchFaultWords } from "./grep-text.ts";
import { codePlaceWords, languageServerWords, type LspNames, noRenameWords } from "./lsp-text.ts";
import { noOutlineWords, type OutlineNames } from "./outline-text.ts";
import { noTurnDoing, noTurnClause } from "./rewind-text.ts";
import {
  argumentFault,
  binaryReason,
  counted,
  didYouMean,
  rangeUnits,
  mediaFault,
  noValueHint,
  pagesFault,
  pathFaults,
  quoted,
  specialWords,
} from "./words.ts";

/** The names of parameters, tools and options. */
export interface SentenceNames {
  readonly change: Names;
  readonly outline: OutlineNames;
  readonly lsp: LspNames;
  readonly grep: GrepNames;
  /** Why access was denied, and what to do. */
  readonly denial: (problem: ProblemOf<"ACCESS_DENIED">) => string;
}

/** `cannot(path)`: the beginning of a sentence about what the call was about to do. */
type Cannot = (path: string) => string;

type Sentences = { readonly [C in Code]: (problem: ProblemOf<C>, cannot: Cannot) => string };

/** Makes the function that words a problem. */
export function sentencesWith({ change: names, outline, lsp, grep, denial }: SentenceNames) {
  const wordProblem = (problem: ProblemData, cannot: Cannot): string => {
    const sentence = sentences[problem.code] as (problem: ProblemData, cannot: Cannot) => string; // the table pairs them by code
    return sentence(problem, cannot);
  };
  const sentences: Sentences = {
    UNKNOWN_TOOL: ({ tool, known, nearest }) =>
      `Cannot call ${quoted(tool)}: there is no such tool, ${nearest === undefined ? `use one of ${known.join(", ")}` : `did you mean ${nearest}`}`,
    INVALID_PARAM: (problem, cannot) => {
      switch (problem.reason) {
        case "arguments":
          return `Cannot call ${problem.tool}: ${problem.issues.map(argumentFault).join("; ")}`;
        case "path":
          return `Cannot use the path ${quoted(problem.asked)}: ${pathFaults[problem.fault]}`;
        case "pattern":
          return `Cannot use the pattern ${quoted(problem.pattern)}: ${patternFaults[problem.fault]}`;
        case "edit":
          return `${cannot(problem.place.asked)}: ${editFaultWords(problem, names)}`;
        case "cell":
          return `${cannot(problem.place.asked)}: ${cellFaultWords[problem.fault]}`;
        case "link":
          return `${cannot(problem.place.asked)}: ${linkWords(problem)}`;
        case "folder":
          return `${cannot(problem.place.asked)}: ${folderFaultWords[problem.fault]}`;
        case "patch":
          return `Cannot apply the patch: ${patchFaultWords(problem)}`;
        case "search":
          return `Cannot search: ${searchFaultWords(problem.fault, grep)}`;
        case "pages":
          return `Cannot read pages of ${quoted(problem.place.asked)}: ${pagesFault(problem)}`;
        case "code place":
          return `${cannot(problem.place.asked)}: ${codePlaceWords(problem.fault)}`;
        case "column":
          return `${cannot(problem.place.asked)}: ${columnWords(problem)}`;
        case "range": {
          const start = `${cannot(problem.place.asked)} from ${rangeUnits[problem.of]} ${problem.from}`;
          if (problem.total === 0) return `${start}: it is empty, leave offset out`;
          const legal = problem.total === 1 ? "offset 1" : `an offset from 1 to ${problem.total}`;
          return `${start}: it has ${counted(problem.total, rangeUnits[problem.of], problem.of)}, use ${legal}`;
        }
      }
    },
    NOT_FOUND: ({ place, reason, suggestions }, cannot) => {
      const meant = didYouMean(suggestions, (suggestion) => suggestion.absolute);
      const what = reason === "missing" ? "it does not exist" : "a name before the last one is a file, not a folder";
      return `${cannot(place.asked)}: ${what}${meant || `, ${noValueHint(place.asked) ?? "check the path"}`}`;
    },
    ACCESS_DENIED: (problem, cannot) => {
      const meant = problem.reason === "outside" ? didYouMean(problem.suggestions, (one) => one.absolute) : "";
      return `${cannot(problem.place.asked)}: ${denial(problem)}${meant}`;
    },
    IS_DIRECTORY: ({ place }, cannot) => `${cannot(place.asked)}: it is a folder, name a file in it`,
    NOT_DIRECTORY: ({ place }, cannot) => `${cannot(place.asked)}: it is not a folder, read it instead`,
    LINK_LOOP: ({ place }, cannot) => `${cannot(place.asked)}: its links lead in a circle, use another path`,
    SPECIAL_FILE: ({ place, special }, cannot) =>
      `${cannot(place.asked)}: it is ${specialWords[special]}, only regular files can be worked with`,
    BINARY_FILE: (problem, cannot) =>
      `${cannot(problem.place.asked)}: ${binaryReason(problem)}, use another tool if you need its bytes`,
    DAMAGED: (problem, cannot) => `${cannot(problem.place.asked)}: ${mediaFault(problem, names.repair)}`,
    ENCRYPTED: (problem, cannot) => `${cannot(problem.place.asked)}: ${mediaFault(problem, names.repair)}`,
    TOO_LARGE: (problem, cannot) =>
      `${cannot(problem.place.asked)}: ${problem.kind === "text" ? tooLargeWords(problem) : mediaFault(problem, names.repair)}`,
    NO_CODEC: (problem, cannot) => `${cannot(problem.place.asked)}: ${mediaFault(problem, names.repair)}`,
    OVER_BUDGET: ({ place, tokens, counted, tokensMax, of, from, lines, linesThatFit }, cannot) => {
      const cost = `${counted === "at least" ? "at least" : "about"} ${Math.round(tokens)} tokens`;
      const range = `${of} ${from} to ${from + lines - 1}`;
      const fewer =
        of === "pages" ? `read at most ${linesThatFit} pages at once` : `use a limit of at most ${linesThatFit}`;
      const next = linesThatFit > 0 ? fewer : `read ${of.slice(0, -1)} ${from} alone`;
      return `${cannot(place.asked)}: ${range} have ${cost}, the budget is ${tokensMax}, ${next}`;
    },
    LANGUAGE_SERVER: (problem, cannot) => `${cannot(problem.place.asked)}: ${languageServerWords(problem, lsp)}`,
    NO_RENAME: (problem, cannot) => `${cannot(problem.place.asked)}: ${noRenameWords(problem)}`,
    NO_OUTLINE: (problem, cannot) => `${cannot(problem.place.asked)}: ${noOutlineWords(problem, outline)}`,
    CHANGED: ({ place }, cannot) => `${cannot(place.asked)}: it kept changing while it was read, try again`,
    IO_ERROR: ({ place, errno, during }, cannot) =>
      `${cannot(place.asked)}: ${errnoIn(errno, during)}, ${errnoRemedy(errno, during)}`,
    NOT_READ: (problem, cannot) => `${cannot(problem.place.asked)}: ${notReadWords(problem, names)}`,
    STALE: (problem, cannot) => `${cannot(problem.place.asked)}: ${staleWords(problem)}`,
    NO_MATCH: (problem, cannot) => `${cannot(problem.place.asked)}: ${noMatchWords(problem, names)}`,
    AMBIGUOUS: (problem, cannot) => `${cannot(problem.place.asked)}: ${ambiguousWords(problem, names)}`,
    ALREADY_APPLIED: (problem, cannot) => `${cannot(problem.place.asked)}: ${alreadyWords(problem, names)}`,
    NO_CELL: (problem, cannot) => `${cannot(problem.place.asked)}: ${noCellWords(problem)}`,
    ENCODING: (problem, cannot) => `${cannot(problem.place.asked)}: ${encodingWords(problem)}`,
    EXISTS: (problem, cannot) => `${cannot(problem.place.asked)}: ${existsWords[problem.reason]}`,
    NO_RIPGREP: ({ install }) => `Cannot search: ${noRipgrepWords(install)}`,
    NO_TURN: (problem) => `Cannot ${noTurnDoing(problem)}: ${noTurnClause(problem)}`,
    LOCKED: (problem, cannot) => `${cannot(problem.place.asked)}: ${lockedWords(problem)}`,
    ROLLED_BACK: (problem, cannot) => rolledBackWords(problem, wordProblem(problem.cause, cannot)),
    CANCELLED: ({ tool }) => `${tool} was cancelled, nothing was changed`,
  };
  return (problem: ProblemData, about: Doing): string =>
    wordProblem(problem, (path) => `Cannot ${doing[about]} ${quoted(path)}`);
}
