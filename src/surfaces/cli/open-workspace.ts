/** Settings, environment and options in, a workspace for the MCP server out. */

import { randomUUID } from "node:crypto";
import type { Program } from "../../contract/event.ts";
import { limits } from "../../contract/limits.ts";
import type { Board } from "../inspector/questions.ts";
import { createApprovals } from "../mcp/approvals.ts";
import {
  createObserving,
  createSeals,
  createSessions,
  createShellNotes,
  isToolPrefix,
  type McpWorkspace,
  prefixFault,
  type WatchCall,
} from "../mcp/mcp-workspace.ts";
import { logTo } from "../mcp/log.ts";
import { createReporter } from "../report/reporter.ts";
import { type Given, type Host, UsageError } from "./command.ts";
import type { Confinable } from "./confine.ts";
import { openSession } from "./open-session.ts";
import { keepError, version } from "./print.ts";
import type { SharedStates } from "./shared-state.ts";

export interface WorkspaceNeeds {
  readonly name: string;
  readonly program: Program;
  readonly roots: readonly string[];
  readonly startedFor?: string | undefined;
  readonly resultBytesMax: "stdio" | number;
  readonly watchCall?: WatchCall;
  readonly onPartGone: () => void;
  readonly states: SharedStates;
  /** The name of the workspace in shared state; by default its roots name it. */
  readonly stateName?: string | undefined;
  /** Answers questions besides the client; by default inspectors of other processes, if any. */
  readonly board?: Board | undefined;
}

export interface OpenedWorkspace extends McpWorkspace {
  readonly stateDir: string | undefined;
  readonly confinable: Confinable;
  close(): Promise<void>;
}

export async function openWorkspace(given: Given, host: Host, needs: WorkspaceNeeds): Promise<OpenedWorkspace> {
  const toolPrefix = given.text("tool-prefix") ?? "";
  if (!isToolPrefix(toolPrefix)) throw new UsageError(prefixFault(toolPrefix));
  const reporter = createReporter(needs.program);
  const board = needs.board ?? reporter.board;
  const approvals = createApprovals({ board, workspace: needs.name });
  const { filehand, session, stateDir, answerBytesMax, confinable } = await openSession(given, host, "models", {
    stdin: "used",
    ask: approvals.asker,
    ...(needs.board === undefined ? {} : { keepRules: true }),
    reports: "by itself",
    confines: "by itself",
    roots: needs.roots,
    state: (address, realRoots) => needs.states.open(address, needs.stateName, realRoots),
  });
  reporter.start(filehand, stateDir, "on");
  const log = logTo(host.stderr, (stack) => keepError(stack, host));
  const observe = given.flag("observe") ? createObserving(session, log) : undefined;
  let definitions: McpWorkspace["definitions"] | undefined; // made on first use
  const ofProcess = randomUUID();
  return {
    name: needs.name,
    version,
    filehand,
    dialect: session.dialect,
    get definitions() {
      return (definitions ??= session.definitions());
    },
    toolPrefix,
    sessions: createSessions(filehand, session.dialect),
    approvals,
    cursors: createSeals(),
    structured: given.flag("structured"),
    resultBytesMax: needs.resultBytesMax === "stdio" ? limits.mcpResultBytesMax - 65_536 : needs.resultBytesMax,
    answerBytesMax,
    startedFor: needs.startedFor,
    // Two processes over stdio are two conversations; a server of HTTP goes on with those of the one before it.
    otherwise: (client) =>
      needs.program === "mcp" ? ofProcess : `${needs.name}${client === undefined ? "" : ` ${client}`}`,
    log,
    observe,
    noteShell: stateDir === undefined ? undefined : createShellNotes(stateDir),
    watchCall: needs.watchCall,
    onPartGone: needs.onPartGone,
    stateDir,
    confinable,
    close: async () => {
      // What a shell command did after the last call.
      await observe?.(session, undefined);
      await reporter.end();
      await filehand.close();
    },
  };
}
