/**
 * The tools that all dialects share, worded once. A dialect gives its spelling of names and paths; tools that differ by more than
 * spelling (reading, searching, notebooks) are literals of the dialect.
 */

import type { GrepMode } from "../contract/grep.ts";
import { limits } from "../contract/limits.ts";
import { type LspOperation, lspOperations } from "../contract/lsp.ts";
import type { ToolSpec } from "./dialect.ts";
import type { GrepNames } from "./grep-text.ts";
import historyText from "./history.txt";
import { turnsDefault } from "./history-text.ts";
import lspText from "./lsp.txt";
import type { ParameterOf } from "./parameters.ts";
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

/** Edit, MultiEdit where it has a description, and Write. `isNotice`: see the verb `write` in tool.ts. */
export function changeTools(
  spelling: Spelling,
  { edit, multiEdit, write }: { readonly edit: string; readonly multiEdit?: string; readonly write: string },
  isNotice: (content: string) => boolean,
): readonly ToolSpec[] {
  const { toolName, parameterName } = spelling;
  const path = {
    [spelling.file]: {
      sets: "path",
      type: "string",
      words: `Path of the file${relativeWords(spelling, ",")}`,
      required: true,
    },
  } as const;
  const part: Readonly<Record<string, ParameterOf<Pick<ValuesOf<"edit">, "oldText" | "newText" | "all">>>> = {
    [parameterName("old_string")]: {
      sets: "oldText",
      type: "string",
      words: "The text to replace, to the letter",
      required: true,
    },
    [parameterName("new_string")]: {
      sets: "newText",
      type: "string",
      words: "The text to put in its place",
      required: true,
      long: true,
    },
    [parameterName("replace_all")]: {
      sets: "all",
      type: "boolean",
      words: "Replace every place; otherwise there must be only one",
      default: false,
    },
  };
  const edits = {
    sets: "edits",
    type: "list",
    items: part,
    min: 1,
    words: "Made one after the other, all or none",
    required: true,
    long: true,
  } as const;
  const content = {
    sets: "content",
    type: "string",
    words: "All of the file's content",
    required: true,
    long: true,
  } as const;
  return [
    tool("edit", { name: toolName("Edit"), description: edit, input: { ...path, ...part } }),
    ...(multiEdit === undefined
      ? []
      : [tool("edit", { name: toolName("MultiEdit"), description: multiEdit, input: { ...path, edits } })]),
    tool("write", { name: toolName("Write"), description: write, input: { ...path, content }, fixed: { isNotice } }),
  ];
}

/** Glob and LS. `words`: of the folder to search, of the folder to list, and of the first entry to list. */
export const fileTools = (
  { toolName }: Spelling,
  descriptions: { readonly glob: string; readonly ls: string },
  words: { readonly globPath: string; readonly lsPath: string; readonly offset: string; readonly offsetDefault?: 1 },
): readonly ToolSpec[] => [
  tool("glob", {
    name: toolName("Glob"),
    description: descriptions.glob,
    input: {
      pattern: {
        sets: "pattern",
        type: "string",
        words: 'Pattern of the paths, such as "**/*.ts" or "src/**/*.{js,jsx}"',
        required: true,
      },
      path: { sets: "path", type: "string", words: words.globPath },
    },
  }),
  tool("ls", {
    name: toolName("LS"),
    description: descriptions.ls,
    input: {
      path: { sets: "path", type: "string", words: words.lsPath, required: true },
      ignore: { sets: "ignore", type: "strings", words: 'Patterns of what to leave out, such as ["*.log", "dist/"]' },
      offset: {
        sets: "from",
        type: "position",
        words: words.offset,
        ...(words.offsetDefault === undefined ? {} : { default: words.offsetDefault }),
      },
    },
  }),
];

/** The names of the parameters of `Grep` in a dialect that has all of them. */
export const grepNames: GrepNames = { offset: "offset", glob: "glob", multiline: "multiline" };

/** `Grep` with all of its parameters. */
export function grepTool(
  description: string,
  words: { readonly path: string; readonly numbers: string; readonly limit: string; readonly offset: string },
  modes: Readonly<Record<string, GrepMode>>,
  {
    mode,
    limitMin,
    ...fixed
  }: Pick<ValuesOf<"grep">, "order" | "severalTypes"> & {
    /** The mode of a call that names none. */
    readonly mode: string;
    readonly limitMin: 0 | 1;
  },
): ToolSpec {
  const context = { type: "integer", min: 0, max: limits.contextLinesMax } as const;
  return tool("grep", {
    name: "Grep",
    description,
    input: {
      pattern: { sets: "pattern", type: "string", words: "Regular expression, in ripgrep's syntax", required: true },
      path: { sets: "path", type: "string", words: words.path },
      glob: {
        sets: "glob",
        type: "string",
        words: 'Which files to search: "*.ts", "*.{js,mjs}", "src/**", "!*.test.ts"',
      },
      type: {
        sets: "type",
        type: "string",
        words: 'Type of files to search, as ripgrep names them: "ts", "py", "rust"',
      },
      output_mode: {
        sets: "mode",
        type: "string",
        choices: modes,
        words: "Matching lines, only the files they are in, or how many each file has",
        default: mode,
      },
      "-A": { sets: "after", ...context, words: "Lines to show behind each match (content only)" },
      "-B": { sets: "before", ...context, words: "Lines to show before each match (content only)" },
      "-C": { sets: "around", ...context, words: "Lines to show before and behind each match (content only)" },
      "-n": { sets: "numbers", type: "boolean", words: words.numbers, default: true },
      "-i": { sets: "anyCase", type: "boolean", words: "Ignore upper and lower case", default: false },
      multiline: {
        sets: "multiline",
        type: "boolean",
        words: "Let a match reach over line ends, and let . match them",
        default: false,
      },
      head_limit: {
        sets: "entriesMax",
        type: "integer",
        min: limitMin,
        max: limits.searchEntriesMax,
        words: words.limit,
        default: 250,
      },
      offset: {
        sets: "skip",
        type: "integer",
        min: 0,
        max: limits.searchSkipMax,
        words: words.offset,
        default: 0,
      },
    },
    fixed,
  });
}

/** The parameters that point at a symbol in a file, for tools that ask language servers. */
export const codePlace = {
  line: { sets: "line", type: "integer", min: 1, words: "The line that the symbol stands on, counted from 1" },
  symbol: { sets: "symbol", type: "string", words: "The name that is meant, as it stands on that line" },
  column: { sets: "column", type: "position", words: "Instead of symbol: the column, counted from 1" },
} as const;

export const lspChoices: Readonly<Record<string, LspOperation>> = Object.fromEntries(
  lspOperations.map((operation) => [operation, operation]),
);

/** History, Rewind, Lsp and Rename, which all dialects word alike. */
export function optInTools(spelling: Spelling): readonly ToolSpec[] {
  const { toolName, parameterName, file, first } = spelling;
  /** The first item to show, in the words for dialects that count from 1 and for those that count from 0. */
  const offset = (from1: string, from0: string) =>
    ({
      sets: "from",
      type: first === 1 ? "position" : "skip",
      words: first === 1 ? from1 : from0,
      default: first,
    }) as const;
  return [
    tool("history", {
      name: toolName("History"),
      description: spelled(historyText, spelling),
      input: {
        turn: { sets: "turn", type: "string", words: "One turn, with its diffs; all turns are listed without it" },
        path: {
          sets: "path",
          type: "string",
          words: `Only what happened to this file, or below this folder${relativeWords(spelling, ";")}`,
        },
        offset: offset(
          "First turn to list, or first file of the turn; counted from 1",
          "How many turns, or files of the turn, to skip; 0 is the newest",
        ),
        limit: {
          sets: "itemsMax",
          type: "integer",
          min: 1,
          max: limits.historyItemsMax,
          words: "How many turns or files",
          default: turnsDefault,
        },
      },
    }),
    tool("rewind", {
      name: toolName("Rewind"),
      description: spelled(rewindText, spelling),
      input: {
        turn: {
          sets: "to",
          type: "string",
          words: `The turn to go back before, as ${toolName("History")} names it; "start" is the beginning`,
          required: true,
        },
        paths: { sets: "files", type: "strings", min: 1, words: "Only these files, or what is below these folders" },
        [parameterName("dry_run")]: {
          sets: "dryRun",
          type: "boolean",
          words: "Tell what would be done and write nothing",
          default: false,
        },
        force: {
          sets: "force",
          type: "boolean",
          words: "Also overwrite what somebody else changed since",
          default: false,
        },
      },
    }),
    tool("lsp", {
      name: toolName("Lsp"),
      description: lspText,
      input: {
        operation: {
          sets: "operation",
          type: "string",
          choices: lspChoices,
          words: "What to find out",
          required: true,
        },
        [file]: {
          sets: "path",
          type: "string",
          words: `Path of the file${relativeWords(spelling, ",")}; for workspaceSymbol any file of the language`,
          required: true,
        },
        ...codePlace,
        query: { sets: "query", type: "string", words: "For workspaceSymbol: a name or a part of one" },
        offset: offset("First result to show, counted from 1", "How many results to skip"),
      },
    }),
    tool("rename", {
      name: toolName("Rename"),
      description: renameText,
      input: {
        [file]: {
          sets: "path",
          type: "string",
          words: `Path of a file that the symbol stands in${relativeWords(spelling, ",")}`,
          required: true,
        },
        ...codePlace,
        [parameterName("new_name")]: {
          sets: "newName",
          type: "string",
          words: "What it shall be called",
          required: true,
        },
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
