/** The tools of the `opencode` dialect and of `opencode-legacy`, which counts from 0 in calls and has no multiedit. */

import type { ToolSpec } from "../dialect.ts";
import { integer, position, string } from "../parameters.ts";
import {
  changeTools,
  columnAt,
  fileTools,
  optInTools,
  outlineTool,
  severalEditTools,
  type Spelling,
} from "../shared-tools.ts";
import { tool } from "../tool.ts";
import edit from "./edit.txt";
import glob from "./glob.txt";
import grepDescription from "./grep.txt";
import legacyReadDescription from "./legacy-read.txt";
import list from "./list.txt";
import multiEdit from "./multiedit.txt";
import patchDescription from "../patch.txt";
import readDescription from "./read.txt";
import { unchangedNotice } from "./read.ts";
import write from "./write.txt";

const spelling: Spelling = {
  toolName: (name) => (name === "LS" ? "list" : name.toLowerCase()),
  parameterName: (name) => name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()),
  file: "filePath",
  first: 1,
  conversation: "conversation",
};

const required = { required: true } as const;
const limit = { default: 2_000 };

const read = tool("read", {
  name: "read",
  description: readDescription,
  input: {
    filePath: string("path", "Path of the file or folder", required),
    offset: position("from", "First line or entry to return, counted from 1", { default: 1 }),
    limit: integer("linesMax", 1, "How many lines or entries to return", limit),
    column: columnAt("offset"),
  },
});

const legacyRead = tool("read", {
  name: "read",
  description: legacyReadDescription,
  input: {
    filePath: string("path", "Path of the file", required),
    offset: { sets: "from", type: "skip", words: "How many lines to skip; 0 is the beginning", default: 0 },
    limit: integer("linesMax", 1, "How many lines to return", limit),
    column: {
      sets: "column",
      type: "skip",
      words:
        "To see the rest of a cut line: how many of its characters to skip; only the line after the skipped ones is shown then",
    },
  },
});

const searchTools = [
  outlineTool(spelling),
  ...fileTools(
    spelling,
    { glob, ls: list },
    {
      globPath: "Folder to search; the whole workspace by default",
      lsPath: "Path of the folder",
      offset: "First entry of the folder to list, counted from 1, if it has more than one page",
    },
  ),
  tool("grep", {
    name: "grep",
    description: grepDescription,
    input: {
      pattern: string("pattern", "Regular expression to look for in the contents of files", required),
      path: string("path", "Folder or file to search; the whole workspace by default"),
      include: string("glob", 'Which files to search: "*.js", "*.{ts,tsx}", "src/**"'),
    },
    fixed: { entriesMax: 100, lineCharsMax: 2_000 },
  }),
];

const isNotice = (content: string): boolean => content === unchangedNotice;

const patch = tool("patch", {
  name: "patch",
  description: patchDescription,
  input: {
    patchText: string("patchText", "The patch, from *** Begin Patch to *** End Patch, or a unified diff", {
      required: true,
      long: true,
    }),
  },
});

export const specs: readonly ToolSpec[] = [
  read,
  ...searchTools,
  ...changeTools(spelling, { edit, multiEdit, write }, isNotice),
  patch,
  ...severalEditTools(spelling),
  ...optInTools(spelling),
];

export const legacySpecs: readonly ToolSpec[] = [
  legacyRead,
  ...searchTools,
  ...changeTools(spelling, { edit, write }, isNotice),
  patch,
  ...severalEditTools(spelling),
  ...optInTools({ ...spelling, first: 0 }),
];
