/** The tools of the `envelope` dialect that change files. */

import * as z from "zod/mini";
import type { Card } from "../dialect.ts";
import { jsonSchemaOf, noticeAsContent, parseArguments } from "../parameters.ts";
import editDescription from "./edit.txt";
import multiEditDescription from "./multi-edit.txt";
import notebookEditDescription from "./notebook-edit.txt";
import writeDescription from "./write.txt";

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

export const changeCards: readonly Card[] = [edit, multiEdit, write, notebookEdit];
