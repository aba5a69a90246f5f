/** The inputs of the `opencode` dialect and of `opencode-legacy`. Made by npm run generate from the tools' parameters; do not edit. */

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

export interface ReadInput {
  /** Path of the file or folder. In `opencode-legacy`: Path of the file. */
  readonly filePath: string;
  /** First line or entry to return, counted from 1. In `opencode-legacy`: How many lines to skip; 0 is the beginning. */
  readonly offset?: number;
  /** How many lines or entries to return; 2000 by default. In `opencode-legacy`: How many lines to return; 2000 by default. */
  readonly limit?: number;
  /** To see the rest of a cut line: its first character to show, counted from 1; only the line at offset is shown then. In `opencode-legacy`: To see the rest of a cut line: how many of its characters to skip; only the line after the skipped ones is shown then. */
  readonly column?: number;
}

export interface OutlineInput {
  /** Path of the file. */
  readonly filePath: string;
  /** Levels to show; by default as many as fit; at most 20. */
  readonly depth?: number;
}

export interface GrepInput {
  /** Regular expression to look for in the contents of files. */
  readonly pattern: string;
  /** Folder or file to search; the whole workspace by default. */
  readonly path?: string;
  /** Which files to search: "*.js", "*.{ts,tsx}", "src/**". */
  readonly include?: string;
}

export interface EditInput extends EditPart {
  /** Path of the file. */
  readonly filePath: string;
}

export interface MultiEditInput {
  /** Path of the file. */
  readonly filePath: string;
  /** Made one after the other, all or none. */
  readonly edits: readonly EditPart[];
}

export interface WriteInput {
  /** Path of the file. */
  readonly filePath: string;
  /** All of the file's content. */
  readonly content: string;
}

export interface PatchInput {
  /** The patch, from *** Begin Patch to *** End Patch, or a unified diff. */
  readonly patchText: string;
}

export interface EditLinesInput {
  /** Path of the file. */
  readonly filePath: string;
  /** All or none. */
  readonly edits: readonly {
    readonly lines: string;
    readonly newString: string;
    readonly first?: string;
  }[];
}

export interface EditFilesInput {
  /** All or none. */
  readonly files: readonly {
    readonly filePath: string;
    readonly edits: readonly {
      readonly oldString?: string;
      readonly lines?: string;
      readonly first?: string;
      readonly newString: string;
      readonly replaceAll?: boolean;
    }[];
  }[];
}

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

export interface RenameInput extends CodePlaceInput {
  /** Path of a file that the symbol stands in. */
  readonly filePath: string;
  /** What it shall be called. */
  readonly newName: string;
}
