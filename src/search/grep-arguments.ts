/** A search as ripgrep's arguments. The pattern is one word with its option and paths come after `--`, so no input of a caller becomes an option. */

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
      /** Globs for file names; other files are not searched. */
      readonly names: readonly string[] | undefined;
      /** Files with exclusions, in gitignore syntax. */
      readonly leftOut: readonly string[];
      /** Which ignore files ripgrep reads; `searched`: none. */
      readonly ignored: ReadByRipgrep | "searched";
      /** Undefined: ripgrep decides. */
      readonly threads?: 1 | undefined;
    }
  | { readonly in: "input" };

/** Which ignore files ripgrep reads, besides those in the folder and below. */
export interface ReadByRipgrep {
  /** Those of the folders above, up to the root of the file system. */
  readonly parents: boolean;
  /** Whether the folder is known to be in a repository. Then Git's files apply up to its top; else they apply everywhere. */
  readonly repository: boolean;
  readonly exclude: boolean;
}

/** The folders of version control systems. */
export const versionControlFolders: readonly string[] = [".git", ".hg", ".svn", ".jj", ".sl", ".bzr", "CVS"];

const always = [
  "--color=never",
  "--no-ignore-messages",
  "--engine=default",
  "--no-pre",
  "--no-search-zip",
  "--no-follow",
];

/** A file that shrinks under a memory map kills ripgrep; without a map a multi-line search reads whole files into memory. */
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
    // Makes `$` match before CRLF.
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

/** The same search on empty input: a fault that shows there is a fault of the search itself. */
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

/** Where matches are in the lines of standard input. */
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

/** Lists the files that a search would look at. */
export function filesArguments(
  types: readonly string[],
  searched: Extract<Searched, { readonly in: "folder" }>,
): readonly string[] {
  return [...always, "--files", "--null", ...folderArguments(types, searched), "--", "./"];
}

/** In a multi-line search ripgrep counts matches, but answers count lines: so the lines are counted here. */
export const showsLines = ({ mode, reach }: GrepQuery): boolean =>
  mode === "content" || (mode === "count" && reach === "lines");

function modeArguments(query: GrepQuery, { in: place }: Searched): readonly string[] {
  const named = place === "folder" ? "--with-filename" : "--no-filename";
  const { before, after } = query.mode === "content" ? query : { before: 0, after: 0 };
  switch (showsLines(query) ? "content" : query.mode) {
    case "files":
      // Standard input has no name: the number of matching lines says as much.
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
        // Suppresses text: a line that is longer is replaced by a short notice.
        "--max-columns=32",
        // ripgrep buffers its output for a file until it is done with the file.
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
    // A user's global ignore file is no property of the workspace: the same tree must give the same answer.
    "--no-ignore-global",
    ...leftOut.map((path) => `--ignore-file=${path}`),
    ...versionControlFolders.map((name) => `--glob=!**/${name}`),
    ...types.map((type) => `--type=${type}`),
    // A type selects by name without bringing ignored files back. Two types would add up.
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
