/** What the two opencode dialects say alike: their failures and the reply they wrap a text in. */

import type { Code, ProblemData, ProblemOf, Suggestion } from "../contract/problem.ts";
import type { Page, TextOutcome } from "../contract/read.ts";
import type { Place } from "../contract/target.ts";
import { escapeName } from "../text/escape.ts";
import { argumentFault, denial, mediaWords, pathFaults, quoted, specialWords, spelled } from "./words.ts";

/** What `read` answers for programs. */
export interface ReadResult {
  readonly title: string;
  readonly output: string;
  readonly metadata: {
    readonly preview: string;
    readonly truncated: boolean;
    /** Present when the file is not plain UTF-8. */
    readonly encoding?: string;
    /** Present when bytes could not be decoded and stand as U+FFFD. */
    readonly lossy?: true;
  };
}

const previewLines = 20;

export function resultOf(
  place: Place,
  output: string,
  shown: readonly string[],
  truncated: boolean,
  text?: TextOutcome,
): ReadResult {
  return {
    title: escapeName(place.relative),
    output,
    metadata: {
      preview: shown.slice(0, previewLines).join("\n"),
      truncated,
      ...(text === undefined || text.encoding === "utf-8" ? {} : { encoding: text.encoding }),
      ...(text?.lossy ? { lossy: true as const } : {}),
    },
  };
}

/** How a page of a file ends. */
export function footerOf(page: Page, pageBytesMax: number): string {
  const last = page.from + page.lines.length - 1;
  if (page.stopped === "end") return `(End of file - total ${page.linesTotal} lines)`;
  if (page.stopped === "lines") return `(File has more lines. Use 'offset' parameter to read beyond line ${last})`;
  return `(Output truncated at ${pageBytesMax} bytes. Use 'offset' parameter to read beyond line ${last})`;
}

const path = (place: Place): string => spelled(place.absolute);

const meant = (suggestions: readonly Suggestion[]): string =>
  suggestions.length === 0
    ? ""
    : `\n\nDid you mean one of these?\n${suggestions.map((one) => escapeName(one.absolute)).join("\n")}`;

const sentences: { readonly [C in Code]: (problem: ProblemOf<C>) => string } = {
  UNKNOWN_TOOL: ({ tool, known, nearest }) =>
    `Unknown tool: ${escapeName(tool)}. ${nearest === undefined ? `Use one of: ${known.join(", ")}` : `Did you mean ${nearest}?`}`,
  INVALID_PARAM: (problem) => {
    switch (problem.reason) {
      case "arguments":
        return problem.issues
          .map((issue) =>
            issue.fault === "range" && issue.min !== undefined
              ? `${issue.name} must be >= ${issue.min}`
              : argumentFault(issue),
          )
          .join("; ");
      case "path":
        return `Invalid path ${quoted(problem.asked)}: ${pathFaults[problem.fault]}`;
      case "pages":
        return `Cannot read pages of ${path(problem.place)}: it is not a PDF`;
      case "range": {
        const kind = problem.of === "lines" ? "file" : "directory";
        return `Offset ${problem.from} is out of range for this ${kind} (${problem.total} ${problem.of})`;
      }
    }
  },
  NOT_FOUND: ({ place, suggestions }) => `File not found: ${path(place)}${meant(suggestions)}`,
  ACCESS_DENIED: (problem) => {
    const more = problem.reason === "outside" ? meant(problem.suggestions) : "";
    return `Access denied: ${path(problem.place)} (${denial(problem)})${more}`;
  },
  IS_DIRECTORY: ({ place }) => `Path is a directory, not a file: ${path(place)}`,
  NOT_DIRECTORY: ({ place }) => `Path is a file, not a directory: ${path(place)}`,
  LINK_LOOP: ({ place }) => `Links lead in a circle: ${path(place)}`,
  SPECIAL_FILE: ({ place, special }) => `Cannot read special file: ${path(place)} (it is ${specialWords[special]})`,
  // The path names the extension too, where that is the reason.
  BINARY_FILE: ({ place }) => `Cannot read binary file: ${path(place)}`,
  NOT_YET: ({ place, kind }) =>
    `Cannot read ${path(place)}: it is ${mediaWords[kind]}, and this version of Filehand reads only text`,
  OVER_BUDGET: ({ place, tokens, tokensMax }) =>
    `Cannot read ${path(place)}: about ${Math.round(tokens)} tokens are over the budget of ${tokensMax}, use a smaller 'limit'`,
  CHANGED: ({ place }) => `File kept changing while it was read: ${path(place)}. Try again`,
  IO_ERROR: ({ place, errno, during }) => `Cannot read ${path(place)}: ${errno} while ${during}`,
  CANCELLED: ({ tool }) => `${tool} was cancelled`,
};

export function sentenceOf(problem: ProblemData): string {
  const sentence = sentences[problem.code] as (problem: ProblemData) => string; // the table pairs them by code
  return sentence(problem);
}
