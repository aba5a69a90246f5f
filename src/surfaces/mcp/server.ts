/** The factory of MCP servers. It registers handlers without schemas: the dialect checks the arguments and words the errors. */

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
  type StandardSchemaV1,
  type Tool,
  ProtocolError,
  ProtocolErrorCode,
} from "@modelcontextprotocol/server";
import type { JsonSchema } from "../../contract/call.ts";
import { contains, isRecord } from "../../contract/common.ts";
import { isFailure } from "../../contract/problem.ts";
import { realPrefixes } from "../../filehand.ts";
import type { Session } from "../../options.ts";
import { type Caller, callerOf as callerFrom, clientOf } from "./caller.ts";
import type { AskClient } from "./approvals.ts";
import { type Called, type McpWorkspace, type Log, principalOf } from "./mcp-workspace.ts";
import type { Meta } from "./envelope.ts";
import { answerSecondsMax, metaNames, sessionHeader } from "./names.ts";
import { complete, createSubscriptions, decodeFileUri, listResources, readResource, templates } from "./resources.ts";
import { capabilities, instructions, listHint } from "./stdio.ts";
import { callTool, type ToolCall } from "./tool-call.ts";

/** What our HTTP endpoint passes through the SDK. */
interface CallExtra {
  readonly onLost?: ToolCall["onLost"];
}

/** A request that goes through the SDK, see `tool-call.ts`. */
function askingCall(name: string, input: object, ctx: ServerContext, caller: Caller, { ask }: McpClient) {
  const { id, signal, _meta: meta, inputResponses } = ctx.mcpReq;
  const message = { id, name, input, meta, requestState: ctx.mcpReq.requestState(), inputResponses };
  return { message, caller, principal: principalOf(ctx), signal, ask };
}

function toolCall({ params }: CallToolRequest, ctx: ServerContext, caller: Caller, client: McpClient): ToolCall {
  const { onLost = () => undefined }: CallExtra = ctx.http?.authInfo?.extra ?? {};
  return {
    ...askingCall(params.name, params.arguments ?? {}, ctx, caller, client),
    era: client.era,
    notify: ctx.mcpReq.notify,
    onLost,
    transportSession: ctx.sessionId,
  };
}

export interface Unit {
  readonly era: "legacy" | "modern";
}

export interface McpClient extends Unit {
  callerOf(ctx: RequestOrigin): Promise<Caller>;
  readonly ask: AskClient | undefined;
}

/** The SDK calls it whenever it needs a server. */
export type Factory = (unit: Unit) => Server;

export function createFactory(
  workspace: McpWorkspace,
  extend: Extend = (handlers) => handlers,
  /** Called with the client of every server. */
  made: (client: McpClient) => void = () => undefined,
): Factory {
  const tools = toolsOf(workspace);
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
        // approval-state.ts checks the answers to questions.
        jsonSchemaValidator: {
          getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
        },
      },
    );
    server.onerror = logSdkError(workspace.log, "protocol error");
    const clientFolders = era === "legacy" ? followRoots(server, workspace) : async () => undefined;
    const callerOf: McpClient["callerOf"] = async (ctx) => {
      const folders = await clientFolders();
      const origin = {
        principal: principalOf(ctx),
        handle: ctx.http?.req?.headers.get(sessionHeader) ?? undefined,
        meta: ctx.mcpReq._meta,
        transportSession: ctx.sessionId,
      };
      // The SDK has checked the shape of the envelope, but has no type for it.
      const client =
        era === "modern"
          ? clientOf(ctx.mcpReq.envelope as Meta | undefined)
          : { capabilities: server.getClientCapabilities(), clientInfo: server.getClientVersion() };
      return callerFrom(origin, client, workspace, folders);
    };
    const client: McpClient = { era, callerOf, ask: era === "legacy" ? askThrough(server, workspace) : undefined };
    made(client);
    if (era === "legacy") takeSubscriptions(server, client);
    server.setRequestHandler("filehand/markRead", { params: anyParams }, async (params, ctx) =>
      markRead(params, (await client.callerOf(ctx)).session),
    );
    const handlers = extend(handlersOf(workspace, tools, client), server);
    for (const [method, handler] of Object.entries(handlers)) {
      server.setRequestHandler(method as "ping", handler as never); // the record pairs each method with its own handler
    }
    return server;
  };
}

const anyParams = {
  "~standard": { version: 1, vendor: "filehand", validate: (value: unknown) => ({ value }) },
} as const;

/** A request of hosts: what they showed of a file by other means counts as read. */
async function markRead(params: unknown, session: Pick<Session, "markRead">): Promise<Record<string, never>> {
  const { path, sha256, lines } = isRecord(params) ? params : {};
  if (typeof path !== "string") {
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      'Cannot mark this as read: "path" must be text, send path, sha256 and lines',
    );
  }
  try {
    // `markRead` checks what was shown, whatever it is.
    await session.markRead(path, { sha256, lines } as Parameters<Session["markRead"]>[1]);
    return {};
  } catch (error) {
    if (isFailure(error)) throw new ProtocolError(ProtocolErrorCode.InvalidParams, error.message);
    throw error;
  }
}

export interface Handlers {
  readonly "tools/list": Handler<unknown, ListToolsResult>;
  readonly "tools/call": Handler<CallToolRequest, Called>;
  readonly "resources/list": Handler<ListResourcesRequest, ListResourcesResult>;
  readonly "resources/templates/list": Handler<unknown, ListResourceTemplatesResult>;
  readonly "resources/read": Handler<ReadResourceRequest, ReadResourceResult | InputRequiredResult>;
  readonly "completion/complete": Handler<CompleteRequest, CompleteResult>;
}
type Handler<Asked, Answer> = (request: Asked, ctx: ServerContext) => Answer | Promise<Answer>;

/** For tests: replaces or wraps handlers. */
export type Extend = (handlers: Handlers, server: Server) => Handlers;

/** The parts of a request's context that identify its sender. */
export type RequestOrigin = Pick<ServerContext, "sessionId" | "http"> & {
  readonly mcpReq: { readonly _meta?: Meta | undefined; readonly envelope?: object | undefined };
};

const handlersOf = (workspace: McpWorkspace, tools: Tool[], client: McpClient): Handlers => ({
  "tools/list": () => ({ tools }),
  "tools/call": async (request, ctx) => callTool(toolCall(request, ctx, await client.callerOf(ctx), client), workspace),
  "resources/templates/list": templates,
  "resources/list": async ({ params }, ctx) =>
    listResources(params?.cursor, await client.callerOf(ctx), workspace, ctx.mcpReq.signal),
  "resources/read": async ({ params }, ctx) =>
    readResource(
      params.uri,
      askingCall("resources/read", { uri: params.uri }, ctx, await client.callerOf(ctx), client),
      workspace,
    ),
  "completion/complete": async (request, ctx) => complete(request, await client.callerOf(ctx), ctx.mcpReq.signal),
});

/** The older protocol: one subscription per request, until the connection ends. The SDK handles those of the newer one. */
function takeSubscriptions(server: Server, client: McpClient): void {
  const subscriptions = createSubscriptions((uri) => {
    server.sendResourceUpdated({ uri }).catch(() => undefined); // the client is gone
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

/** The older protocol. An error, a malformed answer or none in time counts as a question that was closed. */
const askThrough =
  (server: Server, workspace: McpWorkspace): AskClient =>
  async (params, relatedRequestId, signal) => {
    const options = { relatedRequestId, signal, timeout: answerSecondsMax * 1_000 };
    try {
      return await server.request({ method: "elicitation/create", params }, options);
    } catch (error) {
      if (signal.aborted) throw error;
      workspace.log("warn", "the client did not answer a question", { message: sdkErrorMessage(error) });
      return { action: "cancel" };
    }
  };

/** How long a client may take to name its roots; its calls wait until then, and afterwards it counts as having named none. */
const rootsMsMax = 5_000;

/** The older protocol: roots are asked for once the client is ready, and again when they change. */
function followRoots(server: Server, workspace: McpWorkspace): () => Promise<readonly string[] | undefined> {
  let folders: Promise<readonly string[] | undefined> = Promise.resolve(undefined);
  const ask = async (known: typeof folders): typeof folders => {
    try {
      const named = await server.request({ method: "roots/list" }, rootsSchema, { timeout: rootsMsMax });
      return narrowedRoots(named, workspace.filehand.roots, realPrefixes());
    } catch (error) {
      workspace.log("warn", "the client did not name its roots", { message: sdkErrorMessage(error) });
      return known; // a failure must not widen what the client was narrowed to before
    }
  };
  server.oninitialized = () => {
    if (server.getClientCapabilities()?.roots !== undefined) folders = ask(folders);
  };
  server.setNotificationHandler("notifications/roots/list_changed", () => {
    folders = ask(folders);
  });
  return () => folders;
}

/** The maximum that Claude Code accepts from a tool. A page of the `claude` dialect is above its default of 50,000. */
const resultCharsMax = 500_000;

/** Tools that a model needs in nearly every turn. */
const alwaysLoaded: ReadonlySet<string> = new Set(["read", "edit", "write", "glob", "grep"]);

/** The tools of a dialect as `tools/list` shows them. */
const toolsOf = ({ definitions, toolPrefix }: McpWorkspace): Tool[] =>
  definitions.map(({ name, verb, description, inputSchema, readOnly }) => ({
    name: `${toolPrefix}${name}`,
    description,
    inputSchema: lean(inputSchema) as Tool["inputSchema"], // every tool's schema is an object at its root
    annotations: {
      readOnlyHint: readOnly,
      // A copy and a new folder only add.
      destructiveHint: !readOnly && verb !== "copy" && verb !== "make-folder",
      // Writing the same content twice is harmless; any other change fails or differs the second time.
      idempotentHint: readOnly || verb === "write" || verb === "make-folder",
      openWorldHint: false,
    },
    _meta: {
      ...(readOnly ? { [metaNames.anthropicResultChars]: resultCharsMax } : {}),
      ...(alwaysLoaded.has(verb) ? { [metaNames.anthropicAlwaysLoad]: true } : {}),
    },
  }));

/** Schemas cost tokens in every conversation, so constraints that only refuse input are left out: the dialect words that better. */
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

export interface NamedRoot {
  readonly uri: string;
}

/** The answer to `roots/list`. The SDK's schema drops the whole list for one invalid entry, and then nothing would be narrowed. */
export function namedRoots(answer: unknown): readonly NamedRoot[] | undefined {
  const given = typeof answer === "object" && answer !== null && "roots" in answer ? answer.roots : undefined;
  if (!Array.isArray(given)) return undefined;
  const named = given.filter(isNamedRoot);
  return named.length === 0 && given.length > 0 ? undefined : named;
}

const isNamedRoot = (entry: unknown): entry is NamedRoot =>
  typeof entry === "object" && entry !== null && "uri" in entry && typeof entry.uri === "string";

/** `namedRoots` in the form that the SDK takes. */
const rootsSchema: StandardSchemaV1<unknown, readonly NamedRoot[]> = {
  "~standard": {
    version: 1,
    vendor: "filehand",
    validate: (answer) => {
      const value = namedRoots(answer);
      return value === undefined ? { issues: [{ message: "no list of roots" }] } : { value };
    },
  },
};

/**
 * The folders that a client is limited to; undefined for all of the operator's roots. The roots that a client names can only
 * narrow those of the operator: roots outside them are dropped, and if none is left nothing is narrowed. `roots` are real paths.
 */
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
      if (contains(folder, root)) kept.add(root);
      else if (contains(root, folder)) kept.add(folder);
    }
  }
  if (kept.size === 0 || roots.every((root) => kept.has(root))) return undefined;
  return [...kept].toSorted();
}

/** The first sentence; the prefixes before a colon say less than what follows them. */
const sentence =
  /^(?:(?:Bad Request|Conflict|Invalid Request|Not Acceptable|Unsupported Media Type): )?[^:'"`{}[\]<>\r\n]{0,120}/;

/** What a log may contain of an error of the SDK: its own sentence, without the words of others that often follow. */
export const sdkErrorMessage = (error: unknown): string => {
  if (!(error instanceof Error)) return "unknown";
  // A protocol error may come from the client, in its words.
  if ("code" in error && typeof error.code === "number") return `error ${error.code}`;
  const message = sentence.exec(error.message)?.[0].trim() ?? "";
  return message === "" ? error.name : message;
};

export const logSdkError =
  (log: Log, what: string) =>
  (error: Error): void =>
    log("warn", what, { message: sdkErrorMessage(error) });
