/** The tools of the `envelope` dialect, which takes nothing but what its schema says. */

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
import writeDescription from "./write.txt";

// The tools of the `envelope` dialect that change files.

const oneEdit = { old_string: z.string(), new_string: z.string(), replace_all: z.optional(z.boolean()) };

const editInput = z.strictObject({ path: z.string(), ...oneEdit });
const multiEditInput = z.strictObject({
  path: z.string(),
  edits: z.array(z.strictObject(oneEdit)).check(z.minLength(1)),
});
const writeInput = z.strictObject({ path: z.string(), content: z.string() });
const notebookEditInput = z.strictObject({
  path: z.string(),
  cell_id: z.optional(z.string()),
  new_source: z.string(),
  cell_type: z.optional(z.enum(["code", "markdown", "raw"])),
  edit_mode: z.optional(z.enum(["replace", "insert", "delete"])),
});

export interface EditPart {
  readonly old_string: string;
  readonly new_string: string;
  readonly replace_all?: boolean;
}

/** What a call of `Edit` may hold. */
export interface EditInput extends EditPart {
  readonly path: string;
}

/** What a call of `MultiEdit` may hold. */
export interface MultiEditInput {
  readonly path: string;
  readonly edits: readonly EditPart[];
}

/** What a call of `Write` may hold. */
export interface WriteInput {
  readonly path: string;
  readonly content: string;
}

/** What a call of `NotebookEdit` may hold. */
export interface NotebookEditInput {
  readonly path: string;
  readonly cell_id?: string;
  readonly new_source: string;
  readonly cell_type?: "code" | "markdown" | "raw";
  readonly edit_mode?: "replace" | "insert" | "delete";
}

const path = { description: "Path of the file, relative to the project root" };
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
    return jsonSchemaOf(editInput, { path, ...editWords });
  },
  toRequest(input, profile) {
    const given = parseArguments(editInput, "Edit", input);
    return { verb: "edit", path: given.path, edits: [partOf(given)], profile };
  },
};

const multiEdit: Card = {
  name: "MultiEdit",
  verb: "edit",
  description: multiEditDescription,
  readOnly: false,
  get inputSchema() {
    const items = jsonSchemaOf(z.strictObject(oneEdit), editWords);
    return jsonSchemaOf(multiEditInput, {
      path,
      edits: { description: "Made one after the other, all or none", items },
    });
  },
  toRequest(input, profile) {
    const given = parseArguments(multiEditInput, "MultiEdit", input);
    const [first, ...others] = given.edits.map(partOf);
    if (first === undefined) throw new Error("the schema asks for one edit at least");
    return { verb: "edit", path: given.path, edits: [first, ...others], profile };
  },
};

/** As the envelope's text says it, with the time it took. */
const unchangedNotice = /^File '[^\n]*' is unchanged since it was last read\.(?:\n\(Took \d+ms\))?$/;

const write: Card = {
  name: "Write",
  verb: "write",
  description: writeDescription,
  readOnly: false,
  get inputSchema() {
    return jsonSchemaOf(writeInput, { path, content: { description: "All of the file's content" } });
  },
  toRequest(input, profile) {
    const given = parseArguments(writeInput, "Write", input);
    if (unchangedNotice.test(given.content.trim())) throw noticeAsContent(given.path);
    return { verb: "write", ...given, profile };
  },
};

const notebookEdit: Card = {
  name: "NotebookEdit",
  verb: "notebook-edit",
  description: notebookEditDescription,
  readOnly: false,
  get inputSchema() {
    return jsonSchemaOf(notebookEditInput, {
      path,
      cell_id: { description: "The cell; a new one goes behind it, or to the beginning without one" },
      new_source: { description: "The cell's new source" },
      cell_type: { description: "Of a new cell code by default; of an old one what it is" },
      edit_mode: { description: "What to do with the cell", default: "replace" },
    });
  },
  toRequest(input, profile) {
    const given = parseArguments(notebookEditInput, "NotebookEdit", input);
    return {
      verb: "notebook-edit",
      path: given.path,
      cellId: given.cell_id,
      source: given.new_source,
      cellType: given.cell_type,
      mode: given.edit_mode ?? "replace",
      profile,
    };
  },
};

const partOf = (part: {
  readonly old_string: string;
  readonly new_string: string;
  readonly replace_all?: boolean | undefined;
}) => ({
  oldText: part.old_string,
  newText: part.new_string,
  all: part.replace_all ?? false,
});

const changeCards: readonly Card[] = [edit, multiEdit, write, notebookEdit];

// The tools of the `envelope` dialect that look back and go back.

const historyCards = historyCardsOf({ history, rewind }, "; relative to the project root");

// The tools of the `envelope` dialect that ask language servers.

const place = { path: z.string(), ...placeShape };

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
  readonly path: string;
  /** For workspaceSymbol: a name or a part of one. */
  readonly query?: string;
  /** First result to show, counted from 1. */
  readonly offset?: number;
}

/** What a call of `Rename` may hold. */
export interface RenameInput extends CodePlaceInput {
  readonly path: string;
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
      path: {
        description: "Path of the file, relative to the project root; for workspaceSymbol any file of the language",
      },
      ...placeWords,
      query: { description: "For workspaceSymbol: a name or a part of one" },
      offset: { description: "First result to show, counted from 1", default: 1 },
    });
  },
  toRequest(input, profile) {
    const { operation, path, query, offset, ...at } = parseArguments(lspInput, "Lsp", input);
    return { verb: "lsp", operation, path, at: placeIn(at), query, from: offset ?? 1, profile };
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
      path: { description: "Path of a file that the symbol stands in, relative to the project root" },
      ...placeWords,
      new_name: { description: "What it shall be called" },
    });
  },
  toRequest(input, profile) {
    const { path, new_name, ...at } = parseArguments(renameInput, "Rename", input);
    return { verb: "rename", path, at: placeIn(at), newName: new_name, profile };
  },
};

const lspCards: readonly Card[] = [lsp, rename];

// The tools of the `envelope` dialect that look for files by their names.

const searchCards = searchCardsOf(
  { glob, ls },
  {
    globPath: { description: "Folder to search, relative to the project root; the whole project by default" },
    lsPath: { description: "Path of the folder, relative to the project root" },
    lsOffset: { description: "First entry of the folder to list, counted from 1", default: 1 },
  },
);

const linesDefault = 500;
const linesMax = 2_000;

const readInput = z.strictObject({
  path: z.string(),
  start_line: z.optional(integer({ min: 1 })),
  limit: z.optional(integer({ min: 1, max: linesMax })),
  column: z.optional(integer({ min: 1 })),
});

/** What a call of `Read` may hold. */
export interface ReadInput {
  readonly path: string;
  /** First line to read, counted from 1. */
  readonly start_line?: number;
  /** How many lines to read, at most 2000; 500 by default. */
  readonly limit?: number;
  /** To see the rest of a cut line: its first character to show, counted from 1; only the line at start_line is shown then. */
  readonly column?: number;
}

const read: Card = {
  name: "Read",
  verb: "read",
  description: readDescription,
  readOnly: true,
  get inputSchema() {
    return jsonSchemaOf(readInput, {
      path: { description: "Path of the file, relative to the project root" },
      start_line: { description: "First line to read, counted from 1", default: 1 },
      limit: { description: "How many lines to read", default: linesDefault },
      column: {
        description:
          "To see the rest of a cut line: its first character to show, counted from 1; only the line at start_line is shown then",
      },
    });
  },
  toRequest(input, profile) {
    const { path, start_line, limit, column } = parseArguments(readInput, "Read", input);
    return {
      verb: "read",
      path,
      ranges: [{ from: lineNumber(start_line ?? 1), linesMax: limit ?? linesDefault, ...columnOf(column) }],
      overBudget: "first page",
      whole: start_line === undefined && limit === undefined && column === undefined,
      profile,
    };
  },
};

export const cards: readonly Card[] = [read, grep, ...searchCards, ...changeCards, ...historyCards, ...lspCards];
