/** `filehand mcp`: one client, over the process's own pipes. Ends when the pipe ends. */

import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { Readable, Writable } from "node:stream";
import type { Desk } from "./desk.ts";
import { followListeners } from "./listeners.ts";
import { createFactory } from "./server.ts";
import { StdioWire } from "./stdio-wire.ts";

export interface Pipes {
  readonly stdin: Readable;
  readonly stdout: Writable;
}

/** Resolves when the client is gone, or when it was told to stop. */
export async function serveOverStdio(desk: Desk, { stdin, stdout }: Pipes, stop: AbortSignal): Promise<void> {
  const wire = new StdioWire(stdin, stdout);
  const onerror = (error: Error): void => desk.log("warn", "connection", { message: error.message });
  const factory = createFactory(desk);
  let server: ReturnType<typeof factory> | undefined;
  const handle = serveStdio((unit) => (server = factory(unit)), { transport: wire, onerror });
  const listening = followListeners(desk, (uri) => {
    server?.sendResourceUpdated({ uri }).catch(() => undefined); // whoever is gone needs no news
  });
  const { onmessage } = wire;
  // A subscription is confirmed only when its files are watched; what comes meanwhile waits its turn.
  let waiting: Promise<void> | undefined;
  wire.onmessage = (message) => {
    const watched = listening.heard(message);
    if (waiting === undefined && watched === undefined) return onmessage?.(message);
    const turn = Promise.all([waiting, watched]).then(() => {
      if (waiting === turn) waiting = undefined;
      onmessage?.(message);
    });
    waiting = turn;
  };
  const over = new Promise<void>((resolve) => {
    // The SDK has set its own by now; both must hear of the end.
    const { onclose } = wire;
    wire.onclose = () => {
      onclose?.();
      resolve();
    };
  });
  const end = (): void => void handle.close();
  stop.addEventListener("abort", end, { once: true });
  if (stop.aborted) end();
  await over;
  stop.removeEventListener("abort", end);
  listening.end();
  desk.sessions.endAll();
}
