/**
 * Clients of the older protocol keep a session open, so that questions and cancelling reach them. Each has a server and a
 * transport of its own: shared ones would give one client another's answers.
 */

import { randomUUID } from "node:crypto";
import { type AuthInfo, type Server, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import type { Factory } from "../mcp/server.ts";

export interface LegacySessions {
  handle(request: Request, body: unknown, authInfo: AuthInfo): Promise<Response>;
  close(): Promise<void>;
  readonly size: number;
}

export interface LegacyOptions {
  readonly factory: Factory;
  readonly sessionsMax: number;
  readonly sessionsOfOneMax: number;
  readonly idleMsMax: number;
  /** Told when a session is over. */
  readonly onEnd: (principal: string, id: string) => void;
  readonly nowMs?: () => number;
}

interface Entry {
  readonly principal: string;
  readonly server: Server;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  usedMs: number;
  /** Did its client send anything after its greeting? */
  isUsed: boolean;
  /** Requests and streams that are open. */
  open: number;
}

export function createLegacySessions(options: LegacyOptions): LegacySessions {
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
   * A client that crashed never closes its session. One that is idle ends for the next: first those that were only begun, then
   * the longest idle. A principal's own sessions make room for its next one; those of others only where it has none.
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
    async handle(request, body, authInfo) {
      const id = request.headers.get("mcp-session-id");
      if (id === null) {
        if (isMethod(body, "initialize")) return start(request, body, authInfo);
        return answer(400, -32000, "Bad Request: Mcp-Session-Id header is required");
      }
      const entry = entries.get(id);
      // Whose session it is must not be told to those whose it is not.
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
        // The stream of a GET is open until its client hangs up; one that was refused has none.
        isStream = request.method === "GET" && response.ok && !request.signal.aborted;
        if (isStream) request.signal.addEventListener("abort", done, { once: true });
        return response;
      } finally {
        if (!isStream) done();
      }
    },
    async close() {
      clearInterval(sweep);
      await Promise.all([...entries.keys()].map(end));
    },
    get size() {
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
