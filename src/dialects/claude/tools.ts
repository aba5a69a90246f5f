/** The tools of the `claude` dialect. */

import type { ToolSpec } from "../dialect.ts";
import { integer, position, string } from "../parameters.ts";
import {
  changeTools,
  columnAt,
  fileTools,
  firstSpelling,
  grepTool,
  notebookEditTool,
  optInTools,
  patchTool,
  severalEditTools,
  outlineTool,
  type Spelling,
} from "../shared-tools.ts";
import { tool } from "../tool.ts";
import edit from "./edit.txt";
import glob from "./glob.txt";
import grep from "./grep.txt";
import ls from "./ls.txt";
import multiEdit from "./multi-edit.txt";
import notebookEdit from "./notebook-edit.txt";
import readDescription from "./read.txt";
import unchanged from "./unchanged.txt";
import write from "./write.txt";

const spelling: Spelling = { ...firstSpelling, file: "file_path", conversation: "conversation" };

const read = tool("read", {
  name: "Read",
  description: readDescription,
  input: {
    file_path: string("path", "Path of the file", { required: true }),
    offset: position("from", "First line to read; lines count from 1"),
    limit: integer("linesMax", 1, "How many lines to read; all of them by default"),
    column: columnAt("offset"),
    pages: string("pages", 'Pages of a PDF: "1-5", "3", "10-20"'),
  },
  fixed: { overBudget: "refuse" },
});

export const specs: readonly ToolSpec[] = [
  read,
  outlineTool(spelling),
  grepTool(
    grep,
    {
      path: "Folder or file to search; the whole workspace by default",
      numbers: "Show line numbers (content only)",
      limit: "How many lines or files to show; 0 for as many as one answer holds",
      offset: "How many lines or files to skip first, to go on where an answer ended",
    },
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
  notebookEditTool(
    notebookEdit,
    "notebook_path",
    {
      path: "Path of the notebook",
      cell: "The cell, by the id that Read shows; a new cell goes behind it, or to the beginning without one",
    },
    { code: "code", markdown: "markdown" },
  ),
  ...severalEditTools(spelling),
  patchTool(spelling),
  ...optInTools(spelling),
];
