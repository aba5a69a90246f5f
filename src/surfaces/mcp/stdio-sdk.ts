/** The SDK's side of a connection over stdio: both eras, questions, subscriptions, and whatever else clients send. */

import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/server";
import type { Desk } from "./desk.ts";
import type { Vetted } from "./lane.ts";
import { followListeners } from "./listeners.ts";
import { logSdkError } from "./sdk-error.ts";
import { createFactory } from "./server.ts";

export interface SdkConnection {
  take(message: JSONRPCMessage): void;
  /** Ends the connection. */
  close(): Promise<void>;
  /** The connection is over. */
  end(): void;
}

/** `answered`: told of a call of a tool that the SDK took and answered with a result. */
export type ConnectSdk = (
  desk: Desk,
  wire: Transport,
  answered: (call: JSONRPCMessage, vetted: Vetted) => void,
) => SdkConnection;

export const connectSdk: ConnectSdk = (desk, wire, answered) => {
  const onerror = logSdkError(desk.log, "connection");
  let vetted: Vetted | undefined;
  /** The last call: one answer is enough to know the like of it. */
  let lastCall: (JSONRPCMessage & { readonly id?: unknown }) | undefined;
  const factory = createFactory(desk, undefined, (callerOf, { era }) => {
    vetted = { era, callerOf: ({ meta, envelope }) => callerOf({ mcpReq: { _meta: meta, envelope } }) };
  });
  let server: ReturnType<typeof factory> | undefined;
  // The SDK's own view of the wire: it sets its handlers here, the wire keeps ours.
  const transport: Transport = {
    start: async () => undefined,
    close: () => wire.close(),
    send: (message, options) => {
      if (lastCall !== undefined && "result" in message && message.id === lastCall.id) {
        if (vetted !== undefined) answered(lastCall, vetted);
        lastCall = undefined;
      }
      return wire.send(message, options);
    },
  };
  const handle = serveStdio((unit) => (server = factory(unit)), { transport, onerror });
  const listening = followListeners(desk, (uri) => {
    server?.sendResourceUpdated({ uri }).catch(() => undefined); // whoever is gone needs no news
  });
  // A subscription is confirmed only when its files are watched; what comes meanwhile waits its turn.
  let waiting: Promise<void> | undefined;
  return {
    take(message) {
      if ("method" in message && message.method === "tools/call") lastCall = message;
      const watched = listening.heard(message);
      if (waiting === undefined && watched === undefined) return transport.onmessage?.(message);
      const turn = Promise.all([waiting, watched]).then(() => {
        if (waiting === turn) waiting = undefined;
        transport.onmessage?.(message);
      });
      waiting = turn;
    },
    close: () => handle.close(),
    end() {
      transport.onclose?.();
      listening.end();
    },
  };
};
