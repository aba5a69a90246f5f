/** `filehand patch`: change several files at once, all of them or none. */

import { runChange } from "../change.ts";
import { dryRun, languageServers } from "../change-options.ts";
import { type Command, UsageError } from "../command.ts";
import { isStdin, requirePiped, textFrom } from "../input.ts";

export const patch: Command = {
  name: "patch",
  summary: "Apply a patch to several files, to all of them or to none",
  parameters: ["[file]"],
  options: { "dry-run": dryRun, "language-servers": languageServers },
  details: [
    "The patch is read from the file or from standard input and has this form:",
    "*** Begin Patch",
    "*** Update File: src/a.ts",
    "@@",
    "-old line",
    "+new line",
    "*** Add File: b.txt",
    "+its first line",
    "*** Delete File: c.txt",
    "*** End Patch",
  ].join("\n"),
  examples: ["filehand patch change.patch", "filehand patch --dry-run < change.patch"],
  async run(given, host) {
    const [file = "-"] = given.parameters;
    if (given.parameters.length === 0) {
      requirePiped(host, "The patch is missing: name a file, or send it on standard input");
    }
    const patchText = await textFrom(file, host);
    if (patchText.trim() === "") throw new UsageError("The patch is empty");
    const stdin = isStdin(file) ? "used" : "free";
    return runChange((profile) => ({ verb: "patch", patchText, profile }), given, host, stdin);
  },
};
