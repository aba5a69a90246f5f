/** `filehand history`: sessions, their turns and files; and the care of what is kept. */

import { type Command, type Given, UsageError } from "../command.ts";
import { showHistory } from "../history-list.ts";
import { collectStore, showUsage, verifyStore } from "../history-store.ts";
import { orJsonFailure } from "../json-failure.ts";
import { openPast } from "../past.ts";

const words = { verify: verifyStore, usage: showUsage, gc: collectStore } as const;

const isWord = (text: string): text is keyof typeof words => Object.hasOwn(words, text);

export const history: Command = {
  name: "history",
  summary: "List sessions, turns and files that were changed; check what is kept",
  parameters: ["[verify|usage|gc]"],
  options: {
    session: { type: "text", value: "ID", words: "The session whose turns are listed (default: the newest)" },
    all: { type: "flag", words: "Also sessions of other workspaces" },
    "if-due": { type: "flag", words: "gc: only if none was made within a day; changes start that by themselves" },
    limit: { type: "integer", value: "N", words: "How many turns and sessions, newest first (default: 20)" },
  },
  details: [
    "verify: compares all that is kept with its checksums; exit code 1 if something is damaged.",
    "usage: how much is kept, and when the oldest session in it began.",
    "gc: removes what is over the limits or no longer needed.",
  ].join("\n"),
  examples: ["filehand history", "filehand history --session cli-0f3a9c21b4d7 --json", "filehand history verify"],
  run: (given, host) =>
    orJsonFailure(given, host, async () => {
      const [word] = given.parameters;
      if (word !== undefined && !isWord(word)) {
        throw new UsageError(`There is no "${word}" of history, use verify, usage or gc, or nothing`);
      }
      refuseInVain(word, given);
      const limit = given.integer("limit") ?? 20;
      if (limit < 1) throw new UsageError("--limit must be at least 1");
      const past = await openPast(given, host);
      return word === undefined ? showHistory(past, limit, given, host) : words[word](past, given, host);
    }),
};

/** What would be passed over in silence was meant to do something. */
function refuseInVain(word: keyof typeof words | undefined, given: Given): void {
  if (word !== "gc" && given.flag("if-due")) throw new UsageError("--if-due is of use only with gc");
  const ofLists = ["session", "all", "limit"].find((name) => word !== undefined && given.flag(name));
  if (ofLists !== undefined)
    throw new UsageError(`--${ofLists} is of no use with ${word}, which is about all that is kept`);
}
