/** `filehand ls`: the entries of a folder, or a tree of them. */

import { lineNumber } from "../../../contract/brand.ts";
import { limits } from "../../../contract/limits.ts";
import { type Command, UsageError } from "../command.ts";
import { openSession } from "../open-session.ts";
import { paintedPaths, printReply } from "../print.ts";

export const ls: Command = {
  name: "ls",
  summary: "List a folder, or show it as a tree",
  parameters: ["[path]"],
  options: {
    offset: { type: "integer", value: "N", words: "First entry, counted from 1" },
    limit: { type: "integer", value: "N", words: `How many entries (default: ${limits.listEntriesMax})` },
    depth: { type: "integer", value: "N", words: "How many levels of folders to show (default: 1)" },
    ignore: { type: "list", value: "PATTERN", words: "Leave out what matches; may be given several times" },
  },
  examples: [
    "filehand ls",
    "filehand ls src --depth 3",
    'filehand ls --depth 2 --ignore "*.log" --ignore dist/',
    "filehand ls src --json",
    "filehand ls node_modules --offset 2001",
  ],
  async run(given, host) {
    const offset = given.integer("offset") ?? 1;
    const limit = given.integer("limit") ?? limits.listEntriesMax;
    const depth = given.integer("depth") ?? 1;
    if (offset < 1) throw new UsageError("--offset must be at least 1");
    if (limit < 1) throw new UsageError("--limit must be at least 1");
    if (depth < 1 || depth > limits.treeDepthMax) {
      throw new UsageError(`--depth must be from 1 to ${limits.treeDepthMax}`);
    }
    const { session, record } = await openSession(given, host, "people");
    const path = given.parameters[0] ?? ".";
    const reply = await session.run(
      () => ({
        verb: "ls",
        path,
        from: lineNumber(offset),
        entriesMax: limit,
        depth,
        ignore: given.list("ignore"),
      }),
      { signal: host.signal },
    );
    record();
    return printReply(reply, given, host, paintedPaths);
  },
};
