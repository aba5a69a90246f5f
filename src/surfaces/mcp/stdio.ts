/** `filehand mcp`: one client over stdin and stdout. Tool calls and `server/discover` are answered here, the rest by the SDK. */

import { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import type { JSONRPCMessage } from "@modelcontextprotocol/server";
import { isRecord } from "../../contract/common.ts";
import { instructions } from "../../dialects/dialects.ts";
import type { Receipts } from "../../state/state.ts";
import { callerOf, clientOf } from "./caller.ts";
import { type McpWorkspace, toolCalled } from "./mcp-workspace.ts";
import { hasEnvelope, type Id, isValidEnvelope, modernVersion } from "./envelope.ts";
import { localPrincipal, metaNames } from "./names.ts";
import type { ConnectSdk } from "./stdio-sdk.ts";
import { StdioWire } from "./stdio-wire.ts";
import { answerCall, type CallMessage, giveBack, readCall, takeController, type ToolCall } from "./tool-call.ts";

export interface Pipes {
  readonly stdin: Readable;
  readonly stdout: Writable;
}

/** After the end of the connection: how long the client may read nothing before its last answers are given up. */
const unreadMsMax = 2_000;

/** Resolves when the client is gone, or after `stop`; "unread" if the client has not read all answers. */
export async function serveOverStdio(
  workspace: McpWorkspace,
  { stdin, stdout }: Pipes,
  stop: AbortSignal,
  loadSdk: () => Promise<{ readonly connectSdk: ConnectSdk }>,
  receipts?: Pick<Receipts, "begin" | "end">,
): Promise<"read" | "unread"> {
  const wire = new StdioWire(stdin, stdout);
  wire.onerror = (error) => workspace.log("warn", "connection", { message: error.message });
  let sdk: ReturnType<ConnectSdk> | undefined;
  /** Messages for the SDK, in order, while it is loading. */
  let waiting: JSONRPCMessage[] | undefined;
  /** Settles when the SDK has handled its messages; undefined if it has none. */
  let handled: Promise<void> | undefined;
  const running = new Map<Id, AbortController>();
  let isOver = false;

  const load = (): void => {
    waiting = [];
    wire.ready = connect(waiting);
  };
  /** Loads the SDK while the client reads its answer: the next message may need it. */
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
    // The SDK handles a message within microtasks, so one turn of the event loop is enough.
    const all = Promise.all([handled, wire.ready])
      .then(() => new Promise((resolve) => setImmediate(resolve)))
      .then(() => {
        if (handled === all) handled = undefined;
      });
    handled = all;
  };

  const answer = async (original: JSONRPCMessage, message: CallMessage): Promise<void> => {
    const { id, meta, name } = message;
    const controller = takeController();
    const { signal } = controller;
    running.set(id, controller);
    let lost = (): void => undefined;
    try {
      const era = hasEnvelope(meta) ? "modern" : "legacy";
      // In the older protocol the caller depends on earlier messages of the client.
      if (era === "legacy") await handled;
      const client = sdk?.client;
      if (client !== undefined && client.era !== era) return toSdk(original);
      const call: ToolCall = {
        message,
        era,
        caller:
          era === "modern" || client === undefined
            ? callerOf(
                { principal: localPrincipal, meta },
                era === "modern" ? clientOf(meta) : {}, // `initialize` has not come yet
                workspace,
              )
            : await client.callerOf({ mcpReq: { _meta: meta } }),
        principal: localPrincipal,
        signal,
        notify: (note) => wire.send({ jsonrpc: "2.0", ...note }),
        onLost: (callback) => (lost = callback),
        ask: client?.ask,
      };
      const text = await (receipts === undefined || isReadOnly(name)
        ? answerCall(call, workspace)
        : answerWithReceipt(call, receipts));
      if (signal.aborted) lost();
      else await wire.sendAnswer(id, text);
    } catch (error) {
      lost();
      if (signal.aborted) return;
      workspace.log("warn", "connection", { message: error instanceof Error ? error.message : String(error) });
    } finally {
      if (running.get(id) === controller) running.delete(id);
      giveBack(controller, name, workspace);
    }
  };

  const isReadOnly = (tool: string): boolean => toolCalled(tool, workspace)?.readOnly === true;
  const answerWithReceipt = async (call: ToolCall, kept: Pick<Receipts, "begin" | "end">): Promise<string> => {
    const { id, name } = call.message;
    try {
      kept.begin(id);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      workspace.log("error", "the state folder cannot be written", { message: why });
      const message = `Cannot call ${name}: the state folder there cannot be written, so the call could be made twice, nothing was done`;
      return JSON.stringify({ jsonrpc: "2.0", id, error: { code: internalFault, message } });
    }
    let text: string | undefined;
    try {
      text = await answerCall(call, workspace);
      return text;
    } finally {
      kept.end(id, text);
    }
  };

  /** Answers a message that does not need the SDK; false if it does. */
  const isAnswered = (message: JSONRPCMessage): boolean => {
    if ("method" in message && message.method === "notifications/cancelled") {
      const stop = running.get(message.params?.["requestId"] as Id); // a value of another type is no key of the map
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
    stdout.write("", done); // called after everything before it is written
  });
}

/** Calls `idle` if nothing is read for a while. Only a socket notices that some of its buffer was read; other streams get the time. */
function whenIdle(stdout: Writable, idle: () => void): () => void {
  if (stdout instanceof Socket) {
    stdout.setTimeout(unreadMsMax, idle);
    return () => void stdout.setTimeout(0);
  }
  const timer = setTimeout(idle, unreadMsMax);
  return () => clearTimeout(timer);
}

/** Of JSON-RPC. */
const internalFault = -32_603;

export const capabilities = { tools: {}, resources: { subscribe: true }, completions: {} };

/** Clients may cache lists that do not depend on files. */
export const listHint = { ttlMs: 3_600_000, cacheScope: "public" } as const;

export { instructions };

/** The answer to `server/discover`, which most clients send first, before the SDK is loaded. Undefined for other and invalid messages. */
function greeting(message: object, server: { readonly name: string; readonly version: string }) {
  const { method, id, params } = message as Partial<Record<"method" | "id" | "params", unknown>>; // checked below
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
