/**
 * Failures in sentences: what cannot be done, what is the case, what to do next. All dialects share the clauses; a dialect gives
 * the names in them, the beginnings of sentences, and the sentences that its specification fixes.
 */

import type { Code, ProblemData, ProblemOf } from "../contract/problem.ts";
import type { Place } from "../contract/target.ts";
import {
  alreadyWords,
  ambiguousWords,
  wrongLinesWords,
  cellFaultWords,
  columnWords,
  type Doing,
  doing,
  editFaultWords,
  encodingWords,
  errnoIn,
  errnoRemedy,
  existsClause,
  lockedWords,
  noCellWords,
  noMatchWords,
  notReadWords,
  staleWords,
  tooLargeWords,
} from "./change-words.ts";
import { folderFaultWords, linkWords, patchFaultWords, rolledBackWords } from "./change-text.ts";
import { noRipgrepWords, patternFaults, searchFaultWords } from "./grep-text.ts";
import { codePlaceWords, languageServerWords, noRenameWords } from "./lsp-text.ts";
import { noOutlineWords } from "./outline-text.ts";
import { noTurnClause, noTurnDoing } from "./rewind-text.ts";
import {
  argumentFault,
  binaryReason,
  counted,
  denialClause,
  didYouMean,
  mediaFault,
  type Names,
  noValueHint,
  pageSpan,
  pagesFault,
  pathFaults,
  quoted,
  rangeUnits,
  specialWords,
} from "./words.ts";

export type InvalidParam<Reason extends string> = Extract<ProblemOf<"INVALID_PARAM">, { readonly reason: Reason }>;

/** What a sentence of a dialect's own needs besides the problem. */
export interface Telling {
  readonly about: Doing;
  /** The beginning of a sentence about this file. */
  readonly cannot: (place: Place) => string;
  readonly spell: (absolute: string) => string;
}

export interface ProblemStyle {
  readonly names: Names;
  readonly cannot?: (place: Place, about: Doing) => string;
  /** Beginnings of sentences about parts of a call. */
  readonly heads?: Heads;
  readonly end?: "." | "";
  /** The dialect's own sentences; undefined if it uses the shared one. */
  readonly own?: { readonly [C in Code]?: (problem: ProblemOf<C>, telling: Telling) => string | undefined };
  readonly denial?: Denial;
}

type Denial = (problem: ProblemOf<"ACCESS_DENIED">) => string;

type Heads = {
  readonly [Reason in "path" | "pattern" | "patch" | "search" | "pages"]: (problem: InvalidParam<Reason>) => string;
};

/** `cannot`: the beginning of a sentence about the file; empty if the problem is about none. */
type Invalid = {
  readonly [Reason in ProblemOf<"INVALID_PARAM">["reason"]]: (problem: InvalidParam<Reason>, cannot: string) => string;
};

const plainHeads: Heads = {
  path: ({ asked }) => `Cannot use the path ${quoted(asked)}`,
  pattern: ({ pattern }) => `Cannot use the pattern ${quoted(pattern)}`,
  patch: () => "Cannot apply the patch",
  search: () => "Cannot search",
  pages: ({ place }) => `Cannot read pages of ${quoted(place.asked)}`,
};

/** The same for dialects that begin with "Invalid". */
export const invalidHeads = (name: (asked: string) => string, pages: Heads["pages"]): Heads => ({
  path: ({ asked }) => `Invalid path ${name(asked)}`,
  pattern: ({ pattern }) => `Invalid pattern ${name(pattern)}`,
  patch: () => "Invalid patch",
  search: () => "Invalid search",
  pages,
});

export function sentencesWith({
  names,
  cannot: begin = ({ asked }, about) => `Cannot ${doing[about]} ${quoted(asked)}`,
  heads: head = plainHeads,
  end = "",
  own = {},
  denial = denialClause,
}: ProblemStyle) {
  const sentenceOf = (problem: ProblemData, about: Doing, spell = (absolute: string) => absolute): string => {
    const cannot = (place: Place): string => begin(place, about);
    const ownWords = own[problem.code] as ((problem: ProblemData, telling: Telling) => string | undefined) | undefined; // the table pairs them by code
    const telling = { about, cannot, spell };
    // The last line of a mismatch is a line of the file.
    const stop = problem.code === "NO_MATCH" ? "" : end;
    return ownWords?.(problem, telling) ?? shared(problem, telling) + stop;
  };

  const shared = (problem: ProblemData, { about, cannot, spell }: Telling): string => {
    if (problem.code === "INVALID_PARAM") {
      const words = invalid[problem.reason] as (one: typeof problem, begin: string) => string; // the table pairs them by reason
      return words(problem, "place" in problem ? cannot(problem.place) : "");
    }
    if (problem.code === "NO_RIPGREP") return `Cannot search: ${noRipgrepWords(problem.install)}`;
    if (problem.code === "NO_TURN") return `Cannot ${noTurnDoing(problem)}: ${noTurnClause(problem)}`;
    if (problem.code === "CANCELLED") return `${problem.tool} was cancelled, nothing was changed`;
    if (problem.code === "UNKNOWN_TOOL") {
      const { known, nearest } = problem;
      const next = nearest === undefined ? `use one of ${known.join(", ")}` : `did you mean ${nearest}`;
      return `Cannot call ${quoted(problem.tool)}: there is no such tool, ${next}`;
    }
    if (problem.code === "ROLLED_BACK") {
      const cause = sentenceOf(problem.cause, about, spell);
      return rolledBackWords(problem, end === "" ? cause : cause.replace(/\.$/, ""));
    }
    const clause = clauses[problem.code] as (one: OfFile, names: Names, denial: Denial) => string; // the table pairs them by code
    return `${cannot(problem.place)}: ${clause(problem, names, denial)}`;
  };

  const invalid: Invalid = {
    arguments: ({ tool, issues }) => `Cannot call ${tool}: ${issues.map(argumentFault).join("; ")}`,
    path: (problem) => `${head.path(problem)}: ${pathFaults[problem.fault]}`,
    pattern: (problem) => `${head.pattern(problem)}: ${patternFaults[problem.fault]}`,
    patch: (problem) => `${head.patch(problem)}: ${patchFaultWords(problem)}`,
    search: (problem) => `${head.search(problem)}: ${searchFaultWords(problem.fault, names)}`,
    pages: (problem) => `${head.pages(problem)}: ${pagesFault(problem)}`,
    edit: (problem, cannot) => `${cannot}: ${editFaultWords(problem, names)}`,
    cell: ({ fault }, cannot) => `${cannot}: ${cellFaultWords[fault]}`,
    link: (problem, cannot) => `${cannot}: ${linkWords(problem)}`,
    folder: (problem, cannot) => `${cannot}: ${folderFaultWords(problem)}`,
    "code place": ({ fault }, cannot) => `${cannot}: ${codePlaceWords(fault)}`,
    column: (problem, cannot) => `${cannot}: ${columnWords(problem)}`,
    range: ({ of, from, total }, cannot) => {
      const start = `${cannot} from ${rangeUnits[of]} ${from}`;
      if (total === 0) return `${start}: it is empty, leave offset out`;
      const legal = total === 1 ? "offset 1" : `an offset from 1 to ${total}`;
      return `${start}: it has ${counted(total, rangeUnits[of], of)}, use ${legal}`;
    },
  };
  return sentenceOf;
}

type OfFile = Exclude<
  ProblemData,
  { readonly code: "UNKNOWN_TOOL" | "INVALID_PARAM" | "NO_RIPGREP" | "NO_TURN" | "ROLLED_BACK" | "CANCELLED" }
>;

/** The part after `Cannot edit "x": `. */
const clauses: {
  readonly [C in OfFile["code"]]: (
    problem: Extract<OfFile, { readonly code: C }>,
    names: Names,
    denial: Denial,
  ) => string;
} = {
  NOT_FOUND: ({ reason, place, suggestions }) => {
    const what = reason === "missing" ? "it does not exist" : "a name before the last one is a file, not a folder";
    return what + (didYouMean(suggestions) || `, ${noValueHint(place.asked) ?? "check the path"}`);
  },
  ACCESS_DENIED: (problem, _, denial) =>
    denial(problem) + (problem.reason === "outside" ? didYouMean(problem.suggestions) : ""),
  IS_DIRECTORY: () => "it is a folder, name a file in it",
  NOT_DIRECTORY: () => "it is not a folder, read it instead",
  LINK_LOOP: () => "its links lead in a circle, use another path",
  SPECIAL_FILE: ({ special }) => `it is ${specialWords[special]}, only regular files can be worked with`,
  BINARY_FILE: (problem) => `${binaryReason(problem)}, use another tool if you need its bytes`,
  TOO_LARGE: (problem, { repair }) => (problem.kind === "text" ? tooLargeWords(problem) : mediaFault(problem, repair)),
  DAMAGED: (problem, { repair }) => mediaFault(problem, repair),
  ENCRYPTED: (problem, { repair }) => mediaFault(problem, repair),
  NO_CODEC: (problem, { repair }) => mediaFault(problem, repair),
  OVER_BUDGET: ({ of, from, lines, linesThatFit, tokens, tokensMax, ...problem }) => {
    const cost = `${problem.counted === "at least" ? "at least" : "about"} ${Math.round(tokens)} tokens`;
    const fewer =
      of === "pages" ? `read pages ${pageSpan(from, linesThatFit)} instead` : `use a limit of at most ${linesThatFit}`;
    const next = linesThatFit > 0 ? fewer : `read ${of.slice(0, -1)} ${from} alone`;
    return `${of} ${from} to ${from + lines - 1} have ${cost}, the budget is ${tokensMax}, ${next}`;
  },
  LANGUAGE_SERVER: languageServerWords,
  NO_RENAME: noRenameWords,
  NO_OUTLINE: noOutlineWords,
  CHANGED: () => "it kept changing while it was read, try again",
  IO_ERROR: ({ errno, during }) => `${errnoIn(errno, during)}, ${errnoRemedy(errno, during)}`,
  STATE_UNAVAILABLE: ({ fault }) =>
    `the shared state cannot be used (${fault}), nothing was written, try again in a moment`,
  NOT_READ: notReadWords,
  STALE: staleWords,
  NO_MATCH: noMatchWords,
  AMBIGUOUS: ambiguousWords,
  WRONG_LINES: wrongLinesWords,
  ALREADY_APPLIED: alreadyWords,
  NO_CELL: noCellWords,
  ENCODING: encodingWords,
  EXISTS: existsClause,
  LOCKED: lockedWords,
};
