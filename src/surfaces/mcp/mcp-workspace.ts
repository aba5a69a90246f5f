/** One workspace as the server sees it: its toolkit, its sessions, its questions, and how it answers. */

import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { CallToolResult, InputRequiredResult, ServerContext } from "@modelcontextprotocol/server";
import type { ToolDefinition } from "../../contract/call.ts";
import type { DialectName } from "../../dialects/dialects.ts";
import type { Filehand, Session } from "../../options.ts";
import type { Approvals } from "./approvals.ts";
import { localPrincipal } from "./names.ts";
import { type KeyKind, keyParts } from "./caller.ts";

export interface McpWorkspace {
  readonly name: string;
  readonly version: string;
  readonly filehand: Filehand;
  readonly dialect: DialectName;
  readonly definitions: readonly ToolDefinition[];
  readonly sessions: Sessions;
  readonly approvals: Approvals;
  readonly cursors: Seals;
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

export type WatchCall = (
  tool: string,
  meta: Readonly<Record<string, unknown>> | undefined,
  work: () => Promise<Called>,
) => Promise<Called>;

/** What a call came to, or the question that stands before it. */
export type Called = CallToolResult | InputRequiredResult;

/** Who calls. The transport knows it; what a request says about itself counts for nothing. */
export const principalOf = (ctx: Pick<ServerContext, "http">): string => ctx.http?.authInfo?.clientId ?? localPrincipal;

// The conversations of one workspace: found by their key, the least recently used let go when there are too many.

interface Sessions {
  /** The session of a key; `within` are the folders it is kept to from now on. */
  find(key: string, within?: readonly string[]): Session;
  /** A conversation that is under way, by the id of its session. */
  named(id: string): Session | undefined;
  /** A conversation that is over. */
  end(key: string): void;
  endAll(): void;
  readonly size: number;
}

/** Kinds of keys that mean the same conversation in the next process. The others end with the process or its connection. */
const namesConversation: ReadonlySet<KeyKind> = new Set(["handle", "thread", "started for"]);

interface Kept {
  readonly session: Session;
  readonly within: string;
}

export function createSessions(filehand: Filehand, dialect: DialectName, sessionsMax = 256): Sessions {
  const kept = new Map<string, Kept>();
  let newest: string | undefined;
  const end = (key: string): void => {
    const found = kept.get(key);
    kept.delete(key);
    if (found !== undefined) filehand.keepFigures(found.session);
  };
  const start = (key: string, readState: unknown, within: readonly string[] | undefined): Session => {
    const { principal, kind } = keyParts(key);
    return filehand.session({
      dialect,
      id: idOf(key, filehand.workspaceId),
      principal,
      // A process, a transport's session and a token serve several conversations, and the one that CLAUDE_CODE_SESSION_ID names
      // has subagents and outlives /clear. Only a client that names the conversation with each call can know what its
      // model was shown.
      shared: kind !== "handle",
      keepReadState: namesConversation.has(kind),
      ...(readState === undefined ? {} : { readState }),
      ...(within === undefined ? {} : { within }),
    });
  };
  return {
    find(key, folders) {
      const within = folders === undefined ? "" : JSON.stringify(folders);
      const found = kept.get(key);
      if (key === newest && found?.within === within) return found.session;
      kept.delete(key);
      // Kept to other folders it is another session, which knows what the first one has read.
      const session = found?.within === within ? found.session : start(key, found?.session.readState(), folders);
      kept.set(key, { session, within });
      newest = key;
      const [oldest] = kept.keys();
      if (kept.size > sessionsMax && oldest !== undefined) end(oldest);
      return session;
    },
    named: (id) => [...kept.values()].find(({ session }) => session.id === id)?.session,
    end,
    endAll: () => [...kept.keys()].forEach(end),
    get size() {
      return kept.size;
    },
  };
}

/**
 * The same key goes on in the same history, in this process or the next, but in the same workspace only: whoever goes back
 * in one folder must not find the files of another. What a client calls itself stays out of it.
 */
const idOf = (key: string, workspaceId: string): string =>
  `mcp-${createHash("sha256").update(`${workspaceId}\0${key}`).digest("hex").slice(0, 16)}`;

// What a client carries for us and brings back, such as where a list goes on: signed, so that a text of the client's own
// making is refused.

export interface Seals {
  seal(text: string): string;
  /** Undefined for what was not sealed here. */
  open(sealed: string): string | undefined;
}

const signatureBytes = 32;

export function createSeals(key: Uint8Array = randomBytes(32)): Seals {
  const signatureOf = (text: string): Buffer => createHmac("sha256", key).update(text).digest();
  return {
    seal: (text) => Buffer.concat([signatureOf(text), Buffer.from(text)]).toString("base64url"),
    open(sealed) {
      const bytes = Buffer.from(sealed, "base64url");
      if (bytes.length < signatureBytes) return undefined;
      const text = bytes.subarray(signatureBytes).toString("utf8");
      return timingSafeEqual(bytes.subarray(0, signatureBytes), signatureOf(text)) ? text : undefined;
    },
  };
}
