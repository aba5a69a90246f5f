/** The tools of the `claude` dialect that change files. */

import * as z from "zod/mini";
import { Problem } from "../../contract/problem.ts";
import type { Card } from "../dialect.ts";
import { jsonSchemaOf, optional, parseArguments } from "../parameters.ts";
import editDescription from "./edit.txt";
import multiEditDescription from "./multi-edit.txt";
import notebookEditDescription from "./notebook-edit.txt";
import unchanged from "./unchanged.txt";
import writeDescription from "./write.txt";

const oneEdit = {
  old_string: z.string(),
  new_string: z.string(),
  replace_all: optional(z.boolean()),
};

const editInput = z.strictObject({ file_path: z.string(), ...oneEdit });
const multiEditInput = z.strictObject({
  file_path: z.string(),
  edits: z.array(z.strictObject(oneEdit)).check(z.minLength(1)),
});
const writeInput = z.strictObject({ file_path: z.string(), content: z.string() });
const notebookEditInput = z.strictObject({
  notebook_path: z.string(),
  cell_id: optional(z.string()),
  new_source: z.string(),
  cell_type: optional(z.enum(["code", "markdown"])),
  edit_mode: optional(z.enum(["replace", "insert", "delete"])),
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
    if (content.trim() === unchanged.trim()) {
      const place = { asked: path, absolute: path, relative: path };
      throw new Problem({ code: "INVALID_PARAM", reason: "edit", place, fault: "stub" });
    }
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

export const changeCards: readonly Card[] = [edit, multiEdit, write, notebookEdit];
