/** The examples for agent frameworks: each fits its framework's own types, and runs with a model that is a script on this machine. */

import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { project, run, temporaryFolder } from "../ends/run.ts";
import { hosts, startApi } from "./hosts.ts";

/** The examples import Filehand as a user does. */
beforeAll(() => {
  const link = join(hosts, "node_modules/filehand");
  if (!existsSync(link)) symlinkSync(project, link, "junction");
});

test("the examples fit the frameworks' types", async () => {
  const compiler = join(project, "node_modules/.bin/tsc");
  expect(await run(compiler, ["--noEmit", "-p", hosts], { cwd: project })).toEqual({ code: 0, stdout: "", stderr: "" });
});

const begin = "1\tMIT License\n\n[21 lines]";
const question = { file_path: "LICENSE", limit: 1 };

const json = (res: ServerResponse, body: object): void =>
  void res.setHeader("content-type", "application/json").end(JSON.stringify(body));

/** The model reads the licence, and says what it got. */
const runExample = (name: string, env: Record<string, string> = {}) =>
  run(process.execPath, [join(hosts, name)], { cwd: project, env });

test("Google Gen AI", async () => {
  const url = await startApi((text, res) => {
    const { contents } = JSON.parse(text) as { contents: { parts: { functionResponse?: { response: object } }[] }[] };
    const response = contents.at(-1)?.parts[0]?.functionResponse?.response;
    const call = { functionCall: { name: "Read", args: question } };
    const parts = [response === undefined ? call : { text: `I read: ${JSON.stringify(response)}` }];
    json(res, { candidates: [{ content: { role: "model", parts } }] });
  });
  const env = { GEMINI_API_KEY: "none", GOOGLE_GEMINI_BASE_URL: url };
  const ran = await runExample("google-genai.mjs", env);
  expect(ran).toMatchObject({ code: 0, stdout: `I read: ${JSON.stringify({ output: begin })}\n` });
});

test("Mastra", async () => {
  const url = await startApi((text, res) => {
    const { messages, stream } = JSON.parse(text) as {
      messages: { role: string; content: unknown }[];
      stream?: boolean;
    };
    const last = messages.at(-1);
    const call = {
      index: 0,
      id: "c",
      type: "function",
      function: { name: "Read", arguments: JSON.stringify(question) },
    };
    const said =
      last?.role === "tool"
        ? { role: "assistant", content: `I read: ${String(last.content)}` }
        : { role: "assistant", content: null, tool_calls: [call] };
    const reason = { index: 0, finish_reason: last?.role === "tool" ? "stop" : "tool_calls" };
    const shared = { id: "1", model: "model", created: 1, usage: { prompt_tokens: 1, completion_tokens: 1 } };
    if (stream !== true) return json(res, { ...shared, choices: [{ ...reason, message: said }] });
    const chunk = JSON.stringify({ ...shared, choices: [{ ...reason, delta: said }] });
    res.setHeader("content-type", "text/event-stream").end(`data: ${chunk}\n\ndata: [DONE]\n\n`);
  });
  const ran = await runExample("mastra.mjs", { MODEL_URL: `${url}/v1`, MASTRA_TELEMETRY_DISABLED: "1" });
  expect(ran).toMatchObject({ code: 0, stdout: `I read: ${begin}\n` });
});

test("LlamaIndex", async () => {
  const ran = await runExample("llamaindex.mjs");
  expect(ran).toMatchObject({ code: 0, stdout: `I read: ${begin}\n` });
});

/** What the extension uses of VS Code, and a chat that reads, edits and is cancelled. */
const editor = `
const tools = new Map();
class LanguageModelTextPart { constructor(value) { this.value = value; } }
class LanguageModelToolResult { constructor(content) { this.content = content; } }
const LanguageModelDataPart = { image: (data, mimeType) => ({ mimeType, bytes: data.length }) };
module.exports = {
  tools, LanguageModelTextPart, LanguageModelToolResult, LanguageModelDataPart,
  lm: { registerTool: (name, tool) => (tools.set(name, tool), { dispose: () => tools.delete(name) }) },
  workspace: { workspaceFolders: [{ uri: { fsPath: process.cwd() } }] },
};
`;
const chat = `
const vscode = require("vscode");
const extension = require(process.argv[2] + "/extension.cjs");
const subscriptions = [];
extension.activate({ subscriptions, extension: { packageJSON: require(process.argv[2] + "/package.json") } });
const going = { onCancellationRequested: () => undefined };
const stopped = { onCancellationRequested: (listener) => listener() };
const call = async (tool, input, token = going) => {
  const { prepareInvocation, invoke } = vscode.tools.get(tool);
  const asked = await prepareInvocation({ input });
  console.log(asked?.confirmationMessages.title ?? "not asked");
  const { content } = await invoke({ input }, token);
  console.log(content.map((part) => part.value ?? part.mimeType).join());
};
(async () => {
  await call("filehand_Read", { file_path: "a.txt" });
  await call("filehand_Edit", { file_path: "a.txt", old_string: "one", new_string: "two" });
  await call("filehand_Write", { file_path: "b.txt", content: "" }, stopped);
  console.log([...vscode.tools.keys()].length === subscriptions.length);
})();
`;

test("VS Code: the extension registers what its manifest lists, asks in the chat, and can be cancelled", async () => {
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  const modules = join(folder.path, "modules");
  mkdirSync(join(modules, "vscode"), { recursive: true });
  writeFileSync(join(modules, "vscode/index.js"), editor);
  writeFileSync(join(folder.path, "chat.cjs"), chat);
  writeFileSync(join(folder.path, "a.txt"), "one\n");
  const args = [join(folder.path, "chat.cjs"), join(hosts, "vscode")];
  const { stdout, stderr, code } = await run(process.execPath, args, { cwd: folder.path, env: { NODE_PATH: modules } });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout.split("\n")).toEqual([
    "not asked",
    "1\tone",
    'Edit "a.txt"?',
    'Edited "a.txt": 1 replacement at line 1 (+1 -1).',
    'Write "b.txt"?',
    expect.stringContaining("was cancelled, nothing was changed"),
    "true",
    "",
  ]);
  expect(readFileSync(join(folder.path, "a.txt"), "utf8")).toBe("two\n");
});
