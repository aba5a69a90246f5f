/** The HTTP server. It checks Host, Origin, token, rate, size of the body and scope, in this order, before an endpoint. */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Inspector } from "../inspector/index.ts";
import type { Log } from "../mcp/mcp-workspace.ts";
import { parseMessage } from "../mcp/stdio-wire.ts";
import type { Authentication, Guest } from "./authentication.ts";
import type { Endpoint } from "./endpoint.ts";
import { createRate, type HttpRefusal, readBody, refuse } from "./exchange.ts";
import type { Gauges, Metrics } from "./metrics.ts";

export interface HttpServerOptions {
  /** By path. */
  readonly endpoints: ReadonlyMap<string, Endpoint>;
  readonly access: Authentication;
  readonly hostNames: readonly string[];
  readonly metrics: Metrics;
  readonly log: Log;
  /** Why no change could be made now, for `/readyz`; undefined if the server is ready. */
  readonly fault?: () => Promise<string | undefined>;
  readonly limits?: Partial<typeof httpLimits>;
  /** The page for people, which authenticates them itself. */
  readonly inspector?: Pick<Inspector, "handles" | "handle" | "close"> | undefined;
}

const httpLimits = {
  bodyBytesMax: 4_194_304,
  perSecondMax: 50_000,
  /** Requests of one principal that are handled at once, streams included. */
  atOnceMax: 512,
  /** Requests with a wrong token from one address. */
  strangersPerSecondMax: 10,
  /** How long running calls may take when the server ends. */
  graceMs: 10_000,
};

export function createHttpServer(options: HttpServerOptions) {
  const limits = { ...httpLimits, ...options.limits };
  const { access, endpoints, hostNames, metrics, log, inspector } = options;
  const rate = createRate(limits.perSecondMax, limits.perSecondMax * 2);
  const strangers = createRate(limits.strangersPerSecondMax, limits.strangersPerSecondMax * 3);
  const underWay = new Map<string, number>();
  /** Running calls, without streams, which stay open. */
  let calls = 0;
  let ending = false;
  let onIdle = (): void => undefined;

  const handle = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    if (hasTwoHosts(req.rawHeaders)) return refuse(res, 400, "Bad Request: more than one Host", hangUp);
    if (!isOurHost(req.headers.host, hostNames)) return refuse(res, 403, "Forbidden: unknown Host");
    if (!isOurOrigin(req.headers.origin, hostNames)) return refuse(res, 403, "Forbidden: unknown Origin");
    const [path = ""] = (req.url ?? "").split("?", 1);
    if (path === "/healthz") return say(res, 200, "ok\n");
    if (path === "/readyz") {
      const fault = ending ? "ending" : await options.fault?.();
      return fault === undefined ? say(res, 200, "ready\n") : say(res, 503, `${fault}\n`);
    }
    if (ending) return refuse(res, 503, "Service Unavailable: the server is ending", hangUp);
    if (path.startsWith("/.well-known/oauth-protected-resource")) return sendMetadata(req, res);
    const endpoint = endpoints.get(path);
    if (endpoint === undefined && inspector?.handles(path) === true) return inspector.handle(req, res, path);
    if (endpoint === undefined && path !== "/metrics") return refuse(res, 404, "Not found");
    const guest = await admitted(req, res);
    if (guest === undefined) return undefined;
    if (endpoint === undefined) return say(res, 200, metrics.text(gauges()), "text/plain; version=0.0.4");
    // The same answer as for a workspace that does not exist.
    if (guest.workspaces?.includes(workspaceAt(path)) === false) return refuse(res, 404, "Not found", hangUp);
    return serve(endpoint, req, res, guest);
  };

  const admitted = async (req: IncomingMessage, res: ServerResponse): Promise<Guest | undefined> => {
    const guest = await access.admit(req.headers.authorization);
    if (guest === undefined) {
      // The body is not read, so the connection cannot be used again.
      const headers = { ...hangUp.headers, "www-authenticate": access.challenge() };
      if (!strangers.take(req.socket.remoteAddress ?? "")) tooMany(res, hangUp.headers);
      else refuse(res, 401, "Unauthorized: a token is needed", { headers });
      return undefined;
    }
    if (!rate.take(guest.principal) || (underWay.get(guest.principal) ?? 0) >= limits.atOnceMax) {
      tooMany(res);
      return undefined;
    }
    return guest;
  };

  const serve = async (endpoint: Endpoint, req: IncomingMessage, res: ServerResponse, guest: Guest): Promise<void> => {
    const body = await messageBody(req, res, limits.bodyBytesMax);
    if (body === "refused") return;
    const scope = body === undefined ? undefined : endpoint.missingScope(body, guest);
    if (scope !== undefined) {
      const headers = { "www-authenticate": access.challenge({ error: "insufficient_scope", scope }) };
      return refuse(res, 403, `Forbidden: the token lacks the scope ${scope}`, { headers });
    }
    const isCall = body !== undefined && !("method" in body && body.method === "subscriptions/listen");
    underWay.set(guest.principal, (underWay.get(guest.principal) ?? 0) + 1);
    if (isCall) calls += 1;
    try {
      await endpoint.handle(req, res, body, guest);
    } finally {
      const left = (underWay.get(guest.principal) ?? 1) - 1;
      if (left > 0) underWay.set(guest.principal, left);
      else underWay.delete(guest.principal);
      if (isCall) calls -= 1;
      if (calls === 0) onIdle();
    }
  };

  const sendMetadata = (req: IncomingMessage, res: ServerResponse): void => {
    const metadata = access.metadata();
    if (metadata === undefined) return refuse(res, 404, "Not found");
    if (req.method !== "GET") return refuse(res, 405, "Method not allowed: use GET", { headers: { allow: "GET" } });
    return say(res, 200, JSON.stringify(metadata), "application/json");
  };

  const gauges = (): Gauges => ({
    filehand_http_requests_under_way: [...underWay.values()].reduce((sum, count) => sum + count, 0),
    filehand_sessions: [...endpoints.values()].reduce((sum, { sessions }) => sum + sessions, 0),
    process_resident_memory_bytes: process.memoryUsage.rss(),
    process_uptime_seconds: process.uptime(),
  });

  const server = createServer(
    // Node checks for timeouts every `connectionsCheckingInterval`.
    { headersTimeout: 10_000, requestTimeout: 60_000, keepAliveTimeout: 30_000, connectionsCheckingInterval: 2_000 },
    (req, res) => {
      const startedMs = performance.now();
      res.once("close", () => {
        metrics.count("filehand_http_requests_total", { code: String(res.statusCode) });
        if (res.statusCode < 400) return;
        const ms = Math.round(performance.now() - startedMs);
        log("info", "request refused", {
          method: req.method,
          path: req.url?.split("?", 1)[0],
          status: res.statusCode,
          ms,
        });
      });
      handle(req, res).catch((error: unknown) => {
        const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
        log("error", "internal error, this is a bug in Filehand", { stack });
        if (!res.headersSent) refuse(res, 500, "Internal error", { code: -32603 });
        else res.destroy();
      });
    },
  );

  return {
    server,
    /** Waits for running calls, then ends. */
    async close(): Promise<void> {
      if (ending) return;
      ending = true;
      // Calls that wait for an answer on the page end.
      inspector?.close();
      // The server keeps listening meanwhile, to answer 503.
      if (calls > 0) {
        const idle = new Promise<void>((resolve) => (onIdle = resolve));
        const late = new Promise<void>((resolve) => setTimeout(resolve, limits.graceMs).unref());
        await Promise.race([idle, late]);
      }
      const closed = new Promise((resolve) => server.close(resolve));
      await Promise.all([...endpoints.values()].map((endpoint) => endpoint.close()));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Undefined for a request without a body; "refused" if the request was answered here. */
export async function messageBody(req: IncomingMessage, res: ServerResponse, bytesMax: number) {
  if (req.method === "GET" || req.method === "DELETE") return undefined;
  const refused = (status: number, message: string, more?: HttpRefusal) => {
    refuse(res, status, message, more);
    return "refused" as const;
  };
  if (req.method !== "POST")
    return refused(405, "Method not allowed: use POST", { headers: { allow: "POST, GET, DELETE" } });
  if (!/^application\/json\s*(;|$)/i.test(req.headers["content-type"] ?? "")) {
    return refused(415, "Unsupported Media Type: Content-Type must be application/json");
  }
  const body = await readBody(req, bytesMax);
  if ("gone" in body || "tooLate" in body) return "refused" as const; // the client is gone
  if ("tooLarge" in body) {
    const message = `Payload Too Large: ${bytesMax} bytes is the most, send it in parts`;
    return refused(413, message, hangUp);
  }
  if ("notUtf8" in body) return refused(400, "Parse error: not valid UTF-8", { code: -32700 });
  const parsed = parseMessage(body.text);
  if ("fault" in parsed) return refused(400, parsed.fault, { code: parsed.code, id: parsed.id });
  return parsed.message;
}

/** `/w/NAME/mcp`; the one at `/mcp` is called filehand. */
const workspaceAt = (path: string): string => /^\/w\/([^/]+)\/mcp$/.exec(path)?.[1] ?? "filehand";

const hangUp = { headers: { connection: "close" } } as const;

const tooMany = (res: ServerResponse, headers: Readonly<Record<string, string>> = {}): void =>
  refuse(res, 429, "Too Many Requests: wait a moment", { headers: { "retry-after": "1", ...headers } });

function say(res: ServerResponse, status: number, text: string, type = "text/plain"): void {
  res.writeHead(status, { "content-type": type, "content-length": Buffer.byteLength(text) }).end(text);
}

export const localNames: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];

/** DNS rebinding: a page can make a browser send requests here under its own host name, but it cannot change the Host header. */
export const isOurHost = (header: string | undefined, names: readonly string[]): boolean =>
  isOurs(/^(\[[0-9a-f:.]+\]|[^:@/\s]+)(?::(\d{1,5}))?$/i.exec(header ?? ""), names);

/** With a larger port, `new URL` would throw later. */
function isOurs(found: RegExpExecArray | null, names: readonly string[]): boolean {
  const [, host, port = "80"] = found ?? [];
  return host !== undefined && Number(port) <= 65_535 && names.includes(host.toLowerCase());
}

/** Node uses the first Host header, but a proxy may have checked the last. `rawHeaders` alternates names and values. */
export const hasTwoHosts = (rawHeaders: readonly string[]): boolean =>
  rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === "host").length > 1;

/** Programs send no Origin; browsers do. `null`, of a page with a hidden origin, is refused. */
export const isOurOrigin = (header: string | undefined, names: readonly string[]): boolean =>
  header === undefined || isOurs(/^https?:\/\/(\[[0-9a-f:.]+\]|[^:@/?#\s]+)(?::(\d{1,5}))?$/i.exec(header), names);
