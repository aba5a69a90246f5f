/**
 * A model that is a script, for real agent programs: it speaks the wire forms that they use, reads a long file page by page
 * through our server, and keeps what it was given. It tries one Write after the first page, which must be refused.
 */

import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export interface ScriptedModel {
  readonly url: string;
  /** Every result of a tool as the model got it, in order. */
  readonly results: readonly string[];
  /** Every request whole, as it came. */
  readonly asked: readonly string[];
  /** The names of all tools that the model was offered together with ours. */
  readonly offered: ReadonlySet<string>;
  /** The names of the tools that it called, in order. */
  readonly called: readonly string[];
}

/** What the model does next, by what it was given so far; undefined: it is done. */
export type Plan = (results: readonly string[]) => { readonly tool: string; readonly input: object } | undefined;

type Json = Readonly<Record<string, unknown>>;

/** A request in any of the wire forms: which tools there are, what came of the calls so far. */
interface Asked {
  readonly tools: readonly string[];
  readonly results: readonly string[];
}

interface Wire {
  readonly takes: (path: string) => boolean;
  readonly read: (body: Json) => Asked;
  readonly call: (
    res: ServerResponse,
    call: { readonly name: string; readonly input: object; readonly id: string },
  ) => void;
  readonly say: (res: ServerResponse, body: Json) => void;
}

/** How the names of our tools are recognised among those that the program offers: by the name of the server, or as they are. */
export type OurName = (offered: string, tool: string) => boolean;

const ofServer =
  (server: string): OurName =>
  (offered, tool) =>
    offered.includes(server) && new RegExp(`(^|[^A-Za-z])${tool}$`).test(offered);

export async function startScriptedModel(
  server: string,
  plan: Plan,
  isOurs: OurName = ofServer(server),
  first = "Read",
): Promise<ScriptedModel> {
  const offered = new Set<string>();
  const called: string[] = [];
  let results: readonly string[] = [];
  const asked: string[] = [];
  const handle = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const text = await bodyOf(req);
    const path = (req.url ?? "").split("?")[0] ?? "";
    const wire = wires.find((one) => one.takes(path));
    asked.push(`${req.method} ${req.url} ${text}`);
    if (wire === undefined || text === "")
      return json(res, { object: "list", data: [{ id: "gpt-5", object: "model" }] });
    const body = JSON.parse(text) as Json;
    const { tools, results: sofar } = wire.read(body);
    const ours = (tool: string): string | undefined => tools.find((name) => isOurs(name, tool));
    // Without our tools it is a question of the program's own, such as for a title.
    if (ours(first) === undefined) return wire.say(res, body);
    for (const name of tools) offered.add(name);
    if (sofar.length > results.length) results = sofar;
    const next = plan(sofar);
    if (next === undefined) return wire.say(res, body);
    const name = ours(next.tool) ?? next.tool;
    called.push(name);
    return wire.call(res, { name, input: next.input, id: `call_${sofar.length}` });
  };
  const listening = createServer((req, res) => {
    handle(req, res).catch((error: unknown) => res.writeHead(500).end(String(error)));
  });
  listening.listen(0, "127.0.0.1");
  await once(listening, "listening");
  onTestFinished(() => {
    listening.closeAllConnections();
    listening.close();
  });
  const { port } = listening.address() as AddressInfo; // it listens on a port
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    offered,
    called,
    get results() {
      return results;
    },
  };
}

async function bodyOf(req: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of req.setEncoding("utf8")) text += String(chunk);
  return text;
}

const json = (res: ServerResponse, body: object): void => {
  res.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
};

function stream(res: ServerResponse, events: readonly Json[], last = ""): void {
  res.writeHead(200, { "content-type": "text/event-stream" });
  for (const event of events) {
    const name = typeof event["type"] === "string" ? `event: ${event["type"]}\n` : "";
    res.write(`${name}data: ${JSON.stringify(event)}\n\n`);
  }
  res.end(last);
}

const list = (value: unknown): readonly Json[] => (Array.isArray(value) ? (value as Json[]) : []);
/** All texts of a result, however deep a program puts them; a text that is JSON of such parts is opened. */
function textsIn(value: unknown): string {
  if (typeof value === "string") return /^\s*[[{]/.test(value) ? textsInJson(value) : value;
  if (Array.isArray(value)) return value.map(textsIn).join("\n");
  if (typeof value !== "object" || value === null) return "";
  return Object.entries(value)
    .map(([key, inner]) => (["type", "id", "name"].includes(key) ? "" : textsIn(inner)))
    .filter((text) => text !== "")
    .join("\n");
}

function textsInJson(text: string): string {
  try {
    return textsIn(JSON.parse(text));
  } catch {
    return text; // cut short, or no JSON at all
  }
}

/** `POST /responses` of OpenAI: Codex. Tools of a server are in a namespace. */
const responses: Wire = {
  takes: (path) => path.endsWith("/responses"),
  read: (body) => ({
    tools: list(body["tools"]).flatMap((tool) =>
      tool["type"] === "namespace"
        ? list(tool["tools"]).map(({ name }) => `${String(tool["name"])} ${String(name)}`)
        : [String(tool["name"])],
    ),
    results: list(body["input"])
      .filter(({ type }) => type === "function_call_output")
      .map(({ output }) => textsIn(output)),
  }),
  call(res, { name, input, id }) {
    const [namespace, tool = namespace] = name.split(" ");
    const place = tool === namespace ? {} : { namespace };
    const item = {
      type: "function_call",
      id: `fc_${id}`,
      call_id: id,
      name: tool,
      ...place,
      arguments: JSON.stringify(input),
    };
    respond(res, { ...item, status: "completed" });
  },
  say: (res) =>
    respond(res, {
      type: "message",
      id: "msg_1",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: "done", annotations: [] }],
    }),
};

function respond(res: ServerResponse, item: Json): void {
  const usage = { input_tokens: 10, output_tokens: 10, total_tokens: 20 };
  const response = { id: "resp_1", object: "response", status: "completed", output: [item], usage };
  stream(res, [
    { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
    { type: "response.output_item.added", output_index: 0, item },
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response },
  ]);
}

/** `POST /chat/completions`: opencode, Qwen Code, Copilot CLI, Kimi Code, Cline. */
const completions: Wire = {
  takes: (path) => path.endsWith("/chat/completions"),
  read: (body) => ({
    tools: list(body["tools"]).map(({ function: tool }) => String((tool as Json | undefined)?.["name"])),
    results: list(body["messages"])
      .filter(({ role }) => role === "tool")
      .map(({ content }) => textsIn(content)),
  }),
  call(res, { name, input, id }) {
    const call = { index: 0, id, type: "function", function: { name, arguments: JSON.stringify(input) } };
    complete(res, { role: "assistant", content: null, tool_calls: [call] }, "tool_calls");
  },
  say(res, body) {
    if (body["stream"] === true) return complete(res, { role: "assistant", content: "done" }, "stop");
    const message = { role: "assistant", content: "done" };
    const usage = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 };
    return json(res, {
      ...chunk,
      object: "chat.completion",
      choices: [{ index: 0, message, finish_reason: "stop" }],
      usage,
    });
  },
};

const chunk = { id: "chat_1", object: "chat.completion.chunk", created: 1, model: "gpt-5" };

function complete(res: ServerResponse, delta: object, finish_reason: string): void {
  const usage = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 };
  const events = [
    { ...chunk, choices: [{ index: 0, delta, finish_reason: null }] },
    { ...chunk, choices: [{ index: 0, delta: {}, finish_reason }], usage },
  ];
  stream(res, events, "data: [DONE]\n\n");
}

/** Gemini's own form. */
const gemini: Wire = {
  takes: (path) => /:(stream)?generateContent$/i.test(path),
  read: (body) => ({
    tools: list(body["tools"]).flatMap((tool) => list(tool["functionDeclarations"]).map(({ name }) => String(name))),
    results: list(body["contents"])
      .flatMap(({ parts }) => list(parts))
      .flatMap((part) => {
        const answered = part["functionResponse"] as Json | undefined;
        return answered === undefined ? [] : [textsIn(answered["response"])];
      }),
  }),
  call: (res, { name, input }) => generate(res, { functionCall: { name, args: input } }),
  say: (res) => generate(res, { text: "done" }),
};

function generate(res: ServerResponse, part: Json): void {
  const candidates = [{ index: 0, content: { role: "model", parts: [part] }, finishReason: "STOP" }];
  const answer = { candidates, usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 10, totalTokenCount: 20 } };
  const isStream = res.req.url?.includes("stream") === true;
  if (isStream) stream(res, [answer]);
  else json(res, answer);
}

/** `POST /v1/messages` of Anthropic: Claude Code. */
const messages: Wire = {
  takes: (path) => path.endsWith("/v1/messages"),
  read: (body) => ({
    tools: list(body["tools"]).map(({ name }) => String(name)),
    results: list(body["messages"])
      .flatMap(({ content }) => list(content))
      .filter(({ type }) => type === "tool_result")
      .map(({ content }) => textsIn(content)),
  }),
  call(res, { name, input, id }) {
    const delta = { type: "input_json_delta", partial_json: JSON.stringify(input) };
    message(res, { type: "tool_use", id, name, input: {} }, delta, "tool_use");
  },
  say: (res) => message(res, { type: "text", text: "" }, { type: "text_delta", text: "done" }, "end_turn"),
};

function message(res: ServerResponse, content_block: object, delta: object, stop_reason: string): void {
  const usage = { input_tokens: 10, output_tokens: 10 };
  const head = { id: "msg_1", type: "message", role: "assistant", model: "scripted", content: [], usage };
  stream(res, [
    { type: "message_start", message: { ...head, stop_reason: null, stop_sequence: null } },
    { type: "content_block_start", index: 0, content_block },
    { type: "content_block_delta", index: 0, delta },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage },
    { type: "message_stop" },
  ]);
}

const wires: readonly Wire[] = [responses, completions, gemini, messages];
