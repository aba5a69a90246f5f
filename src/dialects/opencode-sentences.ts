/** What the two opencode dialects say alike of failures: a sentence for each. */

import type { Code, ProblemData, ProblemOf, Suggestion } from "../contract/problem.ts";
import type { Place } from "../contract/target.ts";
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
  existsWords,
  lockedWords,
  type Names,
  noCellWords,
  noMatchWords,
  notReadWords,
  staleWords,
  tooLargeWords,
} from "./change-words.ts";
import { folderFaultWords, linkWords, patchFaultWords, rolledBackWords } from "./several-words.ts";
import { patternFaults } from "./glob-words.ts";
import { noRipgrepWords, searchFaultWords } from "./grep-text.ts";
import { codePlaceWords, languageServerWords, noRenameWords } from "./lsp-text.ts";
import { noOutlineWords } from "./outline-text.ts";
import { noTurnDoing, noTurnClause } from "./turn-words.ts";
import { escapeName } from "../text/escape.ts";
import {
  argumentFault,
  orLeftOut,
  denial,
  mediaFault,
  noValueHint,
  pagesFault,
  pathFaults,
  quoted,
  specialWords,
  spelled,
} from "./words.ts";
import { grepNames, lspNames } from "./opencode-words.ts";

const path = (place: Place): string => spelled(place.absolute);

/** With `..` behind a link the absolute path is that of what the link leads to, which a refusal must not tell. */
const deniedPath = ({ place, reason }: ProblemOf<"ACCESS_DENIED">): string =>
  reason !== "outside" && /(?:^|[\\/])\.\.(?:[\\/]|$)/.test(place.asked) ? spelled(place.asked) : path(place);

const meant = (suggestions: readonly Suggestion[]): string =>
  suggestions.length === 0 ? "" : `\n\nDid you mean one of these?\n${suggestions.map(suggested).join("\n")}`;

/** A folder ends in a slash, as in its listing. */
const suggested = ({ absolute, kind }: Suggestion): string =>
  `${escapeName(absolute)}${kind === "directory" ? "/" : ""}`;

/** How a line is shown with its number, and what the call was about to do. */
interface Telling {
  readonly names: Names;
  readonly doing: string;
}

const sentences: { readonly [C in Code]: (problem: ProblemOf<C>, telling: Telling) => string } = {
  UNKNOWN_TOOL: ({ tool, known, nearest }) =>
    `Unknown tool: ${escapeName(tool)}. ${nearest === undefined ? `Use one of: ${known.join(", ")}` : `Did you mean ${nearest}?`}`,
  INVALID_PARAM: (problem, { names, doing }) => {
    switch (problem.reason) {
      case "arguments":
        return problem.issues
          .map((issue) =>
            issue.fault === "range" && issue.min !== undefined
              ? `${issue.name} must be >= ${issue.min}${issue.name === "offset" ? "" : orLeftOut(issue)}`
              : argumentFault(issue),
          )
          .join("; ");
      case "path":
        return `Invalid path ${quoted(problem.asked)}: ${pathFaults[problem.fault]}`;
      case "pattern":
        return `Invalid pattern ${quoted(problem.pattern)}: ${patternFaults[problem.fault]}`;
      case "edit":
        return `Cannot edit ${path(problem.place)}: ${editFaultWords(problem, names)}`;
      case "cell":
        return `Cannot edit ${path(problem.place)}: ${cellFaultWords[problem.fault]}`;
      case "link":
        return `Cannot ${doing} ${path(problem.place)}: ${linkWords(problem)}`;
      case "folder":
        return `Cannot ${doing} ${path(problem.place)}: ${folderFaultWords[problem.fault]}`;
      case "patch":
        return `Invalid patch: ${patchFaultWords(problem)}`;
      case "search":
        return `Invalid search: ${searchFaultWords(problem.fault, grepNames)}`;
      case "pages":
        return `Cannot read pages of ${path(problem.place)}: ${pagesFault(problem)}`;
      case "code place":
        return `Cannot ${doing} ${path(problem.place)}: ${codePlaceWords(problem.fault)}`;
      case "column":
        return `Cannot ${doing} ${path(problem.place)}: ${columnWords(problem)}`;
      case "range": {
        const kind = problem.of === "entries" ? "directory" : "file";
        return `Offset ${problem.from} is out of range for this ${kind} (${problem.total} ${problem.of})`;
      }
    }
  },
  NOT_FOUND: ({ place, suggestions }) => {
    const hint = suggestions.length === 0 ? noValueHint(place.asked) : undefined;
    return `File not found: ${path(place)}${hint === undefined ? meant(suggestions) : ` (${hint})`}`;
  },
  ACCESS_DENIED: (problem) => {
    const more = problem.reason === "outside" ? meant(problem.suggestions) : "";
    return `Access denied: ${deniedPath(problem)} (${denial(problem)})${more}`;
  },
  IS_DIRECTORY: ({ place }) => `Path is a directory, not a file: ${path(place)}`,
  NOT_DIRECTORY: ({ place }) => `Path is a file, not a directory: ${path(place)}`,
  LINK_LOOP: ({ place }) => `Links lead in a circle: ${path(place)}`,
  SPECIAL_FILE: ({ place, special }, { doing }) =>
    `Cannot ${doing} special file: ${path(place)} (it is ${specialWords[special]})`,
  // The path names the extension too, where that is the reason.
  BINARY_FILE: ({ place }, { doing }) => `Cannot ${doing} binary file: ${path(place)}`,
  DAMAGED: (problem, { doing, names }) =>
    `Cannot ${doing} ${path(problem.place)}: ${mediaFault(problem, names.repair)}`,
  ENCRYPTED: (problem, { doing, names }) =>
    `Cannot ${doing} ${path(problem.place)}: ${mediaFault(problem, names.repair)}`,
  TOO_LARGE: (problem, { doing, names }) =>
    `Cannot ${doing} ${path(problem.place)}: ${problem.kind === "text" ? tooLargeWords(problem) : mediaFault(problem, names.repair)}`,
  NO_CODEC: (problem, { doing, names }) =>
    `Cannot ${doing} ${path(problem.place)}: ${mediaFault(problem, names.repair)}`,
  OVER_BUDGET: ({ place, tokens, tokensMax }) =>
    `Cannot read ${path(place)}: about ${Math.round(tokens)} tokens are over the budget of ${tokensMax}, use a smaller 'limit'`,
  LANGUAGE_SERVER: (problem, { doing }) =>
    `Cannot ${doing} ${path(problem.place)}: ${languageServerWords(problem, lspNames)}`,
  NO_RENAME: (problem, { doing }) => `Cannot ${doing} ${path(problem.place)}: ${noRenameWords(problem)}`,
  NO_OUTLINE: (problem, { doing, names }) =>
    `Cannot ${doing} ${path(problem.place)}: ${noOutlineWords(problem, { reading: names.reading, search: "grep" })}`,
  CHANGED: ({ place }) => `File kept changing while it was read: ${path(place)}. Try again`,
  IO_ERROR: ({ place, errno, during }, { doing }) => `Cannot ${doing} ${path(place)}: ${errnoIn(errno, during)}`,
  NOT_READ: (problem, { names, doing }) => `Cannot ${doing} ${path(problem.place)}: ${notReadWords(problem, names)}`,
  STALE: (problem, { doing }) => `Cannot ${doing} ${path(problem.place)}: ${staleWords(problem)}`,
  NO_MATCH: (problem, { names, doing }) => `Cannot ${doing} ${path(problem.place)}: ${noMatchWords(problem, names)}`,
  AMBIGUOUS: (problem, { names, doing }) => `Cannot ${doing} ${path(problem.place)}: ${ambiguousWords(problem, names)}`,
  ALREADY_APPLIED: (problem, { names, doing }) =>
    `Cannot ${doing} ${path(problem.place)}: ${alreadyWords(problem, names)}`,
  NO_CELL: (problem, { doing }) => `Cannot ${doing} ${path(problem.place)}: ${noCellWords(problem)}`,
  ENCODING: (problem, { doing }) => `Cannot ${doing} ${path(problem.place)}: ${encodingWords(problem)}`,
  EXISTS: (problem, { doing }) => `Cannot ${doing} ${path(problem.place)}: ${existsWords[problem.reason]}`,
  NO_RIPGREP: ({ install }) => `Cannot search: ${noRipgrepWords(install)}`,
  NO_TURN: (problem) => `Cannot ${noTurnDoing(problem)}: ${noTurnClause(problem)}`,
  LOCKED: (problem, { doing }) => `Cannot ${doing} ${path(problem.place)}: ${lockedWords(problem)}`,
  ROLLED_BACK: (problem, telling) => rolledBackWords(problem, said(problem.cause, telling)),
  CANCELLED: ({ tool }) => `${tool} was cancelled`,
};

function said(problem: ProblemData, telling: Telling): string {
  const sentence = sentences[problem.code] as (problem: ProblemData, telling: Telling) => string; // the table pairs them by code
  return sentence(problem, telling);
}

/** `firstLine`: what the first line of a file is called in a call. */
export function sentenceOf(problem: ProblemData, about: Doing, line: Names["line"], firstLine: 0 | 1): string {
  const names: Names = {
    old: "oldString",
    new: "newString",
    all: "replaceAll",
    reading: (from, lines) => `offset ${from - 1 + firstLine} and limit ${lines}`,
    readingRest: (line, column) => `column ${column - 1 + firstLine} and offset ${line - 1 + firstLine}`,
    line,
    notebookTool: undefined,
    repair: "repair its JSON with edit",
  };
  return said(problem, { names, doing: doing[about] });
}
