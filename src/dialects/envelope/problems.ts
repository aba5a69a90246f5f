/** Failures in the words of the `envelope` dialect. */

import { limits } from "../../contract/limits.ts";
import type { ArgumentIssue, Code, ProblemData, ProblemOf } from "../../contract/problem.ts";
import {
  alreadyWords,
  columnWords,
  ambiguousWords,
  cellFaultWords,
  type Doing,
  editFaultWords,
  encodingWords,
  errnoIn,
  existsWords,
  lockedWords,
  type Names,
  noCellWords,
  noMatchWords,
  notReadWords,
  staleWords,
  tooLargeWords,
} from "../change-words.ts";
import type { Facts } from "../dialect.ts";
import { folderFaultWords, linkWords, patchFaultWords, rolledBackWords } from "../change-text.ts";
import { noRipgrepWords, patternFaults, searchFaultWords } from "../grep-text.ts";
import { codePlaceWords, languageServerWords, type LspNames, noRenameWords } from "../lsp-text.ts";
import { noOutlineWords, type OutlineNames } from "../outline-text.ts";
import { noTurnClause } from "../rewind-text.ts";
import {
  argumentFault,
  orLeftOut,
  boundsWords,
  counted,
  denialClause,
  didYouMean,
  mediaFault,
  noValueHint,
  pagesFault,
  pathFaults,
  rangeUnits,
  specialWords,
  spelled,
} from "../words.ts";
import { grepNames } from "../shared-tools.ts";

const named = (path: string): string => `'${spelled(path)}'`;

/** What the calls of this dialect are made of. */
export const names: Names = {
  old: "old_string",
  new: "new_string",
  allPlaces: "set replace_all to true",
  reading: (from, lines) => `start_line=${from} and limit=${lines}`,
  readingRest: (line, column) => `column=${column} and start_line=${line}`,
  line: (number, text) => `${String(number).padStart(4)} | ${text}`,
  notebookTool: "NotebookEdit",
  repair: "repair its JSON with Edit",
};

export const outlineNames: OutlineNames = { reading: names.reading, search: "Grep" };

export const lspNames: LspNames = { search: "Grep", read: "Read" };

const isMissing = ({ reason }: ProblemOf<"NO_TURN">): boolean => reason === "unknown" || reason === "pruned";

/** What a sentence needs besides the problem. */
interface Telling {
  /** The beginning of a sentence about a file that was not read or not changed. */
  readonly cannot: (path: string) => string;
  readonly spell: Facts["spell"];
}

const sentences: { readonly [C in Code]: (problem: ProblemOf<C>, telling: Telling) => string } = {
  UNKNOWN_TOOL: ({ tool, known, nearest }) =>
    `Tool ${named(tool)} does not exist. ${nearest === undefined ? `Use one of: ${known.join(", ")}.` : `Did you mean ${nearest}?`}`,
  INVALID_PARAM: (problem, { cannot }) => {
    switch (problem.reason) {
      case "arguments":
        return problem.issues.map((issue) => issueSentence(issue, problem.tool)).join(" ");
      case "path":
        return `Invalid path ${named(problem.asked)}: ${pathFaults[problem.fault]}.`;
      case "pattern":
        return `Invalid pattern ${named(problem.pattern)}: ${patternFaults[problem.fault]}.`;
      case "edit":
        return `${cannot(problem.place.asked)}: ${editFaultWords(problem, names)}.`;
      case "cell":
        return `${cannot(problem.place.asked)}: ${cellFaultWords[problem.fault]}.`;
      case "link":
        return `${cannot(problem.place.asked)}: ${linkWords(problem)}.`;
      case "folder":
        return `${cannot(problem.place.asked)}: ${folderFaultWords[problem.fault]}.`;
      case "patch":
        return `Invalid patch: ${patchFaultWords(problem)}.`;
      case "search":
        return `Invalid search: ${searchFaultWords(problem.fault, grepNames)}.`;
      case "pages":
        return `Invalid pages for ${named(problem.place.asked)}: ${pagesFault(problem)}.`;
      case "code place":
        return `${cannot(problem.place.asked)}: ${codePlaceWords(problem.fault)}.`;
      case "column":
        return `${cannot(problem.place.asked)}: ${columnWords(problem)}.`;
      case "range":
        return rangeSentence(problem);
    }
  },
  NOT_FOUND: ({ place, suggestions }, { spell }) => {
    const meant = didYouMean(suggestions, (one) => spell(one.absolute)).replace(", did you mean ", " Did you mean ");
    const hint = noValueHint(place.asked);
    if (meant === "" && hint !== undefined)
      return `File ${named(place.asked)} does not exist. ${hint.replace(/^g/, "G")}.`;
    return `File ${named(place.asked)} does not exist.${meant === "" ? "" : `${meant}?`}`;
  },
  ACCESS_DENIED: (problem) =>
    problem.reason === "outside"
      ? "Access denied. Path must be within project root."
      : `Access denied to ${named(problem.place.asked)}: ${denialClause(problem)}.`,
  IS_DIRECTORY: ({ place }) => `Path ${named(place.asked)} is a directory. Use LS to explore it.`,
  NOT_DIRECTORY: ({ place }) => `Path ${named(place.asked)} is not a directory. Use Read to see it.`,
  LINK_LOOP: ({ place }) => `Path ${named(place.asked)} is a circle of links. Use another path.`,
  SPECIAL_FILE: ({ place, special }) =>
    `Path ${named(place.asked)} is ${specialWords[special]}. Only regular files can be worked with.`,
  // The path names the extension too, where that is the reason.
  BINARY_FILE: ({ place }) => `File ${named(place.asked)} appears to be binary.`,
  DAMAGED: (problem, { cannot }) => `${cannot(problem.place.asked)}: ${mediaFault(problem, names.repair)}.`,
  ENCRYPTED: (problem, { cannot }) => `${cannot(problem.place.asked)}: ${mediaFault(problem, names.repair)}.`,
  TOO_LARGE: (problem, { cannot }) =>
    `${cannot(problem.place.asked)}: ${problem.kind === "text" ? tooLargeWords(problem) : mediaFault(problem, names.repair)}.`,
  NO_CODEC: (problem, { cannot }) => `${cannot(problem.place.asked)}: ${mediaFault(problem, names.repair)}.`,
  OVER_BUDGET: ({ place, tokens, tokensMax }) =>
    `File ${named(place.asked)} is over the budget: about ${Math.round(tokens)} tokens of ${tokensMax}. Use a smaller limit.`,
  LANGUAGE_SERVER: (problem, { cannot }) =>
    `${cannot(problem.place.asked)}: ${languageServerWords(problem, lspNames)}.`,
  NO_RENAME: (problem, { cannot }) => `${cannot(problem.place.asked)}: ${noRenameWords(problem)}.`,
  NO_OUTLINE: (problem, { cannot }) => `${cannot(problem.place.asked)}: ${noOutlineWords(problem, outlineNames)}.`,
  CHANGED: ({ place }) => `File ${named(place.asked)} kept changing while it was read. Try again.`,
  IO_ERROR: ({ place, errno, during }, { cannot }) => `${cannot(place.asked)}: ${errnoIn(errno, during)}.`,
  NOT_READ: (problem, { cannot }) => `${cannot(problem.place.asked)}: ${notReadWords(problem, names)}.`,
  STALE: (problem, { cannot }) => `${cannot(problem.place.asked)}: ${staleWords(problem)}.`,
  NO_MATCH: (problem, { cannot }) => `${cannot(problem.place.asked)}: ${noMatchWords(problem, names)}`,
  AMBIGUOUS: (problem, { cannot }) => `${cannot(problem.place.asked)}: ${ambiguousWords(problem, names)}.`,
  ALREADY_APPLIED: (problem, { cannot }) => `${cannot(problem.place.asked)}: ${alreadyWords(problem, names)}.`,
  NO_CELL: (problem, { cannot }) => `${cannot(problem.place.asked)}: ${noCellWords(problem)}.`,
  ENCODING: (problem, { cannot }) => `${cannot(problem.place.asked)}: ${encodingWords(problem)}.`,
  EXISTS: (problem, { cannot }) => `${cannot(problem.place.asked)}: ${existsWords[problem.reason]}.`,
  NO_RIPGREP: ({ install }) => `Nothing can be searched: ${noRipgrepWords(install)}.`,
  NO_TURN: (problem) =>
    `Turn ${named(problem.asked)} cannot be ${isMissing(problem) ? "found" : "gone back to"}: ${noTurnClause(problem)}.`,
  LOCKED: (problem, { cannot }) => `${cannot(problem.place.asked)}: ${lockedWords(problem)}.`,
  ROLLED_BACK: (problem, telling) => `${rolledBackWords(problem, said(problem.cause, telling).replace(/\.$/, ""))}.`,
  CANCELLED: ({ tool }) => `${tool} was cancelled.`,
};

/** LS lists folders, with another parameter for the first entry than Read has. */
function rangeSentence({ of, from, total, place }: Extract<ProblemOf<"INVALID_PARAM">, { reason: "range" }>): string {
  const [what, parameter] = of === "entries" ? ["Folder", "offset"] : ["File", "start_line"];
  const start = `Invalid ${parameter}: ${from}. ${what} ${named(place.asked)}`;
  if (total === 0) return `${start} is empty (0 ${of}), so only ${parameter}=1 is legal.`;
  const legal = total === 1 ? "1" : `from 1 to ${total}`;
  return `${start} has ${counted(total, rangeUnits[of], of)}, so ${parameter} must be ${legal}.`;
}

function issueSentence(issue: ArgumentIssue, tool: string): string {
  if (issue.fault !== "range") return `${argumentFault(issue)}.`;
  const limitMax = tool === "History" ? limits.historyItemsMax : 2_000;
  const limit = issue.name === "limit" ? boundsWords(1, limitMax) : boundsWords(issue.min, issue.max);
  return `Invalid ${issue.name}: ${issue.got}. It must be ${limit}${orLeftOut(issue)}.`;
}

function said(problem: ProblemData, telling: Telling): string {
  const sentence = sentences[problem.code] as (problem: ProblemData, telling: Telling) => string; // the table pairs them by code
  return sentence(problem, telling);
}

const done = {
  read: "read",
  ls: "listed",
  glob: "searched",
  grep: "searched",
  outline: "outlined",
  lsp: "asked about",
  rename: "changed",
  edit: "edited",
  write: "written",
  "notebook-edit": "edited",
  patch: "patched",
  delete: "deleted",
  move: "moved",
  rewind: "rewound",
  history: "looked back at",
  cost: "read",
} satisfies Readonly<Record<Doing, string>>;

export const sentenceOf = (problem: ProblemData, about: Doing, { spell }: Pick<Facts, "spell">): string =>
  said(problem, { cannot: (path) => `File ${named(path)} cannot be ${done[about]}`, spell });
