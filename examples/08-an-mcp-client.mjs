// @ts-check
// What an agent does with `filehand mcp`: a real MCP client starts the server, reads, and changes a file after a question.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const root = mkdtempSync(join(tmpdir(), "filehand-"));
writeFileSync(join(root, "port.js"), "export const port = 80;\n");

const client = new Client({ name: "example", version: "1" }, { capabilities: { elicitation: { form: {} } } });
// The person behind the client: shown what would be done, and content with it.
client.setRequestHandler("elicitation/create", ({ params }) => {
  console.log(`asked: ${shown(params.message)}`);
  return { action: "accept", content: { decision: "allow once" } };
});

const program = fileURLToPath(new URL("../dist/filehand.cjs", import.meta.url));
await client.connect(
  new StdioClientTransport({
    command: process.execPath,
    args: [program, "mcp", root, "--state-dir", join(root, ".state")],
    stderr: "ignore", // the log
  }),
);
const { tools } = await client.listTools();
const wanted = tools.map(({ name }) => name).filter((name) => ["Read", "Edit", "Write"].includes(name));
console.log(`tools: ${wanted.join(", ")} and others`);
await call("Read", { file_path: "port.js" });
await call("Edit", { file_path: "port.js", old_string: "port = 80", new_string: "port = 8080" });
await call("Read", { file_path: "../secrets.txt" });
console.log(`port.js: ${readFileSync(join(root, "port.js"), "utf8").trimEnd()}`);
await client.close();
rmSync(root, { recursive: true });

/** @param {string} name @param {Record<string, unknown>} input */
async function call(name, input) {
  const { content, isError } = await client.callTool({ name, arguments: input });
  const [first] = content;
  const text = first?.type === "text" ? first.text : "";
  console.log(`${name}${isError === true ? " refused" : ""}: ${shown(text.split("\n\n")[0] ?? "")}`);
}

/** @param {string} text */
function shown(text) {
  return text.replaceAll(root, "/workspace").trimEnd();
}
