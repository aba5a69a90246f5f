/** One workspace over HTTP: requests of the newer protocol stand alone, those of the older one belong to a session. */

import type { IncomingMessage, ServerResponse } from "node:http";
import { type AuthInfo, createMcpHandler, isLegacyRequest } from "@modelcontextprotocol/server";
import type { Desk } from "../mcp/desk.ts";
import { watchAll } from "../mcp/listeners.ts";
import { scopes, sessionHeader } from "../mcp/names.ts";
import { logSdkError } from "../mcp/sdk-error.ts";
import type { Factory } from "../mcp/server.ts";
import { sessionKey } from "../mcp/session-key.ts";
import type { Guest } from "./access.ts";
import { goneSignal, isJson, refuse, sendResponse, watchDelivery, webRequest } from "./exchange.ts";
import { createLane } from "./lane.ts";
import { createLegacySessions } from "./legacy-sessions.ts";

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
