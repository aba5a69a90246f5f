/** The tools of the `envelope` dialect, which accepts only what its schema says. */

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
import write from "./write.txt";

const spelling: Spelling = {
  ...firstSpelling,
  file: "path",
  relativeTo: "the project root",
  conversation: "session",
};

const path = "Path of the file, relative to the project root";

const read = tool("read", {
  name: "Read",
  description: readDescription,
  input: {
    path: string("path", path, { required: true }),
    start_line: position("from", "First line to read, counted from 1", { default: 1 }),
    limit: integer("linesMax", 1, "How many lines to read", { max: 2_000, default: 500 }),
    column: columnAt("start_line"),
  },
});

/** As the envelope's text says it, with the time it took. */
const unchangedNotice = /^File '[^\n]*' is unchanged since it was last read\.(?:\n\(Took \d+ms\))?$/;

export const specs: readonly ToolSpec[] = [
  read,
  outlineTool(spelling),
  grepTool(
    grep,
    {
      path: "Folder or file to search, relative to the project root; the whole project by default",
      numbers: "Show line numbers in the text (content only)",
      limit: "How many lines or files to show",
      offset: "How many lines or files to skip first",
    },
    { mode: "content", limitMin: 1, order: "path" },
  ),
  ...fileTools(
    spelling,
    { glob, ls },
    {
      globPath: "Folder to search, relative to the project root; the whole project by default",
      lsPath: "Path of the folder, relative to the project root",
      offset: "First entry of the folder to list, counted from 1",
    },
    { default: 1 },
  ),
  ...changeTools(spelling, { edit, multiEdit, write }, (content) => unchangedNotice.test(content)),
  notebookEditTool(
    notebookEdit,
    "path",
    { path, cell: "The cell; a new one goes behind it, or to the beginning without one" },
    { code: "code", markdown: "markdown", raw: "raw" },
  ),
  ...severalEditTools(spelling),
  patchTool(spelling),
  ...optInTools(spelling),
];
