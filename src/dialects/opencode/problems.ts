/** Failures in the words of the two opencode dialects. */

import type { ProblemOf, Suggestion } from "../../contract/problem.ts";
import type { Place } from "../../contract/target.ts";
import { escapeName } from "../../text/text.ts";
import { cellFaultWords, doing, editFaultWords, errnoIn } from "../change-words.ts";
import { invalidHeads, sentencesWith } from "../problem-sentences.ts";
import {
  argumentFault,
  denialClause,
  type Names,
  noValueHint,
  orLeftOut,
  plainNames,
  quoted,
  specialWords,
  spelled,
} from "../words.ts";

export const namesWith = (first: 0 | 1, numbers: Names["numbers"]): Names => ({
  ...plainNames,
  read: "read",
  search: "grep",
  history: "history",
  rewind: "rewind",
  notebookTool: undefined,
  first,
  old: "oldString",
  new: "newString",
  allPlaces: "set replaceAll to true",
  reading: (from, lines) => `offset ${from - 1 + first} and limit ${lines}`,
  readingRest: (number, column) => `column ${column - 1 + first} and offset ${number - 1 + first}`,
  numbers,
  repair: "repair its JSON with edit",
  skip: undefined,
  glob: "include",
  multiline: undefined,
});

const path = (place: Place): string => spelled(place.absolute);

/** For a path with `..` after a symlink, the absolute path reveals the symlink's target, which a refusal must not. */
const deniedPath = ({ place, reason }: ProblemOf<"ACCESS_DENIED">): string =>
  reason !== "outside" && /(?:^|[\\/])\.\.(?:[\\/]|$)/.test(place.asked) ? spelled(place.asked) : path(place);

/** A folder ends in a slash, as in its listing. */
const meant = (suggestions: readonly Suggestion[]): string => {
  const names = suggestions.map(({ absolute, kind }) => escapeName(absolute) + (kind === "directory" ? "/" : ""));
  return names.length === 0 ? "" : `\n\nDid you mean one of these?\n${names.join("\n")}`;
};

export const sentencesFor = (names: Names) =>
  sentencesWith({
    names,
    cannot: (place, about) => `Cannot ${doing[about]} ${path(place)}`,
    heads: invalidHeads(quoted, ({ place }) => `Cannot read pages of ${path(place)}`),
    own: {
      UNKNOWN_TOOL: ({ tool, known, nearest }) =>
        `Unknown tool: ${escapeName(tool)}. ${nearest === undefined ? `Use one of: ${known.join(", ")}` : `Did you mean ${nearest}?`}`,
      INVALID_PARAM: (problem) => {
        if (problem.reason === "edit") return `Cannot edit ${path(problem.place)}: ${editFaultWords(problem, names)}`;
        if (problem.reason === "cell") return `Cannot edit ${path(problem.place)}: ${cellFaultWords[problem.fault]}`;
        if (problem.reason === "range") {
          const kind = problem.of === "entries" ? "directory" : "file";
          return `Offset ${problem.from} is out of range for this ${kind} (${problem.total} ${problem.of})`;
        }
        if (problem.reason !== "arguments") return undefined;
        const faults = problem.issues.map((issue) =>
          issue.fault === "range" && issue.min !== undefined
            ? `${issue.name} must be >= ${issue.min}${issue.name === "offset" ? "" : orLeftOut(issue)}`
            : argumentFault(issue),
        );
        return faults.join("; ");
      },
      NOT_FOUND: ({ place, suggestions }) => {
        const hint = suggestions.length === 0 ? noValueHint(place.asked) : undefined;
        return `File not found: ${path(place)}${hint === undefined ? meant(suggestions) : ` (${hint})`}`;
      },
      ACCESS_DENIED: (problem) => {
        const more = problem.reason === "outside" ? meant(problem.suggestions) : "";
        return `Access denied: ${deniedPath(problem)} (${denialClause(problem)})${more}`;
      },
      IS_DIRECTORY: ({ place }) => `Path is a directory, not a file: ${path(place)}`,
      NOT_DIRECTORY: ({ place }) => `Path is a file, not a directory: ${path(place)}`,
      LINK_LOOP: ({ place }) => `Links lead in a circle: ${path(place)}`,
      SPECIAL_FILE: ({ place, special }, { about }) =>
        `Cannot ${doing[about]} special file: ${path(place)} (it is ${specialWords[special]})`,
      // The path names the extension too, where that is the reason.
      BINARY_FILE: ({ place }, { about }) => `Cannot ${doing[about]} binary file: ${path(place)}`,
      OVER_BUDGET: ({ place, tokens, tokensMax }) =>
        `Cannot read ${path(place)}: about ${Math.round(tokens)} tokens are over the budget of ${tokensMax}, use a smaller 'limit'`,
      CHANGED: ({ place }) => `File kept changing while it was read: ${path(place)}. Try again`,
      IO_ERROR: ({ place, errno, during }, { cannot }) => `${cannot(place)}: ${errnoIn(errno, during)}`,
      CANCELLED: ({ tool }) => `${tool} was cancelled`,
    },
  });
