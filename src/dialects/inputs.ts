/** The inputs that dialects share. Made by npm run generate from the tools' parameters; do not edit. */

import type { OutputMode } from "./shared-tools.ts";

/** How a call says which name in a file is meant. */
export interface CodePlaceInput {
  /** The line that the symbol stands on, counted from 1. */
  readonly line?: number;
  /** The name that is meant, as it stands on that line. */
  readonly symbol?: string;
  /** Instead of symbol: the column, counted from 1. */
  readonly column?: number;
}

/** One replacement. */
export interface EditPart {
  /** The text to replace, to the letter. */
  readonly old_string: string;
  /** The text to put in its place. */
  readonly new_string: string;
  /** Replace every place; otherwise there must be only one. */
  readonly replace_all?: boolean;
}

export interface GrepInput {
  /** Regular expression, in ripgrep's syntax. */
  readonly pattern: string;
  /** Folder or file to search; the whole workspace by default. In `envelope`: Folder or file to search, relative to the project root; the whole project by default. */
  readonly path?: string;
  /** Which files to search: "*.ts", "*.{js,mjs}", "src/**", "!*.test.ts". */
  readonly glob?: string;
  /** Type of files to search, as ripgrep names them: "ts", "py", "rust". */
  readonly type?: string;
  /** Matching lines, only the files they are in, or how many each file has; "files_with_matches" by default. In `envelope`: Matching lines, only the files they are in, or how many each file has; "content" by default. */
  readonly output_mode?: OutputMode;
  /** Lines to show behind each match (content only); at most 1000. */
  readonly "-A"?: number;
  /** Lines to show before each match (content only); at most 1000. */
  readonly "-B"?: number;
  /** Lines to show before and behind each match (content only); at most 1000. */
  readonly "-C"?: number;
  /** Show line numbers (content only); true by default. In `envelope`: Show line numbers in the text (content only); true by default. */
  readonly "-n"?: boolean;
  /** Ignore upper and lower case. */
  readonly "-i"?: boolean;
  /** Let a match reach over line ends, and let . match them. */
  readonly multiline?: boolean;
  /** How many lines or files to show; 0 for as many as one answer holds; 250 by default; at most 10000. In `envelope`: How many lines or files to show; 250 by default; at most 10000. */
  readonly head_limit?: number;
  /** How many lines or files to skip first, to go on where an answer ended; 0 by default; at most 100000. In `envelope`: How many lines or files to skip first; 0 by default; at most 100000. */
  readonly offset?: number;
}

export interface GlobInput {
  /** Pattern of the paths, such as "**\/*.ts" or "src/**\/*.{js,jsx}". */
  readonly pattern: string;
  /** Folder to search; the whole workspace by default. In `envelope`: Folder to search, relative to the project root; the whole project by default. */
  readonly path?: string;
}

export interface LsInput {
  /** Path of the folder. In `envelope`: Path of the folder, relative to the project root. */
  readonly path: string;
  /** Patterns of what to leave out, such as ["*.log", "dist/"]. */
  readonly ignore?: readonly string[];
  /** First entry of the folder to list, counted from 1, if it has more than one page. In `envelope`: First entry of the folder to list, counted from 1. */
  readonly offset?: number;
}

export interface DeleteInput {
  /** File or folder. In `envelope`: File or folder, relative to the project root. */
  readonly path: string;
}

export interface MoveInput {
  /** File or folder. In `envelope`: File or folder, relative to the project root. */
  readonly path: string;
  /** The whole new path. */
  readonly to: string;
}

export interface CopyInput {
  /** File or folder. In `envelope`: File or folder, relative to the project root. */
  readonly path: string;
  /** The whole new path. */
  readonly to: string;
}

export interface MakeFolderInput {
  /** The folder. In `envelope`: The folder, relative to the project root. */
  readonly path: string;
}

export interface HistoryInput {
  /** One turn, with its diffs; all turns are listed without it. */
  readonly turn?: string;
  /** Only what happened to this file, or below this folder. In `envelope`: Only what happened to this file, or below this folder; relative to the project root. */
  readonly path?: string;
  /** First turn to list, or first file of the turn; counted from 1. In `opencode-legacy`: How many turns, or files of the turn, to skip; 0 is the newest. */
  readonly offset?: number;
  /** How many turns or files; 20 by default; at most 100. */
  readonly limit?: number;
}

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
