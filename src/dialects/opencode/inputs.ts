/** The inputs of the `opencode` dialect, most of them those of `opencode-legacy` too. Made by npm run generate from the tools' parameters; do not edit. */

import type { LspOperation } from "../../contract/lsp.ts";
import type { CodePlaceInput } from "../inputs.ts";

/** One replacement. */
export interface EditPart {
  /** The text to replace, to the letter. */
  readonly oldString: string;
  /** The text to put in its place. */
  readonly newString: string;
  /** Replace every place; otherwise there must be only one. */
  readonly replaceAll?: boolean;
}

/** What a call of `read` may hold. */
export interface ReadInput {
  /** Path of the file or folder. */
  readonly filePath: string;
  /** First line or entry to return, counted from 1. */
  readonly offset?: number;
  /** How many lines or entries to return; 2000 by default. */
  readonly limit?: number;
  /** To see the rest of a cut line: its first character to show, counted from 1; only the line at offset is shown then. */
  readonly column?: number;
}

/** What a call of `glob` may hold. */
export interface GlobInput {
  /** Pattern of the paths, such as "**\/*.ts" or "src/**\/*.{js,jsx}". */
  readonly pattern: string;
  /** Folder to search; the whole workspace by default. */
  readonly path?: string;
}

/** What a call of `list` may hold. */
export interface ListInput {
  /** Path of the folder. */
  readonly path: string;
  /** Patterns of what to leave out, such as ["*.log", "dist/"]. */
  readonly ignore?: readonly string[];
  /** First entry of the folder to list, counted from 1, if it has more than one page. */
  readonly offset?: number;
}

/** What a call of `grep` may hold. */
export interface GrepInput {
  /** Regular expression to look for in the contents of files. */
  readonly pattern: string;
  /** Folder or file to search; the whole workspace by default. */
  readonly path?: string;
  /** Which files to search: "*.js", "*.{ts,tsx}", "src/**". */
  readonly include?: string;
}

/** What a call of `edit` may hold. */
export interface EditInput {
  /** Path of the file. */
  readonly filePath: string;
  /** The text to replace, to the letter. */
  readonly oldString: string;
  /** The text to put in its place. */
  readonly newString: string;
  /** Replace every place; otherwise there must be only one. */
  readonly replaceAll?: boolean;
}

/** What a call of `multiedit` may hold. */
export interface MultiEditInput {
  /** Path of the file. */
  readonly filePath: string;
  /** Made one after the other, all or none. */
  readonly edits: readonly EditPart[];
}

/** What a call of `write` may hold. */
export interface WriteInput {
  /** Path of the file. */
  readonly filePath: string;
  /** All of the file's content. */
  readonly content: string;
}

/** What a call of `patch` may hold. */
export interface PatchInput {
  /** The patch, from *** Begin Patch to *** End Patch. */
  readonly patchText: string;
}

/** What a call of `history` may hold. */
export interface HistoryInput {
  /** One turn, with its diffs; all turns are listed without it. */
  readonly turn?: string;
  /** Only what happened to this file, or below this folder. */
  readonly path?: string;
  /** First turn to list, or first file of the turn; counted from 1. In `opencode-legacy`: How many turns, or files of the turn, to skip; 0 is the newest. */
  readonly offset?: number;
  /** How many turns or files; 20 by default; at most 100. */
  readonly limit?: number;
}

/** What a call of `rewind` may hold. */
export interface RewindInput {
  /** The turn to go back before, as history names it; "start" is the beginning. */
  readonly turn: string;
  /** Only these files, or what is below these folders. */
  readonly paths?: readonly string[];
  /** Tell what would be done and write nothing. */
  readonly dryRun?: boolean;
  /** Also overwrite what somebody else changed since. */
  readonly force?: boolean;
}

/** What a call of `lsp` may hold. */
export interface LspInput extends CodePlaceInput {
  /** What to find out. */
  readonly operation: LspOperation;
  /** Path of the file; for workspaceSymbol any file of the language. */
  readonly filePath: string;
  /** For workspaceSymbol: a name or a part of one. */
  readonly query?: string;
  /** First result to show, counted from 1. In `opencode-legacy`: How many results to skip. */
  readonly offset?: number;
}

/** What a call of `rename` may hold. */
export interface RenameInput extends CodePlaceInput {
  /** Path of a file that the symbol stands in. */
  readonly filePath: string;
  /** What it shall be called. */
  readonly newName: string;
}
