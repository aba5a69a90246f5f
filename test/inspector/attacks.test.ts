/** What strangers try: other sites, other servers on this machine, programs with the wrong key, names that want to be more. */

import { once } from "node:events";
import * as fs from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import type { CallPage, CallView, FolderView, Refused } from "../../src/surfaces/inspector/wire.ts";
import { temporaryFolder } from "../ends/run.ts";
import { connectHttp } from "../mcp/http-server.ts";
import { type Ask, enter, listen, send, serveInspected } from "./inspected.ts";

const workspace = temporaryFolder();
afterAll(() => workspace.remove());
const at = (name: string): string => join(workspace.path, name);
fs.writeFileSync(at("a.txt"), "one\n");

const codeOf = (text: string): string => (JSON.parse(text) as Refused).error.code;

/** Writes this to a connection of its own and leaves it open. */
function openRequest(port: number, text: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(text, () => resolve(socket)));
    socket.on("error", reject);
    onTestFinished(() => void socket.on("error", () => undefined).destroy());
  });
}

/** The first line of the answer to a request that is written by hand. */
async function statusLine(port: number, lines: readonly string[]): Promise<string> {
  const socket = await openRequest(port, `${lines.join("\r\n")}\r\n\r\n`);
  const [answer] = (await once(socket, "data")) as [Buffer];
  return answer.toString("latin1").split("\r\n", 1)[0] ?? "";
}

test("two headers Host are refused at every address, the right one first or last", async () => {
  const served = await serveInspected(workspace.path);
  const host = `Host: 127.0.0.1:${served.port}`;
  for (const path of ["/", "/api/hello", "/mcp", "/healthz", "/nowhere"]) {
    expect(await statusLine(served.port, [`GET ${path} HTTP/1.1`, host])).not.toContain(" 400 ");
    for (const hosts of [
      [host, "Host: evil.example"],
      ["Host: evil.example", host],
      [host, "hOsT: 127.0.0.1"],
    ]) {
      expect(await statusLine(served.port, [`GET ${path} HTTP/1.1`, ...hosts])).toBe("HTTP/1.1 400 Bad Request");
    }
  }
});

test("unfinished requests of strangers lock out neither who was let in, nor who comes with the key, nor clients", async () => {
  const served = await serveInspected(workspace.path);
  const { headers } = await enter(served);
  const host = `Host: 127.0.0.1:${served.port}\r\n`;
  const json = "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{";
  for (let count = 0; count < 100; count += 1) {
    await openRequest(served.port, `POST /api/exchange HTTP/1.1\r\n${host}${json}`);
    await openRequest(served.port, `POST /mcp HTTP/1.1\r\n${host}${json}`);
    await openRequest(served.port, `POST /api/exchange HTTP/1.1\r\n${host}`);
  }
  expect((await send(served.port, "/api/hello", { headers })).status).toBe(200);
  const client = await connectHttp(served, "legacy");
  expect((await client.listTools()).tools.length).toBeGreaterThan(0);
  await client.close();
  // Wrong keys from the same address are sent away, the right one is not.
  const wrong = await Promise.all(
    Array.from({ length: 60 }, () => send(served.port, "/api/exchange", { body: { key: "x" } })),
  );
  expect(wrong.map(({ status }) => status)).toContain(429);
  expect((await send(served.port, "/api/exchange", { body: { key: await served.key() } })).status).toBe(200);
});

test("the body of a stranger must come in time and be small", async () => {
  const served = await serveInspected(workspace.path);
  const head = `POST /api/exchange HTTP/1.1\r\nHost: 127.0.0.1:${served.port}\r\nContent-Type: application/json\r\n`;
  const late = await openRequest(served.port, `${head}Content-Length: 100\r\n\r\n{`);
  const [answer] = (await once(late, "data")) as [Buffer];
  expect(answer.toString("latin1")).toMatch(/^HTTP\/1\.1 400 [^]*The body did not come in time, send it again/);
  expect((await send(served.port, "/api/exchange", { body: { key: "x".repeat(5_000) } })).status).toBe(413);
});

describe("coming in", () => {
  test("a key works once, and the next one is on the terminal", async () => {
    const served = await serveInspected(workspace.path);
    const key = await served.key();
    const enterWith = (given: unknown) => send(served.port, "/api/exchange", { body: { key: given } });
    const first = await enterWith(key);
    expect(first.status).toBe(200);
    const cookie = first.headers["set-cookie"]?.[0] ?? "";
    expect(cookie).toMatch(
      new RegExp(`^filehand-${served.port}=[\\w-]{43}; Path=/api; HttpOnly; SameSite=Strict; Max-Age=\\d+$`),
    );
    const behindTls = { origin: `https://127.0.0.1:${served.port}` };
    const secure = await send(served.port, "/api/exchange", { body: { key: await served.key() }, headers: behindTls });
    expect(secure.headers["set-cookie"]?.[0]).toContain("; Secure");
    const second = await enterWith(key);
    expect([second.status, codeOf(second.text)]).toEqual([401, "BAD_KEY"]);
    expect((await enterWith(await served.key())).status).toBe(200);
    for (const wrong of ["", "x", key.slice(1), served.token, 1, null, ["x"]]) {
      expect([400, 401]).toContain((await enterWith(wrong)).status);
    }
    // Neither key nor token gets into the log.
    await served.key();
    for (const secret of [...served.stdout().matchAll(/#key=(\S+)/g)].map(([, one]) => one ?? "")) {
      expect(served.log()).not.toContain(secret);
    }
    expect(served.log()).not.toContain(cookie.split(/[=;]/)[1]);
  });

  test("neither the cookie nor the page's key is enough, nor the token of MCP clients", async () => {
    const served = await serveInspected(workspace.path);
    const { headers } = await enter(served);
    const { cookie = "", "filehand-page": page = "" } = headers;
    const statusWith = async (given: Record<string, string>) =>
      (await send(served.port, "/api/hello", { headers: given })).status;
    expect(await statusWith({ cookie, "filehand-page": page })).toBe(200);
    for (const given of [
      {},
      { cookie },
      { "filehand-page": page },
      { cookie, "filehand-page": page.slice(1) },
      { cookie: `${cookie}x`, "filehand-page": page },
      { cookie: `${cookie}; ${cookie.replace(/=.*/, "=mine")}`, "filehand-page": page },
      { authorization: `Bearer ${served.token}` },
      { cookie: cookie.replace(/=.*/, `=${served.token}`), "filehand-page": served.token },
    ] as Record<string, string>[]) {
      expect(await statusWith(given), JSON.stringify(given)).toBe(401);
    }
    // Nor does what opens the page open the tools.
    const called = await send(served.port, "/mcp", { body: { jsonrpc: "2.0", id: 1, method: "tools/list" }, headers });
    expect(called.status).toBe(401);
  });

  test("a browser of one server is none of another's, and one that left is out", async () => {
    const [one, two] = [await serveInspected(workspace.path), await serveInspected(workspace.path)];
    const browser = await enter(one);
    await enter(two);
    expect((await send(two.port, "/api/hello", { headers: browser.headers })).status).toBe(401);
    const renamed = { ...browser.headers, cookie: (browser.headers["cookie"] ?? "").replace(/\d+/, String(two.port)) };
    expect((await send(two.port, "/api/hello", { headers: renamed })).status).toBe(401);
    const events = await browser.events();
    await browser.ask("/api/leave", {});
    await events.closed;
    expect((await browser.raw("/api/hello")).status).toBe(401);
  });

  test("who guesses is slowed down", async () => {
    const served = await serveInspected(workspace.path);
    const tries = Array.from({ length: 60 }, () => send(served.port, "/api/exchange", { body: { key: "guess" } }));
    const statuses = (await Promise.all(tries)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([401, 429]));
  });
});

test("pages of other sites get nothing, whatever they send along", async () => {
  const served = await serveInspected(workspace.path);
  const browser = await enter(served);
  const { port } = served;
  const statusOf = async (path: string, ask: Ask) => (await browser.raw(path, ask)).status;
  for (const headers of [
    { origin: "https://evil.example" },
    { origin: "null" },
    { origin: `http://127.0.0.1:${port + 1}` },
    { origin: "http://localhost" },
    { origin: `http://127.0.0.1:${port}.evil.example` },
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
    { "sec-fetch-site": "none" },
    { host: "evil.example" },
    { host: `evil.example:${port}` },
  ] as Record<string, string>[]) {
    expect(await statusOf("/api/hello", { headers }), JSON.stringify(headers)).toBe(403);
    expect(await statusOf("/api/exchange", { headers, body: { key: "x" } }), JSON.stringify(headers)).toBe(403);
    if ("host" in headers) expect(await statusOf("/", { headers })).toBe(403);
  }
  expect(await statusOf("/api/hello", { headers: { origin: `http://127.0.0.1:${port}` } })).toBe(200);
  // What a form can send without asking first.
  for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""]) {
    const headers = { "content-type": type };
    expect(await statusOf("/api/w/filehand/folder", { headers, body: { path: workspace.path } }), type).toBe(415);
  }
  expect(await statusOf("/api/w/filehand/folder?path=/", {})).toBe(405);
  expect(await statusOf("/api/leave", { method: "GET" })).toBe(405);
});

test("every answer tells the browser how little it may do", async () => {
  const served = await serveInspected(workspace.path);
  const browser = await enter(served);
  for (const [path, ask] of [
    ["/", {}],
    ["/api/hello", {}],
    ["/api/hello", { headers: { cookie: "x" } }],
    ["/api/nothing", {}],
    ["/api/w/filehand/folder", { body: "{" }],
  ] as readonly [string, Ask][]) {
    const { headers } = await browser.raw(path, ask);
    const policy = String(headers["content-security-policy"]);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
    expect(headers).toMatchObject({
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "cross-origin-resource-policy": "same-origin",
    });
    expect(headers["access-control-allow-origin"]).toBeUndefined();
    if (path.startsWith("/api")) expect(headers["cache-control"]).toBe("no-store");
  }
});

test("no name leads out of the folder of the page", async () => {
  const served = await serveInspected(workspace.path);
  for (const path of [
    "/../filehand.cjs",
    "/assets/../../filehand.cjs",
    "/assets/..%2f..%2ffilehand.cjs",
    "/%2e%2e/filehand.cjs",
    "/assets//etc/passwd",
    "/assets/%2e%2e/index.html",
    "/..\\filehand.cjs",
    "/assets/a.js%00.html",
    "/.index.html",
    "/index.html/../../package.json",
    "/assets/a..js",
    "/web/../index.html",
    "/INDEX.HTML",
    "/a.txt",
    "/etc/passwd",
  ]) {
    expect((await send(served.port, path)).status, path).toBe(404);
  }
  expect((await send(served.port, "/", { method: "POST", body: {} })).status).toBe(405);
  expect(await send(served.port, "/", { method: "HEAD" })).toMatchObject({ status: 200, text: "" });
});

const hostile = [
  "<img src=x onerror=alert(1)>.txt",
  "</script><script>alert(1)</script>",
  "two\nlines\n\nevent: reset\ndata: {}\n\n.txt",
  "\u202egnp.exe",
  "a\u2028b\r\nc",
  "__proto__",
  "';\"`${1}",
];

test("hostile names come through as names, in answers and in the stream", async () => {
  fs.mkdirSync(at("hostile"), { recursive: true });
  for (const name of hostile.filter((one) => !one.includes("/")))
    fs.writeFileSync(join(at("hostile"), name), `${name}\n`);
  const served = await serveInspected(workspace.path);
  const browser = await enter(served);
  const events = await browser.events();
  const client = await connectHttp(served, "modern");
  for (const name of hostile) {
    await client.callTool({ name: "Read", arguments: { file_path: join(at("hostile"), name) } });
    const { call } = await events.next("call");
    expect(call.path).toBe(`hostile/${name}`);
  }
  await client.callTool({ name: "__proto__\n\nevent: reset", arguments: {} }).catch(() => undefined);
  expect((await events.next("call")).call.tool).toBe("__proto__\n\nevent: reset");
  expect(events.raw()).not.toMatch(/^event: reset/m);
  expect(events.ids).toEqual(events.ids.map((_, index) => index + 1));
  const page = await browser.ask<CallPage>(`/api/w/filehand/calls?path=${encodeURIComponent(hostile[0] ?? "")}`);
  expect(page.calls).toHaveLength(1);
  const { entries } = await browser.ask<FolderView>("/api/w/filehand/folder", { path: at("hostile") });
  expect(entries.map(({ name }) => name).toSorted()).toEqual(hostile.filter((one) => !one.includes("/")).toSorted());
  expect((await browser.ask<{ tools: object[] }>("/api/w/filehand/usage")).tools).toHaveLength(2);
});

test("what is too long, too deep or of the wrong kind is refused, and the server lives on", async () => {
  const served = await serveInspected(workspace.path);
  const browser = await enter(served);
  const long = "x".repeat(10_000);
  for (const [path, status] of [
    [`/api/w/filehand/calls?path=${long}`, 400],
    [`/api/w/filehand/calls?session=${long}`, 400],
    [`/api/w/filehand/calls?${"tool=x&".repeat(200)}`, 400],
    ["/api/w/filehand/calls?max=0", 400],
    ["/api/w/filehand/calls?max=1e9", 400],
    ["/api/w/filehand/calls?before=-1", 400],
    ["/api/w/filehand/calls/0", 404],
    ["/api/w/filehand/calls/999999999999999", 404],
    ["/api/w/filehand/calls/__proto__", 404],
    ["/api/w/__proto__/calls", 404],
    ["/api/w/filehand/__proto__", 404],
    ["/api/constructor", 404],
    ["/api/questions/x/answer", 405],
    ["/api/w/filehand/usage?buckets=100000", 400],
    [`/api/${long}`, 404],
    ["/api/events?after=x", 400],
  ] as const) {
    expect((await browser.raw(path)).status, path.slice(0, 80)).toBe(status);
  }
  for (const [path, body, status] of [
    ["folder", "[".repeat(100_000), 400],
    ["folder", [1], 400],
    ["folder", "null", 400],
    ["folder", { path: 1 }, 400],
    ["folder", { path: long }, 400],
    ["folder", { path: workspace.path, max: 1e9 }, 400],
    ["folder", { path: "\0" }, 422],
    ["folder", { path: "/etc" }, 422],
    ["folder", { path: at("../..") }, 422],
    ["diff", { of: { before: { now: "/etc/passwd" }, after: { nothing: true } } }, 200],
    ["diff", { of: { before: { nothing: true }, after: { nothing: true } } }, 400],
    ["diff", { of: { call: 1.5, change: 0 } }, 400],
    ["diff", { of: "x" }, 400],
    ["history/turns", { session: "../../../etc" }, 200],
    ["history/versions", { path: "/etc/passwd" }, 404],
    ["history/rewind", { session: "x", to: "start", plan: "x" }, 404],
    ["explain", { path: "/etc/passwd" }, 200],
    ["explain", '{"__proto__": {"path": "/"}}', 400],
  ] as const) {
    const answer = await browser.raw(`/api/w/filehand/${path}`, { body });
    expect(answer.status, `${path} ${JSON.stringify(body).slice(0, 80)} ${answer.text.slice(0, 200)}`).toBe(status);
    expect(answer.text).not.toContain("root:x:");
  }
  const large = await browser.raw("/api/w/filehand/folder", { body: { path: "x".repeat(2_000_000) } });
  expect(large.status).toBe(413);
  expect(served.log()).not.toContain("internal error");
});

test("only so many pages listen at once", async () => {
  const served = await serveInspected(workspace.path);
  const browser = await enter(served);
  const joined: Awaited<ReturnType<typeof listen>>[] = [];
  // One by one, so that it is known which of them is the first too many.
  for (let count = 0; count < 20; count += 1) joined.push(await browser.events());
  expect(joined.map(({ status }) => status)).toEqual([...Array<number>(16).fill(200), ...Array<number>(4).fill(503)]);
  joined[0]?.close();
  const many = await Promise.all(
    Array.from({ length: 1_000 }, () => listen(served.port, browser.headers).then(({ status }) => status)),
  );
  expect(many.filter((status) => status === 200).length).toBeLessThanOrEqual(1);
  expect(many.filter((status) => ![200, 429, 503].includes(status))).toEqual([]);
  // Those who watch still hear.
  const client = await connectHttp(served, "modern");
  await client.callTool({ name: "Read", arguments: { file_path: "a.txt" } });
  expect((await joined[1]?.next("call"))?.call.path).toBe("a.txt");
});

test("what is denied is named in the tree and nowhere shown", async () => {
  fs.mkdirSync(at("private/deep"), { recursive: true });
  fs.writeFileSync(at("private/deep/secret.txt"), "the secret\n");
  fs.writeFileSync(at(".env"), "KEY=the secret\n");
  const served = await serveInspected(workspace.path, ["--deny", "Read(/private/**)", "--deny", "Read(/private)"]);
  const browser = await enter(served);
  const client = await connectHttp(served, "modern");
  await client.callTool({ name: "Read", arguments: { file_path: "private/deep/secret.txt" } });
  const { entries } = await browser.ask<FolderView>("/api/w/filehand/folder", { path: workspace.path });
  expect(entries.find(({ name }) => name === "private")).toMatchObject({ read: "deny", edit: "deny", wasRead: 0 });
  expect(entries.find(({ name }) => name === ".env")).toMatchObject({ read: "ask" });
  const inside = await browser.raw("/api/w/filehand/folder", { body: { path: at("private") } });
  expect([inside.status, codeOf(inside.text)]).toEqual([422, "REFUSED"]);
  for (const path of ["private/deep/secret.txt", ".env"]) {
    const of = { before: { nothing: true }, after: { now: at(path) } };
    const diff = await browser.raw("/api/w/filehand/diff", { body: { of } });
    expect(diff.json).toMatchObject({ none: "hidden", hunks: [] });
    const image = await browser.raw("/api/w/filehand/image", { body: { of: { now: at(path) } } });
    expect(image.json).toEqual({ is: "none", why: "hidden" });
    expect(diff.text + image.text).not.toContain("the secret");
  }
  const [call] = (await browser.ask<CallPage>("/api/w/filehand/calls")).calls;
  expect(call).toMatchObject({ outcome: "ACCESS_DENIED", reason: "rule" });
  const view = await browser.ask<CallView>(`/api/w/filehand/calls/${call?.id}`);
  expect(JSON.stringify(view)).not.toContain("the secret");
});
