/**
 * `filehand mcp`: one client, over the process's own pipes. Ends when the pipe ends. The SDK is behind it, loaded when a message
 * needs it; the first greeting and plain calls of tools do not.
 */

import { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import type { JSONRPCMessage } from "@modelcontextprotocol/server";
import instructions from "../../dialects/instructions.txt";
import type { Desk } from "./desk.ts";
import { createLane } from "./lane.ts";
import { metaNames } from "./names.ts";
import type { ConnectSdk, SdkConnection } from "./stdio-sdk.ts";
import { StdioWire } from "./stdio-wire.ts";

export interface Pipes {
  readonly stdin: Readable;
  readonly stdout: Writable;
}

/** How long a client may read nothing of the last answers, after the connection is over. */
const unreadMsMax = 2_000;

/** Resolves when the client is gone, or when it was told to stop; `unread` if it does not read what was written for it. */
export async function serveOverStdio(
  desk: Desk,
  { stdin, stdout }: Pipes,
  stop: AbortSignal,
  loadSdk: () => Promise<{ readonly connectSdk: ConnectSdk }>,
): Promise<"read" | "unread"> {
  const wire = new StdioWire(stdin, stdout);
  wire.onerror = (error) => desk.log("warn", "connection", { message: error.message });
  let sdk: SdkConnection | undefined;
  /** In the order in which they came, until the SDK is there. */
  let waiting: JSONRPCMessage[] | undefined;

  const load = (): void => {
    waiting = [];
    wire.ready = connect(waiting);
  };
  const connect = async (first: readonly JSONRPCMessage[]): Promise<void> => {
    const { connectSdk } = await loadSdk();
    sdk = connectSdk(desk, wire, (call, vetted) => lane.open(call, vetted));
    for (const message of first) sdk.take(message);
    waiting = undefined;
  };
  const toSdk = (message: JSONRPCMessage): void => {
    // Notifications and calls hold in the order in which they came; other requests need none.
    if (!("id" in message) || ("method" in message && message.method === "tools/call")) lane.close();
    if (sdk !== undefined) return sdk.take(message);
    if (waiting === undefined) load();
    waiting?.push(message);
  };
  const lane = createLane(desk, wire, toSdk);

  wire.onmessage = (message) => {
    if (lane.take(message)) return;
    const greeted = sdk === undefined && waiting === undefined ? greeting(message, desk) : undefined;
    if (greeted === undefined) return toSdk(message);
    void wire.send(greeted);
    // The client reads its answer meanwhile, and what it sends next will need it.
    setImmediate(() => {
      if (sdk === undefined && waiting === undefined && !isOver) load();
    });
  };
  let isOver = false;
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
  lane.end();
  sdk?.end();
  desk.sessions.endAll();
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

const modernVersion = "2026-07-28";

/** The answer; undefined for any other message, and for one that the SDK should look at closely. */
function greeting(message: object, server: { readonly name: string; readonly version: string }) {
  const { method, id, params } = message as Partial<Record<"method" | "id" | "params", unknown>>; // looked at below
  if (method !== "server/discover" || (typeof id !== "string" && typeof id !== "number")) return undefined;
  if (!isRecord(params) || Object.keys(params).some((key) => key !== "_meta") || !isPlainEnvelope(params["_meta"])) {
    return undefined;
  }
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

/** Nothing in it that could be wrong in a way that only the SDK's schemas know. */
function isPlainEnvelope(meta: unknown): boolean {
  if (!isRecord(meta)) return false;
  const { protocolVersion, clientCapabilities, clientInfo } = metaNames;
  const known: readonly string[] = [protocolVersion, clientCapabilities, clientInfo];
  if (Object.keys(meta).some((key) => !known.includes(key)) || meta[protocolVersion] !== modernVersion) return false;
  const offered = meta[clientCapabilities];
  if (!isRecord(offered) || !Object.entries(offered).every(isPlainCapability)) return false;
  const who = meta[clientInfo];
  if (who === undefined) return true;
  return (
    isRecord(who) &&
    typeof who["name"] === "string" &&
    typeof who["version"] === "string" &&
    Object.values(who).every((value) => typeof value === "string")
  );
}

const isPlainCapability = ([name, value]: readonly [string, unknown]): boolean =>
  ["elicitation", "sampling", "roots"].includes(name) &&
  isRecord(value) &&
  Object.entries(value).every(([key, part]) =>
    key === "listChanged" ? typeof part === "boolean" : isRecord(part) && Object.keys(part).length === 0,
  );

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
