// @ts-check
// The tools in LangChain: bind them to a chat model, or call them as here.

import { fileURLToPath } from "node:url";
import { createFilehand } from "filehand";
import { fileTools } from "filehand/langchain";

const project = fileURLToPath(new URL("..", import.meta.url));
const session = createFilehand({ roots: [project], reminder: false }).session({ dialect: "claude" });
const [read] = fileTools(session, { only: ["Read"] });

// As a model calls it: the answer is a message, also for a failure.
for (const args of [{ file_path: "LICENSE", limit: 1 }, { path: "LICENSE" }]) {
  const message = await read?.invoke({ type: "tool_call", id: "1", name: "Read", args });
  console.log(message.status, message.text);
}

// As a program calls it: the answer is its content.
console.log(await read?.invoke({ file_path: "LICENSE", offset: 3, limit: 1 }));
