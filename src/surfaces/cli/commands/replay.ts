/** `filehand replay`: what the calls of recorded conversations cost, and what the same calls cost and do with Filehand. */

import * as nodePath from "node:path";
import { defined } from "../../../contract/common.ts";
import { defaultDialect, dialectNames } from "../../../dialects/dialects.ts";
import { escapeName } from "../../../text/text.ts";
import { type Command, notEmpty, option } from "../command.ts";
import { oneOf } from "../parse.ts";
import { print, printJson, shownText, version } from "../print.ts";
import { progressBar } from "../progress.ts";

export const replay: Command = {
  name: "replay",
  summary: "Make the calls of recorded conversations again, and compare tokens, refusals and failures",
  parameters: ["<transcript...>"],
  options: {
    server: option.text(
      "COMMAND",
      'Also replay against another MCP file server; "{folder}" in the command is the folder of its files',
      notEmpty,
    ),
  },
  details: [
    "Reads transcripts of Claude Code (~/.claude/projects), Codex (~/.codex/sessions), Gemini CLI (~/.gemini/tmp/*/chats) and",
    "opencode (its storage folder, opencode.db, or the output of opencode export), and calls in a neutral form; a folder stands",
    "for all transcripts below it. Files are rebuilt in a scratch folder as far as the transcript shows them; your own files are",
    "not touched, no recorded command is run, and nothing leaves this machine. --json prints every number.",
  ].join("\n"),
  examples: [
    "filehand replay ~/.claude/projects",
    "filehand replay ~/.codex/sessions --dialect opencode --json > result.json",
    'filehand replay session.jsonl --server "npx -y @modelcontextprotocol/server-filesystem {folder}"',
  ],
  async run(given, host) {
    const [{ replayTranscripts }, { replayText }] = await Promise.all([
      import("../../replay/replay.ts"),
      import("../../replay/replay-text.ts"),
    ]);
    const paths = given.parameters.map((path) => nodePath.resolve(host.cwd, path));
    const bar = progressBar("Replaying", given, host);
    const result = await replayTranscripts(paths, {
      version,
      dialect: oneOf("dialect", given.text("dialect") ?? defaultDialect, dialectNames),
      options: defined({ model: given.text("model") }),
      server: given.text("server"),
      env: host.env,
      signal: host.signal,
      onProgress: bar.show,
    });
    bar.clear();
    if ("fault" in result) {
      host.stderr.write(`filehand: ${escapeName(result.fault)}\n`);
      return 1;
    }
    return given.flag("json") ? printJson(result, host) : print(shownText(replayText(result), host, "stdout"), host);
  },
};
