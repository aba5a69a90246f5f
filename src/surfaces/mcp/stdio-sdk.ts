/** The SDK's part of a stdio connection: both eras, questions, subscriptions, and every message that stdio.ts does not answer. */

import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { McpWorkspace } from "./mcp-workspace.ts";
import { createSubscriptions, type Subscriptions } from "./resources.ts";
import { type McpClient, createFactory, logSdkError } from "./server.ts";
import { sessionKey } from "./caller.ts";

/**
 * Watches the files that a client names in `subscriptions/listen` of the newer protocol, as long as the subscription lasts. The
 * SDK answers that request itself, without calling a handler, so the messages are inspected on their way to it.
 */
interface Listeners {
  /** Takes every incoming message. If it names files, the promise resolves when they are watched. */
  heard(message: unknown): Promise<void> | undefined;
  end(): void;
}

/** For one connection. A subscription ends when it is cancelled. */
function followListeners(workspace: McpWorkspace, notify: (uri: string) => void): Listeners {
  const open = new Map<unknown, Subscriptions>();
  const close = (id: unknown): void => {
    open.get(id)?.removeAll();
    open.delete(id);
  };
  return {
    heard(message) {
      const { method, id, params } = message as Partial<Record<"method" | "id" | "params", unknown>>; // StdioWire has checked that it is an object
      if (method === "notifications/cancelled")
        close((params as { readonly requestId?: unknown } | undefined)?.requestId);
      if (method !== "subscriptions/listen" || id === undefined || open.size >= listenersMax) return undefined;
      const watched = watchAll(params, workspace, "local", notify);
      if (watched !== undefined) open.set(id, watched.subscriptions);
      return watched?.ready;
    },
    end: () => [...open.keys()].forEach(close),
  };
}

/** Subscriptions of one connection, each with watches of its own; a client needs one. */
const listenersMax = 64;

/** Watches the files that a `subscriptions/listen` names; those that are missing or may not be read are ignored. */
export function watchAll(
  params: unknown,
  workspace: McpWorkspace,
  principal: string,
  notify: (uri: string) => void,
): { readonly subscriptions: Subscriptions; readonly ready: Promise<void> } | undefined {
  const { notifications } = (params ?? {}) as { readonly notifications?: { readonly resourceSubscriptions?: unknown } };
  const uris = notifications?.resourceSubscriptions;
  if (!Array.isArray(uris) || uris.length === 0) return undefined;
  const subscriptions = createSubscriptions(notify);
  const { startedFor, otherwise } = workspace;
  const key = sessionKey({ principal, startedFor, otherwise });
  const session = workspace.sessions.find(key);
  const wanted = [...new Set(uris)].filter((uri) => typeof uri === "string");
  const ready = Promise.allSettled(wanted.map((uri) => subscriptions.add(uri, session)));
  return { subscriptions, ready: ready.then(() => undefined) };
}

export interface SdkConnection {
  take(message: JSONRPCMessage): void;
  /** The client, once the SDK knows which protocol it speaks. */
  readonly client: McpClient | undefined;
  close(): Promise<void>;
  /** Called when the connection is over. */
  end(): void;
}

export type ConnectSdk = (workspace: McpWorkspace, wire: Transport) => SdkConnection;

export const connectSdk: ConnectSdk = (workspace, wire) => {
  const onerror = logSdkError(workspace.log, "connection");
  let client: McpClient | undefined;
  const factory = createFactory(workspace, undefined, (made) => (client = made));
  let server: ReturnType<typeof factory> | undefined;
  // A transport for the SDK to set its handlers on; those of the wire stay ours.
  const transport: Transport = {
    start: async () => undefined,
    close: () => wire.close(),
    send: (message, options) => wire.send(message, options),
  };
  const handle = serveStdio((unit) => (server = factory(unit)), { transport, onerror });
  const listening = followListeners(workspace, (uri) => {
    server?.sendResourceUpdated({ uri }).catch(() => undefined); // the client is gone
  });
  // A subscription is confirmed only when its files are watched; later messages wait until then.
  let waiting: Promise<void> | undefined;
  return {
    take(message) {
      const watched = listening.heard(message);
      if (waiting === undefined && watched === undefined) return transport.onmessage?.(message);
      const turn = Promise.all([waiting, watched]).then(() => {
        if (waiting === turn) waiting = undefined;
        transport.onmessage?.(message);
      });
      waiting = turn;
    },
    get client() {
      return client;
    },
    close: () => handle.close(),
    end() {
      transport.onclose?.();
      listening.end();
    },
  };
};
