// @ts-check
// The client side of the Agent Client Protocol: an agent asks for files, Filehand answers. Agent and client are both here.

import { fileURLToPath } from "node:url";
import { agent, client } from "@agentclientprotocol/sdk";
import { createFilehand } from "filehand";
import { clientFiles } from "filehand/acp";

const project = fileURLToPath(new URL("..", import.meta.url));
const files = clientFiles(createFilehand({ roots: [project] }));

const editor = client({ name: "editor" })
  .onRequest("fs/read_text_file", files.readTextFile)
  .onRequest("fs/write_text_file", files.writeTextFile);

const program = agent({ name: "agent" }).onRequest("initialize", async ({ client: asked, params }) => {
  const read = (/** @type {string} */ path) =>
    asked.request("fs/read_text_file", { sessionId: "1", path, line: 1, limit: 2 });
  console.log(JSON.stringify((await read(`${project}LICENSE`)).content));
  await read(`${project}LICENCE`).catch(({ code, data }) => console.log(code, data.code));
  return { protocolVersion: params.protocolVersion, agentCapabilities: {} };
});

await editor.connectWith(program, (connected) =>
  connected.request("initialize", { protocolVersion: 1, clientCapabilities: files.capabilities }),
);
