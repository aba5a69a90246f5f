/** `filehand rename`: another name for something in the code, wherever it is used. */

import { runChange } from "../change.ts";
import { dryRun } from "../change-options.ts";
import { writtenPlace } from "../code-place.ts";
import { type Command, UsageError } from "../command.ts";
import { symbolOf } from "./lsp.ts";

export const rename: Command = {
  name: "rename",
  summary: "Rename a symbol in all files that use it, as a language server finds them",
  parameters: ["<place>", "<new-name>"],
  options: {
    symbol: { type: "text", value: "NAME", words: "The name that is meant, instead of a column" },
    "dry-run": dryRun,
  },
  details: [
    "A place is a path, a line and a column: src/a.ts:12:5. With --symbol the column, or the line too, may be left out.",
    "All files are changed or none, and filehand undo takes the change back. Files are not renamed.",
    "Servers are those that are installed, changed by languageServers in the user's settings. Nothing is downloaded.",
  ].join("\n"),
  examples: [
    "filehand rename src/index.ts:12:17 createToolkit --dry-run",
    "filehand rename src/index.ts:12 createToolkit --symbol createFilehand",
  ],
  async run(given, host) {
    const [place = "", newName = ""] = given.parameters;
    const { path, line, column } = writtenPlace(place);
    const symbol = symbolOf(given);
    if (column === undefined && symbol === undefined) {
      throw new UsageError("Say what is to be renamed: src/a.ts:LINE:COLUMN, or --symbol NAME");
    }
    const at = { line, column, symbol };
    return runChange((profile) => ({ verb: "rename", path, at, newName, profile }), given, host, "free", "always");
  },
};
