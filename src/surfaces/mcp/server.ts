/**
 * The one factory behind stdio and HTTP, for both eras of the protocol. It registers plain handlers and no schemas:
 * arguments are judged by the dialect, which words what is wrong with them for the model.
 */

import * as nodePath from "node:path";
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
import type { JsonSchema, ToolDefinition } from "../../contract/call.ts";
import { realPrefixes } from "../../filehand.ts";
import { type Caller, callerOf as callerFrom } from "./caller.ts";
import type { AskClient } from "./approvals.ts";
import { type Called, type McpWorkspace, type Log, principalOf } from "./mcp-workspace.ts";
import type { Meta } from "./envelope.ts";
import { answerSecondsMax, metaNames, sessionHeader } from "./names.ts";
import { complete, createSubscriptions, decodeFileUri, listResources, readResource, templates } from "./resources.ts";
import { capabilities, instructions, listHint } from "./stdio.ts";
import { callTool, type Delivery, type ToolCall } from "./tool-call.ts";

/** What our own endpoint hands through the SDK, over HTTP. */
interface CallExtra {
  readonly delivery?: Delivery;
}

const undeliverable: Delivery = { onLost: () => undefined };

/** The rest of the calls, see `tool-call.ts`. */
function callFrom({ params }: CallToolRequest, ctx: ServerContext, caller: Caller, { era, ask }: McpClient): ToolCall {
  const { id, signal, _meta: meta, inputResponses, notify } = ctx.mcpReq;
  const { delivery = undeliverable }: CallExtra = ctx.http?.authInfo?.extra ?? {};
  return {
    id,
    name: params.name,
    input: params.arguments ?? {},
    meta,
    requestState: ctx.mcpReq.requestState(),
    inputResponses,
    era,
    caller,
    principal: principalOf(ctx),
    signal,
    notify,
    delivery,
    ask,
    transportSession: ctx.sessionId,
  };
}

export interface Unit {
  readonly era: "legacy" | "modern";
}

/** The client of a server. */
export interface McpClient extends Unit {
  callerOf(ctx: RequestOrigin): Promise<Caller>;
  readonly ask: AskClient | undefined;
}

/** What the SDK's entries call whenever they need a server. */
export type Factory = (unit: Unit) => Server;

export function createFactory(
  workspace: McpWorkspace,
  extend: Extend = (handlers) => handlers,
  /** Called with the client of every server. */
  made: (client: McpClient) => void = () => undefined,
): Factory {
  const tools = toolsOf(workspace.definitions);
  return ({ era }) => {
    const server = new Server(
      { name: workspace.name, version: workspace.version },
      {
        capabilities,
        instructions,
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
    server.onerror = logSdkError(workspace.log, "protocol error");
    const within = era === "legacy" ? followRoots(server, workspace) : async () => undefined;
    const callerOf: McpClient["callerOf"] = async (ctx) => {
      const folders = await within();
      const request = {
        principal: principalOf(ctx),
        handle: ctx.http?.req?.headers.get(sessionHeader) ?? undefined,
        meta: ctx.mcpReq._meta,
        transportSession: ctx.sessionId,
        capabilities:
          era === "legacy" ? server.getClientCapabilities() : envelopeOf(ctx)?.[metaNames.clientCapabilities],
        clientInfo: era === "legacy" ? server.getClientVersion() : envelopeOf(ctx)?.[metaNames.clientInfo],
      };
      return callerFrom(request, workspace, folders);
    };
    const client: McpClient = { era, callerOf, ask: era === "legacy" ? askThrough(server, workspace) : undefined };
    made(client);
    if (era === "legacy") takeSubscriptions(server, client);
    const handlers = extend(handlersOf(workspace, tools, client), server);
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

/** The few parts of a request's context that say whose it is. */
export type RequestOrigin = Pick<ServerContext, "sessionId" | "http"> & {
  readonly mcpReq: { readonly _meta?: Meta | undefined; readonly envelope?: object | undefined };
};

const handlersOf = (workspace: McpWorkspace, tools: Tool[], client: McpClient): Handlers => ({
  "tools/list": () => ({ tools }),
  "tools/call": async (request, ctx) => callTool(callFrom(request, ctx, await client.callerOf(ctx), client), workspace),
  "resources/templates/list": templates,
  "resources/list": async ({ params }, ctx) =>
    listResources(params?.cursor, await client.callerOf(ctx), workspace, ctx.mcpReq.signal),
  "resources/read": async ({ params }, ctx) =>
    readResource(params.uri, ctx, await client.callerOf(ctx), client, workspace),
  "completion/complete": async (request, ctx) => complete(request, await client.callerOf(ctx), ctx.mcpReq.signal),
});

/** The older protocol: one by one, for as long as the connection lasts. The newer one's are the entries' own business. */
function takeSubscriptions(server: Server, client: McpClient): void {
  const subscriptions = createSubscriptions((uri) => {
    server.sendResourceUpdated({ uri }).catch(() => undefined); // whoever is gone needs no news
  });
  server.setRequestHandler("resources/subscribe", async ({ params }, ctx) => {
    await subscriptions.add(params.uri, (await client.callerOf(ctx)).session);
    return {};
  });
  server.setRequestHandler("resources/unsubscribe", ({ params }) => {
    subscriptions.remove(params.uri);
    return {};
  });
  server.onclose = () => subscriptions.removeAll();
}

/**
 * The older protocol: an error instead of an answer, an answer of no shape of the protocol, or none in time is a question that was
 * closed.
 */
const askThrough =
  (server: Server, workspace: McpWorkspace): AskClient =>
  async (params, relatedRequestId, signal) => {
    const options = { relatedRequestId, signal, timeout: answerSecondsMax * 1_000 };
    try {
      return await server.request({ method: "elicitation/create", params }, options);
    } catch (error) {
      if (signal.aborted) throw error;
      workspace.log("warn", "the client did not answer a question", { message: toldOf(error) });
      return { action: "cancel" };
    }
  };

/** What the request says about its client; the SDK has checked the shape, its types have no names for it. */
const envelopeOf = ({ mcpReq }: RequestOrigin): Meta | undefined => mcpReq.envelope as Meta | undefined;

/** How long a client may take to name its roots; until then nothing is done for it, afterwards it has named none. */
const rootsMsMax = 5_000;

/** The older protocol: roots are asked for once the client is ready, and again when they change. */
function followRoots(server: Server, workspace: McpWorkspace): () => Promise<readonly string[] | undefined> {
  let within: Promise<readonly string[] | undefined> = Promise.resolve(undefined);
  const ask = async (known: typeof within): typeof within => {
    try {
      const named = await server.request({ method: "roots/list" }, rootsSchema, { timeout: rootsMsMax });
      return narrowedRoots(named, workspace.filehand.roots, realPrefixes());
    } catch (error) {
      workspace.log("warn", "the client did not name its roots", { message: toldOf(error) });
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

// The tools of a dialect as `tools/list` shows them: all four hints, the dialect's own lean schemas, its own words.

/** The most that Claude Code lets a tool ask for. A page of the `claude` dialect is above its default of 50,000. */
const resultCharsMax = 500_000;

/** What a model needs in nearly every turn. */
const alwaysLoaded: ReadonlySet<string> = new Set(["read", "edit", "write", "glob", "grep"]);

const toolsOf = (definitions: readonly ToolDefinition[]): Tool[] =>
  definitions.map(({ name, verb, description, inputSchema, readOnly }) => ({
    name,
    description,
    inputSchema: lean(inputSchema) as Tool["inputSchema"], // every card's schema is an object at its root
    annotations: {
      readOnlyHint: readOnly,
      destructiveHint: !readOnly,
      // The same content written twice is there once; any other change does not go a second time.
      idempotentHint: readOnly || verb === "write",
      openWorldHint: false,
    },
    _meta: {
      ...(readOnly ? { [metaNames.anthropicResultChars]: resultCharsMax } : {}),
      ...(alwaysLoaded.has(verb) ? { [metaNames.anthropicAlwaysLoad]: true } : {}),
    },
  }));

/**
 * Every client hands the schemas to the model, in every conversation. What only says no is left out: the dialect says it
 * better, when it comes to that.
 */
function lean(given: JsonSchema): JsonSchema {
  const { additionalProperties, maximum: _, minimum, default: usual, ...schema } = given;
  const { properties, items } = schema;
  return {
    ...schema,
    ...(additionalProperties === undefined || additionalProperties === false ? {} : { additionalProperties }),
    ...(minimum === undefined || minimum === 0 ? {} : { minimum }),
    ...(usual === undefined || usual === false ? {} : { default: usual }),
    ...(items === undefined ? {} : { items: lean(items) }),
    ...(properties === undefined
      ? {}
      : { properties: Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, lean(one)])) }),
  };
}

// Roots that a client names can only narrow what the operator allowed. Those that lie in no root of ours are left out; if
// none is left, or a client root holds all of ours, everything stays as the operator wanted it.

export interface NamedRoot {
  readonly uri: string;
}

/**
 * What a client answers to `roots/list`. The SDK's own schema drops the whole list for one entry that is no file, and then
 * nothing would be narrowed; here that entry is left out. A list of which nothing can be understood is no answer.
 */
export function namedRoots(answer: unknown): readonly NamedRoot[] | undefined {
  const given = typeof answer === "object" && answer !== null && "roots" in answer ? answer.roots : undefined;
  if (!Array.isArray(given)) return undefined;
  const named = given.filter(isNamedRoot);
  return named.length === 0 && given.length > 0 ? undefined : named;
}

const isNamedRoot = (entry: unknown): entry is NamedRoot =>
  typeof entry === "object" && entry !== null && "uri" in entry && typeof entry.uri === "string";

/** The same in the form that the SDK takes. */
const rootsSchema: RootsSchema = {
  "~standard": {
    version: 1,
    vendor: "filehand",
    validate: (answer) => {
      const value = namedRoots(answer);
      return value === undefined ? { issues: [{ message: "no list of roots" }] } : { value };
    },
  },
};

interface RootsSchema {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (
      answer: unknown,
    ) => { readonly value: readonly NamedRoot[] } | { readonly issues: readonly { readonly message: string }[] };
    readonly types?: { readonly input: unknown; readonly output: readonly NamedRoot[] };
  };
}

/** Folders to keep to; undefined for all of the operator's roots, which are real paths, as those that a client names become. */
export function narrowedRoots(
  named: readonly NamedRoot[],
  roots: readonly string[],
  realPath: (path: string) => string,
): readonly string[] | undefined {
  const wanted = named.flatMap(({ uri }) => {
    const decoded = decodeFileUri(uri);
    return "path" in decoded ? [realPath(nodePath.resolve(decoded.path))] : [];
  });
  const kept = new Set<string>();
  for (const root of roots) {
    for (const folder of wanted) {
      if (holds(folder, root)) kept.add(root);
      else if (holds(root, folder)) kept.add(folder);
    }
  }
  if (kept.size === 0 || roots.every((root) => kept.has(root))) return undefined;
  return [...kept].toSorted();
}

function holds(folder: string, path: string): boolean {
  const rest = nodePath.relative(folder, path);
  return rest !== ".." && !rest.startsWith(`..${nodePath.sep}`) && !nodePath.isAbsolute(rest);
}

// What may be told in a log about an error of the SDK's. Its messages are a sentence of its own, then often the whole message that
// it was about, or what a client or a validator said; only the sentence is told.

/** What stands before a colon and says less than what follows it. */
const sentence =
  /^(?:(?:Bad Request|Conflict|Invalid Request|Not Acceptable|Unsupported Media Type): )?[^:'"`{}[\]<>\r\n]{0,120}/;

export const toldOf = (error: unknown): string => {
  if (!(error instanceof Error)) return "unknown";
  // An error of the protocol may be the other side's, in its own words.
  if ("code" in error && typeof error.code === "number") return `error ${error.code}`;
  const told = sentence.exec(error.message)?.[0].trim() ?? "";
  return told === "" ? error.name : told;
};

export const logSdkError =
  (log: Log, what: string) =>
  (error: Error): void =>
    log("warn", what, { message: toldOf(error) });
