/**
 * The Claude Agent SDK over our tools. The SDK is the real one; the program that it starts, which is 350 MB large, is played here: it
 * speaks the SDK's control protocol. The long test (`npm run test:clients`) runs the last test with the real program.
 */

import { EventEmitter } from "node:events";
import { readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import type { Client, Transport } from "@modelcontextprotocol/client";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { createFilehand } from "../../src/index.ts";
import { type ClaudeAgentOptions, fileOptions, type Permission } from "../../src/surfaces/adapters/claude-agent.ts";
import type { Filehand } from "../../src/options.ts";
import { environment, temporaryFolder } from "../ends/run.ts";
import { newClient } from "../mcp/server.ts";
import { adapterFiles, describeAdapter, sessionIn } from "../suites/adapter.ts";
import { loadHost, startApi } from "./hosts.ts";
import { mcpDriver, toolkitOf } from "./mcp-driver.ts";

type Json = Readonly<Record<string, unknown>>;
interface Query extends AsyncIterable<Json> {
  close(): void;
}
const { query } = await loadHost<{ query: (params: { prompt: unknown; options: object }) => Query }>(
  "@anthropic-ai/claude-agent-sdk/sdk.mjs",
);

/** Plays the program: what it asks of the SDK. */
function startStandIn(options: object) {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const waiting = new Map<string, (response: Json) => void>();
  const write = (message: object): void => void stdout.write(`${JSON.stringify(message)}\n`);
  let rest = "";
  stdin.setEncoding("utf8").on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const { type, request_id, response } = JSON.parse(line) as Json;
      // The SDK's first message starts the program.
      if (type === "control_request") {
        write({ type: "control_response", response: { subtype: "success", request_id, response: { commands: [] } } });
      }
      if (type !== "control_response") continue;
      const answer = response as Json;
      waiting.get(String(answer["request_id"]))?.(answer);
      waiting.delete(String(answer["request_id"]));
    }
  });
  stdin.on("end", () => program.kill());
  const program = Object.assign(new EventEmitter(), {
    stdin,
    stdout,
    killed: false,
    exitCode: null,
    kill: () => {
      stdout.end();
      program.emit("exit", 0, null);
      return true;
    },
  });
  const running = query({
    prompt: (async function* () {
      await new Promise(() => undefined);
      yield {};
    })(),
    // The SDK looks for its program even if it does not start it.
    options: { ...options, pathToClaudeCodeExecutable: process.execPath, spawnClaudeCodeProcess: () => program },
  });
  const messages = (async () => {
    for await (const message of running) void message;
  })();
  onTestFinished(async () => {
    running.close();
    await messages.catch(() => undefined);
  });
  let asked = 0;
  return {
    request: async (request: object): Promise<Json> => {
      const request_id = `request-${(asked += 1)}`;
      const answer = new Promise<Json>((resolve) => waiting.set(request_id, resolve));
      write({ type: "control_request", request_id, request });
      const { subtype, response, error } = await answer;
      if (subtype !== "success") throw new Error(String(error));
      return response as Json;
    },
  };
}

type StandIn = ReturnType<typeof startStandIn>;

/** The program's MCP client: its messages travel inside those of the control protocol. */
async function clientOf(standIn: StandIn): Promise<Client> {
  const transport: Transport = {
    start: async () => undefined,
    send: async (message) => {
      const answer = standIn.request({ subtype: "mcp_message", server_name: "files", message });
      if (!("id" in message)) return;
      void answer.then(
        ({ mcp_response }) => transport.onmessage?.(mcp_response as never), // a message of JSON-RPC
        (error: Error) => transport.onerror?.(error),
      );
    },
    close: async () => transport.onclose?.(),
  };
  const client = newClient("legacy");
  await client.connect(transport);
  return client;
}

describeAdapter("Claude Agent SDK", {
  driver: (session) => mcpDriver(clientOf(startStandIn(fileOptions(toolkitOf(session))))),
});

const mayUse = (standIn: StandIn, tool_name: string): Promise<Json> =>
  standIn.request({ subtype: "can_use_tool", tool_name, input: { file_path: "a" }, tool_use_id: "call-1" });

describe("permission", () => {
  const allowed = { behavior: "allow", updatedInput: { file_path: "a" } };
  const toolkit = (): Filehand => toolkitOf(sessionIn(adapterFiles()));

  test("is not asked for our tools, whose files the rules decide about, and refused for others", async () => {
    const standIn = startStandIn(fileOptions(toolkit()));
    expect(await mayUse(standIn, "mcp__files__Edit")).toMatchObject(allowed);
    expect(await mayUse(standIn, "mcp__other__Edit")).toMatchObject({ behavior: "deny" });
    expect(await mayUse(standIn, "Bash")).toMatchObject({
      behavior: "deny",
      message: "Cannot use Bash: nobody is connected who could approve it",
    });
  });

  test("is the program's decision about other tools, and about ours where it wants that", async () => {
    const canUseTool = vi.fn(
      async (): Promise<Permission> => ({ behavior: "deny", message: "No" }),
    ) satisfies ClaudeAgentOptions<unknown>["canUseTool"];
    const standIn = startStandIn(fileOptions(toolkit(), { canUseTool, needsApproval: "changes" }));
    expect(await mayUse(standIn, "mcp__files__Read")).toMatchObject(allowed);
    expect(await mayUse(standIn, "mcp__files__Edit")).toMatchObject({ message: "No" });
    expect(await mayUse(standIn, "Bash")).toMatchObject({ message: "No" });
    expect(canUseTool).toHaveBeenCalledWith("Bash", { file_path: "a" }, expect.anything());
  });
});

test("the built-in names are those that the dialect has", () => {
  const { toolAliases, disallowedTools, mcpServers } = fileOptions(toolkitOf(sessionIn(adapterFiles())), {
    name: "here",
    only: ["Read", "Edit", "Move"],
  });
  expect(toolAliases).toEqual({ Read: "mcp__here__Read", Edit: "mcp__here__Edit" });
  expect(disallowedTools).toEqual(["Read", "Edit"]);
  expect(Object.keys(mcpServers)).toEqual(["here"]);
});

/** The folder of `npm run test:clients`. */
const programs = process.env["FILEHAND_CLIENTS"];

describe.runIf(programs !== undefined)("the real program", () => {
  test("answers Read, Edit and Bash of the model by our tools, after our question, and not at all", async () => {
    const files = adapterFiles();
    const home = temporaryFolder();
    onTestFinished(() => home.remove());
    const model = await startModel([
      ["Read", { file_path: "notes.txt" }],
      ["Edit", { file_path: "notes.txt", old_string: "two", new_string: "2" }],
      ["Bash", { command: "touch made" }],
    ]);
    const asked: string[] = [];
    const filehand = createFilehand({
      roots: [files.top],
      ask: async ({ metadata }) => {
        asked.push(String(metadata["diff"]));
        return { reply: "once" };
      },
    });
    const env = environment({
      HOME: home.path,
      ANTHROPIC_BASE_URL: model.url,
      ANTHROPIC_API_KEY: "none",
      DISABLE_TELEMETRY: "1",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    });
    const folder = join(programs ?? "", "claude-code/node_modules/@anthropic-ai");
    const pathToClaudeCodeExecutable = join(folder, `claude-code-${process.platform}-${process.arch}`, "claude");
    const options = { cwd: files.top, settingSources: [], model: "claude-sonnet-4-5", pathToClaudeCodeExecutable, env };
    for await (const message of query({ prompt: "go", options: { ...fileOptions(filehand), ...options } }))
      void message;
    const results = model.asked.map(({ messages }) => JSON.stringify(messages.at(-1)?.content));
    expect(results[1]).toContain(String.raw`1\tone\n2\ttwo`);
    expect(results[2]).toContain("1 replacement at line 2");
    expect(results[3]).toContain("Cannot use Bash");
    expect(asked).toEqual([expect.stringContaining("+2")]);
    const names = model.asked[0]?.tools.map(({ name }) => name) ?? [];
    expect(names).toContain("mcp__files__Read");
    expect(names).not.toContain("Read");
    expect(readFileSync(files.path("notes.txt"), "utf8")).toBe("one\n2\n");
    expect(() => readFileSync(files.path("made"))).toThrow("ENOENT");
  });
});

interface Asked {
  readonly messages: readonly { readonly content: unknown }[];
  readonly tools: readonly { readonly name: string }[];
}

/** The Messages API as a stream: these calls, one after the other, and then the end. */
async function startModel(calls: readonly (readonly [name: string, input: object])[]) {
  const asked: Asked[] = [];
  const answer = (res: ServerResponse, call: readonly [string, object] | undefined): void => {
    const usage = { input_tokens: 1, output_tokens: 1 };
    const start = { id: `m${asked.length}`, type: "message", role: "assistant", model: "m", content: [], usage };
    const [content_block, delta] =
      call === undefined
        ? [
            { type: "text", text: "" },
            { type: "text_delta", text: "done" },
          ]
        : [
            { type: "tool_use", id: `call${asked.length}`, name: call[0], input: {} },
            { type: "input_json_delta", partial_json: JSON.stringify(call[1]) },
          ];
    res.writeHead(200, { "content-type": "text/event-stream" });
    for (const event of [
      { type: "message_start", message: start },
      { type: "content_block_start", index: 0, content_block },
      { type: "content_block_delta", index: 0, delta },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: call === undefined ? "end_turn" : "tool_use" }, usage },
      { type: "message_stop" },
    ]) {
      res.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    }
    res.end();
  };
  const url = await startApi((body, res, path) => {
    if (!/\/messages(?:\?|$)/.test(path)) return void res.end("{}");
    const { tools = [], messages = [] } = JSON.parse(body) as Partial<Asked>;
    // Without tools it is a question of the program's own, such as for a title.
    answer(res, tools.length === 0 ? undefined : calls[asked.push({ tools, messages }) - 1]);
  });
  return { url, asked };
}
