/** `filehand grep`: lines that match a regular expression. */

import type { Reply } from "../../../contract/call.ts";
import type { GrepLine, GrepMode, GrepRequest } from "../../../contract/grep.ts";
import { limits } from "../../../contract/limits.ts";
import { lineNumber } from "../../../contract/target.ts";
import type { GlobResult, GrepResult } from "../../../dialects/claude/search-render.ts";
import { escapeName, visibleControls } from "../../../text/encoding/escape.ts";
import { type Command, type Given, type Host, UsageError } from "../command.ts";
import { openSession } from "../open-session.ts";
import { coloured, paintedPaths, printReply, shownText, styled } from "../print.ts";
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
    const forPeople = given.text("dialect") === undefined && !given.flag("json");
    const paints = forPeople && coloured(host, "stdout");
    const needs = forPeople ? { dialect: "claude" as const } : {};
    const { session, record } = await openSession(given, host, "people", needs);
    const bar = progressBar("Searching", given, host, "matching files");
    const { reply } = await session.run(() => (paints ? { ...request, spans: true } : request), {
      signal: host.signal,
      onProgress: bar.show,
    });
    bar.clear();
    record();
    if (reply.isError) return printReply(reply, given, host);
    if (!forPeople) {
      printReply(reply, given, host);
    } else {
      const { found, notes } = paintedMatches(reply, paints);
      // What has colours was made safe piece by piece.
      if (found !== "") host.stdout.write(`${paints ? found : shownText(found, host, "stdout")}\n`);
      const said = shownText(notes, host, "stderr");
      if (said !== "") host.stderr.write(`${coloured(host, "stderr") ? styled("yellow", said) : said}\n`);
    }
    return hasMatches(reply.structured) ? 0 : 1;
  },
};

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

/** Every dialect has a number for it. */
function hasMatches(structured: unknown): boolean {
  const { totalFiles, metadata, stats } = structured as {
    readonly totalFiles?: number;
    readonly metadata?: { readonly matches: number };
    readonly stats?: { readonly files_matched: number };
  }; // what the renderers of the dialects make
  return (totalFiles ?? metadata?.matches ?? stats?.files_matched ?? 0) > 0;
}

// What `filehand grep` found, for a person: files as headings, numbers that step back, matches that stand out.

export interface GrepView {
  readonly found: string;
  /** What is said about it: for stderr, so that a pipe has nothing but what was found. */
  readonly notes: string;
}

function paintedMatches(reply: Reply, colours: boolean): GrepView {
  const result = reply.structured as GrepResult; // a search that did not fail, in the dialect `claude`
  const text = reply.content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
  const said = text.split("\n");
  const notes = said.slice(said.findLastIndex((line) => !/^\[.*\]$/.test(line)) + 1).map((line) => line.slice(1, -1));
  const none = result.totalFiles === 0 ? [said[0] ?? ""] : [];
  return { found: foundOf(result, colours), notes: [...none, ...notes].join("\n") };
}

function foundOf(result: GrepResult, colours: boolean): string {
  const paint = (style: "magenta" | "green", text: string): string => (colours ? styled(style, text) : text);
  switch (result.mode) {
    case "files_with_matches":
      return result.filenames.map((name) => paint("magenta", escapeName(name))).join("\n");
    case "count":
      return (result.counts ?? [])
        .map(
          (count, index) =>
            `${paint("magenta", escapeName(result.filenames[index] ?? ""))}:${paint("green", String(count))}`,
        )
        .join("\n");
    case "content":
      return colours && result.lines !== undefined ? blocks(result.lines) : (result.content ?? "");
  }
}

type ShownLine = GrepLine & { readonly file: string };

function blocks(lines: readonly ShownLine[]): string {
  const width = String(Math.max(0, ...lines.map(({ line }) => line))).length;
  return lines
    .flatMap((line, index) => {
      const before = lines[index - 1];
      const heading =
        before?.file === line.file
          ? []
          : [...(before === undefined ? [] : [""]), styled("magenta", escapeName(line.file))];
      const gap =
        before?.file === line.file && line.line !== before.line + 1 && lines.some(({ is }) => is === "context");
      const number = styled(line.is === "match" ? "green" : "dim", String(line.line).padStart(width));
      return [...heading, ...(gap ? [styled("dim", "--")] : []), `${number} ${textOf(line)}`];
    })
    .join("\n");
}

/** Controls are made visible piece by piece: that may change the length of a piece. */
function textOf({ text, spans = [], cutBefore, cutBehind }: ShownLine): string {
  const mark = styled("dim", "...");
  let shown = "";
  let at = 0;
  for (const [from, to] of spans) {
    shown += visibleControls(text.slice(at, from)) + styled(["red", "bold"], visibleControls(text.slice(from, to)));
    at = to;
  }
  return (cutBefore ? mark : "") + shown + visibleControls(text.slice(at)) + (cutBehind ? mark : "");
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
    const forPeople = given.text("dialect") === undefined && !given.flag("json");
    const needs = forPeople ? { dialect: "claude" as const } : {};
    const { session, record } = await openSession(given, host, "people", needs);
    const [pattern = "", path] = given.parameters;
    const bar = progressBar("Searching", given, host, "entries");
    const { reply } = await session.run(() => ({ verb: "glob", pattern, path, filesMax }), {
      signal: host.signal,
      onProgress: bar.show,
    });
    bar.clear();
    record();
    if (reply.isError) return printReply(reply, given, host);
    if (forPeople) printFound(reply, host);
    else printReply(reply, given, host, paintedPaths);
    return hasFiles(reply.structured) ? 0 : 1;
  },
};

/** What is said about the files goes to stderr, so that a pipe has nothing but their names. */
function printFound(reply: Reply, host: Host): void {
  const { filenames } = reply.structured as GlobResult; // a search that did not fail, in the dialect `claude`
  const lines = reply.content.flatMap((part) => (part.type === "text" ? part.text.split("\n") : []));
  const names = lines.slice(0, filenames.length).join("\n");
  const said = lines.slice(filenames.length).map((line) => line.replace(/^\[(.*)\]$/, "$1"));
  const shown = shownText(names, host, "stdout");
  if (names !== "") host.stdout.write(`${coloured(host, "stdout") ? paintedPaths(shown) : shown}\n`);
  const notes = shownText(said.join("\n"), host, "stderr");
  if (notes !== "") host.stderr.write(`${coloured(host, "stderr") ? styled("yellow", notes) : notes}\n`);
}

/** Every dialect has a number for it. */
function hasFiles(structured: unknown): boolean {
  const { numFiles, metadata, stats } = structured as {
    readonly numFiles?: number;
    readonly metadata?: { readonly count: number };
    readonly stats?: { readonly total_matches: number };
  }; // what the renderers of the dialects make
  return (numFiles ?? metadata?.count ?? stats?.total_matches ?? 0) > 0;
}

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
    const { reply } = await session.run(
      () => ({
        verb: "ls",
        path,
        from: lineNumber(offset),
        entriesMax: limit,
        depth,
        ignore: given.list("ignore"),
      }),
      { signal: host.signal },
    );
    record();
    return printReply(reply, given, host, paintedPaths);
  },
};
