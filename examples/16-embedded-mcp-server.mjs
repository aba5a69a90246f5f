// @ts-check
// The MCP server inside your own program, with a client in the same process: no port, no child process.

import { fileURLToPath } from "node:url";
import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import { createFilehand } from "filehand";
import { createMcpServer } from "filehand/mcp";

const filehand = createFilehand({ roots: [fileURLToPath(new URL("..", import.meta.url))], reminder: false });
const server = createMcpServer(filehand, { readOnly: true });

const [here, there] = InMemoryTransport.createLinkedPair();
await server.connect(there);
const client = new Client({ name: "example", version: "1" });
await client.connect(here);

console.log((await client.listTools()).tools.map(({ name }) => name).join(", "));
const { content } = await client.callTool({ name: "Read", arguments: { file_path: "LICENSE", limit: 1 } });
console.log(content[0]?.type === "text" ? content[0].text : "");
await client.close();
