// @ts-check
// Filehand instead of the built-in file tools of the Claude Agent SDK. ANTHROPIC_API_KEY is the key.

import { query } from "@anthropic-ai/claude-agent-sdk";
import { createFilehand } from "filehand";
import { fileOptions } from "filehand/claude-agent";

const filehand = createFilehand({ roots: [process.cwd()], mode: "accept-edits" });
const options = { ...fileOptions(filehand), settingSources: [], env: process.env };
for await (const message of query({ prompt: "What does the licence begin with?", options })) {
  if (message.type === "result" && message.subtype === "success") console.log(message.result);
}
