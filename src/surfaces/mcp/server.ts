/**
 * The one factory behind stdio and HTTP, for both eras of the protocol. It registers plain handlers and no schemas:
 * arguments are judged by the dialect, which words what is wrong with them for the model.
 */

import {
  type CallToolRequest,
  type CompleteRequest,
  type CompleteResult,
  type InputRequiredResult,
  type ListResourcesRequest,
  type ListResourcesResult,
  type ListResourceTemplatesResult,
  type ListToolsResult,
  type ReadResourceRequest,
  type ReadResourceResult,
  Server,
  type ServerContext,
  type Tool,
} from "@modelcontextprotocol/server";
import { realPrefixes } from "../../toolkit.ts";
import { callTool } from "./call.ts";
import { type Caller, callerOf as callerFrom } from "./caller.ts";
import { narrowedRoots, rootsSchema } from "./client-roots.ts";
import { type Called, type Desk, principalOf } from "./desk.ts";
import { capabilities, instructions, listHint } from "./greeting.ts";
import { metaNames, sessionHeader } from "./names.ts";
import { complete, listResources, readResource, templates } from "./resources.ts";
import { logSdkError, toldOf } from "./sdk-error.ts";
import { createSubscriptions } from "./subscriptions.ts";
import { toolsOf } from "./tools.ts";

export interface Unit {
  readonly era: "legacy" | "modern";
}

/** What the SDK's entries call whenever they need a server. */
export type Factory = (unit: Unit) => Server;

export function createFactory(
  desk: Desk,
  extend: Extend = (handlers) => handlers,
  /** Told of every server: how it finds out who calls. */
  made: (callerOf: CallerOf, unit: Unit) => void = () => undefined,
): Factory {
  const tools = toolsOf(desk.definitions);
  return ({ era }) => {
    const server = new Server(
      { name: desk.name, version: desk.version },
      {
        capabilities,
        instructions,
        requestState: { verify: (state, ctx) => desk.approvals.verify(state, ctx) },
        cacheHints: {
          "tools/list": listHint,
          "resources/templates/list": listHint,
          "server/discover": listHint,
        },
        // Answers to questions are judged where they are used, by the words of our own form.
        jsonSchemaValidator: {
          getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
        },
      },
    );
    server.onerror = logSdkError(desk.log, "protocol error");
    if (era === "legacy") closeFailedQuestions(server, desk);
    const within = era === "legacy" ? followRoots(server, desk) : async () => undefined;
    const callerOf: CallerOf = async (ctx) => {
      const folders = await within();
      const asking = {
        principal: principalOf(ctx),
        handle: ctx.http?.req?.headers.get(sessionHeader) ?? undefined,
        meta: ctx.mcpReq._meta,
        transportSession: ctx.sessionId,
        capabilities:
          era === "legacy" ? server.getClientCapabilities() : envelopeOf(ctx)?.[metaNames.clientCapabilities],
        clientInfo: era === "legacy" ? server.getClientVersion() : envelopeOf(ctx)?.[metaNames.clientInfo],
      };
      return callerFrom(asking, desk, folders);
    };
    made(callerOf, { era });
    if (era === "legacy") takeSubscriptions(server, callerOf);
    const handlers = extend(handlersOf(desk, tools, callerOf), server);
    for (const [method, handler] of Object.entries(handlers)) {
      server.setRequestHandler(method as "ping", handler as never); // the record pairs each method with its own handler
    }
    return server;
  };
}

/** What each request is answered with. */
export interface Handlers {
  readonly "tools/list": Handler<unknown, ListToolsResult>;
  readonly "tools/call": Handler<CallToolRequest, Called>;
  readonly "resources/list": Handler<ListResourcesRequest, ListResourcesResult>;
  readonly "resources/templates/list": Handler<unknown, ListResourceTemplatesResult>;
  readonly "resources/read": Handler<ReadResourceRequest, ReadResourceResult | InputRequiredResult>;
  readonly "completion/complete": Handler<CompleteRequest, CompleteResult>;
}
type Handler<Asked, Answer> = (request: Asked, ctx: ServerContext) => Answer | Promise<Answer>;

/** For tests that need more than files: other handlers in the place of ours, or around them. */
export type Extend = (handlers: Handlers, server: Server) => Handlers;

type Meta = Readonly<Record<string, unknown>>;
/** The few parts of a request's context that say whose it is. */
export type Origin = Pick<ServerContext, "sessionId" | "http"> & {
  readonly mcpReq: { readonly _meta?: Meta | undefined; readonly envelope?: object | undefined };
};
export type CallerOf = (ctx: Origin) => Promise<Caller>;

const handlersOf = (desk: Desk, tools: Tool[], callerOf: CallerOf): Handlers => ({
  "tools/list": () => ({ tools }),
  "tools/call": async (request, ctx) => callTool(request, ctx, await callerOf(ctx), desk),
  "resources/templates/list": templates,
  "resources/list": async ({ params }, ctx) =>
    listResources(params?.cursor, await callerOf(ctx), desk, ctx.mcpReq.signal),
  "resources/read": async ({ params }, ctx) => readResource(params.uri, ctx, await callerOf(ctx), desk),
  "completion/complete": async (request, ctx) => complete(request, await callerOf(ctx), ctx.mcpReq.signal),
});

/** The older protocol: one by one, for as long as the connection lasts. The newer one's are the entries' own business. */
function takeSubscriptions(server: Server, callerOf: CallerOf): void {
  const subscriptions = createSubscriptions((uri) => {
    server.sendResourceUpdated({ uri }).catch(() => undefined); // whoever is gone needs no news
  });
  server.setRequestHandler("resources/subscribe", async ({ params }, ctx) => {
    await subscriptions.add(params.uri, (await callerOf(ctx)).session);
    return {};
  });
  server.setRequestHandler("resources/unsubscribe", ({ params }) => {
    subscriptions.remove(params.uri);
    return {};
  });
  server.onclose = () => subscriptions.removeAll();
}

/**
 * The older protocol: an error instead of an answer, an answer of no shape of the protocol, or none in time. The SDK would end
 * the call with words of its own, in which there is no code and no way to go on; a question that was closed has both.
 */
function closeFailedQuestions(server: Server, desk: Desk): void {
  type Asks = (
    request: { readonly method: string },
    options?: { readonly signal?: AbortSignal },
    ...more: readonly unknown[]
  ) => Promise<unknown>;
  const ask: Asks = server.request.bind(server);
  const askOrClose: Asks = async (request, options, ...more) => {
    try {
      return await ask(request, options, ...more);
    } catch (error) {
      if (request.method !== "elicitation/create" || options?.signal?.aborted === true) throw error;
      desk.log("warn", "the client did not answer a question", { message: toldOf(error) });
      return { action: "cancel" };
    }
  };
  server.request = askOrClose;
}

/** What the request says about its client; the SDK has checked the shape, its types have no names for it. */
const envelopeOf = ({ mcpReq }: Origin): Meta | undefined => mcpReq.envelope as Meta | undefined;

/** How long a client may take to name its roots; until then nothing is done for it, afterwards it has named none. */
const rootsMsMax = 5_000;

/** The older protocol: roots are asked for once the client is ready, and again when they change. */
function followRoots(server: Server, desk: Desk): () => Promise<readonly string[] | undefined> {
  let within: Promise<readonly string[] | undefined> = Promise.resolve(undefined);
  const ask = async (known: typeof within): typeof within => {
    try {
      const named = await server.request({ method: "roots/list" }, rootsSchema, { timeout: rootsMsMax });
      return narrowedRoots(named, desk.filehand.roots, realPrefixes());
    } catch (error) {
      desk.log("warn", "the client did not name its roots", { message: toldOf(error) });
      return known; // what it was kept to before still holds: no failure may widen it
    }
  };
  server.oninitialized = () => {
    if (server.getClientCapabilities()?.roots !== undefined) within = ask(within);
  };
  server.setNotificationHandler("notifications/roots/list_changed", () => {
    within = ask(within);
  });
  return () => within;
}
