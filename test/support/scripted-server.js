/**
 * A language server that says what a file tells it to, for answers that no good server would give. The file, named as the
 * first argument, has an object: a method, and either {"result"}, {"error"}, "silence", "crash" or "garbage".
 */

import { readFileSync } from "node:fs";

const script = () => JSON.parse(readFileSync(process.argv[2] ?? "", "utf8"));
const capabilities = Object.fromEntries(
  [
    "definition",
    "implementation",
    "references",
    "hover",
    "documentSymbol",
    "workspaceSymbol",
    "callHierarchy",
    "rename",
  ].map((name) => [`${name}Provider`, true]),
);

let buffer = Buffer.alloc(0);
process.stdin.on("data", (chunk) => {
  buffer = Buffer.concat([buffer, chunk]);
  for (;;) {
    const end = buffer.indexOf("\r\n\r\n");
    if (end === -1) return;
    const length = Number(/content-length: (\d+)/i.exec(buffer.subarray(0, end).toString("latin1"))?.[1]);
    if (buffer.length < end + 4 + length) return;
    const message = JSON.parse(buffer.subarray(end + 4, end + 4 + length).toString("utf8"));
    buffer = buffer.subarray(end + 4 + length);
    answer(message);
  }
});

/** @param {{ id?: number, method: string }} message */
function answer({ id, method }) {
  if (method === "exit") process.exit(0);
  if (id === undefined) return;
  const workspace = { fileOperations: { willRename: { filters: [] } } };
  if (method === "initialize") {
    return send({ id, result: { capabilities: { ...capabilities, workspace, textDocumentSync: 1 } } });
  }
  if (method === "shutdown") return send({ id, result: null });
  const said = script()[method] ?? { result: null };
  switch (said) {
    case "silence":
      return;
    case "crash":
      return process.exit(3);
    case "garbage":
      return process.stdout.write("this is no message\r\n\r\n{}");
    default:
      return send({ id, ...said });
  }
}

/** @param {object} message */
function send(message) {
  const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }));
  process.stdout.write(`Content-Length: ${body.length}\r\n\r\n`);
  process.stdout.write(body);
}
