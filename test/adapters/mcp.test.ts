/** The embedded MCP server, with the clients of the SDK: in memory, over stdio and over HTTP. */

import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { PassThrough } from "node:stream";
import {
  type Client,
  InMemoryTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";
import { describe, expect, onTestFinished, test } from "vitest";
import { createFilehand } from "../../src/index.ts";
import { createMcpServer, createQuestions, type FilehandMcpServer } from "../../src/surfaces/adapters/mcp.ts";
import { eras, newClient } from "../mcp/server.ts";
import { adapterFiles, describeAdapter } from "../suites/adapter.ts";
import { mcpDriver, seenOverMcp, toolkitOf } from "./mcp-driver.ts";

async function inMemory(server: FilehandMcpServer, client: Client): Promise<Client> {
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await server.connect(theirs);
  await client.connect(ours);
  onTestFinished(() => client.close());
  return client;
}

for (const era of eras) {
  describeAdapter(`MCP, ${era}`, {
    driver: (session) => mcpDriver(inMemory(createMcpServer(toolkitOf(session)), newClient(era))),
  });
}

const edit = { file_path: "notes.txt", old_string: "two", new_string: "2" };

describe.each(eras)("questions, %s", (era) => {
  test.each(["allow once", "reject"])("%s is what the person at the client decides", async (decision) => {
    const files = adapterFiles();
    const questions = createQuestions();
    const filehand = createFilehand({ roots: [files.top], ask: questions.ask });
    const client = newClient(era, { elicitation: { form: {} } });
    const asked: string[] = [];
    client.setRequestHandler("elicitation/create", ({ params }) => {
      asked.push(params.message);
      return { action: "accept", content: { decision } };
    });
    await inMemory(createMcpServer(filehand, { questions }), client);
    await client.callTool({ name: "Read", arguments: { file_path: "notes.txt" } });
    const { isError } = await client.callTool({ name: "Edit", arguments: edit });
    expect(asked).toEqual([expect.stringContaining("+2")]);
    expect(isError === true).toBe(decision === "reject");
    expect(readFileSync(files.path("notes.txt"), "utf8")).toBe(decision === "reject" ? "one\ntwo\n" : "one\n2\n");
  });

  test("over HTTP, each of two users has a conversation", async () => {
    const files = adapterFiles();
    const server = createMcpServer(createFilehand({ roots: [files.top], ask: "yes" }), { only: ["Read", "Edit"] });
    const http = createServer(
      (req, res) => void server.handleHttp(req, res, { principal: String(req.headers["x-user"]) }),
    );
    http.listen(0, "127.0.0.1");
    await once(http, "listening");
    onTestFinished(async () => {
      await server.close();
      http.closeAllConnections();
      http.close();
    });
    const { port } = http.address() as AddressInfo; // it listens on a port
    const connect = async (user: string): Promise<Client> => {
      const client = newClient(era);
      const requestInit = { headers: { "x-user": user } };
      await client.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}`), { requestInit }));
      onTestFinished(() => client.close());
      return client;
    };
    const [ann, bob] = [await connect("ann"), await connect("bob")];
    expect((await ann.listTools()).tools.map(({ name }) => name)).toEqual(["Read", "Edit"]);
    await ann.callTool({ name: "Read", arguments: { file_path: "notes.txt" } });
    expect(seenOverMcp(await bob.callTool({ name: "Edit", arguments: edit }))).toMatchObject({ failed: true });
    expect(seenOverMcp(await ann.callTool({ name: "Edit", arguments: edit }))).toMatchObject({ failed: false });
    expect(readFileSync(files.path("notes.txt"), "utf8")).toBe("one\n2\n");
  });

  test("over pipes, until the client ends its input", async () => {
    const [stdin, stdout] = [new PassThrough(), new PassThrough()];
    const server = createMcpServer(createFilehand({ roots: [adapterFiles().top] }));
    const served = server.serveStdio({ stdin, stdout });
    const client = newClient(era);
    await client.connect(pipeTransport(stdout, stdin));
    expect(seenOverMcp(await client.callTool({ name: "Read", arguments: { file_path: "notes.txt" } })).text).toContain(
      "two",
    );
    stdin.end();
    await served;
  });
});

test("questions of another making are refused", () => {
  const filehand = createFilehand({ roots: [adapterFiles().top] });
  const questions = { ask: async () => ({ reply: "once" as const }) };
  expect(() => createMcpServer(filehand, { questions })).toThrow("createQuestions() did not make them");
});

/** The client's end of two streams. */
function pipeTransport(from: PassThrough, to: PassThrough): Transport {
  const transport: Transport = {
    start: async () => {
      let rest = "";
      from.setEncoding("utf8").on("data", (chunk: string) => {
        const lines = (rest + chunk).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) transport.onmessage?.(JSON.parse(line));
      });
    },
    send: async (message) => void to.write(`${JSON.stringify(message)}\n`),
    close: async () => transport.onclose?.(),
  };
  return transport;
}
