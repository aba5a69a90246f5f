// @ts-check
// Filehand's tools in an agent of Mastra. MODEL_URL is any server that speaks OpenAI's chat completions, such as Ollama.

import { Agent } from "@mastra/core/agent";
import { createFilehand } from "filehand";
import { fileTools } from "filehand/mastra";

const session = createFilehand({ roots: [process.cwd()], reminder: false }).session({ dialect: "claude" });
const agent = new Agent({
  id: "files",
  name: "files",
  instructions: "Answer in one sentence.",
  model: { id: "local/model", url: process.env["MODEL_URL"] ?? "http://127.0.0.1:11434/v1", apiKey: "none" },
  tools: fileTools(session, { readOnly: true }),
});
const { text } = await agent.generate("What does the licence begin with?");
console.log(text);
