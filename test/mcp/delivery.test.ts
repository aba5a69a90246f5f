/** What an answer shows counts as shown when the answer was delivered: not if the call was cancelled or the connection broke. */

import * as fs from "node:fs";
import { connect as connectSocket } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { createFilehand } from "../../src/index.ts";
import { temporaryFolder } from "../ends/run.ts";
import { ask, connectHttp, type Served, serve } from "./http-server.ts";
import { initialize, modernMeta, startRaw, textOf } from "./server.ts";

let folder = "";
let file = "";
beforeEach(() => {
  const made = temporaryFolder();
  onTestFinished(() => made.remove());
  folder = made.path;
  file = join(folder, "a.txt");
  fs.writeFileSync(file, "the first line\n".repeat(200));
});

const stub = "has not changed since you read";

function requestOf(session: string, tool: string, input: object, id = 1) {
  const _meta = { ...modernMeta(), "io.github.filehand/session": session };
  const body = JSON.stringify({
    jsonrpc: "2.0",
    id,
    method: "tools/call",
    params: { name: tool, arguments: input, _meta },
  });
  return { body, headers: { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": tool } };
}

/** Sends a call and goes away, after so many milliseconds, without having read a byte of the answer. */
async function callAndLeave({ port, token }: Served, session: string, waitMs: number): Promise<void> {
  const { body, headers } = requestOf(session, "Read", { file_path: file });
  const head = {
    ...headers,
    host: `127.0.0.1:${port}`,
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "content-length": String(Buffer.byteLength(body)),
  };
  const socket = connectSocket({ port, host: "127.0.0.1" });
  socket.pause();
  socket.on("error", () => undefined);
  const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`POST /mcp HTTP/1.1\r\n${lines.join("")}\r\n${body}`);
  await delay(waitMs);
  // Bytes that were not read make the system reset the connection, as when a process dies.
  socket.resetAndDestroy();
  await delay(300);
}

describe("over HTTP", () => {
  test("a Read whose connection breaks is not shown: the retry gets the content, and a Write before it is refused", async () => {
    const served = await serve(folder, ["--allow", "Edit"]);
    const answers: string[] = [];
    const call = async (session: string, tool: string, input: object): Promise<string> =>
      (await ask(served, requestOf(session, tool, input))).text;
    for (const [index, waitMs] of [0, 2, 20, 100, 400, 400].entries()) {
      const session = `lost-${index}`;
      await callAndLeave(served, session, waitMs);
      answers.push(await call(session, "Write", { file_path: file, content: "unseen\n" }));
      answers.push(await call(session, "Read", { file_path: file }));
      // The one that arrived counts.
      expect(await call(session, "Read", { file_path: file })).toContain(stub);
    }
    expect(fs.readFileSync(file, "utf8")).toContain("the first line");
    answers.forEach((answer, index) => {
      expect(answer).toContain(index % 2 === 0 ? '"isError":true' : "the first line");
    });
  }, 60_000);

  test("the same in the older protocol, where the answer is a stream", async () => {
    const served = await serve(folder, ["--allow", "Edit"]);
    const client = await connectHttp(served, "legacy", { headers: { "filehand-session": "old" } });
    const leaving = new AbortController();
    const call = client.callTool({ name: "Read", arguments: { file_path: file } }, { signal: leaving.signal });
    leaving.abort("gone");
    await expect(call).rejects.toThrow();
    await delay(500);
    const again = textOf(await client.callTool({ name: "Read", arguments: { file_path: file } }));
    expect(again).toContain("the first line");
  });

  test("an answer that was read counts, on a connection that stays open and on one that is closed", async () => {
    const served = await serve(folder);
    for (const connection of ["keep-alive", "close"]) {
      const { body, headers } = requestOf(connection, "Read", { file_path: file });
      const read = async () => (await ask(served, { body, headers: { ...headers, connection } })).text;
      expect(await read()).toContain("the first line");
      await delay(100);
      expect(await read()).toContain(stub);
    }
  });
});

test("over stdio a Read that its client cancels does not count as shown", async () => {
  const server = startRaw(folder, ["--allow", "Edit"]);
  await server.call(0, "initialize", initialize);
  server.send({ jsonrpc: "2.0", method: "notifications/initialized" });
  const call = (id: number, name: string, input: object) => server.call(id, "tools/call", { name, arguments: input });
  await call(1, "LS", { path: folder }); // from here on calls go without the SDK
  for (let id = 10; id < 20; id += 2) {
    const params = { name: "Read", arguments: { file_path: file } };
    server.send({ jsonrpc: "2.0", id, method: "tools/call", params });
    server.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id } });
    await delay(200);
    const answered = server.lines.some((line) => (JSON.parse(line) as { id?: unknown }).id === id);
    const { result } = await call(id + 1, "Write", { file_path: file, content: "unseen\n" });
    expect(result?.["isError"] === true || answered).toBe(true);
    if (answered) break; // it was quicker than its cancellation, and was shown
  }
});

test("the library is told by its host: what an undelivered reply showed does not count, named instructions included", async () => {
  fs.writeFileSync(join(folder, "AGENTS.md"), "Be careful\n");
  const session = createFilehand({ roots: [folder], ask: "yes", instructions: true }).session();
  const read = () => session.call("Read", { file_path: file });
  const write = async () => (await session.call("Write", { file_path: file, content: "new\n" })).error?.code;
  const lost = await read();
  session.undelivered(lost);
  expect(session.readState()).toEqual({});
  expect(await write()).toBe("NOT_READ");
  const again = await read();
  expect(again.structured).toMatchObject({ type: "text" });
  expect(JSON.stringify(again.content)).toContain("AGENTS.md");
  expect(await write()).toBeUndefined();
});
