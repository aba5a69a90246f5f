/**
 * The tools that all dialects share, worded once. A dialect gives its spelling of names and paths; tools that differ by more than
 * spelling (reading, searching) are literals of the dialect.
 */

import type { CellType } from "../contract/edit.ts";
import type { GrepMode } from "../contract/grep.ts";
import { limits } from "../contract/limits.ts";
import { type LspOperation, lspOperations } from "../contract/lsp.ts";
import type { ToolSpec } from "./dialect.ts";
import copyText from "./copy.txt";
import deleteText from "./delete.txt";
import editFilesText from "./edit-files.txt";
import editLinesText from "./edit-lines.txt";
import historyText from "./history.txt";
import { turnsDefault } from "./history-text.ts";
import lspText from "./lsp.txt";
import makeFolderText from "./make-folder.txt";
import moveText from "./move.txt";
import { boolean, choice, integer, type ParameterOf, position, string } from "./parameters.ts";
import patchText from "./patch.txt";
import outlineText from "./outline.txt";
import renameText from "./rename.txt";
import rewindText from "./rewind.txt";
import { tool, type ValuesOf } from "./tool.ts";

export interface Spelling {
  /** This dialect's name for the tool `MultiEdit`. */
  readonly toolName: (name: string) => string;
  /** This dialect's name for the parameter `old_string`. */
  readonly parameterName: (name: string) => string;
  /** The parameter that names a file. */
  readonly file: string;
  /** What paths are relative to, if the descriptions must say so. */
  readonly relativeTo?: string;
  /** The number of the first item of a list in calls. */
  readonly first: 0 | 1;
  readonly conversation: "conversation" | "session";
}

/** As the tools were first called. */
export const firstSpelling = {
  toolName: (name: string) => name,
  parameterName: (name: string) => name,
  first: 1,
} as const;

/** What paths are relative to, after a mark; empty if the descriptions need not say so. */
const relativeWords = ({ relativeTo }: Spelling, mark: "," | ";"): string =>
  relativeTo === undefined ? "" : `${mark} relative to ${relativeTo}`;

const required = { required: true } as const;
const longText = { required: true, long: true } as const;

/** The parameter of Read that shows the rest of a cut line. */
export const columnAt = (line: string) =>
  position(
    "column",
    `To see the rest of a cut line: its first character to show, counted from 1; only the line at ${line} is shown then`,
  );

/** Edit, MultiEdit where it has a description, and Write. `isNotice`: see the verb `write` in tool.ts. */
export function changeTools(
  spelling: Spelling,
  { edit, multiEdit, write }: { readonly edit: string; readonly multiEdit?: string; readonly write: string },
  isNotice: (content: string) => boolean,
): readonly ToolSpec[] {
  const { toolName, parameterName } = spelling;
  const path = { [spelling.file]: string("path", `Path of the file${relativeWords(spelling, ",")}`, required) };
  const part: Readonly<Record<string, ParameterOf<Pick<ValuesOf<"edit">, "oldText" | "newText" | "all">>>> = {
    [parameterName("old_string")]: string("oldText", "The text to replace, to the letter", required),
    [parameterName("new_string")]: string("newText", "The text to put in its place", longText),
    [parameterName("replace_all")]: boolean("all", "Replace every place; otherwise there must be only one"),
  };
  const words = "Made one after the other, all or none";
  const edits = { sets: "edits", type: "list", items: part, min: 1, words, ...longText } as const;
  const content = string("content", "All of the file's content", longText);
  return [
    tool("edit", { name: toolName("Edit"), description: edit, input: { ...path, ...part } }),
    ...(multiEdit === undefined
      ? []
      : [
          tool("edit", {
            name: toolName("MultiEdit"),
            description: multiEdit,
            input: { ...path, edits },
            tool: "MultiEdit",
          }),
        ]),
    tool("write", { name: toolName("Write"), description: write, input: { ...path, content }, fixed: { isNotice } }),
  ];
}

/** EditLines, and EditFiles without and with edits by line; offered if the operator has switched them on. */
export function severalEditTools(spelling: Spelling): readonly ToolSpec[] {
  const { toolName, parameterName } = spelling;
  const [oldName, newName] = [parameterName("old_string"), parameterName("new_string")];
  const path = { [spelling.file]: string("path", `Path of the file${relativeWords(spelling, ",")}`, required) };
  const newText = { [newName]: string("newText", "The new lines; empty to delete", longText) };
  const lines = string("lines", '"120-124", "120", "before 120" or "after 124"', required);
  const first = string("first", "Optional check: the text of the first of these lines");
  const ofText: Readonly<Record<string, ParameterOf<FileEditValues>>> = {
    [oldName]: string("oldText", "The text to replace, to the letter", required),
    [newName]: string("newText", "The text to put in its place", longText),
    [parameterName("replace_all")]: boolean("all", "Replace every place; otherwise there must be only one"),
  };
  const ofBoth: Readonly<Record<string, ParameterOf<FileEditValues>>> = {
    [oldName]: string("oldText", `The text to replace, to the letter; or lines, as for ${toolName("EditLines")}`),
    lines: string("lines", '"120-124", "120", "before 120" or "after 124"'),
    first,
    [newName]: string("newText", "The text to put in its place", longText),
    [parameterName("replace_all")]: boolean("all", "Replace every place; otherwise there must be only one"),
  };
  const filesWith = (items: Readonly<Record<string, ParameterOf<FileEditValues>>>) => {
    const edits = {
      sets: "edits",
      type: "list",
      items,
      min: 1,
      words: "Of this file, in their order",
      ...longText,
    } as const;
    const ofFile = { ...path, edits } as const;
    return { sets: "files", type: "list", items: ofFile, min: 1, words: "All or none", ...longText } as const;
  };
  const editFiles = { name: toolName("EditFiles"), description: spelled(editFilesText, spelling) };
  return [
    tool("edit-lines", {
      name: toolName("EditLines"),
      description: spelled(editLinesText, spelling),
      input: {
        ...path,
        edits: {
          sets: "lines",
          type: "list",
          items: { lines, ...newText, first },
          min: 1,
          words: "All or none",
          ...longText,
        },
      },
    }),
    tool("edit-files", {
      ...editFiles,
      input: { files: filesWith(ofText) },
      beside: { tool: "EditLines", is: false },
    }),
    tool("edit-files", {
      ...editFiles,
      input: { files: filesWith(ofBoth) },
      beside: { tool: "EditLines", is: true },
    }),
  ];
}

type FileEditValues = NonNullable<NonNullable<ValuesOf<"edit-files">["files"]>[number]["edits"]>[number];

/** Patch, in dialects whose tradition has none. */
export const patchTool = ({ toolName, parameterName }: Spelling): ToolSpec =>
  tool("patch", {
    name: toolName("Patch"),
    description: patchText,
    input: { [parameterName("patch_text")]: string("patchText", "The patch", longText) },
    offered: "if chosen",
  });

/** `words`: of the notebook and of the cell. */
export const notebookEditTool = (
  description: string,
  file: string,
  words: { readonly path: string; readonly cell: string },
  cellTypes: Readonly<Record<string, CellType>>,
): ToolSpec =>
  tool("notebook-edit", {
    name: "NotebookEdit",
    description,
    input: {
      [file]: string("path", words.path, required),
      cell_id: string("cellId", words.cell),
      new_source: string("source", "The cell's new source", longText),
      cell_type: choice("cellType", cellTypes, "Of a new cell code by default; of an old one what it is"),
      edit_mode: choice(
        "mode",
        { replace: "replace", insert: "insert", delete: "delete" },
        "What to do with the cell",
        { default: "replace" },
      ),
    },
  });

export const outlineTool = (spelling: Spelling): ToolSpec =>
  tool("outline", {
    name: spelling.toolName("Outline"),
    description: outlineText,
    input: {
      [spelling.file]: string("path", `Path of the file${relativeWords(spelling, ",")}`, required),
      depth: integer("depth", 1, "Levels to show; by default as many as fit", { max: limits.outlineDepthMax }),
    },
  });

/** Glob and LS. `words`: of the folder to search, of the folder to list, and of the first entry to list. */
export const fileTools = (
  { toolName }: Spelling,
  descriptions: { readonly glob: string; readonly ls: string },
  words: { readonly globPath: string; readonly lsPath: string; readonly offset: string },
  offset: { readonly default?: 1 } = {},
): readonly ToolSpec[] => [
  tool("glob", {
    name: toolName("Glob"),
    description: descriptions.glob,
    input: {
      pattern: string("pattern", 'Pattern of the paths, such as "**/*.ts" or "src/**/*.{js,jsx}"', required),
      path: string("path", words.globPath),
    },
  }),
  tool("ls", {
    name: toolName("LS"),
    description: descriptions.ls,
    input: {
      path: string("path", words.lsPath, required),
      ignore: { sets: "ignore", type: "strings", words: 'Patterns of what to leave out, such as ["*.log", "dist/"]' },
      offset: position("from", words.offset, offset),
    },
  }),
];

export const grepModes = {
  content: "content",
  files_with_matches: "files",
  count: "count",
} as const satisfies Readonly<Record<string, GrepMode>>;

export type OutputMode = keyof typeof grepModes;

/** `Grep` with all of its parameters. */
export function grepTool(
  description: string,
  words: { readonly path: string; readonly numbers: string; readonly limit: string; readonly offset: string },
  {
    mode,
    limitMin,
    ...fixed
  }: Pick<ValuesOf<"grep">, "order" | "severalTypes"> & {
    /** The mode of a call that names none. */
    readonly mode: OutputMode;
    readonly limitMin: 0 | 1;
  },
): ToolSpec {
  const lines = { max: limits.contextLinesMax };
  return tool("grep", {
    name: "Grep",
    description,
    input: {
      pattern: string("pattern", "Regular expression, in ripgrep's syntax", required),
      path: string("path", words.path),
      glob: string("glob", 'Which files to search: "*.ts", "*.{js,mjs}", "src/**", "!*.test.ts"'),
      type: string("type", 'Type of files to search, as ripgrep names them: "ts", "py", "rust"'),
      output_mode: choice("mode", grepModes, "Matching lines, only the files they are in, or how many each file has", {
        default: mode,
      }),
      "-A": integer("after", 0, "Lines to show behind each match (content only)", lines),
      "-B": integer("before", 0, "Lines to show before each match (content only)", lines),
      "-C": integer("around", 0, "Lines to show before and behind each match (content only)", {
        ...lines,
        alias: "context",
      }),
      "-n": boolean("numbers", words.numbers, true),
      "-i": boolean("anyCase", "Ignore upper and lower case"),
      multiline: boolean("multiline", "Let a match reach over line ends, and let . match them"),
      head_limit: integer("entriesMax", limitMin, words.limit, { max: limits.searchEntriesMax, default: 250 }),
      offset: integer("skip", 0, words.offset, { max: limits.searchSkipMax, default: 0 }),
    },
    fixed,
  });
}

/** The parameters that point at a symbol in a file, for tools that ask language servers. */
export const codePlace = {
  line: integer("line", 1, "The line that the symbol stands on, counted from 1"),
  symbol: string("symbol", "The name that is meant, as it stands on that line"),
  column: position("column", "Instead of symbol: the column, counted from 1"),
};

export const lspChoices: Readonly<Record<string, LspOperation>> = Object.fromEntries(
  lspOperations.map((operation) => [operation, operation]),
);

/** Delete, Move, Copy and MakeFolder, which all dialects word alike. */
function wholeTools(spelling: Spelling): readonly ToolSpec[] {
  const { toolName } = spelling;
  const path = string("path", `File or folder${relativeWords(spelling, ",")}`, required);
  const to = string("to", "The whole new path", required);
  const folder = string("path", `The folder${relativeWords(spelling, ",")}`, required);
  return [
    tool("delete", { name: toolName("Delete"), description: deleteText, input: { path } }),
    tool("move", { name: toolName("Move"), description: moveText, input: { path, to } }),
    tool("copy", { name: toolName("Copy"), description: copyText, input: { path, to } }),
    tool("make-folder", { name: toolName("MakeFolder"), description: makeFolderText, input: { path: folder } }),
  ];
}

/** The tools for whole files and folders, History, Rewind, Lsp and Rename, which all dialects word alike. */
export function optInTools(spelling: Spelling): readonly ToolSpec[] {
  const { toolName, parameterName, file, first } = spelling;
  const relative = relativeWords(spelling, ",");
  /** The first item to show, in the words for dialects that count from 1 and for those that count from 0. */
  const offset = (from1: string, from0: string) =>
    first === 1
      ? position("from", from1, { default: 1 })
      : ({ sets: "from", type: "skip", words: from0, default: 0 } as const);
  return [
    ...wholeTools(spelling),
    tool("history", {
      name: toolName("History"),
      description: spelled(historyText, spelling),
      input: {
        turn: string("turn", "One turn, with its diffs; all turns are listed without it"),
        path: string("path", `Only what happened to this file, or below this folder${relativeWords(spelling, ";")}`),
        offset: offset(
          "First turn to list, or first file of the turn; counted from 1",
          "How many turns, or files of the turn, to skip; 0 is the newest",
        ),
        limit: integer("itemsMax", 1, "How many turns or files", {
          max: limits.historyItemsMax,
          default: turnsDefault,
        }),
      },
    }),
    tool("rewind", {
      name: toolName("Rewind"),
      description: spelled(rewindText, spelling),
      input: {
        turn: string(
          "to",
          `The turn to go back before, as ${toolName("History")} names it; "start" is the beginning`,
          required,
        ),
        paths: { sets: "files", type: "strings", min: 1, words: "Only these files, or what is below these folders" },
        [parameterName("dry_run")]: boolean("dryRun", "Tell what would be done and write nothing"),
        force: boolean("force", "Also overwrite what somebody else changed since"),
      },
    }),
    tool("lsp", {
      name: toolName("Lsp"),
      description: lspText,
      input: {
        operation: choice("operation", lspChoices, "What to find out", required),
        [file]: string("path", `Path of the file${relative}; for workspaceSymbol any file of the language`, required),
        ...codePlace,
        query: string("query", "For workspaceSymbol: a name or a part of one"),
        offset: offset("First result to show, counted from 1", "How many results to skip"),
      },
    }),
    tool("rename", {
      name: toolName("Rename"),
      description: renameText,
      input: {
        [file]: string("path", `Path of a file that the symbol stands in${relative}`, required),
        ...codePlace,
        [parameterName("new_name")]: string("newName", "What it shall be called", required),
      },
    }),
  ];
}

/**
 * A description in a dialect's spelling: replaces `{History}`, `{dry_run}` and `{conversation}` by the dialect's names, and keeps a
 * line that begins with `[from 0]` or `[from 1]` only for dialects that count so.
 */
function spelled(text: string, { toolName, parameterName, first, conversation }: Spelling): string {
  return text
    .replace(/^\[from ([01])\] (.*\n)/gm, (_, from: string, line: string) => (Number(from) === first ? line : ""))
    .replace(/\{(\w+)\}/g, (_, name: string) => {
      if (name === "conversation") return conversation;
      return /^[A-Z]/.test(name) ? toolName(name) : parameterName(name);
    });
}
