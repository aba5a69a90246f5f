/** One workspace over HTTP: requests of the newer protocol stand alone, those of the older one belong to a session. */

import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import {
  type AuthInfo,
  createMcpHandler,
  isLegacyRequest,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { callerOf } from "../mcp/caller.ts";
import type { Desk } from "../mcp/desk.ts";
import { createStops } from "../mcp/lane.ts";
import { metaNames, scopes, sessionHeader } from "../mcp/names.ts";
import { type Factory, logSdkError } from "../mcp/server.ts";
import { sessionKey } from "../mcp/session-key.ts";
import { watchAll } from "../mcp/stdio-sdk.ts";
import {
  type Delivery,
  envelopeOf,
  modernAnswers,
  orInternal,
  plainCall,
  type PlainCall,
  resultOfCall,
} from "../mcp/tool-call.ts";
import type { Guest } from "./access.ts";
import { goneSignal, isJson, refuse, sendResponse, watchDelivery, webRequest } from "./exchange.ts";

export interface Endpoint {
  /** `body`: parsed already; undefined for requests that have none. */
  handle(req: IncomingMessage, res: ServerResponse, body: object | undefined, guest: Guest): Promise<void>;
  /** The right that a request needs and its token lacks. */
  missingScope(body: object, guest: Guest): string | undefined;
  close(): Promise<void>;
  readonly sessions: number;
}

export interface EndpointLimits {
  readonly sessionsMax: number;
  readonly sessionsOfOneMax: number;
  readonly idleMsMax: number;
  readonly subscriptionsMax: number;
}

export const endpointLimits: EndpointLimits = {
  sessionsMax: 512,
  sessionsOfOneMax: 64,
  idleMsMax: 1_800_000,
  subscriptionsMax: 256,
};

export function createEndpoint(desk: Desk, factory: Factory, limits: EndpointLimits = endpointLimits): Endpoint {
  const onerror = logSdkError(desk.log, "protocol error");
  const modern = createMcpHandler(factory, { legacy: "reject", maxSubscriptions: limits.subscriptionsMax, onerror });
  const legacy = createLegacySessions({
    ...limits,
    factory,
    onEnd: (principal, id) =>
      desk.sessions.end(sessionKey({ principal, transportSession: id, otherwise: desk.otherwise })),
  });
  const lane = createLane(desk);
  const notify = (uri: string): void => modern.notify.resourceUpdated(uri);
  const arrive = createArrivals();

  /** `entered`: to be called when a call of a tool is in the queue of its session. */
  const handle = async (
    req: IncomingMessage,
    res: ServerResponse,
    body: object | undefined,
    guest: Guest,
    entered: () => void,
  ): Promise<void> => {
    const delivery = watchDelivery(res);
    const plain = body === undefined ? undefined : lane.candidate(req.headers, body);
    if (plain !== undefined && (await lane.serve(plain, req, res, guest, { delivery, entered }))) return;
    const request = webRequest(req, goneSignal(res));
    // Only the principal goes on from here: the token has done its work.
    const authInfo: AuthInfo = {
      token: "",
      clientId: guest.principal,
      scopes: [...guest.scopes],
      extra: { delivery, entered },
    };
    if (body === undefined && request.headers.get("mcp-session-id") === null) {
      return refuse(res, 405, "Method not allowed: use POST", { headers: { allow: "POST" } });
    }
    if (body === undefined || (await isLegacyRequest(request, body))) {
      return sendResponse(await legacy.handle(request, body, authInfo), res);
    }
    const watched = listened(body, desk, guest, notify);
    if (watched !== undefined) res.once("close", () => watched.subscriptions.removeAll());
    await watched?.ready;
    const response = await modern.fetch(request, { authInfo, parsedBody: body });
    if (plain !== undefined && isJson(response)) lane.answered(plain, response.status, await response.clone().text());
    return sendResponse(response, res);
  };

  return {
    async handle(req, res, body, guest) {
      const message: Called | undefined = body;
      if (message?.method !== "tools/call") return handle(req, res, body, guest, () => undefined);
      const conversation = String([guest.principal, req.headers["mcp-session-id"], req.headers[sessionHeader]]);
      const { earlier, entered } = arrive(conversation);
      try {
        if (earlier !== undefined) await earlier;
        await handle(req, res, body, guest, entered);
      } finally {
        entered();
      }
    },

    missingScope(body, guest) {
      const needed = scopeOf(body, desk);
      return needed === undefined || guest.scopes.includes(needed) ? undefined : needed;
    },

    async close() {
      await Promise.all([modern.close(), legacy.close()]);
      desk.sessions.endAll();
    },
    get sessions() {
      return legacy.size;
    },
  };
}

/**
 * Calls of one conversation reach its session in the order in which they came, although those that go through the SDK need
 * more steps than others until they are there.
 */
function createArrivals(): (conversation: string) => {
  /** Settles when those that came earlier are there. */
  readonly earlier: Promise<void> | undefined;
  readonly entered: () => void;
} {
  const last = new Map<string, Promise<void>>();
  return (conversation) => {
    const earlier = last.get(conversation);
    let entered = (): void => undefined;
    const own = new Promise<void>((resolve) => (entered = resolve));
    const all = earlier === undefined ? own : earlier.then(() => own);
    last.set(conversation, all);
    void all.then(() => {
      if (last.get(conversation) === all) last.delete(conversation);
    });
    return { earlier, entered };
  };
}

interface Called {
  readonly method?: unknown;
  readonly params?: { readonly name?: unknown };
}

const listened = (body: Called, desk: Desk, guest: Guest, notify: (uri: string) => void) =>
  body.method === "subscriptions/listen" ? watchAll(body.params, desk, guest.principal, notify) : undefined;

/** What changes files needs another right than what shows them; what only says what there is needs none. */
function scopeOf({ method, params }: Called, desk: Desk): string | undefined {
  if (method === "tools/call") {
    const tool = desk.definitions.find(({ name }) => name === params?.name);
    return tool === undefined || tool.readOnly ? scopes.read : scopes.write;
  }
  const shows = typeof method === "string" && /^(resources|completion|subscriptions)\//.test(method);
  return shows ? scopes.read : undefined;
}

// Plain calls of tools that change nothing, of the newer protocol, without the SDK: it makes a server, a request and a stream of
// the web platform for each of them. Once it has answered a call with a result, those with the same headers and the same
// envelope are answered here, in the same words; see `mcp/plain-call.ts`. All else is the SDK's, also a call in which a person
// must be asked.

export interface Lane {
  /** Undefined for what must go through the SDK in any case. */
  candidate(headers: IncomingHttpHeaders, body: object): Candidate | undefined;
  /**
   * False if it must go through the SDK after all; then nothing was done and nothing was answered. `entered` is called when the
   * call is in the queue of its session.
   */
  serve(
    candidate: Candidate,
    req: IncomingMessage,
    res: ServerResponse,
    guest: Guest,
    told: { readonly delivery: Delivery; readonly entered: () => void },
  ): Promise<boolean>;
  /** The SDK has answered it with this. */
  answered(candidate: Candidate, status: number, text: string): void;
}

export interface Candidate {
  readonly call: PlainCall;
  /** All that the SDK looks at but the arguments. */
  readonly like: string;
}

/** The headers that the SDK looks at. Others of the protocol have a meaning that only the SDK knows. */
const headersLookedAt = ["content-type", "accept", "mcp-protocol-version", "mcp-method", "mcp-name"] as const;
const known: ReadonlySet<string> = new Set(headersLookedAt);
/** Kinds of calls that are remembered, clients times tools, and how long the words of a client may be for that. */
const likesMax = 1_000;
const likeCharsMax = 2_048;

function createLane(desk: Desk): Lane {
  let tools: ReadonlySet<string> | undefined;
  const vetted = new Set<string>();
  const stops = createStops();
  const answerText = modernAnswers(desk);

  const work = async ({ call, asking, guest, delivery }: Asked, signal: AbortSignal) => {
    const { name, input } = call;
    const caller = callerOf(asking, desk);
    const { session, canAsk } = caller;
    const asks = { session: session.id, principal: guest.principal, tool: name };
    return orInternal(name, desk, () =>
      desk.approvals.unasked({ signal, canAsk, asks }, () =>
        resultOfCall({ name, input, options: { signal }, delivery }, caller, desk),
      ),
    );
  };

  return {
    candidate(headers, body) {
      tools ??= new Set(desk.definitions.filter(({ readOnly }) => readOnly).map(({ name }) => name));
      const call = plainCall(body, tools);
      // Who wants to hear of progress gets a stream.
      if (call === undefined || call.meta?.["progressToken"] !== undefined) return undefined;
      for (const name in headers) if (name.startsWith("mcp-") && !known.has(name)) return undefined;
      const looks = headersLookedAt.map((name) => headers[name]);
      return { call, like: `${call.name}\n${JSON.stringify(looks)}\n${envelopeOf(call.meta)}` };
    },

    async serve({ call, like }, req, res, guest, { delivery, entered }) {
      if (!vetted.has(like)) return false;
      const stop = stops.take();
      const onClose = (): void => stop.abort();
      res.once("close", onClose);
      const handle = req.headers[sessionHeader];
      const asking = {
        principal: guest.principal,
        handle: typeof handle === "string" ? handle : undefined,
        meta: call.meta,
        capabilities: call.meta?.[metaNames.clientCapabilities],
        clientInfo: call.meta?.[metaNames.clientInfo],
      };
      const asked = { call, asking, guest, delivery };
      const { watchCall } = desk;
      const calling =
        watchCall === undefined
          ? work(asked, stop.signal)
          : watchCall(call.name, call.meta, () => work(asked, stop.signal));
      entered();
      const called = await calling;
      res.off("close", onClose);
      if (called === "ask first") return false;
      if (stop.signal.aborted) return true; // nobody is there any more
      stops.giveBack(stop);
      const text = answerText(call.id, called);
      // Head and body as one text are written at once.
      res.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(text) }).end(text);
      return true;
    },

    answered({ like }, status, text) {
      if (status !== 200 || like.length > likeCharsMax) return;
      const { result } = JSON.parse(text) as { readonly result?: { readonly resultType?: unknown } }; // the SDK's own
      if (result?.resultType !== "complete") return;
      if (vetted.size >= likesMax) vetted.clear();
      vetted.add(like);
    },
  };
}

interface Asked {
  readonly call: PlainCall;
  readonly asking: Parameters<typeof callerOf>[0];
  readonly guest: Guest;
  readonly delivery: Delivery;
}

// Clients of the older protocol keep a session open, so that questions and cancelling reach them. Each has a server and a
// transport of its own: shared ones would give one client another's answers.

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
