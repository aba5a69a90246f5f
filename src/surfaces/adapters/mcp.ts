/** Filehand's MCP server inside a program of yours: over stdio, over streamable HTTP, or on any transport of an MCP SDK. */

import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Readable, Writable } from "node:stream";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/server";
import type { Asker } from "../../contract/ask.ts";
import { limits } from "../../contract/limits.ts";
import { FilehandError } from "../../contract/problem.ts";
import { defaultDialect, type DialectName } from "../../dialects/dialects.ts";
import type { Filehand } from "../../options.ts";
import { version } from "../cli/print.ts";
import { createEndpoint } from "../http/endpoint.ts";
import { messageBody } from "../http/http-server.ts";
import { type Approvals, createApprovals } from "../mcp/approvals.ts";
import { createSeals, createSessions, isToolPrefix, type McpWorkspace, prefixFault } from "../mcp/mcp-workspace.ts";
import { localPrincipal, tokenScopes } from "../mcp/names.ts";
import { createFactory } from "../mcp/server.ts";
import { connectSdk } from "../mcp/stdio-sdk.ts";
import { serveOverStdio } from "../mcp/stdio.ts";
import { type FileToolOptions, offered } from "./offered.ts";

export type { FileToolOptions } from "./offered.ts";

export interface McpServerOptions extends FileToolOptions {
  /** The server's name for clients; `filehand` by default. */
  readonly name?: string;
  /** The dialect of the tools; `claude` by default. */
  readonly dialect?: DialectName;
  /** Stands before the names of the tools that clients see, such as `files_`; nothing by default. */
  readonly toolPrefix?: string;
  /** Puts what rules ask about to the person at the client. Without it, `createFilehand({ ask })` alone decides. */
  readonly questions?: Questions;
  /** Also send what programs read. Off by default, because some clients then show the model nothing else. */
  readonly structured?: boolean;
  /** Bytes of one answer; by default what the client shows to its model. */
  readonly answerBytesMax?: number;
  /** Gets the server's log; it contains no content of files. By default nothing is logged. */
  readonly log?: (level: "info" | "warn" | "error", what: string, fields?: Readonly<Record<string, unknown>>) => void;
}

/** For `createFilehand({ ask: questions.ask })` and `createMcpServer(filehand, { questions })`. */
export interface Questions {
  readonly ask: Asker;
}

const approvalsOf = new WeakMap<Questions, Approvals>();

/** Made before the toolkit, which needs `ask`. One for each toolkit. */
export function createQuestions(): Questions {
  const approvals = createApprovals();
  const questions: Questions = { ask: approvals.asker };
  approvalsOf.set(questions, approvals);
  return questions;
}

/** The transport of an MCP SDK, of any generation. */
export interface McpTransport {
  start(): Promise<void>;
  send(message: never, options?: never): Promise<void>;
  close(): Promise<void>;
  onmessage?: ((message: never, extra?: never) => void) | undefined;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
}

export interface StdioOptions {
  readonly stdin?: Readable;
  readonly stdout?: Writable;
  /** Ends the connection. */
  readonly signal?: AbortSignal;
}

export interface HttpRequestOptions {
  /** The user that you have authenticated. Two users share no session and no answer to a question. */
  readonly principal?: string;
  /** The parsed body, if a framework has read it. */
  readonly body?: unknown;
}

export interface FilehandMcpServer {
  /** Serves one client over stdin and stdout; resolves when it is gone. Nothing else may write to stdout. */
  serveStdio(options?: StdioOptions): Promise<void>;
  /** Answers one request of streamable HTTP. Check Host, Origin and the user before. */
  handleHttp(req: IncomingMessage, res: ServerResponse, options?: HttpRequestOptions): Promise<void>;
  /** Serves one client on a transport, such as one end of the SDK's `InMemoryTransport.createLinkedPair()`. */
  connect(transport: McpTransport): Promise<void>;
  /** Ends the connections of HTTP and of transports. The toolkit stays open. */
  close(): Promise<void>;
}

/** A body of this size holds the largest Write over HTTP; the same as of `filehand serve`. */
const bodyBytesMax = 4_194_304;

export function createMcpServer(filehand: Filehand, options: McpServerOptions = {}): FilehandMcpServer {
  const { name = "filehand", dialect = defaultDialect, toolPrefix = "", questions } = options;
  if (!isToolPrefix(toolPrefix)) throw new FilehandError("INVALID_PARAM", prefixFault(toolPrefix));
  const definitions = offered(filehand.session({ dialect }), options);
  const approvals = questions === undefined ? createApprovals() : approvalsOf.get(questions);
  if (approvals === undefined) {
    throw new FilehandError("INVALID_PARAM", "Cannot use these questions: createQuestions() did not make them");
  }
  /** Every connection is a conversation of its own; requests over HTTP have sessions of their own. */
  const workspaceFor = (otherwise: string): McpWorkspace => ({
    name,
    version,
    filehand,
    dialect,
    definitions,
    toolPrefix,
    sessions: createSessions(filehand, dialect),
    approvals,
    cursors: createSeals(),
    structured: options.structured ?? false,
    resultBytesMax: limits.mcpResultBytesMax - 65_536, // room for the rest of the message
    answerBytesMax: options.answerBytesMax,
    startedFor: undefined,
    otherwise: () => otherwise,
    log: options.log ?? (() => undefined),
    watchCall: undefined,
    onPartGone: () => undefined,
  });
  let endpoint: ReturnType<typeof createEndpoint> | undefined;
  const open = new Set<McpTransport>();

  return {
    async serveStdio({ stdin = process.stdin, stdout = process.stdout, signal } = {}) {
      const stop = signal ?? new AbortController().signal;
      await serveOverStdio(workspaceFor(randomUUID()), { stdin, stdout }, stop, async () => ({ connectSdk }));
    },

    async handleHttp(req, res, { principal = localPrincipal, body } = {}) {
      const message = body === undefined ? await messageBody(req, res, bodyBytesMax) : Object(body);
      if (message === "refused") return;
      if (endpoint === undefined) {
        const workspace = workspaceFor(name);
        endpoint = createEndpoint(workspace, createFactory(workspace));
      }
      await endpoint.handle(req, res, message, { principal, scopes: Object.values(tokenScopes) });
    },

    async connect(given) {
      const transport = given as unknown as Transport; // the same members; generations of the SDK differ in the types of messages
      const workspace = workspaceFor(randomUUID());
      const sdk = connectSdk(workspace, transport);
      Object.assign(transport, {
        onmessage: (message: JSONRPCMessage) => sdk.take(message),
        onclose: () => {
          open.delete(given);
          sdk.end();
          workspace.sessions.endAll();
        },
      });
      open.add(given);
      await transport.start();
    },

    async close() {
      await Promise.all([endpoint?.close(), ...[...open].map((transport) => transport.close())]);
      endpoint = undefined;
    },
  };
}
