/**
 * A real agent program and a model that is a script: it asks for Read and Edit of our server, and is told what came of it.
 * Only in the long test (`npm run test:clients`), which installs the program.
 */

import { execFile } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { commandLine, temporaryFolder } from "../ends/run.ts";
import { serverEnvironment } from "./server.ts";

/** Where Claude Code is. */
const program = process.env["FILEHAND_AGENT_CLI"];

interface Block {
  readonly type: string;
  readonly is_error?: boolean;
  readonly content?: unknown;
}

interface Asked {
  readonly stream?: boolean;
  readonly tools?: readonly { readonly name: string }[];
  readonly messages: readonly { readonly content: string | readonly Block[] }[];
}

interface Step {
  readonly name: string;
  readonly input: object;
}

/** Answers with the step that comes after as many results as there are already; at the end with a word. */
async function startModel(steps: readonly Step[]): Promise<{ url: string; results: () => readonly Block[] }> {
  let results: readonly Block[] = [];
  const server = createServer((req, res) => {
    void bodyOf(req).then((text) => {
      if (!req.url?.startsWith("/v1/messages")) return reply(res, {});
      if (req.url.includes("count_tokens")) return reply(res, { input_tokens: 10 });
      const asked = JSON.parse(text) as Asked;
      const offered = asked.tools?.some(({ name }) => name === steps[0]?.name) ?? false;
      const blocks = asked.messages.flatMap(({ content }) => (typeof content === "string" ? [] : content));
      const sofar = blocks.filter(({ type }) => type === "tool_result");
      if (offered) results = sofar;
      // Without our tools it is a question of the program's own, such as for a title.
      const step = offered ? steps[sofar.length] : undefined;
      return answer(res, asked.stream === true, step, sofar.length);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo; // it listens on a port
  return { url: `http://127.0.0.1:${port}`, results: () => results };
}

async function bodyOf(req: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of req.setEncoding("utf8")) text += String(chunk);
  return text;
}

const reply = (res: ServerResponse, body: object): void => {
  res.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
};

function answer(res: ServerResponse, stream: boolean, step: Step | undefined, number: number): void {
  const usage = { input_tokens: 10, output_tokens: 10 };
  const id = `toolu_${number}`;
  const block = step === undefined ? { type: "text", text: "done" } : { type: "tool_use", id, ...step };
  const stop_reason = step === undefined ? "end_turn" : "tool_use";
  const message = { id: `msg_${number}`, type: "message", role: "assistant", model: "scripted", usage };
  if (!stream) return reply(res, { ...message, content: [block], stop_reason, stop_sequence: null });
  const started = step === undefined ? { type: "text", text: "" } : { ...block, input: {} };
  const delta =
    step === undefined
      ? { type: "text_delta", text: "done" }
      : { type: "input_json_delta", partial_json: JSON.stringify(step.input) };
  res.writeHead(200, { "content-type": "text/event-stream" });
  for (const event of [
    { type: "message_start", message: { ...message, content: [], stop_reason: null, stop_sequence: null } },
    { type: "content_block_start", index: 0, content_block: started },
    { type: "content_block_delta", index: 0, delta },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage },
    { type: "message_stop" },
  ]) {
    res.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  }
  res.end();
}

test.skipIf(program === undefined)("Claude Code reads and edits a file through our server", async () => {
  const folder = temporaryFolder();
  const home = temporaryFolder();
  onTestFinished(() => {
    folder.remove();
    home.remove();
  });
  const file = join(folder.path, "a.txt");
  fs.writeFileSync(file, "one\r\ntwo\r\n");
  const tool = (name: string, input: object): Step => ({ name: `mcp__files__${name}`, input });
  const model = await startModel([
    tool("Read", { file_path: file }),
    tool("Edit", { file_path: file, old_string: "two", new_string: "three" }),
    tool("Read", { file_path: join(folder.path, "b.txt") }),
  ]);
  const server = { command: process.execPath, args: [commandLine, "mcp", folder.path, "--allow", "Edit"] };
  const config = join(home.path, "mcp.json");
  fs.writeFileSync(config, JSON.stringify({ mcpServers: { files: server } }));
  const env = {
    ...serverEnvironment(home),
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_API_KEY: "none",
    DISABLE_TELEMETRY: "1",
    DISABLE_AUTOUPDATER: "1",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    ENABLE_TOOL_SEARCH: "false",
    NO_PROXY: "127.0.0.1",
  };
  const args = ["-p", "go", "--mcp-config", config, "--strict-mcp-config", "--allowedTools", "mcp__files"];
  const running = promisify(execFile)(program ?? "", [...args, "--output-format", "json"], { cwd: folder.path, env });
  running.child.stdin?.end();
  const { stdout } = await running;
  expect(JSON.parse(stdout)).toMatchObject({ is_error: false, result: "done" });
  expect(fs.readFileSync(file, "utf8")).toBe("one\r\nthree\r\n");
  const [read, edit, missing] = model.results().map(({ content, is_error }) => ({
    text: JSON.stringify(content),
    failed: is_error === true,
  }));
  expect(read).toMatchObject({ failed: false, text: expect.stringContaining("1\\tone\\n2\\ttwo") });
  expect(edit).toMatchObject({ failed: false, text: expect.stringContaining("1 replacement at line 2") });
  expect(missing).toMatchObject({ failed: true, text: expect.stringContaining("a.txt") });
});
