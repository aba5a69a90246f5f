/** `filehand glob`: files by the pattern of their paths. */

import type { Reply } from "../../../contract/call.ts";
import { limits } from "../../../contract/limits.ts";
import type { GlobResult } from "../../../dialects/claude/search-render.ts";
import { type Command, type Host, UsageError } from "../command.ts";
import { openSession } from "../open-session.ts";
import { coloured, paintedPaths, printReply, shownText } from "../print.ts";
import { progressBar } from "../progress.ts";
import { styled } from "../style.ts";

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
    const reply = await session.run(() => ({ verb: "glob", pattern, path, filesMax }), {
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
