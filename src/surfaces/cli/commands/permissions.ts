/** `filehand permissions`: which rules there are, which of them decides about a path, and why. */

import { FilehandError } from "../../../contract/failure.ts";
import { type Command, UsageError } from "../command.ts";
import { orJsonFailure } from "../json-failure.ts";
import { openSession } from "../open-session.ts";
import { checkPaths, explainPath, listRules } from "../permission-view.ts";

const words = { list: listRules, explain: explainPath, check: checkPaths } as const;
const isWord = (text: string | undefined): text is keyof typeof words => Object.hasOwn(words, text ?? "");

export const permissions: Command = {
  name: "permissions",
  summary: "Show the permission rules, which of them decides about a path, and why",
  parameters: ["<list|explain|check>", "[tool]", "[path...]"],
  options: {
    all: { type: "flag", words: "With list: also the rules that are built in" },
    quiet: { type: "flag", words: "With check: print nothing" },
  },
  details: [
    "list: the mode and every rule by its source, with those that are not in force or can never decide.",
    "explain TOOL PATH: which rule decides, who wrote it, the names it was compared with, and what would allow it.",
    "check TOOL PATH...: exit code 0 if the tool may do it to every path without asking, 1 if not.",
  ].join("\n"),
  examples: [
    "filehand permissions list",
    "filehand permissions explain Edit src/config.ts",
    "filehand permissions check Read .env package.json",
    'filehand permissions explain Read .env --allow "Read(/.env)" --json',
  ],
  run: (given, host) =>
    orJsonFailure(given, host, async () => {
      const [word, tool, ...paths] = given.parameters;
      if (!isWord(word)) throw new UsageError(`There is no "${word}" of permissions, use list, explain or check`);
      requireParameters(word, tool, paths);
      const { filehand } = await openSession(given, host, "people", { ruleFaults: "told by the command" });
      try {
        return words[word](filehand.permissions, tool ?? "", paths, given, host);
      } catch (error) {
        // Exit code 1 would say that it is not allowed.
        if (error instanceof FilehandError && error.code === "UNKNOWN_TOOL") throw new UsageError(error.message);
        throw error;
      }
    }),
};

function requireParameters(word: keyof typeof words, tool: string | undefined, paths: readonly string[]): void {
  if (word === "list") {
    if (tool !== undefined) throw new UsageError(`"${tool}" is one argument too many: filehand permissions list`);
    return;
  }
  if (tool === undefined) throw new UsageError(`The tool is missing: filehand permissions ${word} Edit src/config.ts`);
  if (paths.length === 0)
    throw new UsageError(`The path is missing: filehand permissions ${word} ${tool} src/config.ts`);
  if (word === "explain" && paths.length > 1) throw new UsageError("explain takes one path, check takes several");
}
