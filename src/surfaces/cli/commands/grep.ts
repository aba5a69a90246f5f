/** `filehand grep`: lines that match a regular expression. */

import type { GrepMode, GrepRequest } from "../../../contract/grep.ts";
import { limits } from "../../../contract/limits.ts";
import { lineNumber } from "../../../contract/target.ts";
import { person, personDialect, type View, viewOf } from "../../../dialects/dialects.ts";
import { type Command, type Given, type Host, UsageError } from "../command.ts";
import { openSession } from "../open-session.ts";
import { coloured, paintedLines, printReply, wordsFor } from "../print.ts";
import { progressBar } from "../progress.ts";

const lineChars = 500;
const entriesDefault = 1_000;

export const grep: Command = {
  name: "grep",
  summary: "Search the contents of files with a regular expression",
  parameters: ["<pattern>", "[path]"],
  options: {
    "ignore-case": { type: "flag", short: "i", words: "Ignore upper and lower case" },
    files: { type: "flag", short: "l", words: "Only the names of the files, newest first" },
    count: { type: "flag", short: "c", words: "Only how many matching lines each file has" },
    after: { type: "integer", short: "A", value: "N", words: "Lines to show behind each match" },
    before: { type: "integer", short: "B", value: "N", words: "Lines to show before each match" },
    context: { type: "integer", short: "C", value: "N", words: "Lines to show before and behind each match" },
    glob: { type: "list", short: "g", value: "GLOB", words: 'Which files, such as "*.ts", "src/**", "!*.test.ts"' },
    type: { type: "list", short: "t", value: "TYPE", words: "Type of files as ripgrep names them, such as ts or py" },
    multiline: { type: "flag", short: "U", words: "Let a match reach over line ends" },
    limit: { type: "integer", value: "N", words: `How many lines or files (default: ${entriesDefault})` },
    offset: { type: "integer", value: "N", words: "How many lines or files to skip first" },
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
    const { session, record, words } = await openForPeople(given, host);
    const paints = words !== undefined && coloured(host, "stdout");
    const bar = progressBar("Searching", given, host, "matching files");
    const { outcome, reply } = await session.run(() => (paints ? { ...request, spans: true } : request), {
      signal: host.signal,
      onProgress: bar.show,
      ...(words && { words }),
    });
    bar.clear();
    record();
    if (outcome === undefined) return printReply(reply, given, host);
    if (words === undefined) printReply(reply, given, host);
    else printFound(viewOf(reply), host);
    return outcome.filesTotal.number > 0 ? 0 : 1;
  },
};

/** The session of a search. `words`: those for people, unless a dialect or JSON is asked for. */
async function openForPeople(given: Given, host: Host) {
  const words = given.text("dialect") === undefined && !given.flag("json") ? person : undefined;
  const opened = await openSession(given, host, "people", words && { dialect: personDialect });
  return { ...opened, words };
}

/** Notes go to stderr, so that a pipe gets only the results. */
function printFound({ body, notes }: View, host: Host): void {
  if (body.length > 0) host.stdout.write(`${paintedLines(body, host, "stdout")}\n`);
  if (notes.length > 0) host.stderr.write(`${paintedLines(notes, host, "stderr")}\n`);
}

function requestOf(given: Given): GrepRequest {
  const mode: GrepMode = given.flag("files") ? "files" : given.flag("count") ? "count" : "content";
  if (given.flag("files") && given.flag("count")) throw new UsageError("Use either --files or --count");
  const around = number(given, "context", 0, limits.contextLinesMax) ?? 0;
  const globs = given.list("glob");
  return {
    verb: "grep",
    pattern: given.parameters[0] ?? "",
    path: given.parameters[1],
    glob: globs.length === 0 ? undefined : globs.join(" "),
    types: given.list("type"),
    mode,
    before: number(given, "before", 0, limits.contextLinesMax) ?? around,
    after: number(given, "after", 0, limits.contextLinesMax) ?? around,
    letterCase: given.flag("ignore-case") ? "any" : "exact",
    reach: given.flag("multiline") ? "lines" : "line",
    numbers: true,
    skip: number(given, "offset", 0, limits.searchSkipMax) ?? 0,
    entriesMax: number(given, "limit", 1, limits.searchEntriesMax) ?? entriesDefault,
    order: "newest",
    lineCharsMax: lineChars,
  };
}

function number(given: Given, name: string, min: number, max: number): number | undefined {
  const value = given.integer(name);
  if (value !== undefined && (value < min || value > max)) {
    throw new UsageError(`--${name} must be from ${min} to ${max}`);
  }
  return value;
}

// `filehand glob`: files by the pattern of their paths.

export const glob: Command = {
  name: "glob",
  summary: "Find files by the pattern of their paths, newest first",
  parameters: ["<pattern>", "[path]"],
  options: {
    limit: { type: "integer", value: "N", words: `How many files to name (default: ${limits.globFilesMax})` },
  },
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
    if (filesMax < 1) throw new UsageError("--limit must be at least 1");
    const { session, record, words } = await openForPeople(given, host);
    const [pattern = "", path] = given.parameters;
    const bar = progressBar("Searching", given, host, "entries");
    const { outcome, reply } = await session.run(() => ({ verb: "glob", pattern, path, filesMax }), {
      signal: host.signal,
      onProgress: bar.show,
      ...(words && { words }),
    });
    bar.clear();
    record();
    if (outcome === undefined) return printReply(reply, given, host);
    if (words === undefined) printReply(reply, given, host);
    else printFound(viewOf(reply), host);
    return outcome.files.length > 0 ? 0 : 1;
  },
};

// `filehand ls`: the entries of a folder, or a tree of them.

export const ls: Command = {
  name: "ls",
  summary: "List a folder, or show it as a tree",
  parameters: ["[path]"],
  options: {
    offset: { type: "integer", value: "N", words: "First entry, counted from 1" },
    limit: { type: "integer", value: "N", words: `How many entries (default: ${limits.listEntriesMax})` },
    depth: { type: "integer", value: "N", words: "How many levels of folders to show (default: 1)" },
    ignore: { type: "list", value: "PATTERN", words: "Leave out what matches; may be given several times" },
  },
  examples: [
    "filehand ls",
    "filehand ls src --depth 3",
    'filehand ls --depth 2 --ignore "*.log" --ignore dist/',
    "filehand ls src --json",
    "filehand ls node_modules --offset 2001",
  ],
  async run(given, host) {
    const offset = given.integer("offset") ?? 1;
    const limit = given.integer("limit") ?? limits.listEntriesMax;
    const depth = given.integer("depth") ?? 1;
    if (offset < 1) throw new UsageError("--offset must be at least 1");
    if (limit < 1) throw new UsageError("--limit must be at least 1");
    if (depth < 1 || depth > limits.treeDepthMax) {
      throw new UsageError(`--depth must be from 1 to ${limits.treeDepthMax}`);
    }
    const { session, record } = await openSession(given, host, "people");
    const path = given.parameters[0] ?? ".";
    const words = wordsFor(given, session);
    const { reply } = await session.run(
      () => ({
        verb: "ls",
        path,
        from: lineNumber(offset),
        entriesMax: limit,
        depth,
        ignore: given.list("ignore"),
      }),
      { signal: host.signal, ...(words && { words }) },
    );
    record();
    return printReply(reply, given, host, words);
  },
};
