/** The tools of the `envelope` dialect, which accepts only what its schema says. */

import type { GrepMode } from "../../contract/grep.ts";
import type { ToolSpec } from "../dialect.ts";
import { changeTools, fileTools, firstSpelling, grepTool, optInTools, type Spelling } from "../shared-tools.ts";
import { tool } from "../tool.ts";
import edit from "./edit.txt";
import glob from "./glob.txt";
import grep from "./grep.txt";
import ls from "./ls.txt";
import multiEdit from "./multi-edit.txt";
import notebookEditDescription from "./notebook-edit.txt";
import readDescription from "./read.txt";
import write from "./write.txt";

const spelling: Spelling = {
  ...firstSpelling,
  file: "path",
  relativeTo: "the project root",
  conversation: "session",
};

const path = {
  sets: "path",
  type: "string",
  words: "Path of the file, relative to the project root",
  required: true,
} as const;

const read = tool("read", {
  name: "Read",
  description: readDescription,
  input: {
    path,
    start_line: { sets: "from", type: "position", words: "First line to read, counted from 1", default: 1 },
    limit: { sets: "linesMax", type: "integer", min: 1, max: 2_000, words: "How many lines to read", default: 500 },
    column: {
      sets: "column",
      type: "position",
      words:
        "To see the rest of a cut line: its first character to show, counted from 1; only the line at start_line is shown then",
    },
  },
});

const notebookEdit = tool("notebook-edit", {
  name: "NotebookEdit",
  description: notebookEditDescription,
  input: {
    path,
    cell_id: {
      sets: "cellId",
      type: "string",
      words: "The cell; a new one goes behind it, or to the beginning without one",
    },
    new_source: { sets: "source", type: "string", words: "The cell's new source", required: true, long: true },
    cell_type: {
      sets: "cellType",
      type: "string",
      choices: { code: "code", markdown: "markdown", raw: "raw" },
      words: "Of a new cell code by default; of an old one what it is",
    },
    edit_mode: {
      sets: "mode",
      type: "string",
      choices: { replace: "replace", insert: "insert", delete: "delete" },
      words: "What to do with the cell",
      default: "replace",
    },
  },
});

/** As the envelope's text says it, with the time it took. */
const unchangedNotice = /^File '[^\n]*' is unchanged since it was last read\.(?:\n\(Took \d+ms\))?$/;

export const modes = { content: "content", files_with_matches: "files", count: "count" } as const satisfies Readonly<
  Record<string, GrepMode>
>;

export const specs: readonly ToolSpec[] = [
  read,
  grepTool(
    grep,
    {
      path: "Folder or file to search, relative to the project root; the whole project by default",
      numbers: "Show line numbers in the text (content only)",
      limit: "How many lines or files to show",
      offset: "How many lines or files to skip first",
    },
    modes,
    { mode: "content", limitMin: 1, order: "path" },
  ),
  ...fileTools(
    spelling,
    { glob, ls },
    {
      globPath: "Folder to search, relative to the project root; the whole project by default",
      lsPath: "Path of the folder, relative to the project root",
      offset: "First entry of the folder to list, counted from 1",
      offsetDefault: 1,
    },
  ),
  ...changeTools(spelling, { edit, multiEdit, write }, (content) => unchangedNotice.test(content)),
  notebookEdit,
  ...optInTools(spelling),
];
