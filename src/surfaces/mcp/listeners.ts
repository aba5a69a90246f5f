/**
 * The newer protocol's `subscriptions/listen` is answered by the SDK before any server of ours hears of it. It says which
 * files a client wants to hear of, so it is read in passing, and their watches live as long as the subscription.
 */

import type { Desk } from "./desk.ts";
import { sessionKey } from "./session-key.ts";
import { createSubscriptions, type Subscriptions } from "./subscriptions.ts";

export interface Listeners {
  /** Any message that came in. If it names files, the promise is kept when they are watched. */
  heard(message: unknown): Promise<void> | undefined;
  end(): void;
}

/** Of one connection: a subscription ends when it is cancelled. */
export function followListeners(desk: Desk, notify: (uri: string) => void): Listeners {
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
      const watched = watchAll(params, desk, "local", notify);
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
  desk: Desk,
  principal: string,
  notify: (uri: string) => void,
): { readonly subscriptions: Subscriptions; readonly ready: Promise<void> } | undefined {
  const { notifications } = (params ?? {}) as { readonly notifications?: { readonly resourceSubscriptions?: unknown } };
  const uris = notifications?.resourceSubscriptions;
  if (!Array.isArray(uris) || uris.length === 0) return undefined;
  const subscriptions = createSubscriptions(notify);
  const { startedFor, otherwise } = desk;
  const key = sessionKey({ principal, startedFor, otherwise });
  const session = desk.sessions.find(key);
  const wanted = [...new Set(uris)].filter((uri) => typeof uri === "string");
  const ready = Promise.allSettled(wanted.map((uri) => subscriptions.add(uri, session)));
  return { subscriptions, ready: ready.then(() => undefined) };
}
