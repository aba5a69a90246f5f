/** The inputs of the `envelope` dialect. Made by npm run generate from the tools' parameters; do not edit. */

import type { LspOperation } from "../../contract/lsp.ts";
import type { CodePlaceInput, EditPart } from "../inputs.ts";

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

export interface OutlineInput {
  /** Path of the file, relative to the project root. */
  readonly path: string;
  /** Levels to show; by default as many as fit; at most 20. */
  readonly depth?: number;
}

export interface EditInput extends EditPart {
  /** Path of the file, relative to the project root. */
  readonly path: string;
}

export interface MultiEditInput {
  /** Path of the file, relative to the project root. */
  readonly path: string;
  /** Made one after the other, all or none. */
  readonly edits: readonly EditPart[];
}

export interface WriteInput {
  /** Path of the file, relative to the project root. */
  readonly path: string;
  /** All of the file's content. */
  readonly content: string;
}

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

export interface EditLinesInput {
  /** Path of the file, relative to the project root. */
  readonly path: string;
  /** All or none. */
  readonly edits: readonly {
    readonly lines: string;
    readonly new_string: string;
    readonly first?: string;
  }[];
}

export interface EditFilesInput {
  /** All or none. */
  readonly files: readonly {
    readonly path: string;
    readonly edits: readonly {
      readonly old_string?: string;
      readonly lines?: string;
      readonly first?: string;
      readonly new_string: string;
      readonly replace_all?: boolean;
    }[];
  }[];
}

export interface PatchInput {
  /** The patch. */
  readonly patch_text: string;
}

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

export interface RenameInput extends CodePlaceInput {
  /** Path of a file that the symbol stands in, relative to the project root. */
  readonly path: string;
  /** What it shall be called. */
  readonly new_name: string;
}
