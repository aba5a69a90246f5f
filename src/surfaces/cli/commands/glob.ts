/** `filehand glob`: files by the pattern of their paths. */

import { limits } from "../../../contract/limits.ts";
import { type Command, UsageError } from "../command.ts";
import { openSession } from "../open-session.ts";
import { paintedPaths, printReply } from "../print.ts";
import { progressBar } from "../progress.ts";

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
    const { session, record } = await openSession(given, host, "people");
    const [pattern = "", path] = given.parameters;
    const bar = progressBar("Searching", given, host, "entries");
    const reply = await session.run(() => ({ verb: "glob", pattern, path, filesMax }), {
      signal: host.signal,
      onProgress: bar.show,
    });
    bar.clear();
    record();
    return printReply(reply, given, host, paintedPaths);
  },
};
