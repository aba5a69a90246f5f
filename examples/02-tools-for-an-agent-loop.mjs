// @ts-check
// Hands the tools to an agent loop: name, description and JSON schema go to the model, its calls come back.

import { fileURLToPath } from "node:url";
import { createFilehand } from "filehand";

const project = fileURLToPath(new URL("..", import.meta.url));
const session = createFilehand({ roots: [project], reminder: false }).session();

const tools = session.definitions();
for (const { name, description, inputSchema } of tools) {
  console.log(`${name}(${Object.keys(inputSchema.properties ?? {}).join(", ")}): ${description.split("\n")[0]}`);
}

// What a model might send. A bad call is answered like any other, so the loop needs no try.
const calls = [
  { name: "Read", input: { file_path: "LICENSE", limit: "1" } },
  { name: "Read", input: { path: "LICENSE" } },
  { name: "Bash", input: { command: "cat LICENSE" } },
];
for (const call of calls) {
  const reply = await session.call(call.name, call.input);
  for (const part of reply.content)
    if (part.type === "text") console.log(`${reply.isError ? "no" : "ok"}: ${part.text}`);
}
