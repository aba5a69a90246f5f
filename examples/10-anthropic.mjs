// @ts-check
// Tools for the Anthropic SDK's tool runner: ours, and its own text editor and memory tools, answered by Filehand.
// With a model: await client.beta.messages.toolRunner({ model, max_tokens, messages, tools: [...fileTools(session)] });

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runRunnableTool } from "@anthropic-ai/sdk/lib/tools/BetaRunnableTool";
import { createFilehand } from "filehand";
import { fileTools, memoryTool, textEditorTool } from "filehand/anthropic";

const folder = mkdtempSync(join(tmpdir(), "filehand-example-"));
const session = createFilehand({ roots: [folder], mode: "accept-edits" }).session({ dialect: "claude" });

/** What the runner does with a call. @param {ReturnType<typeof memoryTool>} tool @param {Record<string, unknown>} input */
async function call(tool, input) {
  const toolUse = /** @type {const} */ ({ type: "tool_use", id: "1", name: "tool", input });
  const { content, isError } = await runRunnableTool(tool, input, { toolUse, toolUseBlock: toolUse });
  const [block] = typeof content === "string" ? [{ type: "text", text: content }] : content;
  console.log(isError ? "no:" : "ok:", block && "text" in block ? block.text : "");
}

console.log(fileTools(session, { readOnly: true }).map((tool) => ("name" in tool ? tool.name : "")));

const editor = textEditorTool(session);
await call(editor, { command: "create", path: "poem.txt", file_text: "roses are red\nviolets are red\n" });
await call(editor, { command: "view", path: "poem.txt" });
await call(editor, { command: "insert", path: "poem.txt", insert_line: 1, insert_text: "(they are)" });
await call(editor, { command: "str_replace", path: "poem.txt", old_str: "are red", new_str: "are blue" });

const memory = memoryTool(session);
await call(memory, { command: "rename", old_path: "/memories/poem.txt", new_path: "/memories/old/poem.txt" });
await call(memory, { command: "view", path: "/memories" });

rmSync(folder, { recursive: true });
