/**
 * `filehand mcp`: one client, over the process's own pipes. Ends when the pipe ends. Calls of tools and the first greeting are
 * answered here; for everything else the SDK is loaded.
 */

import { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import type { JSONRPCMessage } from "@modelcontextprotocol/server";
import { instructions } from "../../dialects/dialects.ts";
import { type Caller, callerOf } from "./caller.ts";
import type { McpWorkspace } from "./mcp-workspace.ts";
import { hasEnvelope, isRecord, isValidEnvelope, type Meta, modernVersion } from "./envelope.ts";
import { localPrincipal, metaNames } from "./names.ts";
import type { McpClient } from "./server.ts";
import type { ConnectSdk, SdkConnection } from "./stdio-sdk.ts";
import { StdioWire } from "./stdio-wire.ts";
import { answerCall, type CallMessage, type Id, readCall } from "./tool-call.ts";

export interface Pipes {
  readonly stdin: Readable;
  readonly stdout: Writable;
}

/** How long a client may read nothing of the last answers, after the connection is over. */
const unreadMsMax = 2_000;

/** Resolves when the client is gone, or when it was told to stop; `unread` if it does not read what was written for it. */
export async function serveOverStdio(
  workspace: McpWorkspace,
  { stdin, stdout }: Pipes,
  stop: AbortSignal,
  loadSdk: () => Promise<{ readonly connectSdk: ConnectSdk }>,
): Promise<"read" | "unread"> {
  const wire = new StdioWire(stdin, stdout);
  wire.onerror = (error) => workspace.log("warn", "connection", { message: error.message });
  let sdk: SdkConnection | undefined;
  /** Messages in the order in which they came, until the SDK is there. */
  let waiting: JSONRPCMessage[] | undefined;
  /** Settles when the SDK has handled what it was given; undefined if it has. */
  let handled: Promise<void> | undefined;
  const running = new Map<Id, AbortController>();
  let isOver = false;

  const load = (): void => {
    waiting = [];
    wire.ready = connect(waiting);
  };
  /** The client reads its answer meanwhile, and what it sends next may need the SDK. */
  const loadSoon = (): void => {
    if (sdk !== undefined || waiting !== undefined) return;
    setImmediate(() => {
      if (sdk === undefined && waiting === undefined && !isOver) load();
    });
  };
  const connect = async (first: readonly JSONRPCMessage[]): Promise<void> => {
    const { connectSdk } = await loadSdk();
    sdk = connectSdk(workspace, wire);
    for (const message of first) sdk.take(message);
    waiting = undefined;
  };
  const toSdk = (message: JSONRPCMessage): void => {
    if (sdk !== undefined) sdk.take(message);
    else {
      if (waiting === undefined) load();
      waiting?.push(message);
    }
    // The SDK handles a message in a few steps, none of which waits for anything but the steps before it.
    const all = Promise.all([handled, wire.ready])
      .then(() => new Promise((resolve) => setImmediate(resolve)))
      .then(() => {
        if (handled === all) handled = undefined;
      });
    handled = all;
  };

  const answer = async (message: JSONRPCMessage, call: CallMessage): Promise<void> => {
    const { id, meta } = call;
    const stop = new AbortController();
    const { signal } = stop;
    running.set(id, stop);
    let lost = (): void => undefined;
    try {
      const era = hasEnvelope(meta) ? "modern" : "legacy";
      // Who calls in the older protocol depends on what the client has sent before.
      if (era === "legacy") await handled;
      const client = sdk?.client;
      if (client !== undefined && client.era !== era) return toSdk(message);
      const text = await answerCall(
        {
          id,
          name: call.name,
          input: call.input,
          meta,
          requestState: call.requestState,
          inputResponses: call.inputResponses,
          era,
          caller: era === "modern" ? modernCaller(meta, workspace) : await legacyCaller(client, meta, workspace),
          principal: localPrincipal,
          signal,
          notify: (note) => wire.send({ jsonrpc: "2.0", ...note }),
          delivery: { onLost: (told) => (lost = told) },
          ask: client?.ask,
        },
        workspace,
      );
      if (signal.aborted) lost();
      else await wire.sendAnswer(id, text);
    } catch (error) {
      // Nobody is there any more.
      lost();
      if (signal.aborted) return;
      workspace.log("warn", "connection", { message: error instanceof Error ? error.message : String(error) });
    } finally {
      if (running.get(id) === stop) running.delete(id);
    }
  };

  /** True if the message needs no SDK. */
  const isAnswered = (message: JSONRPCMessage): boolean => {
    if ("method" in message && message.method === "notifications/cancelled") {
      const stop = running.get(message.params?.["requestId"] as Id); // another value is no key
      stop?.abort();
      return stop !== undefined;
    }
    const call = readCall(message, workspace);
    if (call !== undefined && (!hasEnvelope(call.meta) || isValidEnvelope(call.meta))) {
      void answer(message, call);
      loadSoon();
      return true;
    }
    const greeted = sdk === undefined && waiting === undefined ? greeting(message, workspace) : undefined;
    if (greeted === undefined) return false;
    void wire.send(greeted);
    loadSoon();
    return true;
  };

  wire.onmessage = (message) => {
    if (!isAnswered(message)) toSdk(message);
  };
  const over = new Promise<void>((resolve) => {
    wire.onclose = () => {
      isOver = true;
      resolve();
    };
  });
  const end = (): void => void (sdk ?? wire).close();
  stop.addEventListener("abort", end, { once: true });
  if (stop.aborted) end();
  else await wire.start();
  await over;
  stop.removeEventListener("abort", end);
  for (const stop of running.values()) stop.abort();
  sdk?.end();
  workspace.sessions.endAll();
  return lastRead(stdout);
}

async function lastRead(stdout: Writable): Promise<"read" | "unread"> {
  if (stdout.writableLength === 0 || stdout.destroyed) return "read";
  return new Promise((resolve) => {
    const stopWaiting = whenIdle(stdout, () => resolve("unread"));
    const done = (): void => {
      stopWaiting();
      resolve("read");
    };
    stdout.once("drain", done).once("close", done);
    stdout.write("", done); // behind all that was written
  });
}

/** A pipe knows whether any of what it holds was read meanwhile, however little; of another stream only the time is known. */
function whenIdle(stdout: Writable, idle: () => void): () => void {
  if (stdout instanceof Socket) {
    stdout.setTimeout(unreadMsMax, idle);
    return () => void stdout.setTimeout(0);
  }
  const timer = setTimeout(idle, unreadMsMax);
  return () => clearTimeout(timer);
}

// What the server says about itself, and the answer to a client that asks just that. It is the first thing that most clients
// do, and they wait for it: it is answered before the SDK is loaded, with the very words of the SDK.

export const capabilities = { tools: {}, resources: { subscribe: true }, completions: {} };

/** Lists that do not depend on files may be kept by clients for a while. */
export const listHint = { ttlMs: 3_600_000, cacheScope: "public" } as const;

export { instructions };

/** The answer; undefined for any other message, and for one that the SDK should look at closely. */
function greeting(message: object, server: { readonly name: string; readonly version: string }) {
  const { method, id, params } = message as Partial<Record<"method" | "id" | "params", unknown>>; // looked at below
  if (method !== "server/discover" || (typeof id !== "string" && typeof id !== "number")) return undefined;
  if (!isRecord(params) || Object.keys(params).some((key) => key !== "_meta")) return undefined;
  const { _meta: meta } = params;
  if (!isRecord(meta) || !isValidEnvelope(meta)) return undefined;
  const { name, version } = server;
  const result = {
    supportedVersions: [modernVersion],
    capabilities,
    instructions,
    resultType: "complete",
    ...listHint,
    _meta: { [metaNames.serverInfo]: { name, version } },
  };
  return { result, jsonrpc: "2.0" as const, id };
}

const modernCaller = (meta: Meta | undefined, workspace: McpWorkspace): Caller =>
  callerOf(
    {
      principal: localPrincipal,
      meta,
      capabilities: meta?.[metaNames.clientCapabilities],
      clientInfo: meta?.[metaNames.clientInfo],
    },
    workspace,
  );

/** A client that has not introduced itself can do nothing but call. */
const legacyCaller = async (
  client: McpClient | undefined,
  meta: Meta | undefined,
  workspace: McpWorkspace,
): Promise<Caller> =>
  client === undefined
    ? callerOf({ principal: localPrincipal, meta, capabilities: undefined, clientInfo: undefined }, workspace)
    : client.callerOf({ mcpReq: { _meta: meta } });
