/** Options that several commands for models have, and those that change files. */

import type { Option } from "./command.ts";

export const dryRun: Option = { type: "flag", words: "Show what would change and write nothing" };

export const noReadFirst: Option = {
  type: "flag",
  words: "Let files be changed that this session has not read",
};

export const historyTools: Option = {
  type: "flag",
  words: "Offer the tools that look back and take changes back (History, Rewind)",
};

export const languageTools: Option = {
  type: "flag",
  words: "Offer the tools that ask language servers and rename (Lsp, Rename), and use the servers",
};

export const languageServers: Option = {
  type: "flag",
  words: "Let language servers check what is changed, and tell what they find with the answer",
};

export const answerBytes: Option = {
  type: "integer",
  value: "N",
  words: "Bytes of one answer at most; longer ones say how to go on (default over MCP: what the client shows)",
};

export const sessionOption: Option = {
  type: "text",
  value: "ID",
  words: "The session that changes are kept under (default: a new one); filehand history --session ID shows them",
};
