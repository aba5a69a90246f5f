/** `filehand grep`, `glob` and `ls`. */

import type { GrepMode, GrepRequest } from "../../../contract/grep.ts";
import { limits } from "../../../contract/limits.ts";
import { lineNumber } from "../../../contract/target.ts";
import { personDialect } from "../../../dialects/dialects.ts";
import { type Command, type Given, option, UsageError } from "../command.ts";
import type { Needs } from "../open-session.ts";
import { coloured, isForPerson } from "../print.ts";
import { progressBar } from "../progress.ts";
import { showRequest } from "../change.ts";

const lineChars = 500;
const entriesDefault = 1_000;
const contextLines = { min: 0, max: limits.contextLinesMax };

export const grep: Command = {
  name: "grep",
  summary: "Search the contents of files with a regular expression",
  parameters: ["<pattern>", "[path]"],
  options: {
    "ignore-case": option.flag("Ignore upper and lower case", "i"),
    files: option.flag("Only the names of the files, newest first", "l"),
    count: option.flag("Only how many matching lines each file has", "c"),
    after: option.integer("Lines to show behind each match", { short: "A", ...contextLines }),
    before: option.integer("Lines to show before each match", { short: "B", ...contextLines }),
    context: option.integer("Lines to show before and behind each match", { short: "C", ...contextLines }),
    glob: option.list("GLOB", 'Which files, such as "*.ts", "src/**", "!*.test.ts"', { short: "g" }),
    type: option.list("TYPE", "Type of files as ripgrep names them, such as ts or py", { short: "t" }),
    "line-number": option.flag("Show line numbers; they are always shown", "n"),
    multiline: option.flag("Let a match reach over line ends", "U"),
    limit: option.integer(`How many lines or files (default: ${entriesDefault})`, {
      min: 1,
      max: limits.searchEntriesMax,
    }),
    offset: option.integer("How many lines or files to skip first", { min: 0, max: limits.searchSkipMax }),
  },
  details: [
    "Exits with 1 if nothing matches, like other programs of that name.",
    "ripgrep searches: the binary in the package @vscode/ripgrep, which npm installs along; else rg on the PATH, version 13 or",
    "later, never one from beneath the workspace; else the WebAssembly build in the package ripgrep.",
  ].join("\n"),
  examples: [
    'filehand grep "TODO|FIXME" src',
    "filehand grep createFilehand --glob '*.ts' -C 2",
    "filehand grep -il license",
    "filehand grep -c import src --type ts",
    "filehand grep 'a{2}' notes.txt --json",
    "filehand grep -- -pattern-with-a-dash",
  ],
  async run(given, host) {
    const request = requestOf(given);
    const spans = isForPerson(given) && coloured(host, "stdout");
    return showRequest(() => (spans ? { ...request, spans } : request), given, host, {
      needs: forPerson(given),
      bar: progressBar("Searching", given, host, "matching files"),
      isFound: ({ filesTotal }) => filesTotal.number > 0,
    });
  },
};

/** Searches are worded for people whatever dialect the settings name, unless a dialect or JSON is asked for. */
const forPerson = (given: Given): Needs => (isForPerson(given) ? { dialect: personDialect } : {});

function requestOf(given: Given): GrepRequest {
  const mode: GrepMode = given.flag("files") ? "files" : given.flag("count") ? "count" : "content";
  if (given.flag("files") && given.flag("count")) throw new UsageError("Use either --files or --count");
  const around = given.integer("context") ?? 0;
  const globs = given.list("glob");
  return {
    verb: "grep",
    pattern: given.parameters[0] ?? "",
    path: given.parameters[1],
    glob: globs.length === 0 ? undefined : globs.join(" "),
    types: given.list("type"),
    mode,
    before: given.integer("before") ?? around,
    after: given.integer("after") ?? around,
    letterCase: given.flag("ignore-case") ? "any" : "exact",
    reach: given.flag("multiline") ? "lines" : "line",
    numbers: true,
    skip: given.integer("offset") ?? 0,
    entriesMax: given.integer("limit") ?? entriesDefault,
    order: "newest",
    lineCharsMax: lineChars,
  };
}

export const glob: Command = {
  name: "glob",
  summary: "Find files by the pattern of their paths, newest first",
  parameters: ["<pattern>", "[path]"],
  options: { limit: option.integer(`How many files to name (default: ${limits.globFilesMax})`, { min: 1 }) },
  details: [
    "Patterns: * and ? within a name, ** for any number of folders, [a-z], {a,b}, {1..3}, ?(a) *(a) +(a) @(a|b) !(a).",
    "Quote them, so that the shell leaves them alone. What ignore files leave out is counted and not named.",
    "Exits with 1 if nothing is found, like grep.",
  ].join("\n"),
  examples: [
    'filehand glob "**/*.ts"',
    'filehand glob "*.{md,txt}" docs',
    'filehand glob "src/**/*.test.ts" --limit 1000',
    'filehand glob ".github/**" --json',
  ],
  async run(given, host) {
    const filesMax = given.integer("limit") ?? limits.globFilesMax;
    const [pattern = "", path] = given.parameters;
    return showRequest(() => ({ verb: "glob", pattern, path, filesMax }), given, host, {
      needs: forPerson(given),
      bar: progressBar("Searching", given, host, "entries"),
      isFound: ({ files }) => files.length > 0,
    });
  },
};

export const ls: Command = {
  name: "ls",
  summary: "List a folder, or show it as a tree",
  parameters: ["[path]"],
  options: {
    offset: option.integer("First entry, counted from 1", { min: 1 }),
    limit: option.integer(`How many entries (default: ${limits.listEntriesMax})`, { min: 1 }),
    depth: option.integer("How many levels of folders to show (default: 1)", { min: 1, max: limits.treeDepthMax }),
    ignore: option.list("PATTERN", "Leave out what matches; may be given several times"),
  },
  examples: [
    "filehand ls",
    "filehand ls src --depth 3",
    'filehand ls --depth 2 --ignore "*.log" --ignore dist/',
    "filehand ls src --json",
    "filehand ls node_modules --offset 2001",
  ],
  async run(given, host) {
    const [path = "."] = given.parameters;
    const from = lineNumber(given.integer("offset") ?? 1);
    const entriesMax = given.integer("limit") ?? limits.listEntriesMax;
    const depth = given.integer("depth") ?? 1;
    const ignore = given.list("ignore");
    return showRequest(() => ({ verb: "ls", path, from, entriesMax, depth, ignore }), given, host);
  },
};
