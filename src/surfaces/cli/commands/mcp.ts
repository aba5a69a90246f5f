/** `filehand mcp`: the tools of a dialect for any MCP client, over stdin and stdout. */

import { serveOverStdio } from "../../mcp/stdio.ts";
import { tracing } from "../../mcp/log.ts";
import type { Log } from "../../mcp/mcp-workspace.ts";
import { preload } from "../../../filehand.ts";
import type { Command, ExitCode, Given, Host } from "../command.ts";
import { shared } from "../parse.ts";
import { openWorkspace } from "../open-workspace.ts";
import { version } from "../print.ts";

export const mcp: Command = {
  name: "mcp",
  summary: "Serve the tools to an MCP client over stdin and stdout",
  parameters: ["[folder...]"],
  options: shared("structured", "answer-bytes", "file-tools", "history-tools", "language-servers"),
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
    const parts = serverParts(host);
    const { onPartGone } = parts;
    const needs = { name: "filehand", program: "mcp", roots, startedFor, resultBytesMax: "stdio", onPartGone } as const;
    const workspace = await openWorkspace(given, host, { ...needs, ...(watchCall === undefined ? {} : { watchCall }) });
    const left = await serveOverStdio(workspace, host, parts.stop, async () => {
      const sdk = await import("../../mcp/index.ts");
      // The client has its first answer by now.
      parts.load(workspace.log);
      return sdk;
    });
    await workspace.close();
    if (left === "unread") host.abandon?.();
    return parts.exitCode();
  },
};

const rootOf = (given: Given, project: string | undefined): readonly string[] =>
  given.list("root").length > 0 || project === undefined || project === "" ? [] : [project];

/** How long the answer that says so may take to be written. */
const lastAnswerMs = 200;

/** What a server does about the parts of its package, which may be replaced under it. */
export function serverParts(host: Host) {
  const gone = new AbortController();
  let isGone = false;
  return {
    /** Stopped by the person, by the system, or because a part of the package is gone. */
    stop: AbortSignal.any([host.signal, gone.signal]),
    onPartGone: (): void => {
      if (isGone) return;
      isGone = true;
      setTimeout(() => gone.abort(), lastAnswerMs);
    },
    /** Loads in the background all modules that calls may need. */
    load(log: Log): void {
      const own = [() => import("../../../settings/keep-rule.ts"), () => import("../../report/link.ts")];
      preload(own).catch((error: unknown) => {
        const message = error instanceof Error ? error.message : String(error);
        log("warn", "a part of Filehand cannot be loaded, restart it", { message });
      });
    },
    exitCode: (): ExitCode => (isGone ? 1 : 0),
  };
}
