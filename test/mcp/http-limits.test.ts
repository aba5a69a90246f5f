/** The limits of the HTTP server, made small enough to be met: sessions, requests at once, requests a second, bodies, the end. */

import { type ClientRequest, request } from "node:http";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { Authentication } from "../../src/surfaces/http/authentication.ts";
import { createLegacySessions } from "../../src/surfaces/http/endpoint.ts";
import { Server } from "@modelcontextprotocol/server";
import { ask, type HttpAnswer } from "./http-server.ts";
import { startInProcess } from "./in-process.ts";
import { initialize, modernMeta } from "./server.ts";

const message = (method: string, params: object = {}) => JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });

/** Everybody is who their token says. */
const byName: Authentication = {
  admit: async (authorization) => ({
    principal: authorization?.slice("Bearer ".length) ?? "",
    scopes: ["files:read", "files:write"],
  }),
  challenge: () => "",
  metadata: () => undefined,
};

describe("sessions of the older protocol", () => {
  const sessionOf = ({ headers }: HttpAnswer): Record<string, string> => ({
    "mcp-session-id": String(headers["mcp-session-id"]),
  });

  const version = { "mcp-protocol-version": "2025-06-18" };
  const list = message("tools/list");
  const limits = { sessionsOfOneMax: 2, sessionsMax: 3 };

  test("one principal has so many and all together have so many, if none of them is idle; one that is closed makes room", async () => {
    const served = await startInProcess({ access: byName, limits });
    const begin = (token: string) => ask({ ...served, token }, { body: message("initialize", initialize) });
    /** A stream keeps a session in use. */
    const listen = (token: string, session: Record<string, string>) =>
      new Promise<ClientRequest>((resolve, reject) => {
        const headers = { authorization: `Bearer ${token}`, accept: "text/event-stream", ...version, ...session };
        const stream = request({ host: "127.0.0.1", port: served.port, path: "/mcp", headers }, () => resolve(stream));
        onTestFinished(() => void stream.destroy());
        stream.on("error", reject).end();
      });
    const first = sessionOf(await begin("ann"));
    const streams = [await listen("ann", first), await listen("ann", sessionOf(await begin("ann")))];
    const third = await begin("ann");
    expect([third.status, third.headers["retry-after"]]).toEqual([429, "60"]);
    expect(JSON.parse(third.text)).toMatchObject({ error: { message: "Too many sessions are open, close one first" } });
    await listen("bob", sessionOf(await begin("bob")));
    expect([(await begin("cy")).status, served.endpoint.sessions]).toEqual([429, 3]);
    streams[0]?.on("error", () => undefined).destroy();
    await ask({ ...served, token: "ann" }, { method: "DELETE", headers: { ...first, ...version } });
    expect([(await begin("ann")).status, served.endpoint.sessions]).toEqual([200, 3]);
  });

  test("idle sessions of clients that crashed make room: those that were only begun first, then the longest idle", async () => {
    const served = await startInProcess({ access: byName, limits: { sessionsOfOneMax: 3, sessionsMax: 4 } });
    const begin = async (token: string) =>
      sessionOf(await ask({ ...served, token }, { body: message("initialize", initialize) }));
    const use = async (token: string, session: Record<string, string>) =>
      (await ask({ ...served, token }, { body: list, headers: { ...session, ...version } })).status;
    const inUse = await begin("ann");
    expect(await use("ann", inUse)).toBe(200);
    // Far more than there may be, one after the other, none of them closed.
    const crashed = [];
    for (let count = 0; count < 20; count += 1) crashed.push(await begin("ann"));
    expect(served.endpoint.sessions).toBe(3);
    expect(await use("ann", inUse)).toBe(200);
    expect(await use("ann", crashed[0] ?? {})).toBe(404);
    const [older = {}, newer = {}] = crashed.slice(-2);
    expect([await use("ann", older), await use("ann", newer), await use("ann", inUse)]).toEqual([200, 200, 200]);
    // All were used: the longest idle one makes room, and one's own before those of others.
    const bobs = await begin("bob");
    const next = await begin("ann");
    expect([await use("ann", older), await use("ann", next), await use("bob", bobs)]).toEqual([404, 200, 200]);
    // Whoever has none gets the place of the longest idle one of all.
    const cys = await begin("cy");
    expect([await use("ann", newer), await use("cy", cys), served.endpoint.sessions]).toEqual([404, 200, 4]);
  });

  test("one that rests for too long is forgotten, one that listens is not", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    onTestFinished(() => void vi.useRealTimers());
    let nowMs = 0;
    const ended: string[] = [];
    const sessions = createLegacySessions({
      factory: () => new Server({ name: "s", version: "1" }, { capabilities: {} }),
      sessionsMax: 9,
      sessionsOfOneMax: 9,
      idleMsMax: 1_000,
      nowMs: () => nowMs,
      onEnd: (principal, id) => ended.push(`${principal} ${id}`),
    });
    onTestFinished(() => sessions.close());
    const send = (method: string, headers: Record<string, string>, signal?: AbortSignal) => {
      const shared = { "content-type": "application/json", accept: "application/json, text/event-stream" };
      const given = { method, headers: { ...shared, ...headers }, ...(signal === undefined ? {} : { signal }) };
      const body = method === "POST" ? { jsonrpc: "2.0", id: 1, method: "initialize", params: initialize } : undefined;
      const authInfo = { token: "", clientId: "ann", scopes: [] };
      return sessions.handle(new Request("http://127.0.0.1/mcp", given), body, authInfo);
    };
    const idOf = (response: Response): string => response.headers.get("mcp-session-id") ?? "";
    const [resting, listening] = [idOf(await send("POST", {})), idOf(await send("POST", {}))];
    const gone = new AbortController();
    const version = { "mcp-protocol-version": "2025-06-18" };
    const stream = await send("GET", { "mcp-session-id": listening, ...version }, gone.signal);
    expect(stream.status).toBe(200);
    // A stream that was refused keeps nothing open, whenever its client hangs up.
    const refused = { "mcp-session-id": resting, ...version, accept: "application/json" };
    expect((await send("GET", refused, new AbortController().signal)).status).toBe(406);
    const second = { "mcp-session-id": listening, ...version };
    expect((await send("GET", second, new AbortController().signal)).status).toBe(409);
    nowMs = 1_001;
    vi.advanceTimersByTime(60_000);
    expect([sessions.size, ended]).toEqual([1, [`ann ${resting}`]]);
    gone.abort();
    nowMs = 2_003;
    vi.advanceTimersByTime(60_000);
    expect([sessions.size, ended.at(-1)]).toEqual([0, `ann ${listening}`]);
  });
});

describe("requests", () => {
  const list = { body: message("tools/list", { _meta: modernMeta() }) };
  const modern = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list" };

  test("more a second than a principal may are sent away, and others are not", async () => {
    const served = await startInProcess({ access: byName, limits: { perSecondMax: 1 } });
    const as = (token: string) => ask({ ...served, token }, { ...list, headers: modern });
    const statuses = (await Promise.all(Array.from({ length: 20 }, () => as("ann")))).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
    const other = await as("bob");
    expect(other.status).toBe(200);
  });

  test("more at once than a principal may are sent away, until one is over", async () => {
    const served = await startInProcess({ access: byName, limits: { atOnceMax: 1 } });
    const as = (token: string) => ask({ ...served, token }, { ...list, headers: modern });
    const client = new Client({ name: "c", version: "1" }, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
    const requestInit = { headers: { authorization: "Bearer ann" } };
    await client.connect(new StreamableHTTPClientTransport(new URL(served.url), { requestInit }));
    const listening = await client.listen({ resourceSubscriptions: [`file://${served.folder}/a.txt`] });
    const refused = await as("ann");
    expect([refused.status, refused.headers["retry-after"]]).toEqual([429, "1"]);
    expect((await as("bob")).status).toBe(200);
    await listening.close();
    await client.close();
    await expect.poll(async () => (await as("ann")).status).toBe(200);
  });

  test("a body that does not say how long it is, is cut off where it is too long", async () => {
    const served = await startInProcess({ limits: { bodyBytesMax: 1_000 } });
    const status = await new Promise<number | undefined>((resolve) => {
      const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
      const sent = request(
        { host: "127.0.0.1", port: served.port, path: "/mcp", method: "POST", headers },
        (answer) => {
          answer.resume();
          resolve(answer.statusCode);
        },
      );
      sent.on("error", () => undefined); // it is not read to its end
      sent.write(`{"x":"${"y".repeat(2_000)}`);
    });
    expect(status).toBe(413);
    expect((await ask({ ...served, token: "" }, { ...list, headers: modern })).status).toBe(200);
  });
});

test("told to end, it says so to those who ask, finishes what is under way, and then is gone", async () => {
  let enter = (): void => undefined;
  const entered = new Promise<void>((resolve) => (enter = resolve));
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  const served = await startInProcess({
    watchCall: async (_tool, _meta, work) => {
      enter();
      await held;
      return work();
    },
  });
  const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "Read" };
  const read = { name: "Read", arguments: { file_path: "a.txt" }, _meta: modernMeta() };
  const call = () => ask({ ...served, token: "" }, { headers, body: message("tools/call", read) });
  const look = async (path: string) => (await ask({ ...served, token: "" }, { method: "GET", path })).status;
  expect([await look("/healthz"), await look("/readyz")]).toEqual([200, 200]);
  const called = call();
  await entered;
  const closing = served.front.close();
  expect([await look("/healthz"), await look("/readyz")]).toEqual([200, 503]);
  const late = await call();
  expect([late.status, late.headers["connection"]]).toEqual([503, "close"]);
  release();
  expect((await called).text).toContain("1\\tone");
  await closing;
  await expect(look("/healthz")).rejects.toThrow(); // refused, or cut off where a connection was kept
});
