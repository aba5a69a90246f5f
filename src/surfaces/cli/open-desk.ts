/** Settings, environment and options in, a workspace for the MCP server out. */

import { limits } from "../../contract/limits.ts";
import type { Board } from "../inspector/questions.ts";
import type { Desk, WatchCall } from "../mcp/desk.ts";
import type { Given, Host } from "./command.ts";
import { openSession } from "./open-session.ts";
import { version } from "./version.ts";

export interface DeskNeeds {
  readonly name: string;
  readonly roots: readonly string[];
  readonly startedFor?: string | undefined;
  readonly resultBytesMax: "stdio" | number;
  readonly watchCall?: WatchCall;
  /** Whom to ask besides the client. */
  readonly board?: Board | undefined;
}

export async function openDesk(given: Given, host: Host, needs: DeskNeeds): Promise<Desk> {
  const { createApprovals, createCursors, createSessions, logTo, principalOf } = await import("../mcp/index.ts");
  const { board } = needs;
  const approvals = createApprovals(principalOf, board === undefined ? undefined : { board, workspace: needs.name });
  const { filehand, session } = await openSession(given, host, "models", {
    stdin: "used",
    ask: approvals.asker,
    ...(board === undefined ? {} : { keepRules: true }),
    roots: needs.roots,
  });
  return {
    name: needs.name,
    version,
    filehand,
    dialect: session.dialect,
    definitions: session.definitions(),
    sessions: createSessions(filehand, session.dialect),
    approvals,
    cursors: createCursors(),
    structured: given.flag("structured"),
    resultBytesMax: needs.resultBytesMax === "stdio" ? limits.mcpResultBytesMax - 65_536 : needs.resultBytesMax,
    startedFor: needs.startedFor,
    log: logTo(host.stderr),
    watchCall: needs.watchCall ?? ((_tool, _meta, work) => work()),
  };
}
