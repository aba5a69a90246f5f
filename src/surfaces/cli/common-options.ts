/** The options that every command has. */

import type { Options } from "./command.ts";

export const commonOptions = {
  root: {
    type: "list",
    value: "DIR",
    empty: "refused",
    words: "Folder that may be worked in; may be given several times (default: the current folder)",
  },
  dialect: { type: "text", value: "NAME", words: "claude, opencode, opencode-legacy or envelope (default: claude)" },
  allow: { type: "list", value: "RULE", words: 'Permission rule, such as "Read(docs/**)"; may be given several times' },
  ask: { type: "list", value: "RULE", words: "Rule for what must be asked first" },
  deny: { type: "list", value: "RULE", words: "Rule for what is refused" },
  mode: {
    type: "text",
    value: "MODE",
    words: "default, read-only, plan or accept-edits: what may be done at all, before any rule",
  },
  yes: { type: "flag", words: "Answer every question about files inside the roots with yes; the roots' border stays" },
  model: { type: "text", value: "NAME", words: "The model that reads the answers" },
  "state-dir": {
    type: "text",
    value: "DIR",
    empty: "refused",
    words: "Folder for what Filehand keeps between runs",
  },
  json: { type: "flag", words: "Print the reply as JSON" },
  help: { type: "flag", short: "h", words: "Show this help" },
} as const satisfies Options;
