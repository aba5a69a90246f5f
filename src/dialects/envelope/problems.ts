/** Failures in the words of the `envelope` dialect. */

import { limits } from "../../contract/limits.ts";
import type { ArgumentIssue } from "../../contract/problem.ts";
import { type Doing, errnoIn } from "../change-words.ts";
import { noRipgrepWords } from "../grep-text.ts";
import { type InvalidParam, invalidHeads, sentencesWith } from "../problem-sentences.ts";
import {
  argumentFault,
  boundsWords,
  counted,
  denialClause,
  didYouMean,
  type Names,
  noValueHint,
  orLeftOut,
  plainNames,
  rangeUnits,
  specialWords,
  spelled,
} from "../words.ts";

const named = (path: string): string => `'${spelled(path)}'`;

export const names: Names = {
  ...plainNames,
  reading: (from, lines) => `start_line=${from} and limit=${lines}`,
  readingRest: (line, column) => `column=${column} and start_line=${line}`,
  numbers: { digitsMin: 4, pad: " ", mark: " | " },
  repair: "repair its JSON with Edit",
};

const done = {
  read: "read",
  ls: "listed",
  glob: "searched",
  grep: "searched",
  outline: "outlined",
  lsp: "asked about",
  rename: "changed",
  edit: "edited",
  "edit-lines": "edited",
  "edit-files": "edited",
  write: "written",
  "notebook-edit": "edited",
  patch: "patched",
  delete: "deleted",
  move: "moved",
  copy: "copied",
  "make-folder": "made",
  rewind: "rewound",
  history: "looked back at",
  cost: "read",
} satisfies Readonly<Record<Doing, string>>;

export const sentenceOf = sentencesWith({
  names,
  cannot: ({ asked }, about) => `File ${named(asked)} cannot be ${done[about]}`,
  heads: invalidHeads(named, ({ place }) => `Invalid pages for ${named(place.asked)}`),
  end: ".",
  own: {
    UNKNOWN_TOOL: ({ tool, known, nearest }) =>
      `Tool ${named(tool)} does not exist. ${nearest === undefined ? `Use one of: ${known.join(", ")}.` : `Did you mean ${nearest}?`}`,
    INVALID_PARAM: (problem) => {
      if (problem.reason === "range") return rangeSentence(problem);
      if (problem.reason !== "arguments") return undefined;
      return problem.issues.map((issue) => issueSentence(issue, problem.tool)).join(" ");
    },
    NOT_FOUND: ({ place, suggestions }, { spell }) => {
      const meant = didYouMean(suggestions, spell).replace(", did you mean ", " Did you mean ");
      const hint = noValueHint(place.asked)?.replace(/^g/, " G");
      const next = meant === "" ? (hint === undefined ? "" : `${hint}.`) : `${meant}?`;
      return `File ${named(place.asked)} does not exist.${next}`;
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
    OVER_BUDGET: ({ place, tokens, tokensMax }) =>
      `File ${named(place.asked)} is over the budget: about ${Math.round(tokens)} tokens of ${tokensMax}. Use a smaller limit.`,
    CHANGED: ({ place }) => `File ${named(place.asked)} kept changing while it was read. Try again.`,
    IO_ERROR: ({ place, errno, during }, { cannot }) => `${cannot(place)}: ${errnoIn(errno, during)}.`,
    NO_RIPGREP: ({ install }) => `Nothing can be searched: ${noRipgrepWords(install)}.`,
    CANCELLED: ({ tool }) => `${tool} was cancelled.`,
  },
});

/** LS lists folders, with another parameter for the first entry than Read has. */
function rangeSentence({ of, from, total, place }: InvalidParam<"range">): string {
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
