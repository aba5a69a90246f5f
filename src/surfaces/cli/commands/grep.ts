/** `filehand grep`: lines that match a regular expression. */

import type { GrepMode, GrepRequest } from "../../../contract/grep.ts";
import { limits } from "../../../contract/limits.ts";
import { type Command, type Given, UsageError } from "../command.ts";
import { paintedMatches } from "../grep-view.ts";
import { openSession } from "../open-session.ts";
import { coloured, printReply, shownText } from "../print.ts";
import { progressBar } from "../progress.ts";
import { styled } from "../style.ts";

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
    const reply = await session.run(() => (paints ? { ...request, spans: true } : request), {
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
