/** `filehand serve`: real clients of both eras, and what strangers try. */

import * as fs from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { run, commandLine, temporaryFolder } from "../ends/run.ts";
import { serveInspected } from "../inspector/inspected.ts";
import { ask, connectHttp, serve } from "./http-server.ts";
import { eras, initialize, modernMeta, textOf } from "./server.ts";

const workspace = temporaryFolder();
afterAll(() => workspace.remove());
const at = (name: string): string => join(workspace.path, name);

beforeAll(() => {
  fs.mkdirSync(at("one"));
  fs.mkdirSync(at("two"));
  for (const name of ["a.txt", "one/first.txt", "two/second.txt"]) fs.writeFileSync(at(name), `${name}\n`);
});

const read = (name: string) => ({ name: "Read", arguments: { file_path: name } });
const message = (id: number, method: string, params: object = {}) =>
  JSON.stringify({ jsonrpc: "2.0", id, method, params });

for (const era of eras) {
  describe(`the ${era} era`, () => {
    test("tools, resources and completion work as they do over stdio", async () => {
      const client = await connectHttp(await serve(workspace.path), era);
      expect((await client.listTools()).tools.map(({ name }) => name)).toContain("Edit");
      expect(textOf(await client.callTool(read("a.txt")))).toContain("1\ta.txt");
      expect((await client.listResources()).resources.map(({ name }) => name)).toContain("one/first.txt");
      expect(await client.callTool(read("b.txt"))).toMatchObject({ isError: true });
    });

    test("a session remembers what it has read, and a question reaches the person", async () => {
      fs.writeFileSync(at(`${era}.txt`), "one\n");
      const questions: string[] = [];
      const client = await connectHttp(await serve(workspace.path), era, {
        capabilities: { elicitation: { form: {} } },
        prepare: (made) =>
          made.setRequestHandler("elicitation/create", ({ params }) => {
            questions.push(params.message);
            return { action: "accept", content: { decision: "allow once" } };
          }),
      });
      const edit = { name: "Edit", arguments: { file_path: `${era}.txt`, old_string: "one", new_string: "two" } };
      expect(await client.callTool(edit)).toMatchObject({ _meta: { "io.github.filehand/code": "NOT_READ" } });
      await client.callTool(read(`${era}.txt`));
      expect((await client.callTool(edit)).isError).toBeUndefined();
      expect(questions[0]).toContain("| +two");
      expect(fs.readFileSync(at(`${era}.txt`), "utf8")).toBe("two\n");
    });

    test("progress is told and cancelling reaches the scan", async () => {
      fs.writeFileSync(at("scanned.log"), "head line\n".repeat(1_000));
      fs.truncateSync(at("scanned.log"), 2_000_000_000_000);
      const served = await serve(workspace.path);
      const client = await connectHttp(served, era);
      const stop = new AbortController();
      const call = client.callTool(
        { name: "Read", arguments: { file_path: "scanned.log", offset: 1_100, limit: 1 } },
        { signal: stop.signal, timeout: 170_000, onprogress: () => stop.abort() },
      );
      await expect(call).rejects.toThrow();
      // A call that went on would hold the end up until it is cut, and say so with another code or never end.
      served.child.kill("SIGTERM");
      expect(await served.ended).toBe(0);
      fs.rmSync(at("scanned.log"));
    });

    test("a change of a file is told to those who subscribed", async () => {
      fs.writeFileSync(at("watched.txt"), "one\n");
      const client = await connectHttp(await serve(workspace.path), era);
      const uri = `file://${at("watched.txt")}`;
      const heard = new Promise<string>((resolve) => {
        client.setNotificationHandler("notifications/resources/updated", ({ params }) => resolve(params.uri));
      });
      if (era === "modern") await client.listen({ resourceSubscriptions: [uri] });
      else await client.subscribeResource({ uri });
      fs.writeFileSync(at("watched.txt"), "two\n");
      expect(await heard).toBe(uri);
      fs.rmSync(at("watched.txt"));
    });

    test("workspaces stand side by side and know nothing of each other", async () => {
      const served = await serve(workspace.path, ["--workspace", "one=one", "--workspace", "two=two"]);
      const one = await connectHttp(served, era, { path: "/w/one/mcp" });
      const two = await connectHttp(served, era, { path: "/w/two/mcp" });
      expect((await one.callTool(read("first.txt"))).isError).toBeUndefined();
      expect((await one.callTool(read(at("two/second.txt")))).isError).toBe(true);
      expect((await two.callTool(read("second.txt"))).isError).toBeUndefined();
      expect((await ask(served, { body: message(1, "ping") })).status).toBe(404);
    });
  });
}

describe("strangers", () => {
  test("are told apart before anything else", async () => {
    const served = await serve(workspace.path);
    const body = message(1, "initialize", initialize);
    for (const [what, headers, status] of [
      ["our own", {}, 200],
      ["a name that leads here", { host: "evil.example" }, 403],
      ["a page of another site", { origin: "http://evil.example" }, 403],
      ["a page that hides", { origin: "null" }, 403],
      ["a page of this machine", { origin: "http://localhost:5173" }, 200],
      ["no token", { authorization: "" }, 401],
      ["a wrong token", { authorization: "Bearer x" }, 401],
    ] as const) {
      expect((await ask(served, { headers, body })).status, what).toBe(status);
    }
    expect(
      (await ask(served, { path: `/mcp?token=${served.token}`, headers: { authorization: "" }, body })).status,
    ).toBe(401);
    expect((await ask(served, { method: "OPTIONS", headers: { origin: "http://evil.example" } })).status).toBe(403);
    const wrong = await ask(served, { headers: { authorization: "Bearer x", host: "evil.example" }, body });
    expect(wrong.status).toBe(403);
    expect(served.log().split("\n").slice(1).join("\n")).not.toContain(served.token);
    const events = served
      .log()
      .split("\n")
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line) as Record<string, unknown>); // a log that is no JSON throws
    expect(events.length).toBeGreaterThan(1);
    for (const event of events) {
      expect(event).toMatchObject({ time: expect.stringMatching(/^\d{4}-.*Z$/), level: expect.any(String) });
      expect(event).toHaveProperty("event");
    }
    expect(events.map(({ event }) => event)).toContain("listening");
  });

  test("in which a body is not UTF-8 are refused", async () => {
    const body = Buffer.from(message(1, "initialize", { ...initialize, more: "caf\xe9" }), "latin1");
    const { status, text } = await ask(await serve(workspace.path), { body });
    expect([status, JSON.parse(text)]).toMatchObject([400, { error: { code: -32700 } }]);
  });

  test("leave nothing of their bodies in the log", async () => {
    const served = await serve(workspace.path);
    const opened = await ask(served, { body: message(1, "initialize", initialize) });
    const headers = { "mcp-session-id": String(opened.headers["mcp-session-id"]) };
    for (const body of [
      { id: 4, method: "tools/call", params: { name: "Write", arguments: { content: "SECRET" } }, more: "SECRET" },
      { id: 99, result: { text: "SECRET" } },
      { method: "notifications/cancelled", params: { requestId: { a: "SECRET" } } },
      { method: "notifications/progress", params: { progressToken: "SECRET", progress: 1 } },
    ]) {
      await ask(served, { headers, body: JSON.stringify({ jsonrpc: "2.0", ...body }) });
    }
    await expect.poll(served.log).toContain("unknown message ID");
    expect(served.log()).not.toContain("SECRET");
  });

  test("are counted, and sent away when they come too often", async () => {
    const served = await serve(workspace.path);
    const statuses = new Set<number>();
    // Many at once: one after the other, a slow machine may never be too often.
    while (!statuses.has(429)) {
      const many = Array.from({ length: 100 }, () =>
        ask(served, { headers: { authorization: "Bearer x" }, body: "{}" }),
      );
      for (const { status } of await Promise.all(many)) statuses.add(status);
    }
    expect(statuses).toEqual(new Set([401, 429]));
    expect((await ask(served, { body: message(1, "initialize", initialize) })).status).toBe(200);
  });
});

test("what is not JSON, too much or of no use is refused, and the server lives on", async () => {
  const served = await serve(workspace.path);
  const modern = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "Read" };
  const call = message(1, "tools/call", { name: "Write", arguments: {}, _meta: modernMeta() });
  for (const [what, asked, status, code] of [
    ["text", { headers: { "content-type": "text/plain" }, body: "{}" }, 415, -32000],
    ["another method", { method: "PUT", body: "{}" }, 405, -32000],
    ["a GET without a session", { method: "GET" }, 405, -32000],
    ["a DELETE without a session", { method: "DELETE" }, 405, -32000],
    ["30 MB", { body: message(1, "tools/call", { x: "y".repeat(30_000_000) }) }, 413, -32000],
    ["no JSON", { body: "{" }, 400, -32700],
    ["a list", { body: "[]" }, 400, -32600],
    [
      "a million levels",
      { body: `{"jsonrpc":"2.0","id":1,"method":"m","params":${"[".repeat(1e6)}${"]".repeat(1e6)}}` },
      400,
      -32600,
    ],
    ["another path", { path: "/other", body: "{}" }, 404, -32000],
    ["a header that says another tool", { headers: modern, body: call }, 400, -32020],
    ["no session", { body: message(1, "tools/list") }, 400, -32000],
    ["an unknown session", { headers: { "mcp-session-id": "x" }, body: message(1, "tools/list") }, 404, -32001],
  ] as const) {
    const answer = await ask(served, asked).catch((error: NodeJS.ErrnoException) => error.code);
    // Whoever still sends when the answer comes may see the connection close instead.
    if (what === "30 MB" && typeof answer === "string") continue;
    expect(answer, what).toMatchObject({ status });
    expect(JSON.parse((answer as { text: string }).text), what).toMatchObject({ error: { code } });
  }
  expect((await ask(served, { body: message(1, "initialize", initialize) })).status).toBe(200);
});

test("a session is its principal's alone", async () => {
  const verifier = at("verifier.mjs");
  fs.writeFileSync(
    verifier,
    `export const verifyAccessToken = async (token) => {
       const [subject, ...scopes] = token.split(".");
       if (subject === "bad") throw new Error("no");
       return { clientId: "c", subject, scopes: scopes.map((scope) => "files:" + scope),
         expiresAt: 4102444800, resource: "https://files.example/mcp" };
     };`,
  );
  const served = await serve(workspace.path, [
    "--oauth-verifier",
    "verifier.mjs",
    "--oauth-issuer",
    "https://login.example",
    "--public-url",
    "https://files.example/mcp",
    "--allow",
    "Edit",
  ]);
  const as = (token: string) => ({ authorization: `Bearer ${token}` });
  const begun = await ask(served, { headers: as("ann.read.write"), body: message(1, "initialize", initialize) });
  expect(begun.status).toBe(200);
  const session = { "mcp-session-id": String(begun.headers["mcp-session-id"]) };
  const list = message(2, "tools/list");
  expect((await ask(served, { headers: { ...as("ann.read"), ...session }, body: list })).status).toBe(200);
  expect((await ask(served, { headers: { ...as("bob.read"), ...session }, body: list })).status).toBe(404);
  expect((await ask(served, { headers: { ...as("bob.read"), ...session }, method: "DELETE" })).status).toBe(404);

  // A right for each tool.
  const write = message(3, "tools/call", { name: "Write", arguments: { file_path: "w.txt", content: "x" } });
  const refused = await ask(served, { headers: { ...as("ann.read"), ...session }, body: write });
  expect(refused.status).toBe(403);
  expect(refused.headers["www-authenticate"]).toContain('error="insufficient_scope"');
  expect(refused.headers["www-authenticate"]).toContain('scope="files:write"');
  expect((await ask(served, { headers: { ...as("ann.write"), ...session }, body: write })).status).toBe(200);
  const unread = message(4, "tools/call", read("a.txt"));
  expect((await ask(served, { headers: { ...as("ann.write"), ...session }, body: unread })).status).toBe(403);

  const stranger = await ask(served, { headers: as("bad"), body: list });
  expect([stranger.status, stranger.headers["www-authenticate"]]).toEqual([
    401,
    'Bearer error="invalid_token", resource_metadata="https://files.example/.well-known/oauth-protected-resource"',
  ]);
  const metadata = await ask(served, {
    method: "GET",
    path: "/.well-known/oauth-protected-resource/mcp",
    headers: as(""),
  });
  expect(JSON.parse(metadata.text)).toEqual({
    resource: "https://files.example/mcp",
    authorization_servers: ["https://login.example"],
    scopes_supported: ["files:read", "files:write"],
    bearer_methods_supported: ["header"],
  });

  expect((await ask(served, { headers: { ...as("ann.read"), ...session }, method: "DELETE" })).status).toBe(200);
  expect((await ask(served, { headers: { ...as("ann.read"), ...session }, body: list })).status).toBe(404);
});

test("an approval given to one principal is none for another", async () => {
  fs.writeFileSync(
    at("verifier.mjs"),
    `export const verifyAccessToken = async (token) => ({ clientId: token, scopes: ["files:read", "files:write"],
       expiresAt: 4102444800, resource: "https://files.example/mcp" });`,
  );
  const served = await serve(workspace.path, [
    "--oauth-verifier",
    "verifier.mjs",
    "--oauth-issuer",
    "https://login.example",
    "--public-url",
    "https://files.example/mcp",
  ]);
  const _meta = modernMeta({ elicitation: { form: {} } });
  const write = { name: "Write", arguments: { file_path: "approved.txt", content: "x" }, _meta };
  const send = async (who: string, params: object) => {
    const headers = {
      authorization: `Bearer ${who}`,
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": "Write",
    };
    const { text } = await ask(served, { headers, body: message(1, "tools/call", params) });
    return JSON.parse(text) as { result?: { requestState: string }; error?: { code: number } };
  };
  const { result } = await send("ann", write);
  const answered = {
    ...write,
    requestState: result?.requestState,
    inputResponses: { approval: { action: "accept", content: { decision: "allow once" } } },
  };
  expect((await send("bob", answered)).error?.code).toBe(-32602);
  expect(fs.existsSync(at("approved.txt"))).toBe(false);
  expect((await send("ann", answered)).error).toBeUndefined();
  expect(fs.existsSync(at("approved.txt"))).toBe(true);
});

test("it says how it is, and counts what it does", async () => {
  const served = await serve(workspace.path);
  const client = await connectHttp(served, "modern");
  await client.callTool(read("a.txt"));
  const get = (path: string, headers = {}) => ask(served, { method: "GET", path, headers });
  expect((await get("/healthz", { authorization: "" })).status).toBe(200);
  expect((await get("/readyz", { authorization: "" })).status).toBe(200);
  expect((await get("/metrics", { authorization: "" })).status).toBe(401);
  const { text } = await get("/metrics");
  expect(text).toContain('filehand_tool_calls_total{tool="Read",outcome="ok"} 1');
  expect(text).toMatch(/^process_resident_memory_bytes \d+$/m);
});

test("what is under way when it is told to end is finished", async () => {
  const served = await serve(workspace.path, ["--allow", "Edit"]);
  const client = await connectHttp(served, "modern");
  const content = "x\n".repeat(1_500_000);
  const call = client.callTool({ name: "Write", arguments: { file_path: "late.txt", content } });
  served.child.kill("SIGTERM");
  const result = await call.catch(() => undefined); // it may have come too late to be taken
  expect(await served.ended).toBe(0);
  if (result !== undefined) expect(fs.readFileSync(at("late.txt"), "utf8")).toBe(content);
  expect(fs.readdirSync(workspace.path).filter((name) => name.includes("tmp"))).toEqual([]);
});

test("a port that somebody has is told, and what to do about it", async () => {
  const { port } = await serve(workspace.path);
  const args = [commandLine, "serve", "--port", String(port)];
  expect(await run(process.execPath, args, { cwd: workspace.path })).toEqual({
    code: 2,
    stdout: "",
    stderr: `filehand: Cannot listen on 127.0.0.1:${port}: another program listens there, end it or choose another --port\n`,
  });
});

for (const [given, host] of [
  ["127.0.0.2", "127.0.0.2"],
  ["0", "127.0.0.1"],
] as const) {
  // macOS has no 127.0.0.2 unless somebody adds it.
  test.skipIf(process.platform === "darwin")(
    `a server that listens on ${given} knows the addresses that it tells`,
    async () => {
      const served = await serveInspected(workspace.path, ["--host", given]);
      const mcp = /"url":"(http:[^"]+)"/.exec(served.log())?.[1] ?? "";
      const page = /http:\S+/.exec(served.stdout())?.[0] ?? "";
      expect([new URL(page).hostname, mcp]).toEqual([host, `http://${given}:${served.port}/mcp`]);
      for (const told of [mcp, page]) {
        const [, authority = ""] = /^http:\/\/([^/]+)/.exec(told) ?? [];
        const { hostname } = new URL(told);
        const asked = { method: "GET", path: "/healthz", host: hostname, headers: { host: authority } };
        expect(await ask(served, asked)).toMatchObject({ status: 200 });
      }
      const stranger = { method: "GET", path: "/healthz", host, headers: { host: "example.com" } };
      expect(await ask(served, stranger)).toMatchObject({ status: 403 });
    },
  );
}

describe("the token", () => {
  test("comes from a file of the operator's, which is made for its owner alone", async () => {
    const file = at("token");
    const served = await serve(workspace.path, ["--token-file", "token"]);
    expect(fs.statSync(file).mode & 0o777).toBe(0o600);
    const token = fs.readFileSync(file, "utf8").trim();
    expect((await connectHttp({ ...served, token }, "modern")).getServerVersion()?.name).toBe("filehand");
    expect(served.log()).not.toContain(token);
    served.child.kill("SIGTERM");
    expect(await served.ended).toBe(0);
    const again = await serve(workspace.path, ["--token-file", "token"]);
    await connectHttp({ ...again, token }, "modern");
  });

  for (const [what, args, words] of [
    ["a file that others can read is refused", ["--token-file", "shared"], "chmod 600"],
    ["one that is too short is refused", ["--token-file", "short"], "at least 16"],
    ["without one only this machine is let in", ["--insecure-no-token", "--host", "0.0.0.0"], "this machine only"],
    ["a verifier needs to be told for whom", ["--oauth-verifier", "x.mjs"], "--oauth-issuer"],
    ["a workspace needs a name", ["--workspace", "../x"], "NAME=DIR"],
    ["a port is a number of a port", ["--port", "70000"], "65535"],
    ["nobody is let in by two ways", ["--insecure-no-token", "--token-file", "short"], "cannot both be meant"],
    ["an issuer without a verifier would do nothing", ["--oauth-issuer", "https://x.example"], "--oauth-verifier"],
    ["a folder is no file for a token, and nothing is said about its mode", ["--token-file", "one"], "it is no file"],
    ["a file for a token in a folder that is not there", ["--token-file", "none/token"], "a folder that is there"],
    ["two workspaces of one name", ["--workspace", "a=one", "--workspace", "a=two"], "give each its own"],
    ["a name to allow has no port", ["--allow-host", "example.com:8080"], 'without a port, not "example.com:8080"'],
    ["a name to allow is no URL", ["--allow-host", "http://example.com"], "a name alone, such as example.com"],
    ["an address of another machine", ["--host", "192.0.2.1"], "this machine has no such address"],
  ] as const) {
    test(what, async () => {
      fs.writeFileSync(at("shared"), "0123456789abcdef0123");
      fs.chmodSync(at("shared"), 0o644);
      fs.writeFileSync(at("short"), "0123", { mode: 0o600 });
      const { code, stderr } = await run(process.execPath, [commandLine, "serve", ...args], { cwd: workspace.path });
      expect(code).toBe(2);
      expect(stderr).toContain(words);
      expect(stderr).not.toContain("token of this run");
    });
  }
});
