/** `filehand ls`: the entries of a folder. */

import { lineNumber } from "../../../contract/brand.ts";
import { type Command, UsageError } from "../command.ts";
import { openSession } from "../open-session.ts";
import { printReply } from "../print.ts";

export const ls: Command = {
  name: "ls",
  summary: "List a folder",
  parameters: ["[path]"],
  options: {
    offset: { type: "integer", value: "N", words: "First entry, counted from 1" },
    limit: { type: "integer", value: "N", words: "How many entries (default: 2000)" },
  },
  examples: ["filehand ls", "filehand ls src --json", "filehand ls node_modules --offset 2001"],
  async run(given, host) {
    const offset = given.integer("offset") ?? 1;
    const limit = given.integer("limit") ?? 2_000;
    if (offset < 1) throw new UsageError("--offset must be at least 1");
    if (limit < 1) throw new UsageError("--limit must be at least 1");
    const { session, record } = await openSession(given, host, "people");
    const path = given.parameters[0] ?? ".";
    const reply = await session.run(() => ({ verb: "ls", path, from: lineNumber(offset), entriesMax: limit }), {
      signal: host.signal,
    });
    record();
    return printReply(reply, given, host);
  },
};
