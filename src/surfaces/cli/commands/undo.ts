/** `filehand undo` and `filehand redo`: one turn back, and forth again. */

import type { Command } from "../command.ts";
import { orJsonFailure } from "../json-failure.ts";
import { chosenSession, openPast, sessionToLookAt } from "../past.ts";
import { rewindOptions, runRewind } from "../rewound.ts";

export const undo: Command = {
  name: "undo",
  summary: "Take back the last turn that is in effect",
  parameters: [],
  options: { ...rewindOptions, session: sessionToLookAt },
  details: "Again: the turn before. What somebody else changed since is left as it is, unless --force is given.",
  examples: ["filehand undo", "filehand undo --dry-run", "filehand undo --yes --json"],
  run: (given, host) => step("undo", given, host),
};

export const redo: Command = {
  name: "redo",
  summary: "Take back the last undo or rewind",
  parameters: [],
  options: { ...rewindOptions, session: sessionToLookAt },
  details: "Again: the undo before that one. After a new change there is nothing to redo.",
  examples: ["filehand redo", "filehand redo --dry-run"],
  run: (given, host) => step("redo", given, host),
};

const step = (way: "undo" | "redo", ...[given, host]: Parameters<Command["run"]>): ReturnType<Command["run"]> =>
  orJsonFailure(given, host, async () => {
    const looked = await chosenSession(await openPast(given, host), given);
    return runRewind(way, looked, given, host, (options) => looked.session[way](options));
  });
