/** One workspace as the server sees it: its toolkit, its sessions, its questions, and how it answers. */

import type { CallToolResult, InputRequiredResult, ServerContext } from "@modelcontextprotocol/server";
import type { Filehand } from "../../api.ts";
import type { ToolDefinition } from "../../contract/call.ts";
import type { DialectName } from "../../dialects/index.ts";
import type { Approvals } from "./approvals.ts";
import type { Cursors } from "./cursor.ts";
import { localPrincipal } from "./names.ts";
import type { Sessions } from "./sessions.ts";

export interface Desk {
  readonly name: string;
  readonly version: string;
  readonly filehand: Filehand;
  readonly dialect: DialectName;
  readonly definitions: readonly ToolDefinition[];
  readonly sessions: Sessions;
  readonly approvals: Approvals;
  readonly cursors: Cursors;
  readonly structured: boolean;
  /** Bytes of one result, pictures included: more would end the connection. */
  readonly resultBytesMax: number;
  /** Bytes of one answer's text, where the operator has said so; otherwise the client decides (`client-limits.ts`). */
  readonly answerBytesMax: number | undefined;
  /** What the process was started for, on stdio. */
  readonly startedFor: string | undefined;
  /** What requests share that nothing else tells apart: over stdio this process and no other, over HTTP the workspace. */
  readonly otherwise: string;
  readonly log: Log;
  /** Wraps every call of a tool, if somebody wants to count or to trace it. */
  readonly watchCall: WatchCall | undefined;
  /** The package was replaced under the process, and a call needs a part that is gone: the process ends after the answer. */
  readonly onPartGone: () => void;
}

/** Structured, on stderr. Never the content of a file, an argument or a token. */
export type Log = (level: "info" | "warn" | "error", what: string, fields?: Readonly<Record<string, unknown>>) => void;

/** "ask first": nothing was done, and the call is made again by somebody who can ask; that one counts. */
export type WatchCall = <Result extends Called | "ask first">(
  tool: string,
  meta: Readonly<Record<string, unknown>> | undefined,
  work: () => Promise<Result>,
) => Promise<Result>;

/** What a call came to, or the question that stands before it. */
export type Called = CallToolResult | InputRequiredResult;

/** Who calls. The transport knows it; what a request says about itself counts for nothing. */
export const principalOf = (ctx: Pick<ServerContext, "http">): string => ctx.http?.authInfo?.clientId ?? localPrincipal;
