/** The tools of the `claude` dialect. */

import * as z from "zod/mini";
import { type LspOperation, lspOperations } from "../../contract/lsp.ts";
import { lineNumber } from "../../contract/target.ts";
import type { Card } from "../dialect.ts";
import { columnOf, integer, jsonSchemaOf, noticeAsContent, parseArguments } from "../parameters.ts";
import {
  type CodePlaceInput,
  historyCardsOf,
  placeIn,
  placeShape,
  placeWords,
  searchCardsOf,
} from "../search-cards.ts";
import editDescription from "./edit.txt";
import glob from "./glob.txt";
import { grep } from "./grep-card.ts";
import history from "./history.txt";
import ls from "./ls.txt";
import lspDescription from "./lsp.txt";
import multiEditDescription from "./multi-edit.txt";
import notebookEditDescription from "./notebook-edit.txt";
import readDescription from "./read.txt";
import renameDescription from "./rename.txt";
import rewind from "./rewind.txt";
import unchanged from "./unchanged.txt";
import writeDescription from "./write.txt";

// The tools of the `claude` dialect that change files.

const oneEdit = {
  old_string: z.string(),
  new_string: z.string(),
  replace_all: z.optional(z.boolean()),
};

const editInput = z.strictObject({ file_path: z.string(), ...oneEdit });
const multiEditInput = z.strictObject({
  file_path: z.string(),
  edits: z.array(z.strictObject(oneEdit)).check(z.minLength(1)),
});
const writeInput = z.strictObject({ file_path: z.string(), content: z.string() });
const notebookEditInput = z.strictObject({
  notebook_path: z.string(),
  cell_id: z.optional(z.string()),
  new_source: z.string(),
  cell_type: z.optional(z.enum(["code", "markdown"])),
  edit_mode: z.optional(z.enum(["replace", "insert", "delete"])),
});

/** One replacement. */
export interface EditPart {
  /** The text to replace, to the letter. */
  readonly old_string: string;
  readonly new_string: string;
  /** Replace every place; otherwise there must be only one. */
  readonly replace_all?: boolean;
}

/** What a call of `Edit` may hold. */
export interface EditInput extends EditPart {
  readonly file_path: string;
}

/** What a call of `MultiEdit` may hold. */
export interface MultiEditInput {
  readonly file_path: string;
  /** Made one after the other, all or none. */
  readonly edits: readonly EditPart[];
}

/** What a call of `Write` may hold. */
export interface WriteInput {
  readonly file_path: string;
  readonly content: string;
}

/** What a call of `NotebookEdit` may hold. */
export interface NotebookEditInput {
  readonly notebook_path: string;
  /** The cell, by the id that Read shows. */
  readonly cell_id?: string;
  readonly new_source: string;
  readonly cell_type?: "code" | "markdown";
  readonly edit_mode?: "replace" | "insert" | "delete";
}

const editWords = {
  old_string: { description: "The text to replace, to the letter" },
  new_string: { description: "The text to put in its place" },
  replace_all: { description: "Replace every place; otherwise there must be only one", default: false },
} as const;

const edit: Card = {
  name: "Edit",
  verb: "edit",
  description: editDescription,
  readOnly: false,
  get inputSchema() {
    return jsonSchemaOf(editInput, { file_path: { description: "Path of the file" }, ...editWords });
  },
  toRequest(input, profile) {
    const { file_path, old_string, new_string, replace_all } = parseArguments(editInput, "Edit", input);
    const only = { oldText: old_string, newText: new_string, all: replace_all ?? false };
    return { verb: "edit", path: file_path, edits: [only], profile };
  },
};

const multiEdit: Card = {
  name: "MultiEdit",
  verb: "edit",
  description: multiEditDescription,
  readOnly: false,
  get inputSchema() {
    return jsonSchemaOf(multiEditInput, {
      file_path: { description: "Path of the file" },
      edits: {
        description: "Made one after the other, all or none",
        items: jsonSchemaOf(z.strictObject(oneEdit), editWords),
      },
    });
  },
  toRequest(input, profile) {
    const { file_path, edits } = parseArguments(multiEditInput, "MultiEdit", input);
    const [first, ...others] = edits.map(({ old_string, new_string, replace_all }) => ({
      oldText: old_string,
      newText: new_string,
      all: replace_all ?? false,
    }));
    if (first === undefined) throw new Error("the schema asks for one edit at least");
    return { verb: "edit", path: file_path, edits: [first, ...others], profile };
  },
};

const write: Card = {
  name: "Write",
  verb: "write",
  description: writeDescription,
  readOnly: false,
  get inputSchema() {
    return jsonSchemaOf(writeInput, {
      file_path: { description: "Path of the file" },
      content: { description: "All of the file's content" },
    });
  },
  toRequest(input, profile) {
    const { file_path: path, content } = parseArguments(writeInput, "Write", input);
    if (content.trim() === unchanged.trim()) throw noticeAsContent(path);
    return { verb: "write", path, content, profile };
  },
};

const notebookEdit: Card = {
  name: "NotebookEdit",
  verb: "notebook-edit",
  description: notebookEditDescription,
  readOnly: false,
  get inputSchema() {
    return jsonSchemaOf(notebookEditInput, {
      notebook_path: { description: "Path of the notebook" },
      cell_id: {
        description: "The cell, by the id that Read shows; a new cell goes behind it, or to the beginning without one",
      },
      new_source: { description: "The cell's new source" },
      cell_type: { description: "Of a new cell code by default; of an old one what it is" },
      edit_mode: { description: "What to do with the cell", default: "replace" },
    });
  },
  toRequest(input, profile) {
    const given = parseArguments(notebookEditInput, "NotebookEdit", input);
    return {
      verb: "notebook-edit",
      path: given.notebook_path,
      cellId: given.cell_id ?? undefined,
      source: given.new_source,
      cellType: given.cell_type ?? undefined,
      mode: given.edit_mode ?? "replace",
      profile,
    };
  },
};

const changeCards: readonly Card[] = [edit, multiEdit, write, notebookEdit];

// The tools of the `claude` dialect that look back and go back.

const historyCards = historyCardsOf({ history, rewind }, "");

// The tools of the `claude` dialect that ask language servers.

const place = { file_path: z.string(), ...placeShape };

const lspInput = z.strictObject({
  operation: z.enum(lspOperations),
  ...place,
  query: z.optional(z.string()),
  offset: z.optional(integer({ min: 1 })),
});

const renameInput = z.strictObject({ ...place, new_name: z.string() });

/** What a call of `Lsp` may hold. */
export interface LspInput extends CodePlaceInput {
  readonly operation: LspOperation;
  readonly file_path: string;
  /** For workspaceSymbol: a name or a part of one. */
  readonly query?: string;
  /** First result to show, counted from 1. */
  readonly offset?: number;
}

/** What a call of `Rename` may hold. */
export interface RenameInput extends CodePlaceInput {
  readonly file_path: string;
  readonly new_name: string;
}

const lsp: Card = {
  name: "Lsp",
  verb: "lsp",
  description: lspDescription,
  readOnly: true,
  optIn: "lsp",
  get inputSchema() {
    return jsonSchemaOf(lspInput, {
      operation: { description: "What to find out" },
      file_path: { description: "Path of the file; for workspaceSymbol any file of the language" },
      ...placeWords,
      query: { description: "For workspaceSymbol: a name or a part of one" },
      offset: { description: "First result to show, counted from 1", default: 1 },
    });
  },
  toRequest(input, profile) {
    const { operation, file_path, query, offset, ...at } = parseArguments(lspInput, "Lsp", input);
    return {
      verb: "lsp",
      operation,
      path: file_path,
      at: placeIn(at),
      query: query ?? undefined,
      from: offset ?? 1,
      profile,
    };
  },
};

const rename: Card = {
  name: "Rename",
  verb: "rename",
  description: renameDescription,
  readOnly: false,
  optIn: "rename",
  get inputSchema() {
    return jsonSchemaOf(renameInput, {
      file_path: { description: "Path of a file that the symbol stands in" },
      ...placeWords,
      new_name: { description: "What it shall be called" },
    });
  },
  toRequest(input, profile) {
    const { file_path, new_name, ...at } = parseArguments(renameInput, "Rename", input);
    return { verb: "rename", path: file_path, at: placeIn(at), newName: new_name, profile };
  },
};

const lspCards: readonly Card[] = [lsp, rename];

// The tools of the `claude` dialect that look for files by their names.

const searchCards = searchCardsOf(
  { glob, ls },
  {
    globPath: { description: "Folder to search; the whole workspace by default" },
    lsPath: { description: "Path of the folder" },
    lsOffset: { description: "First entry of the folder to list, counted from 1, if it has more than one page" },
  },
);

const readInput = z.strictObject({
  file_path: z.string(),
  offset: z.optional(integer({ min: 1 })),
  limit: z.optional(integer({ min: 1 })),
  column: z.optional(integer({ min: 1 })),
  pages: z.optional(z.string()),
});

/** What a call of `Read` may hold. */
export interface ReadInput {
  readonly file_path: string;
  /** First line to read; lines count from 1. */
  readonly offset?: number;
  /** How many lines to read; all of them by default. */
  readonly limit?: number;
  /** To see the rest of a cut line: its first character to show, counted from 1; only the line at offset is shown then. */
  readonly column?: number;
  /** Pages of a PDF: "1-5", "3", "10-20". */
  readonly pages?: string;
}

const read: Card = {
  name: "Read",
  verb: "read",
  description: readDescription,
  readOnly: true,
  get inputSchema() {
    return jsonSchemaOf(readInput, {
      file_path: { description: "Path of the file" },
      offset: { description: "First line to read; lines count from 1" },
      limit: { description: "How many lines to read; all of them by default" },
      column: {
        description:
          "To see the rest of a cut line: its first character to show, counted from 1; only the line at offset is shown then",
      },
      pages: { description: 'Pages of a PDF: "1-5", "3", "10-20"' },
    });
  },
  toRequest(input, profile) {
    const { file_path, offset, limit, column, pages } = parseArguments(readInput, "Read", input);
    return {
      verb: "read",
      path: file_path,
      ranges: [{ from: lineNumber(offset ?? 1), linesMax: limit ?? Number.POSITIVE_INFINITY, ...columnOf(column) }],
      // Who names an end wants all of it; who does not is served the first page of the rest.
      overBudget: limit == null ? "first page" : "refuse",
      whole: offset == null && limit == null && column == null,
      profile,
      ...(pages == null ? {} : { pages }),
    };
  },
};

export const cards: readonly Card[] = [read, grep, ...searchCards, ...changeCards, ...historyCards, ...lspCards];
