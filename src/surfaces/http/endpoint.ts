/** One workspace over HTTP. Requests of the newer protocol are independent; those of the older one belong to a session. */

import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import {
  type AuthInfo,
  createMcpHandler,
  isLegacyRequest,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { callerOf, clientOf, sessionKey } from "../mcp/caller.ts";
import { type McpWorkspace, toolCalled } from "../mcp/mcp-workspace.ts";
import { hasEnvelope, isValidEnvelope, modernVersion } from "../mcp/envelope.ts";
import { tokenScopes, sessionHeader } from "../mcp/names.ts";
import { type Factory, logSdkError } from "../mcp/server.ts";
import { watchAll } from "../mcp/stdio-sdk.ts";
import { answerCall, type CallMessage, giveBack, readCall, takeController, type ToolCall } from "../mcp/tool-call.ts";
import type { Guest } from "./authentication.ts";
import { refuse, sendEvent, sendJson, sendResponse, type Watched, watchResponse, webRequest } from "./exchange.ts";

export type Endpoint = ReturnType<typeof createEndpoint>;

export const endpointLimits = {
  sessionsMax: 512,
  sessionsOfOneMax: 64,
  idleMsMax: 1_800_000,
  subscriptionsMax: 256,
};

export function createEndpoint(workspace: McpWorkspace, factory: Factory, limits = endpointLimits) {
  const onerror = logSdkError(workspace.log, "protocol error");
  const modern = createMcpHandler(factory, { legacy: "reject", maxSubscriptions: limits.subscriptionsMax, onerror });
  const legacy = createLegacySessions({
    ...limits,
    factory,
    onEnd: (principal, id) =>
      workspace.sessions.end(
        sessionKey({ principal, transportSession: id, otherwise: workspace.otherwise(undefined) }),
      ),
  });
  const notify = (uri: string): void => modern.notify.resourceUpdated(uri);

  return {
    /** `body`: parsed; undefined for requests without one. */
    async handle(req: IncomingMessage, res: ServerResponse, body: object | undefined, guest: Guest): Promise<void> {
      const watched = watchResponse(res, takeController());
      const call = body === undefined ? undefined : modernCall(req.headers, body, workspace);
      if (call !== undefined) return answerOverHttp(call, res, guest, watched, workspace);
      const { signal, onLost } = watched;
      const request = webRequest(req, signal);
      // The token is not passed on, only the principal.
      const authInfo: AuthInfo = { token: "", clientId: guest.principal, scopes: [...guest.scopes], extra: { onLost } };
      if (body === undefined && request.headers.get("mcp-session-id") === null) {
        return refuse(res, 405, "Method not allowed: use POST", { headers: { allow: "POST" } });
      }
      if (body === undefined || (await isLegacyRequest(request, body))) {
        return sendResponse(await legacy.handle(request, body, authInfo), res);
      }
      const listening = listened(body, workspace, guest, notify);
      if (listening !== undefined) res.once("close", () => listening.subscriptions.removeAll());
      await listening?.ready;
      return sendResponse(await modern.fetch(request, { authInfo, parsedBody: body }), res);
    },

    /** The scope that a request needs and its token lacks. */
    missingScope(body: object, guest: Guest): string | undefined {
      const needed = scopeOf(body, workspace);
      return needed === undefined || guest.scopes.includes(needed) ? undefined : needed;
    },

    async close(): Promise<void> {
      await Promise.all([modern.close(), legacy.close()]);
      workspace.sessions.endAll();
    },
    get sessions(): number {
      return legacy.size;
    },
  };
}

interface Called {
  readonly method?: unknown;
  readonly params?: { readonly name?: unknown };
}

const listened = (body: Called, workspace: McpWorkspace, guest: Guest, notify: (uri: string) => void) =>
  body.method === "subscriptions/listen" ? watchAll(body.params, workspace, guest.principal, notify) : undefined;

/** Methods that change files need another scope than those that show them; lists of tools and the like need none. */
function scopeOf({ method, params }: Called, workspace: McpWorkspace): string | undefined {
  if (method === "tools/call") {
    const tool = toolCalled(params?.name, workspace);
    return tool === undefined || tool.readOnly ? tokenScopes.read : tokenScopes.write;
  }
  const showsFiles = typeof method === "string" && /^(resources|completion|subscriptions)\//.test(method);
  return showsFiles ? tokenScopes.read : undefined;
}

/** A tool call that is answered without the SDK (`mcp/tool-call.ts`). The SDK refuses headers that contradict the body. */
function modernCall(headers: IncomingHttpHeaders, body: object, workspace: McpWorkspace): CallMessage | undefined {
  const call = readCall(body, workspace);
  return call !== undefined &&
    hasEnvelope(call.meta) &&
    isValidEnvelope(call.meta) &&
    headers["mcp-protocol-version"] === modernVersion &&
    headers["mcp-method"] === "tools/call" &&
    headers["mcp-name"] === call.name
    ? call
    : undefined;
}

async function answerOverHttp(
  message: CallMessage,
  res: ServerResponse,
  { principal }: Guest,
  { signal, onLost, done }: Watched,
  workspace: McpWorkspace,
): Promise<void> {
  const { meta } = message;
  const header = res.req.headers[sessionHeader];
  const handle = typeof header === "string" ? header : undefined;
  const call: ToolCall = {
    message,
    era: "modern",
    caller: callerOf({ principal, handle, meta }, clientOf(meta), workspace),
    principal,
    signal,
    notify: async (note) => sendEvent(res, JSON.stringify({ jsonrpc: "2.0", ...note })),
    onLost,
    ask: undefined,
  };
  const text = await answerCall(call, workspace);
  if (signal.aborted) return;
  done((controller) => giveBack(controller, message.name, workspace));
  if (!res.headersSent) return sendJson(res, 200, text);
  sendEvent(res, text);
  res.end();
}

export interface LegacyOptions extends Readonly<Omit<typeof endpointLimits, "subscriptionsMax">> {
  readonly factory: Factory;
  /** Called when a session is over. */
  readonly onEnd: (principal: string, id: string) => void;
  readonly nowMs?: () => number;
}

interface Entry {
  readonly principal: string;
  readonly server: Server;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  usedMs: number;
  /** Has its client sent anything after `initialize`? */
  isUsed: boolean;
  /** Requests and streams that are open. */
  open: number;
}

/** Sessions of the older protocol. A shared server or transport would give one client the answers of another. */
export function createLegacySessions(options: LegacyOptions) {
  const { factory, nowMs = Date.now } = options;
  const entries = new Map<string, Entry>();

  const end = async (id: string): Promise<void> => {
    const entry = entries.get(id);
    entries.delete(id);
    if (entry === undefined) return;
    options.onEnd(entry.principal, id);
    await entry.server.close();
  };
  const sweep = setInterval(() => {
    for (const [id, { usedMs, open }] of entries) {
      if (open === 0 && nowMs() - usedMs > options.idleMsMax) void end(id);
    }
  }, 60_000).unref();

  /**
   * Ends an idle session, because a client that crashed never closes its own: first a session that was never used, then the
   * longest idle one. Sessions of other principals only end if this principal has none.
   */
  const makeRoom = async (principal: string): Promise<boolean> => {
    const all = [...entries];
    const own = all.filter(([, entry]) => entry.principal === principal);
    if (all.length < options.sessionsMax && own.length < options.sessionsOfOneMax) return true;
    const [oldest] = (own.length > 0 ? own : all)
      .filter(([, { open }]) => open === 0)
      .toSorted(([, one], [, other]) => Number(one.isUsed) - Number(other.isUsed) || one.usedMs - other.usedMs);
    if (oldest === undefined) return false;
    await end(oldest[0]);
    return true;
  };

  const start = async (request: Request, body: unknown, authInfo: AuthInfo): Promise<Response> => {
    const principal = authInfo.clientId;
    if (!(await makeRoom(principal))) {
      return answer(429, -32000, "Too many sessions are open, close one first", { "retry-after": "60" });
    }
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => {
        entries.set(id, { principal, server, transport, usedMs: nowMs(), isUsed: false, open: 0 });
      },
      onsessionclosed: (id) => end(id),
    });
    const server = factory({ era: "legacy" });
    await server.connect(transport);
    const response = await transport.handleRequest(request, { parsedBody: body, authInfo });
    if (transport.sessionId === undefined) await server.close(); // it was refused
    return response;
  };

  return {
    async handle(request: Request, body: unknown, authInfo: AuthInfo): Promise<Response> {
      const id = request.headers.get("mcp-session-id");
      if (id === null) {
        if (isMethod(body, "initialize")) return start(request, body, authInfo);
        return answer(400, -32000, "Bad Request: Mcp-Session-Id header is required");
      }
      const entry = entries.get(id);
      // The same answer for a session of another principal, so that its existence is not revealed.
      if (entry === undefined || entry.principal !== authInfo.clientId) return answer(404, -32001, "Session not found");
      entry.usedMs = nowMs();
      entry.isUsed ||= !isMethod(body, "notifications/initialized");
      entry.open += 1;
      const done = (): void => {
        entry.open -= 1;
        entry.usedMs = nowMs();
      };
      let isStream = false;
      try {
        const given = body === undefined ? {} : { parsedBody: body };
        const response = await entry.transport.handleRequest(request, { ...given, authInfo });
        // The stream of a GET is open until its client hangs up; a refused GET has no stream.
        isStream = request.method === "GET" && response.ok && !request.signal.aborted;
        if (isStream) request.signal.addEventListener("abort", done, { once: true });
        return response;
      } finally {
        if (!isStream) done();
      }
    },
    async close(): Promise<void> {
      clearInterval(sweep);
      await Promise.all([...entries.keys()].map(end));
    },
    get size(): number {
      return entries.size;
    },
  };
}

const isMethod = (body: unknown, method: string): boolean =>
  typeof body === "object" && body !== null && "method" in body && body.method === method;

const answer = (
  status: number,
  code: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): Response => Response.json({ jsonrpc: "2.0", id: null, error: { code, message } }, { status, headers });
