/** The tools of the `claude` dialect. */

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
import unchanged from "./unchanged.txt";
import write from "./write.txt";

const spelling: Spelling = { ...firstSpelling, file: "file_path", conversation: "conversation" };

const read = tool("read", {
  name: "Read",
  description: readDescription,
  input: {
    file_path: { sets: "path", type: "string", words: "Path of the file", required: true },
    offset: { sets: "from", type: "position", words: "First line to read; lines count from 1" },
    limit: { sets: "linesMax", type: "integer", min: 1, words: "How many lines to read; all of them by default" },
    column: {
      sets: "column",
      type: "position",
      words:
        "To see the rest of a cut line: its first character to show, counted from 1; only the line at offset is shown then",
    },
    pages: { sets: "pages", type: "string", words: 'Pages of a PDF: "1-5", "3", "10-20"' },
  },
  fixed: { overBudget: "refuse" },
});

const notebookEdit = tool("notebook-edit", {
  name: "NotebookEdit",
  description: notebookEditDescription,
  input: {
    notebook_path: { sets: "path", type: "string", words: "Path of the notebook", required: true },
    cell_id: {
      sets: "cellId",
      type: "string",
      words: "The cell, by the id that Read shows; a new cell goes behind it, or to the beginning without one",
    },
    new_source: { sets: "source", type: "string", words: "The cell's new source", required: true, long: true },
    cell_type: {
      sets: "cellType",
      type: "string",
      choices: { code: "code", markdown: "markdown" },
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

export const modes = { content: "content", files_with_matches: "files", count: "count" } as const satisfies Readonly<
  Record<string, GrepMode>
>;
export type OutputMode = keyof typeof modes;

export const specs: readonly ToolSpec[] = [
  read,
  grepTool(
    grep,
    {
      path: "Folder or file to search; the whole workspace by default",
      numbers: "Show line numbers (content only)",
      limit: "How many lines or files to show; 0 for as many as one answer holds",
      offset: "How many lines or files to skip first, to go on where an answer ended",
    },
    modes,
    { mode: "files_with_matches", limitMin: 0, order: "newest", severalTypes: true },
  ),
  ...fileTools(
    spelling,
    { glob, ls },
    {
      globPath: "Folder to search; the whole workspace by default",
      lsPath: "Path of the folder",
      offset: "First entry of the folder to list, counted from 1, if it has more than one page",
    },
  ),
  ...changeTools(spelling, { edit, multiEdit, write }, (content) => content === unchanged),
  notebookEdit,
  ...optInTools(spelling),
];
