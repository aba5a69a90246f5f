import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { PassThrough } from "node:stream";
import { expect, onTestFinished, test } from "vitest";
import type { McpWorkspace } from "./mcp-workspace.ts";
import { serveOverStdio } from "./stdio.ts";

const sizeBytes = 24_000_000;
const readFrom = (reader: Socket): number => (reader.read() as Buffer | null)?.length ?? 0; // no encoding is set

for (const [what, pauseMs, left] of [
  ["who reads the last answers slowly gets all of them", 400, "read"],
  ["who reads nothing is not waited for", Number.POSITIVE_INFINITY, "unread"],
] as const) {
  test(what, async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const reader = connect((server.address() as AddressInfo).port, "127.0.0.1").pause(); // it listens on a port
    const [stdout] = (await once(server, "connection")) as [Socket];
    onTestFinished(() => {
      reader.destroy();
      stdout.destroy();
      server.close();
    });
    // More than the buffers of the system hold, in one piece.
    stdout.write(Buffer.alloc(sizeBytes));
    const workspace = { log: () => undefined, sessions: { endAll: () => undefined } } as unknown as McpWorkspace; // no call is made
    const over = serveOverStdio(workspace, { stdin: new PassThrough(), stdout }, AbortSignal.abort(), () =>
      Promise.reject(new Error("nobody needs it")),
    );
    if (Number.isFinite(pauseMs)) {
      reader.on("readable", () => undefined);
      for (let bytes = 0; bytes < sizeBytes; ) {
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
        const until = bytes + 3_000_000;
        for (let chunk = readFrom(reader); chunk > 0; chunk = bytes < until ? readFrom(reader) : 0) {
          bytes += chunk;
          await new Promise((resolve) => setImmediate(resolve));
        }
      }
    }
    expect(await over).toBe(left);
  }, 30_000);
}
