/** `filehand write`: a new file, or all of an old one anew. */

import { runChange } from "../change.ts";
import { dryRun, languageServers } from "../change-options.ts";
import { type Command, type Given, type Host, UsageError } from "../command.ts";
import { isStdin, requirePiped, textFrom, textOption } from "../input.ts";

export const write: Command = {
  name: "write",
  summary: "Make a file, or write all of it anew",
  parameters: ["<path>"],
  options: {
    content: { type: "text", value: "TEXT", words: "The content (default: standard input)" },
    from: { type: "text", value: "FILE", words: "Take the content from a file, which must be text in UTF-8" },
    "dry-run": dryRun,
    "language-servers": languageServers,
  },
  details: "The diff is shown. Without --yes or a rule that allows it, the person at the terminal is asked first.",
  examples: [
    'filehand write notes.md --content "# Notes"',
    "date | filehand write build/date.txt --yes",
    "filehand write src/config.ts --from template.ts --dry-run",
  ],
  async run(given, host) {
    const stdin = given.text("content") === undefined && isStdin(given.text("from") ?? "-") ? "used" : "free";
    const content = await contentOf(given, host);
    const path = given.parameters[0] ?? "";
    return runChange((profile) => ({ verb: "write", path, content, profile }), given, host, stdin);
  },
};

async function contentOf(given: Given, host: Host): Promise<string> {
  const named = await textOption("content", "from", given, host);
  if (named !== undefined) return named;
  requirePiped(host, "The content is missing: give --content or --from, or send it on standard input");
  const content = await textFrom("-", host);
  // Where nothing is piped (a job without input) an empty file is hardly what was meant.
  if (content === "") throw new UsageError('Standard input is empty: give --content "" for an empty file');
  return content;
}
