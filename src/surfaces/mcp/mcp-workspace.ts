/** One workspace as an MCP server has it: toolkit, sessions, approvals, limits. */

import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { isFailure } from "../../contract/problem.ts";
import type { CallToolResult, InputRequiredResult, ServerContext } from "@modelcontextprotocol/server";
import { defined } from "../../contract/common.ts";
import type { ToolDefinition } from "../../contract/call.ts";
import type { DialectName } from "../../dialects/dialects.ts";
import type { Filehand, Session } from "../../options.ts";
import { followShellNotes, type ShellNote } from "../../state/state.ts";
import type { Approvals } from "./approvals.ts";
import { localPrincipal } from "./names.ts";
import { type Caller, keyParts, namesConversation } from "./caller.ts";

export interface McpWorkspace {
  readonly name: string;
  readonly version: string;
  readonly filehand: Filehand;
  readonly dialect: DialectName;
  readonly definitions: readonly ToolDefinition[];
  /** Stands before the names of the tools on the wire; empty by default. */
  readonly toolPrefix: string;
  readonly sessions: ReturnType<typeof createSessions>;
  readonly approvals: Approvals;
  readonly cursors: ReturnType<typeof createSeals>;
  readonly structured: boolean;
  /** Bytes of one result, images included: a client ends the connection over a larger one. */
  readonly resultBytesMax: number;
  /** Bytes of the text of one answer, if the operator set it; otherwise it depends on the client (`client-limits.ts`). */
  readonly answerBytesMax: number | undefined;
  /** On stdio: the conversation that the process was started for. */
  readonly startedFor: string | undefined;
  /** Identifies requests that nothing else tells apart: on stdio the process, over HTTP the workspace and the client's name. */
  readonly otherwise: (client: string | undefined) => string;
  readonly log: Log;
  /** Wraps every call of a tool, for metrics and tracing. */
  readonly watchCall: WatchCall | undefined;
  /** With `--observe`: records what other programs changed since the last call. */
  readonly observe?: ((session: Session, signal: AbortSignal | undefined) => Promise<void>) | undefined;
  /** Before a change: what the client's own shell has shown to the model counts as read. */
  readonly noteShell?: ((caller: Pick<Caller, "session" | "conversation">) => Promise<unknown> | undefined) | undefined;
  /** Called if the package was updated or removed and a call needs a file that is gone: the process ends after the answer. */
  readonly onPartGone: () => void;
}

/** Clients and model providers take names of at most 64 letters, digits, `_` and `-`; some put the server's name before ours. */
export const isToolPrefix = (text: string): boolean => /^[\w-]{0,24}$/.test(text);

export const prefixFault = (text: string): string =>
  `Cannot put "${text.slice(0, 40)}" before the names of tools: use at most 24 letters, digits, _ and -`;

/** The tool that a client calls by this name. */
export function toolCalled(
  name: unknown,
  { definitions, toolPrefix }: Pick<McpWorkspace, "definitions" | "toolPrefix">,
): ToolDefinition | undefined {
  if (typeof name !== "string" || !name.startsWith(toolPrefix)) return undefined;
  const own = name.slice(toolPrefix.length);
  return definitions.find((definition) => definition.name === own);
}

/** Structured, on stderr. MUST NOT contain the content of a file, an argument or a token. */
export type Log = (level: "info" | "warn" | "error", what: string, fields?: Readonly<Record<string, unknown>>) => void;

export type WatchCall = (
  tool: string,
  meta: Readonly<Record<string, unknown>> | undefined,
  work: () => Promise<Called>,
) => Promise<Called>;

/** The result of a call, or the question that must be answered first. */
export type Called = CallToolResult | InputRequiredResult;

/** As the transport authenticated it; what a request claims about itself does not count. */
export const principalOf = (ctx: Pick<ServerContext, "http">): string => ctx.http?.authInfo?.clientId ?? localPrincipal;

/** The sessions of one workspace, by key. If there are too many, the least recently used one ends. */
export function createSessions(filehand: Filehand, dialect: DialectName, sessionsMax = 256) {
  const kept = new Map<string, { readonly session: Session; readonly within: string }>();
  let newest: string | undefined;
  const end = (key: string): void => {
    const found = kept.get(key);
    kept.delete(key);
    if (found !== undefined) filehand.recordUsage(found.session);
  };
  const start = (
    key: string,
    readState: unknown,
    within: readonly string[] | undefined,
    client: string | undefined,
  ): Session => {
    const { principal, kind } = keyParts(key);
    return filehand.session({
      dialect,
      id: idOf(key, filehand.workspaceId),
      principal,
      // A process, a transport session and a token may serve several conversations, and the one that CLAUDE_CODE_SESSION_ID
      // names has subagents and outlives /clear. Only a client that names the conversation with each call knows what its model
      // was shown.
      shared: kind !== "handle",
      keepReadState: namesConversation.has(kind),
      ...defined({ readState, within, client }),
    });
  };
  return {
    /** Finds or starts a session; `folders` are those that it is limited to from now on, `client` the name of its client. */
    find(key: string, folders?: readonly string[], client?: string): Session {
      const within = folders === undefined ? "" : JSON.stringify(folders);
      const found = kept.get(key);
      if (key === newest && found?.within === within) return found.session;
      kept.delete(key);
      // Limited to other folders it becomes a new session, which inherits what the old one has read.
      const session =
        found?.within === within ? found.session : start(key, found?.session.readState(), folders, client);
      kept.set(key, { session, within });
      newest = key;
      const [oldest] = kept.keys();
      if (kept.size > sessionsMax && oldest !== undefined) end(oldest);
      return session;
    },
    /** A running session, by its id. */
    named: (id: string): Session | undefined => [...kept.values()].find(({ session }) => session.id === id)?.session,
    end,
    endAll: (): void => [...kept.keys()].forEach(end),
    get size(): number {
      return kept.size;
    },
  };
}

/** The same key continues the same history, but only in the same workspace: a rewind must not touch the files of another. */
const idOf = (key: string, workspaceId: string): string =>
  `mcp-${createHash("sha256").update(`${workspaceId}\0${key}`).digest("hex").slice(0, 16)}`;

/**
 * Scans the workspace now, and then before each call. A scan that fails is logged, and the call is made: a missing history is no
 * reason to refuse it.
 */
export function createObserving(first: Session, log: Log): NonNullable<McpWorkspace["observe"]> {
  let isReported = false;
  const scan = async (session: Session, options: Parameters<Session["observe"]>[0]): Promise<void> => {
    try {
      const { notCovered, complete } = await session.observe(options);
      if (notCovered.length > 0)
        log("warn", "changes by other programs cannot be undone", { count: notCovered.length });
      if (!complete && !isReported) log("warn", "not all files are looked at, see filehand observe status");
      isReported ||= !complete;
    } catch (error) {
      if (!isFailure(error)) throw error;
      if (error.code !== "CANCELLED") log("warn", "changes by other programs are not recorded", { code: error.code });
    }
  };
  const started = scan(first, {});
  started.catch(() => undefined); // a bug is thrown by the first call
  return async (session, signal) => {
    await started;
    await scan(session, { since: "last scan", ...(signal === undefined ? {} : { signal }) });
  };
}

/**
 * A hook after the client's shell tool leaves notes in the state folder. One that no longer fits, or names a file that this session may
 * not read, is ignored. A client that names no conversation gets none: another conversation may have been shown those lines.
 */
export function createShellNotes(stateDir: string): NonNullable<McpWorkspace["noteShell"]> {
  const followed = new WeakMap<Session, ReturnType<typeof followShellNotes>>();
  const mark = async (session: Session, { path, sha256, lines }: ShellNote): Promise<void> => {
    try {
      await session.markRead(path, { sha256, lines, ifChanged: "ignore" });
    } catch (error) {
      if (!isFailure(error)) throw error;
    }
  };
  return ({ session, conversation }) => {
    if (conversation === undefined) return undefined;
    const next = followed.get(session) ?? followShellNotes(stateDir, conversation);
    followed.set(session, next);
    const notes = next();
    return notes.length === 0 ? undefined : Promise.all(notes.map((note) => mark(session, note)));
  };
}

const signatureBytes = 32;

/** Signs texts that a client carries for us, such as a cursor, so that a text of its own making is refused. */
export function createSeals(key: Uint8Array = randomBytes(32)) {
  const signatureOf = (text: string): Buffer => createHmac("sha256", key).update(text).digest();
  return {
    seal: (text: string): string => Buffer.concat([signatureOf(text), Buffer.from(text)]).toString("base64url"),
    /** Undefined for a text that was not sealed here. */
    open(sealed: string): string | undefined {
      const bytes = Buffer.from(sealed, "base64url");
      // Node ignores what does not belong to the encoding, such as half a byte at the end.
      if (bytes.length < signatureBytes || bytes.toString("base64url") !== sealed) return undefined;
      const text = bytes.subarray(signatureBytes).toString("utf8");
      return timingSafeEqual(bytes.subarray(0, signatureBytes), signatureOf(text)) ? text : undefined;
    },
  };
}
