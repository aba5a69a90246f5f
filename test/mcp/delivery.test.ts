/** What an answer shows counts as shown when the answer was delivered: not if the call was cancelled or the connection broke. */

import * as fs from "node:fs";
import { connect as connectSocket } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { createFilehand, type Session } from "../../src/index.ts";
import { resultOfCall } from "../../src/surfaces/mcp/tool-call.ts";
import { temporaryFolder } from "../ends/run.ts";
import { ask, type Served, serve } from "./http-server.ts";
import { initialize, modernMeta } from "./server.ts";

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
async function callAndLeave(
  { port, token }: Served,
  { body, headers }: { readonly body: string; readonly headers: Readonly<Record<string, string>> },
  waitMs: number,
): Promise<void> {
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
  // If there are bytes that were not read, the system resets the connection, as when a process dies; else it closes it.
  socket.destroy();
  await delay(200);
}

describe("over HTTP", () => {
  test("a Read whose connection breaks is not shown: the retry gets the content, and a Write before it is refused", async () => {
    const served = await serve(folder, ["--allow", "Edit"]);
    const answers: string[] = [];
    const call = async (session: string, tool: string, input: object): Promise<string> =>
      (await ask(served, requestOf(session, tool, input))).text;
    for (const [index, waitMs] of [0, 0, 0, 0, 1, 1, 2, 5, 20, 100, 400].entries()) {
      const session = `lost-${index}`;
      await callAndLeave(served, requestOf(session, "Read", { file_path: file }), waitMs);
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
    const older = { "mcp-protocol-version": "2025-06-18" };
    const message = (method: string, params: object) => JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    const begun = await ask(served, { body: message("initialize", initialize), headers: older });
    const headers = { ...older, "mcp-session-id": String(begun.headers["mcp-session-id"]), "filehand-session": "old" };
    const call = (name: string, input: object) => message("tools/call", { name, arguments: input });
    await callAndLeave(served, { body: call("Read", { file_path: file }), headers }, 400);
    const write = await ask(served, { body: call("Write", { file_path: file, content: "unseen\n" }), headers });
    expect(write.text).toContain('"isError":true');
    const again = await ask(served, { body: call("Read", { file_path: file }), headers });
    expect(again.text).toContain("the first line");
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

test("a call that is cancelled when its work is done gets no answer, and what it read does not count as shown", async () => {
  const session = createFilehand({ roots: [folder], ask: "yes" }).session();
  const stop = new AbortController();
  const cancelled: Session = {
    ...session,
    call: async (...given) => {
      const reply = await session.call(...given);
      stop.abort();
      return reply;
    },
  };
  const call = (caller: Session, signal: AbortSignal) =>
    resultOfCall(
      {
        message: { id: 1, name: "Read", input: { file_path: file }, meta: undefined },
        era: "modern",
        caller: { session: caller, conversation: undefined, client: undefined, canAsk: false, answerBytesMax: 100_000 },
        principal: "local",
        signal,
        notify: async () => undefined,
        onLost: () => undefined,
        ask: undefined,
      },
      {
        structured: false,
        resultBytesMax: 1_000_000,
        definitions: session.definitions(),
        toolPrefix: "",
        approvals: { places: new Map(), waysOut: () => undefined },
      },
    );
  await call(cancelled, stop.signal);
  expect(session.readState()).toEqual({});
  await call(session, new AbortController().signal);
  expect(session.readState()).toHaveProperty([file]);
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
