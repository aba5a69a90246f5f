/** The inputs of the `envelope` dialect. Made by npm run generate from the tools' parameters; do not edit. */

import type { LspOperation } from "../../contract/lsp.ts";
import type { modes } from "./tools.ts";
import type { CodePlaceInput } from "../inputs.ts";

/** One replacement. */
export interface EditPart {
  /** The text to replace, to the letter. */
  readonly old_string: string;
  /** The text to put in its place. */
  readonly new_string: string;
  /** Replace every place; otherwise there must be only one. */
  readonly replace_all?: boolean;
}

/** What a call of `Read` may hold. */
export interface ReadInput {
  /** Path of the file, relative to the project root. */
  readonly path: string;
  /** First line to read, counted from 1. */
  readonly start_line?: number;
  /** How many lines to read; 500 by default; at most 2000. */
  readonly limit?: number;
  /** To see the rest of a cut line: its first character to show, counted from 1; only the line at start_line is shown then. */
  readonly column?: number;
}

/** What a call of `Grep` may hold. */
export interface GrepInput {
  /** Regular expression, in ripgrep's syntax. */
  readonly pattern: string;
  /** Folder or file to search, relative to the project root; the whole project by default. */
  readonly path?: string;
  /** Which files to search: "*.ts", "*.{js,mjs}", "src/**", "!*.test.ts". */
  readonly glob?: string;
  /** Type of files to search, as ripgrep names them: "ts", "py", "rust". */
  readonly type?: string;
  /** Matching lines, only the files they are in, or how many each file has; "content" by default. */
  readonly output_mode?: keyof typeof modes;
  /** Lines to show behind each match (content only); at most 1000. */
  readonly "-A"?: number;
  /** Lines to show before each match (content only); at most 1000. */
  readonly "-B"?: number;
  /** Lines to show before and behind each match (content only); at most 1000. */
  readonly "-C"?: number;
  /** Show line numbers in the text (content only); true by default. */
  readonly "-n"?: boolean;
  /** Ignore upper and lower case. */
  readonly "-i"?: boolean;
  /** Let a match reach over line ends, and let . match them. */
  readonly multiline?: boolean;
  /** How many lines or files to show; 250 by default; at most 10000. */
  readonly head_limit?: number;
  /** How many lines or files to skip first; 0 by default; at most 100000. */
  readonly offset?: number;
}

/** What a call of `Edit` may hold. */
export interface EditInput extends EditPart {
  /** Path of the file, relative to the project root. */
  readonly path: string;
}

/** What a call of `MultiEdit` may hold. */
export interface MultiEditInput {
  /** Path of the file, relative to the project root. */
  readonly path: string;
  /** Made one after the other, all or none. */
  readonly edits: readonly EditPart[];
}

/** What a call of `Write` may hold. */
export interface WriteInput {
  /** Path of the file, relative to the project root. */
  readonly path: string;
  /** All of the file's content. */
  readonly content: string;
}

/** What a call of `NotebookEdit` may hold. */
export interface NotebookEditInput {
  /** Path of the file, relative to the project root. */
  readonly path: string;
  /** The cell; a new one goes behind it, or to the beginning without one. */
  readonly cell_id?: string;
  /** The cell's new source. */
  readonly new_source: string;
  /** Of a new cell code by default; of an old one what it is. */
  readonly cell_type?: "code" | "markdown" | "raw";
  /** What to do with the cell; "replace" by default. */
  readonly edit_mode?: "replace" | "insert" | "delete";
}

/** What a call of `Lsp` may hold. */
export interface LspInput extends CodePlaceInput {
  /** What to find out. */
  readonly operation: LspOperation;
  /** Path of the file, relative to the project root; for workspaceSymbol any file of the language. */
  readonly path: string;
  /** For workspaceSymbol: a name or a part of one. */
  readonly query?: string;
  /** First result to show, counted from 1. */
  readonly offset?: number;
}

/** What a call of `Rename` may hold. */
export interface RenameInput extends CodePlaceInput {
  /** Path of a file that the symbol stands in, relative to the project root. */
  readonly path: string;
  /** What it shall be called. */
  readonly new_name: string;
}
