/** The SDK's part of a stdio connection: both eras, questions, subscriptions, and every message that stdio.ts does not answer. */

import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { McpWorkspace } from "./mcp-workspace.ts";
import { createSubscriptions, type Subscriptions } from "./resources.ts";
import { type McpClient, createFactory, logSdkError } from "./server.ts";
import { sessionKey } from "./caller.ts";
import { localPrincipal } from "./names.ts";

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
  const { startedFor } = workspace;
  const key = sessionKey({ principal, startedFor, otherwise: workspace.otherwise(undefined) });
  const session = workspace.sessions.find(key);
  const wanted = [...new Set(uris)].filter((uri) => typeof uri === "string");
  const ready = Promise.allSettled(wanted.map((uri) => subscriptions.add(uri, session)));
  return { subscriptions, ready: ready.then(() => undefined) };
}

export type ConnectSdk = typeof connectSdk;

export function connectSdk(workspace: McpWorkspace, wire: Transport) {
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
  const notify = (uri: string): void => {
    server?.sendResourceUpdated({ uri }).catch(() => undefined); // the client is gone
  };
  // The files that a client names in `subscriptions/listen`, by request. The SDK answers that request itself, without calling a
  // handler, so the messages are inspected on their way to it.
  const listening = new Map<unknown, Subscriptions>();
  const stop = (id: unknown): void => {
    listening.get(id)?.removeAll();
    listening.delete(id);
  };
  /** If the message names files, the promise resolves when they are watched. */
  const watch = (message: object): Promise<void> | undefined => {
    const { method, id, params } = message as Partial<Record<"method" | "id" | "params", unknown>>; // `watchAll` checks them
    if (method === "notifications/cancelled") stop((params as { readonly requestId?: unknown } | undefined)?.requestId);
    if (method !== "subscriptions/listen" || id === undefined || listening.size >= listenersMax) return undefined;
    const watched = watchAll(params, workspace, localPrincipal, notify);
    if (watched !== undefined) listening.set(id, watched.subscriptions);
    return watched?.ready;
  };
  // A subscription is confirmed only when its files are watched; later messages wait until then.
  let waiting: Promise<void> | undefined;
  return {
    take(message: JSONRPCMessage): void {
      const watched = watch(message);
      if (waiting === undefined && watched === undefined) return transport.onmessage?.(message);
      const turn = Promise.all([waiting, watched]).then(() => {
        if (waiting === turn) waiting = undefined;
        transport.onmessage?.(message);
      });
      waiting = turn;
    },
    /** The client, once the SDK knows which protocol it speaks. */
    get client(): McpClient | undefined {
      return client;
    },
    close: (): Promise<void> => handle.close(),
    /** Called when the connection is over. */
    end(): void {
      transport.onclose?.();
      [...listening.keys()].forEach(stop);
    },
  };
}
