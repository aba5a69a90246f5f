/** `filehand call`: one call as a model writes it. */

import { type Command, UsageError } from "../command.ts";
import {
  answerBytes,
  dryRun,
  historyTools,
  languageServers,
  languageTools,
  noReadFirst,
  sessionOption,
} from "../change-options.ts";
import { jsonFault } from "../json-input.ts";
import { openSession } from "../open-session.ts";
import { printReply } from "../print.ts";
import { startUpkeep } from "../upkeep.ts";

export const call: Command = {
  name: "call",
  summary: "Make one tool call as a model writes it",
  parameters: ["<tool>", "<json>"],
  options: {
    "dry-run": dryRun,
    "no-read-first": noReadFirst,
    "answer-bytes": answerBytes,
    session: sessionOption,
    "history-tools": historyTools,
    "language-tools": languageTools,
    "language-servers": languageServers,
  },
  details: [
    "The tool's name and parameters are those of the dialect; `filehand tools` lists them.",
    "A call is a session of its own that has read nothing: a change of a file that is there needs --no-read-first.",
  ].join("\n"),
  examples: [
    `filehand call Read '{"file_path": "src/index.ts", "limit": 20}'`,
    `filehand call read '{"filePath": "src"}' --dialect opencode --json`,
    `filehand call Edit '{"file_path": "a.txt", "old_string": "one", "new_string": "two"}' --no-read-first --dry-run`,
  ],
  async run(given, host) {
    const [tool = "", json = ""] = given.parameters;
    const input = parsed(json);
    const opened = await openSession(given, host, "models");
    const { session, record } = opened;
    const reply = await session.call(tool, input, { signal: host.signal, dryRun: given.flag("dry-run") });
    record();
    await opened.filehand.close();
    const isRead = session.definitions().some(({ name, readOnly }) => name === tool && readOnly);
    if (!reply.isError && !isRead) await startUpkeep(opened, host);
    return printReply(reply, given, host);
  },
};

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new UsageError(`Cannot use the input: ${jsonFault(json, error)}`);
  }
}
