/** Calls over HTTP: answered alike the first time and later, for those who are let in, and refused where the SDK refuses. */

import * as fs from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { temporaryFolder } from "../ends/run.ts";
import { ask, type Served, serve } from "./http-server.ts";
import { modernMeta } from "./server.ts";

const workspace = temporaryFolder();
afterAll(() => workspace.remove());
const at = (name: string): string => join(workspace.path, name);

beforeAll(() => {
  fs.writeFileSync(at("a.txt"), "one\ntwo\n");
  fs.writeFileSync(at(".env"), "KEY=1\n");
});

const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "Read" };
const body = (id: unknown, input: object, more: { readonly params?: object; readonly message?: object } = {}) =>
  JSON.stringify({
    jsonrpc: "2.0",
    id,
    method: "tools/call",
    params: { name: "Read", arguments: input, _meta: modernMeta(), ...more.params },
    ...more.message,
  });

interface Answer {
  readonly id: unknown;
  readonly result?: { readonly resultType: string; readonly content: readonly { readonly text: string }[] };
  readonly error?: { readonly code: number };
}
const parsed = ({ text }: { readonly text: string }): Answer => JSON.parse(text) as Answer; // what the protocol answers with
const textOf = (answer: { readonly text: string }): string => parsed(answer).result?.content[0]?.text ?? "";
const read = (served: Served, id: unknown, name: string, own: Readonly<Record<string, string>> = {}) =>
  ask(served, { headers: { ...headers, ...own }, body: body(id, { file_path: name }) });

for (const [what, input] of [
  ["a page", { file_path: "a.txt", limit: 1 }],
  ["a refusal", { file_path: "missing.txt" }],
  ["bad arguments", { file: 1 }],
] as const) {
  test(`${what} is the same the first time and the second time`, async () => {
    const served = await serve(workspace.path);
    // The second one is of another session, so that it is not told that nothing has changed.
    const [first, second] = [
      await ask(served, { headers: { ...headers, "filehand-session": "1" }, body: body(1, input) }),
      await ask(served, { headers: { ...headers, "filehand-session": "2" }, body: body("two", input) }),
    ];
    expect(parsed(second)).toEqual({ ...parsed(first), id: "two" });
    expect([second.status, second.headers["content-type"]]).toEqual([200, first.headers["content-type"]]);
    expect(parsed(first).result).toHaveProperty("content");
  });
}

test("what is no valid call is refused, also by a server that has answered valid ones", async () => {
  const [served, fresh] = [await serve(workspace.path), await serve(workspace.path)];
  await read(served, 1, "a.txt");
  const input = { file_path: "a.txt" };
  const bare = { "mcp-protocol-version": "2026-07-28", "mcp-name": "Read" };
  const version = { "io.modelcontextprotocol/protocolVersion": "2099-01-01" };
  for (const [what, own, text] of [
    ["a header with another name", { ...headers, "mcp-name": "Write" }, body(2, input)],
    ["a header with another method", { ...headers, "mcp-method": "tools/list" }, body(2, input)],
    ["no header for the method", bare, body(2, input)],
    ["another version", headers, body(2, input, { params: { _meta: { ...modernMeta(), ...version } } })],
    ["an envelope without capabilities", headers, body(2, input, { params: { _meta: {} } })],
    ["an unknown tool", headers, body(2, input, { params: { name: "Raed" } })],
    ["arguments that are a list", headers, body(2, input, { params: { arguments: [] } })],
    ["a state of nobody's", headers, body(2, input, { params: { requestState: "x" } })],
    ["half an id", headers, body(2.5, input)],
    ["an id that is nothing", headers, body(null, input)],
  ] as const) {
    // One that has answered nothing before.
    const [now, then] = [
      await ask(served, { headers: own, body: text }),
      await ask(fresh, { headers: own, body: text }),
    ];
    expect([now.status, now.headers["content-type"], now.text], what).toEqual([
      then.status,
      then.headers["content-type"],
      then.text,
    ]);
    expect(now.text, what).toContain('"error"');
  }
  expect(textOf(await read(served, 3, "a.txt"))).not.toBe("");
});

test("every call is counted once, also one that a person is asked about", async () => {
  const served = await serve(workspace.path, ["--no-inspector"]);
  const params = { _meta: modernMeta({ elicitation: { form: {} } }) };
  const send = (id: number, name: string) => ask(served, { headers, body: body(id, { file_path: name }, { params }) });
  expect(parsed(await send(1, "a.txt")).result?.resultType).toBe("complete");
  expect(parsed(await send(2, "missing.txt")).result?.resultType).toBe("complete");
  expect(parsed(await send(3, ".env")).result?.resultType).toBe("input_required");
  const { text } = await ask(served, { method: "GET", path: "/metrics" });
  for (const outcome of ["ok", "error", "asked"]) {
    expect(text).toContain(`filehand_tool_calls_total{tool="Read",outcome="${outcome}"} 1\n`);
  }
});

test("sessions and rights are those of the caller", async () => {
  fs.writeFileSync(
    at("verifier.mjs"),
    `export const verifyAccessToken = async (token) => ({ clientId: token, expiresAt: 4102444800,
       scopes: token === "eve" ? [] : ["files:read"], resource: "https://files.example/mcp" });`,
  );
  const oauth = ["--oauth-verifier", "verifier.mjs", "--oauth-issuer", "https://login.example"];
  const served = await serve(workspace.path, [...oauth, "--public-url", "https://files.example/mcp"]);
  const as = (token: string, handle = "h") => ({ authorization: `Bearer ${token}`, "filehand-session": handle });
  expect(textOf(await read(served, 1, "a.txt", as("ann")))).toContain("1\tone");
  expect(textOf(await read(served, 2, "a.txt", as("ann")))).not.toContain("1\tone"); // it was shown before
  expect(textOf(await read(served, 3, "a.txt", as("bob")))).toContain("1\tone");
  expect(textOf(await read(served, 4, "a.txt", as("ann", "i")))).toContain("1\tone");
  expect((await read(served, 5, "a.txt", as("eve"))).status).toBe(403);
  expect((await read(served, 6, "a.txt", { authorization: "" })).status).toBe(401);
  expect((await read(served, 7, "a.txt", { ...as("ann"), host: "evil.example" })).status).toBe(403);
});

test("who hangs up stops the work", async () => {
  fs.writeFileSync(at("scanned.log"), "head line\n".repeat(1_000));
  fs.truncateSync(at("scanned.log"), 2_000_000_000_000);
  const served = await serve(workspace.path);
  await read(served, 1, "a.txt");
  const text = body(2, { file_path: "scanned.log", offset: 1_100, limit: 1 });
  const { port, token } = served;
  const more = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const own = { ...headers, ...more, authorization: `Bearer ${token}`, "content-length": text.length };
  const sent = request({ host: "127.0.0.1", port, path: "/mcp", method: "POST", headers: own });
  const closed = new Promise((resolve) => sent.on("error", resolve));
  sent.end(text);
  const underWay = async (): Promise<boolean> =>
    (await ask(served, { method: "GET", path: "/metrics" })).text.includes("filehand_http_requests_under_way 1\n");
  while (!(await underWay()));
  sent.destroy(new Error("enough"));
  await closed;
  // The scan of 2 TB would go on for minutes.
  while (await underWay());
  expect(textOf(await read(served, 3, "a.txt"))).not.toBe("");
  fs.rmSync(at("scanned.log"));
});

test("a body that breaks off is no fault of the server", async () => {
  const served = await serve(workspace.path);
  const { port, token } = served;
  const own = { ...headers, "content-type": "application/json", authorization: `Bearer ${token}` };
  for (let count = 0; count < 3; count += 1) {
    const sent = request({
      host: "127.0.0.1",
      port,
      path: "/mcp",
      method: "POST",
      headers: { ...own, "content-length": 100 },
    });
    const closed = new Promise((resolve) => sent.on("error", resolve));
    await new Promise((resolve) => sent.write('{"jsonrpc"', resolve));
    sent.destroy(new Error("enough"));
    await closed;
  }
  expect(textOf(await read(served, 1, "a.txt"))).not.toBe("");
  expect(served.log()).not.toContain("internal error");
});
