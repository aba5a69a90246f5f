/** The least that a server of the SDK does: one tool that gives back what it gets. `stdio`, or `http` on any port. */

import { createServer } from "node:http";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

const inputSchema = z.object({ text: z.string() });

const factory = () => {
  const server = new McpServer({ name: "echo", version: "1" });
  server.registerTool("echo", { description: "Gives back the text", inputSchema }, ({ text }) => ({
    content: [{ type: "text", text }],
  }));
  return server;
};

if (process.argv[2] === "http") {
  const handler = toNodeHandler(createMcpHandler(factory));
  /** @typedef {Parameters<typeof handler>[0]} Incoming  what Node hands over, with `method` and `url` said to be there */
  const server = createServer((req, res) => void handler(/** @type {Incoming} */ (req), res));
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    process.stderr.write(`port ${typeof address === "object" ? address?.port : ""}\n`);
  });
} else serveStdio(factory);
