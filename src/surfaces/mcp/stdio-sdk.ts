/** The SDK's side of a connection over stdio: both eras, questions, subscriptions, and whatever else clients send. */

import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { McpWorkspace } from "./mcp-workspace.ts";
import { createSubscriptions, type Subscriptions } from "./resources.ts";
import { type McpClient, createFactory, logSdkError } from "./server.ts";
import { sessionKey } from "./caller.ts";

// The newer protocol's `subscriptions/listen` is answered by the SDK before any server of ours hears of it. It says which
// files a client wants to hear of, so it is read in passing, and their watches live as long as the subscription.

export interface Listeners {
  /** Any message that came in. If it names files, the promise is kept when they are watched. */
  heard(message: unknown): Promise<void> | undefined;
  end(): void;
}

/** Of one connection: a subscription ends when it is cancelled. */
function followListeners(workspace: McpWorkspace, notify: (uri: string) => void): Listeners {
  const open = new Map<unknown, Subscriptions>();
  const close = (id: unknown): void => {
    open.get(id)?.removeAll();
    open.delete(id);
  };
  return {
    heard(message) {
      const { method, id, params } = message as Partial<Record<"method" | "id" | "params", unknown>>; // an object, said the wire
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

const listenersMax = 64;

/** Watches what a `subscriptions/listen` names; what may not be read, or is not there, is never told of. */
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
  /** Ends the connection. */
  close(): Promise<void>;
  /** The connection is over. */
  end(): void;
}

export type ConnectSdk = (workspace: McpWorkspace, wire: Transport) => SdkConnection;

export const connectSdk: ConnectSdk = (workspace, wire) => {
  const onerror = logSdkError(workspace.log, "connection");
  let client: McpClient | undefined;
  const factory = createFactory(workspace, undefined, (made) => (client = made));
  let server: ReturnType<typeof factory> | undefined;
  // The SDK's own view of the wire: it sets its handlers here, the wire keeps ours.
  const transport: Transport = {
    start: async () => undefined,
    close: () => wire.close(),
    send: (message, options) => wire.send(message, options),
  };
  const handle = serveStdio((unit) => (server = factory(unit)), { transport, onerror });
  const listening = followListeners(workspace, (uri) => {
    server?.sendResourceUpdated({ uri }).catch(() => undefined); // whoever is gone needs no news
  });
  // A subscription is confirmed only when its files are watched; what comes meanwhile waits its turn.
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
