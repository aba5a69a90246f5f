// @ts-check
// The tools in the Vercel AI SDK's loop. The model is the SDK's own mock: put a real one in its place.

import { generateText, isStepCount } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { fileURLToPath } from "node:url";
import { createFilehand } from "filehand";
import { fileTools } from "filehand/ai-sdk";

const project = fileURLToPath(new URL("..", import.meta.url));
const session = createFilehand({ roots: [project], reminder: false }).session({ dialect: "claude" });

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};
/** @type {import("ai/test").MockLanguageModelV4["doGenerate"]} */
const says = async ({ prompt }) => {
  const answer = prompt.at(-1);
  if (answer?.role === "tool") {
    const [part] = answer.content;
    const text = part?.type === "tool-result" && part.output.type === "text" ? part.output.value : "";
    return {
      content: [{ type: "text", text: `I read: ${text}` }],
      finishReason: { unified: "stop", raw: undefined },
      usage,
      warnings: [],
    };
  }
  const input = JSON.stringify({ file_path: "LICENSE", limit: 1 });
  return {
    content: [{ type: "tool-call", toolCallId: "1", toolName: "Read", input }],
    finishReason: { unified: "tool-calls", raw: undefined },
    usage,
    warnings: [],
  };
};

const { text } = await generateText({
  model: new MockLanguageModelV4({ doGenerate: says }),
  tools: fileTools(session, { readOnly: true }),
  stopWhen: isStepCount(5),
  prompt: "What does the licence begin with?",
});
console.log(text);
