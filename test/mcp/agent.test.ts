/**
 * A real agent program and a model that is a script: it asks for tools of our server and for its own shell, and is told what came of it.
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
import { commandLine, run, temporaryFolder } from "../ends/run.ts";
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

interface Place {
  readonly folder: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string>>;
}

function place(): Place {
  const folder = temporaryFolder();
  const home = temporaryFolder();
  onTestFinished(() => {
    folder.remove();
    home.remove();
  });
  return { folder: folder.path, home: home.path, env: serverEnvironment(home) };
}

/** Runs Claude Code with our server until the model has done its steps; what each of them came to. */
async function runClaudeCode(
  { folder, home, env: own }: Place,
  steps: readonly Step[],
  { allowed, settings = {} }: { readonly allowed: string; readonly settings?: object },
): Promise<readonly { readonly text: string; readonly failed: boolean }[]> {
  const model = await startModel(steps);
  const server = { command: process.execPath, args: [commandLine, "mcp", folder, "--allow", "Edit"] };
  const [config, settingsFile] = [join(home, "mcp.json"), join(home, "settings.json")];
  fs.writeFileSync(config, JSON.stringify({ mcpServers: { files: server } }));
  fs.writeFileSync(settingsFile, JSON.stringify(settings));
  const env = {
    ...own,
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_API_KEY: "none",
    DISABLE_TELEMETRY: "1",
    DISABLE_AUTOUPDATER: "1",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    ENABLE_TOOL_SEARCH: "false",
    NO_PROXY: "127.0.0.1",
  };
  const args = ["-p", "go", "--mcp-config", config, "--strict-mcp-config", "--settings", settingsFile];
  const more = ["--allowedTools", allowed, "--output-format", "json"];
  const running = promisify(execFile)(program ?? "", [...args, ...more], { cwd: folder, env });
  running.child.stdin?.end();
  const { stdout } = await running;
  expect(JSON.parse(stdout)).toMatchObject({ is_error: false, result: "done" });
  return model.results().map(({ content, is_error }) => ({
    text: JSON.stringify(content),
    failed: is_error === true,
  }));
}

const ours = (name: string, input: object): Step => ({ name: `mcp__files__${name}`, input });

test.skipIf(program === undefined)("Claude Code reads and edits a file through our server", async () => {
  const at = place();
  const file = join(at.folder, "a.txt");
  fs.writeFileSync(file, "one\r\ntwo\r\n");
  const steps = [
    ours("Read", { file_path: file }),
    ours("Edit", { file_path: file, old_string: "two", new_string: "three" }),
    ours("Read", { file_path: join(at.folder, "b.txt") }),
  ];
  const [read, edit, missing] = await runClaudeCode(at, steps, { allowed: "mcp__files" });
  expect(fs.readFileSync(file, "utf8")).toBe("one\r\nthree\r\n");
  expect(read).toMatchObject({ failed: false, text: expect.stringContaining("1\\tone\\n2\\ttwo") });
  expect(edit).toMatchObject({ failed: false, text: expect.stringContaining("1 replacement at line 2") });
  expect(missing).toMatchObject({ failed: true, text: expect.stringContaining("a.txt") });
});

test.skipIf(program === undefined)(
  "what Claude Code deletes by its shell comes back by filehand undo, and what its shell shows counts as read",
  async () => {
    const at = place();
    const files = (): Readonly<Record<string, string>> =>
      Object.fromEntries(
        fs
          .readdirSync(at.folder, { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isFile())
          .map(({ parentPath, name }) => join(parentPath, name))
          .toSorted()
          .map((path) => [path.slice(at.folder.length + 1), fs.readFileSync(path, "utf8")]),
      );
    fs.mkdirSync(join(at.folder, "src/deep"), { recursive: true });
    for (let number = 1; number <= 30; number += 1) {
      fs.writeFileSync(join(at.folder, number % 2 === 0 ? "src" : "src/deep", `f${number}.txt`), `file ${number}\n`);
    }
    fs.writeFileSync(join(at.folder, "a.txt"), "one\ntwo\nthree\n");
    const before = files();
    const hooks = [{ type: "command", command: `"${process.execPath}" "${commandLine}" hook claude-code` }];
    const around = [{ matcher: "Bash", hooks }];
    const settings = {
      hooks: { PreToolUse: around, PostToolUse: around, PostToolUseFailure: around, Stop: [{ hooks }] },
    };
    const bash = (command: string): Step => ({ name: "Bash", input: { command, description: "a step" } });
    const removal = "rm -rf src && echo new > new.txt";
    const steps = [
      bash(removal),
      bash("cat a.txt"),
      // Never read by a tool of ours.
      ours("Edit", { file_path: join(at.folder, "a.txt"), old_string: "two", new_string: "2" }),
    ];
    const results = await runClaudeCode(at, steps, { allowed: "Bash,mcp__files", settings });
    expect(results.map(({ failed, text }) => (failed ? text : "done"))).toEqual(["done", "done", "done"]);
    const edited = { "a.txt": "one\n2\nthree\n", "new.txt": "new\n" };
    expect(files()).toEqual(edited);

    const filehand = (...args: readonly string[]) =>
      run(process.execPath, [commandLine, ...args], { cwd: at.folder, env: at.env });
    const { stdout } = await filehand("history");
    expect(stdout).toContain(removal);
    expect(stdout).toContain("Claude Code");
    for (const left of [{ ...edited, "a.txt": "one\ntwo\nthree\n" }, before]) {
      const undone = await filehand("undo", "--yes");
      expect(undone.code, undone.stderr).toBe(0);
      expect(files()).toEqual(left);
    }
    expect((await filehand("redo", "--yes")).code).toBe(0);
    expect(files()).toEqual({ ...edited, "a.txt": "one\ntwo\nthree\n" });
  },
  120_000,
);
