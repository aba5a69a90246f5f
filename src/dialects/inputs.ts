/** The inputs that `claude` and `envelope` share. Made by npm run generate from the tools' parameters; do not edit. */

/** How a call says which name in a file is meant. */
export interface CodePlaceInput {
  /** The line that the symbol stands on, counted from 1. */
  readonly line?: number;
  /** The name that is meant, as it stands on that line. */
  readonly symbol?: string;
  /** Instead of symbol: the column, counted from 1. */
  readonly column?: number;
}

/** What a call of `Glob` may hold. */
export interface GlobInput {
  /** Pattern of the paths, such as "**\/*.ts" or "src/**\/*.{js,jsx}". */
  readonly pattern: string;
  /** Folder to search; the whole workspace by default. */
  readonly path?: string;
}

/** What a call of `LS` may hold. */
export interface LsInput {
  /** Path of the folder. */
  readonly path: string;
  /** Patterns of what to leave out, such as ["*.log", "dist/"]. */
  readonly ignore?: readonly string[];
  /** First entry of the folder to list, counted from 1, if it has more than one page. */
  readonly offset?: number;
}

/** What a call of `History` may hold. */
export interface HistoryInput {
  /** One turn, with its diffs; all turns are listed without it. */
  readonly turn?: string;
  /** Only what happened to this file, or below this folder. */
  readonly path?: string;
  /** First turn to list, or first file of the turn; counted from 1. */
  readonly offset?: number;
  /** How many turns or files; 20 by default; at most 100. */
  readonly limit?: number;
}

/** What a call of `Rewind` may hold. */
export interface RewindInput {
  /** The turn to go back before, as History names it; "start" is the beginning. */
  readonly turn: string;
  /** Only these files, or what is below these folders. */
  readonly paths?: readonly string[];
  /** Tell what would be done and write nothing. */
  readonly dry_run?: boolean;
  /** Also overwrite what somebody else changed since. */
  readonly force?: boolean;
}
