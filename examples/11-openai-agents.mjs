// @ts-check
// The tools and the patch editor in OpenAI Agents. The model is a few lines of script: leave it out for a real one.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, applyPatchTool, Runner, Usage } from "@openai/agents";
import { createFilehand } from "filehand";
import { fileTools, patchEditor } from "filehand/openai-agents";

const folder = mkdtempSync(join(tmpdir(), "filehand-example-"));
const session = createFilehand({ roots: [folder], mode: "accept-edits" }).session({ dialect: "claude" });

/** @type {import("@openai/agents").ModelResponse["output"][]} */
const script = [
  [
    {
      type: "apply_patch_call",
      callId: "1",
      status: "completed",
      operation: { type: "create_file", path: "hello.txt", diff: "+hello\n+world\n" },
    },
  ],
  [{ type: "function_call", callId: "2", name: "Read", status: "completed", arguments: '{"file_path":"hello.txt"}' }],
  [
    {
      type: "message",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: "Written and read." }],
    },
  ],
];
/** @type {import("@openai/agents").Model} */
const model = {
  getResponse: async () => ({ usage: new Usage(), output: script.shift() ?? [] }),
  getStreamedResponse: () => {
    throw new Error("this script does not stream");
  },
};

const agent = new Agent({
  name: "writer",
  model,
  tools: [...fileTools(session), applyPatchTool({ editor: patchEditor(session) })],
});
const { finalOutput } = await new Runner({ tracingDisabled: true }).run(agent, "Write a greeting.");
console.log(finalOutput, JSON.stringify(readFileSync(join(folder, "hello.txt"), "utf8")));

rmSync(folder, { recursive: true });
