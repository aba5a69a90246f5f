/** `filehand mcp`: the tools of a dialect for any MCP client, over stdin and stdout. */

import { serveOverStdio } from "../../mcp/stdio.ts";
import { tracing } from "../../mcp/tracing.ts";
import type { Command, Given } from "../command.ts";
import { historyTools, languageServers } from "../change-options.ts";
import { openDesk } from "../open-desk.ts";
import { version } from "../version.ts";

export const structuredOption = {
  type: "flag",
  words: "Also send what programs read; some clients then show the model nothing else",
} as const;

export const mcp: Command = {
  name: "mcp",
  summary: "Serve the tools to an MCP client over stdin and stdout",
  parameters: ["[folder...]"],
  options: { structured: structuredOption, "history-tools": historyTools, "language-servers": languageServers },
  details: [
    "The folders are the workspace's roots; without any it is CLAUDE_PROJECT_DIR, or the current folder.",
    "What a rule asks about is put to the person behind the client, if it can do that; else it is refused and the rule named.",
    'Changes ask by default: --allow "Edit" leaves that to the client\'s own questions.',
  ].join("\n"),
  examples: [
    "filehand mcp",
    'filehand mcp ~/project --allow "Edit"',
    "filehand mcp --dialect opencode --deny 'Read(/private/**)'",
  ],
  async run(given, host) {
    const { CLAUDE_CODE_SESSION_ID: startedFor, CLAUDE_PROJECT_DIR: project } = host.env;
    const roots = given.parameters.length > 0 ? given.parameters : rootOf(given, project);
    const watchCall = Object.keys(host.env).some((name) => name.startsWith("OTEL_"))
      ? await tracing(version)
      : undefined;
    const needs = { name: "filehand", program: "mcp", roots, startedFor, resultBytesMax: "stdio" } as const;
    const desk = await openDesk(given, host, { ...needs, ...(watchCall === undefined ? {} : { watchCall }) });
    const left = await serveOverStdio(desk, host, host.signal, () => import("../../mcp/index.ts"));
    await desk.close();
    if (left === "unread") host.abandon?.();
    return 0;
  },
};

const rootOf = (given: Given, project: string | undefined): readonly string[] =>
  given.list("root").length > 0 || project === undefined || project === "" ? [] : [project];
