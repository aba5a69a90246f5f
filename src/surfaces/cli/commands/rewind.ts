/** `filehand rewind`: files become what they were before a turn. */

import { beginning } from "../../../contract/rewind.ts";
import { escapeName } from "../../../text/escape.ts";
import type { Command, Given, Host } from "../command.ts";
import { orJsonFailure } from "../json-failure.ts";
import {
  chosenSession,
  type Named,
  namedTurn,
  noTurn,
  openPast,
  type Past,
  pathAmong,
  sessionToLookAt,
} from "../past.ts";
import { rewindOptions, runRewind } from "../rewound.ts";

export const rewind: Command = {
  name: "rewind",
  summary: "Make files what they were before a turn",
  parameters: ["<turn>"],
  options: {
    ...rewindOptions,
    file: { type: "list", value: "PATH", words: "Only this file; may be given several times" },
    session: sessionToLookAt,
  },
  details: [
    "A turn is named by the beginning of its id, or counted from the newest: -1, -2; start is before the first.",
    "What somebody else changed since is left as it is, unless --force is given. A rewind is a turn itself.",
    "Without --yes or a rule that allows it, the person at the terminal is asked first.",
  ].join("\n"),
  examples: [
    "filehand rewind -1 --dry-run",
    "filehand rewind 1f0c2a9b --file src/index.ts",
    "filehand rewind -3 --yes",
  ],
  run: (given, host) =>
    orJsonFailure(given, host, async () => {
      const past = await openPast(given, host);
      const asked = given.parameters[0] ?? "";
      const named: Named =
        asked === beginning
          ? { ...(await chosenSession(past, given)), turn: beginning }
          : await namedTurn(asked, past, given);
      const files = filesOf(named, given, past, host);
      return runRewind("rewind", named, given, host, (options) =>
        named.session.rewind(named.turn, { ...options, ...(files.length === 0 ? {} : { files }) }),
      );
    }),
};

function filesOf({ turns, turn, ids }: Named, given: Given, past: Past, host: Host): readonly string[] {
  const asked = given.list("file");
  if (asked.length === 0) return [];
  const since = turns.snapshots().slice(Math.max(0, ids.indexOf(turn)));
  const changed = [...new Set(since.flatMap(({ trackedFileBackups }) => Object.keys(trackedFileBackups)))];
  return asked.map((name) => {
    const path = pathAmong(name, changed, past, host);
    if (path === undefined) throw noTurn(`Cannot bring back "${escapeName(name)}": it was not changed since that turn`);
    return path;
  });
}
