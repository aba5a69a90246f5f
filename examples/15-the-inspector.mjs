// @ts-check
// What a person sees of an agent: a server with its inspector, and a first session to look at. On a terminal it goes on serving
// until Ctrl-C (elsewhere with --stay), so that the page can be opened; in a script it ends by itself.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const stays = (process.stdin.isTTY && process.stdout.isTTY) || process.argv.includes("--stay");
const root = mkdtempSync(join(tmpdir(), "filehand-"));
mkdirSync(join(root, "src"));
writeFileSync(join(root, "README.md"), "# A small project\n\nIt listens on port 80.\n");
writeFileSync(join(root, "src/port.js"), "// Where the server listens.\nexport const port = 80;\n");
writeFileSync(join(root, ".env"), "TOKEN=nobody-shall-see-this\n");

const program = fileURLToPath(new URL("../dist/filehand.cjs", import.meta.url));
const options = ["--port", "0", "--allow", "Edit", "--deny", "Read(.env)", "--state-dir", join(root, ".state")];
const server = spawn(process.execPath, [program, "serve", root, ...options], { stdio: ["ignore", "pipe", "pipe"] });
process.once("SIGINT", () => server.kill());
const ended = once(server, "close");
const address = wordIn(server.stdout, /The inspector: (\S+)/);
const token = await wordIn(server.stderr, /token of this run is (\S+)/);
const mcp = new URL("/mcp", await address);

const client = new Client({ name: "example", version: "1" });
await client.connect(
  new StreamableHTTPClientTransport(mcp, { requestInit: { headers: { authorization: `Bearer ${token}` } } }),
);
await call("Grep", { pattern: "port", output_mode: "content" });
await call("Read", { file_path: "src/port.js" });
await call("Edit", { file_path: "src/port.js", old_string: "port = 80", new_string: "port = 8080" });
await call("Edit", { file_path: "src/port.js", old_string: "port = 443", new_string: "port = 8443" });
await call("Read", { file_path: "README.md" });
await call("Read", { file_path: "README.md" });
await call("Write", { file_path: "NOTES.md", content: "The port is 8080 now.\n" });
await call("Read", { file_path: ".env" });
await client.close();

console.log("\nA first session to look at (timeline, diffs, history, usage, files):");
console.log(`  ${await address}`);
if (stays) {
  console.log("Open it in a browser; the key in it works once. Ctrl-C ends the server.");
} else {
  console.log("On a terminal the server would stay for you to look; here it ends now.");
  server.kill();
}
await ended;
rmSync(root, { recursive: true });

/** @param {string} name @param {Record<string, string>} input */
async function call(name, input) {
  const { isError } = await client.callTool({ name, arguments: input });
  console.log(`${name} ${input["file_path"] ?? input["pattern"]}: ${isError === true ? "refused" : "done"}`);
}

/**
 * The first group of the first match in what a program prints.
 * @param {import("node:stream").Readable} stream @param {RegExp} pattern @returns {Promise<string>}
 */
function wordIn(stream, pattern) {
  return new Promise((resolve, reject) => {
    let text = "";
    stream.setEncoding("utf8").on("data", (chunk) => {
      text += chunk;
      const found = pattern.exec(text)?.[1];
      if (found !== undefined) resolve(found);
    });
    stream.once("end", () => reject(new Error(`the server ended: ${text}`)));
  });
}
