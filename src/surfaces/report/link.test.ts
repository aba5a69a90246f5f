import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { CallDetail, CallEvent, FromReporter } from "../../contract/event.ts";
import { detailBytesMax, type Link, openLink } from "./link.ts";

async function linked(): Promise<{ readonly link: Link; readonly socket: Socket; readonly over: Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), "filehand-test-"));
  const server = createServer({ pauseOnConnect: true });
  const address = process.platform === "win32" ? `\\\\.\\pipe\\filehand-${process.pid}` : join(folder, "s");
  onTestFinished(() => {
    server.close();
    rmSync(folder, { recursive: true });
  });
  await new Promise<void>((resolve) => server.listen(address, resolve));
  const coming = once(server, "connection");
  let link: Link | undefined;
  const over = new Promise<void>((resolve) => {
    const place = { protocol: 1, address, key: "k", workspaces: [] };
    const inspector = { name: "n", place, workspace: "w" };
    link = openLink({ inspector, roots: ["/r"], program: "mcp", onOver: resolve });
  });
  const [socket] = (await coming) as [Socket];
  onTestFinished(() => void socket.destroy());
  if (link === undefined) throw new Error("it is made at once");
  return { link, socket, over };
}

const event = (id: number) => ({ type: "call", id }) as CallEvent; // the link looks at nothing of it
const detail = (chars: number): CallDetail => ({ input: "x".repeat(chars), reply: undefined, diffs: [] });

/** All that is said until the end. */
async function heard(socket: Socket): Promise<readonly FromReporter[]> {
  const parts: Buffer[] = [];
  for await (const part of socket) parts.push(part as Buffer); // no encoding is set
  const lines = Buffer.concat(parts).toString("utf8").trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line) as FromReporter);
}

const yieldBetweenCalls = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

test("a greeting, then the calls in their order; a detail that is too large is left out", async () => {
  const { link, socket } = await linked();
  link.tell(event(1), detail(3));
  link.tell(event(2), detail(detailBytesMax));
  const circle: Record<string, unknown> = {};
  circle["itself"] = circle;
  link.tell(event(3), { ...detail(0), input: circle });
  const all = heard(socket);
  await link.end();
  expect(await all).toEqual([
    { type: "hello", key: "k", workspace: "w", roots: ["/r"], pid: process.pid, program: "mcp" },
    { type: "call", event: event(1), detail: { input: "xxx", diffs: [] } },
    { type: "call", event: event(2), detail: "too large" },
    { type: "call", event: event(3), detail: { input: null, diffs: [] } },
  ]);
});

test("what a reader is too slow for is dropped, so that no more than its limit waits", async () => {
  const { link, socket } = await linked();
  const calls = 100;
  const chars = 1_000_000;
  for (let id = 1; id <= calls; id += 1) {
    link.tell(event(id), detail(chars));
    await yieldBetweenCalls();
  }
  const all = heard(socket);
  await link.end();
  const told = (await all).filter(({ type }) => type === "call");
  expect(told.length).toBeGreaterThan(10);
  expect(told.length * chars).toBeLessThan(50_000_000);
});

test("a question without an answer ends with the link, and later ones at once", async () => {
  const { link, socket, over } = await linked();
  const { signal } = new AbortController();
  const question = { permission: "edit", patterns: [], always: [], keep: [], metadata: {} } as const;
  const asked = { session: "s", principal: null, client: null, tool: "Edit", question };
  const waiting = link.ask(asked, signal);
  socket.destroy();
  await over;
  expect(await waiting).toEqual({ reply: "nobody" });
  expect(await link.ask(asked, signal)).toEqual({ reply: "nobody" });
});

test("what is no answer ends it", async () => {
  const { socket, over } = await linked();
  socket.write('{"type":"answer","id":1,"answer":{"reply":"of course"}}\n');
  await over;
});
