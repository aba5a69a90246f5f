/** Calls that a client sends at once reach their file in the order in which they were sent, whatever way they take through the server. */

import * as fs from "node:fs";
import { connect as connectSocket } from "node:net";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { temporaryFolder } from "../ends/run.ts";
import { ask, type Served, serve } from "./http-server.ts";
import { eras, initialize, modernMeta, type RawMessage, type RawServer, startRaw } from "./server.ts";

const workspace = temporaryFolder();
afterAll(() => workspace.remove());
const at = (name: string): string => join(workspace.path, name);
beforeEach(() => {
  for (const name of fs.readdirSync(workspace.path)) fs.rmSync(at(name), { recursive: true });
  fs.writeFileSync(at("a.txt"), "one alpha\ntwo alpha\n");
});

type Call = readonly [name: string, input: object];
const read: Call = ["Read", { file_path: "a.txt" }];
const edit = (word: string, to = "BETA"): Call => [
  "Edit",
  { file_path: "a.txt", old_string: `${word} alpha`, new_string: `${word} ${to}` },
];
const newFile = (file_path: string): readonly Call[] => [
  ["Write", { file_path, content: "one alpha\n" }],
  ["Edit", { file_path, old_string: "one alpha", new_string: "one BETA" }],
  ["Read", { file_path }],
];

const textOf = ({ result }: RawMessage): string => result?.content?.[0]?.text ?? "";

for (const era of eras) {
  describe(`over stdio, ${era} era`, () => {
    const _meta = era === "modern" ? { _meta: modernMeta() } : {};
    async function started(): Promise<RawServer> {
      const server = startRaw(workspace.path, ["--allow", "Edit"], { FILEHAND_DEDUP: "0" });
      if (era === "legacy") await server.call(1, "initialize", initialize);
      return server;
    }
    /** In one write, as a client sends the calls of one message of a model. */
    async function together(server: RawServer, from: number, calls: readonly Call[]): Promise<readonly RawMessage[]> {
      const messages = calls.map(([name, input], index) => ({
        jsonrpc: "2.0",
        id: from + index,
        method: "tools/call",
        params: { name, arguments: input, ..._meta },
      }));
      await server.sendText(messages.map((message) => `${JSON.stringify(message)}\n`).join(""));
      const answers = new Map<unknown, RawMessage>();
      while (answers.size < calls.length) {
        const answer = await server.next(({ id, method }) => method === undefined && Number(id) >= from);
        answers.set(answer.id, answer);
      }
      return calls.map((_, index) => answers.get(from + index) ?? {});
    }

    test("the first calls of a connection, and later ones", async () => {
      const server = await started();
      for (const from of [10, 100]) {
        fs.writeFileSync(at("a.txt"), "one alpha\ntwo alpha\n");
        const calls = [read, edit("one"), read, edit("two"), ...newFile(`new/${from}.txt`)];
        const answers = await together(server, from, calls);
        expect(answers.filter(({ result }) => result?.["isError"] === true).map(textOf)).toEqual([]);
        expect(textOf(answers[2] ?? {})).toContain("one BETA");
        expect(textOf(answers[2] ?? {})).toContain("two alpha");
        expect(textOf(answers[6] ?? {})).toContain("one BETA");
        await together(server, from + 50, [read]);
      }
    });
  });
}

test("over stdio, a call that waits for a person keeps its place: a Read sent after it shows what came of it", async () => {
  for (const isFirst of [true, false]) {
    fs.writeFileSync(at("a.txt"), "one alpha\ntwo alpha\n");
    const server = startRaw(workspace.path, [], { FILEHAND_DEDUP: "0" });
    await server.call(1, "initialize", { ...initialize, capabilities: { elicitation: {} } });
    server.send({ jsonrpc: "2.0", method: "notifications/initialized" });
    // The first call of a connection, and a later one.
    if (!isFirst) await server.call(2, "tools/call", { name: "Read", arguments: { file_path: "a.txt" } });
    const calls = [read, edit("one"), read].map(([name, input], index) => ({
      jsonrpc: "2.0",
      id: 10 + index,
      method: "tools/call",
      params: { name, arguments: input },
    }));
    await server.sendText(calls.map((message) => `${JSON.stringify(message)}\n`).join(""));
    const question = await server.next(({ method }) => method === "elicitation/create");
    // Another file does not wait.
    fs.writeFileSync(at("b.txt"), "other\n");
    await server.call(20, "tools/call", { name: "Read", arguments: { file_path: "b.txt" } });
    expect(server.lines.some((line) => (JSON.parse(line) as RawMessage).id === 12)).toBe(false);
    const enumOf = question.params?.["requestedSchema"] as {
      readonly properties: { readonly decision: { readonly enum: readonly string[] } };
    };
    const decision = enumOf.properties.decision.enum[0];
    server.send({ jsonrpc: "2.0", id: question.id, result: { action: "accept", content: { decision } } });
    const later = await server.next(({ id, method }) => id === 12 && method === undefined);
    expect(textOf(later)).toContain("one BETA");
  }
});

describe("over HTTP", () => {
  const messageOf = (id: number, [name, input]: Call): string =>
    JSON.stringify({
      jsonrpc: "2.0",
      id,
      method: "tools/call",
      params: { name, arguments: input, _meta: modernMeta() },
    });
  const headersOf = ([name]: Call): Readonly<Record<string, string>> => ({
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/call",
    "mcp-name": name,
    "filehand-session": "one",
  });

  /** On one connection, in one write, so that there is an order in which they were sent. */
  function pipelined({ port, token }: Served, from: number, calls: readonly Call[]): Promise<readonly RawMessage[]> {
    const texts = calls.map((call, index) => {
      const body = messageOf(from + index, call);
      const headers = {
        host: `127.0.0.1:${port}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        authorization: `Bearer ${token}`,
        "content-length": String(Buffer.byteLength(body)),
        ...headersOf(call),
      };
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
      return `POST /mcp HTTP/1.1\r\n${lines.join("")}\r\n${body}`;
    });
    return new Promise((resolve, reject) => {
      const socket = connectSocket(port, "127.0.0.1", () => socket.write(texts.join("")));
      let text = "";
      socket.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
        const answers = text
          .split(/\r\n|HTTP\/1\.1 200 OK/)
          .filter((part) => part.startsWith("{"))
          .flatMap((part) => {
            try {
              return [JSON.parse(part) as RawMessage];
            } catch {
              return [];
            }
          });
        if (answers.length < calls.length) return;
        socket.destroy();
        resolve(answers);
      });
      socket.on("error", reject).on("end", () => reject(new Error(text)));
    });
  }

  test("a Read does not overtake an Edit", async () => {
    const served = await serve(workspace.path, ["--allow", "Edit"]);
    for (let id = 1; id <= 2; id += 1) {
      await ask(served, { headers: headersOf(read), body: messageOf(id, read) });
    }
    for (let round = 0; round < 5; round += 1) {
      const [from, to] = round % 2 === 0 ? ["alpha", "BETA"] : ["BETA", "alpha"];
      const change: Call = ["Edit", { file_path: "a.txt", old_string: `one ${from}`, new_string: `one ${to}` }];
      const answers = await pipelined(served, 10 * (round + 1), [change, read]);
      expect(answers.map(({ result }) => result?.["isError"] ?? false)).toEqual([false, false]);
      expect(textOf(answers[1] ?? {})).toContain(`one ${to}`);
    }
  });

  test("a Write of a new file, an Edit and a Read of it", async () => {
    const served = await serve(workspace.path, ["--allow", "Edit"]);
    const answers = await pipelined(served, 1, newFile("new/x.txt"));
    expect(answers.map(({ result }) => result?.["isError"] ?? false)).toEqual([false, false, false]);
    expect(textOf(answers[2] ?? {})).toContain("one BETA");
  });
});
