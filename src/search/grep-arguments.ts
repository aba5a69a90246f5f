/** A search as ripgrep's arguments. A pattern is one word with its option, paths stand behind `--`: nothing of a caller becomes an option. */

import type { GrepMode } from "../contract/grep.ts";
import { limits } from "../contract/limits.ts";

export interface GrepQuery {
  readonly pattern: string;
  readonly mode: GrepMode;
  readonly before: number;
  readonly after: number;
  readonly letterCase: "exact" | "any";
  readonly reach: "line" | "lines";
  readonly types: readonly string[];
}

/** Where ripgrep looks: the folder it runs in, or its standard input. */
export type Searched =
  | {
      readonly in: "folder";
      /** Last names of files; others are not looked at. */
      readonly names: readonly string[] | undefined;
      /** Files with patterns of what is left out, in the form of gitignore. */
      readonly leftOut: readonly string[];
      /** How far ripgrep reads ignore files; `searched`: not at all. */
      readonly ignored: ReadByRipgrep | "searched";
      /** Undefined: as many as ripgrep thinks fit. */
      readonly threads?: 1 | undefined;
    }
  | { readonly in: "input" };

/** Which ignore files ripgrep reads, besides those in the folder and below. */
export interface ReadByRipgrep {
  /** Those of the folders above, up to the top of the disk. */
  readonly parents: boolean;
  /** Is the folder known to lie in a repository? Then Git's files count up to there; else anywhere, whatever lies between. */
  readonly repository: boolean;
  /** `.git/info/exclude`. */
  readonly exclude: boolean;
}

/** Folders in which version control keeps its own. */
export const ownFolders: readonly string[] = [".git", ".hg", ".svn", ".jj", ".sl", ".bzr", "CVS"];

const always = [
  "--color=never",
  "--no-ignore-messages",
  "--engine=default",
  "--no-pre",
  "--no-search-zip",
  "--no-follow",
];

/** A file that becomes shorter under a memory map kills the process; without one a search over lines holds all of it. */
export type ReadBy = "memory maps" | "reads";

export function grepArguments(
  query: GrepQuery,
  searched: Searched,
  by: ReadBy = query.reach === "lines" ? "memory maps" : "reads",
): readonly string[] {
  return [
    ...always,
    ...modeArguments(query, searched),
    caseArgument(query.letterCase),
    // `$` means the end of a line in files of Windows too.
    "--crlf",
    ...reachArguments(query),
    by === "memory maps" ? "--mmap" : "--no-mmap",
    ...(searched.in === "folder" ? folderArguments(query.types, searched) : []),
    `--regexp=${query.pattern}`,
    "--",
    searched.in === "folder" ? "./" : "-",
  ];
}

const reachArguments = ({ reach }: GrepQuery): readonly string[] =>
  reach === "lines" ? ["--multiline", "--multiline-dotall"] : [];

/** The same search of an empty input: what is wrong with it is wrong by itself. */
export const probeArguments = (query: GrepQuery): readonly string[] => [
  ...always,
  caseArgument(query.letterCase),
  "--crlf",
  ...reachArguments(query),
  ...query.types.map((type) => `--type=${type}`),
  `--regexp=${query.pattern}`,
  "--",
  "-",
];

/** Where in the lines of its standard input matches are. */
export const spanArguments = ({
  pattern,
  letterCase,
}: Pick<GrepQuery, "pattern" | "letterCase">): readonly string[] => [
  ...always,
  "--json",
  caseArgument(letterCase),
  `--regexp=${pattern}`,
  "--",
  "-",
];

const caseArgument = (letterCase: GrepQuery["letterCase"]): string =>
  letterCase === "any" ? "--ignore-case" : "--case-sensitive";

/** The files that a search would look at, by their names alone. */
export function filesArguments(
  types: readonly string[],
  searched: Extract<Searched, { readonly in: "folder" }>,
): readonly string[] {
  return [...always, "--files", "--null", ...folderArguments(types, searched), "--", "./"];
}

/** ripgrep counts matches where they may go over lines, and lines are what is told: then they are counted here. */
export const showsLines = ({ mode, reach }: GrepQuery): boolean =>
  mode === "content" || (mode === "count" && reach === "lines");

function modeArguments(query: GrepQuery, { in: place }: Searched): readonly string[] {
  const named = place === "folder" ? "--with-filename" : "--no-filename";
  const { before, after } = query.mode === "content" ? query : { before: 0, after: 0 };
  switch (showsLines(query) ? "content" : query.mode) {
    case "files":
      // Of standard input there is no name to tell: how many lines match says as much.
      return place === "folder" ? ["--files-with-matches", "--null"] : ["--count", named];
    case "count":
      return ["--count", "--null", named];
    case "content":
      return [
        "--null",
        named,
        place === "folder" ? "--heading" : "--no-heading",
        "--line-number",
        "--column",
        "--byte-offset",
        "--no-context-separator",
        // Hardly any text: words stand for a line that is longer than they are.
        "--max-columns=32",
        // ripgrep holds what it has to say about a file until it is through with it.
        `--max-count=${limits.searchFileLinesMax}`,
        "--no-max-columns-preview",
        `--before-context=${before}`,
        `--after-context=${after}`,
      ];
  }
}

function folderArguments(
  types: readonly string[],
  { names, leftOut, ignored, threads }: Extract<Searched, { readonly in: "folder" }>,
): readonly string[] {
  return [
    "--hidden",
    ...(threads === undefined ? [] : [`--threads=${threads}`]),
    ...ignoreArguments(ignored),
    // What a user ignores everywhere is no property of the workspace: the same tree must give the same answer.
    "--no-ignore-global",
    ...leftOut.map((path) => `--ignore-file=${path}`),
    ...ownFolders.map((name) => `--glob=!**/${name}`),
    ...types.map((type) => `--type=${type}`),
    // Types are ripgrep's way to choose by name that brings no ignored file back. Two of them would add up.
    ...(names === undefined || types.length > 0
      ? []
      : [...names.map((name) => `--type-add=${ownType}:${name}`), `--type=${ownType}`]),
  ];
}

function ignoreArguments(ignored: ReadByRipgrep | "searched"): readonly string[] {
  if (ignored === "searched") return ["--no-ignore"];
  return [
    ...(ignored.parents ? [] : ["--no-ignore-parent"]),
    ...(ignored.repository ? [] : ["--no-require-git"]),
    ...(ignored.exclude ? [] : ["--no-ignore-exclude"]),
  ];
}

const ownType = "filehandnames";
