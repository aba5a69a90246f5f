// @ts-check
/**
 * Filehand's tools instead of opencode's own, by their names. Made by npm run generate from scripts/plugins.ts; do not edit.
 * In opencode.json: "plugin": ["file:///path/to/filehand/plugins/opencode/filehand.js"]
 *
 * The tools are offered in opencode's process; their work is done by one "filehand mcp" that starts with it. Inside opencode's own
 * Bun (1.3) the native parts for images and for file handles end the whole process, so they are not loaded there.
 */

import { spawn } from "node:child_process";
import { basename } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/**
 * @typedef {{ sessionID: string, abort?: AbortSignal, ask: (question: object) => Promise<void> }} Context
 * @typedef {{ description: string, jsonSchema?: object }} Definition
 * @typedef {{ name: string, description: string, inputSchema: { properties?: object } }} Tool
 * @typedef {{ type: string, text?: string, data?: string, mimeType?: string }} Part
 * @typedef {{ content: Part[], isError?: boolean }} Result
 */

/** opencode's names, each with the tool of ours that stands in for it. @type {Record<string, string>} */
const names = {"read":"read","edit":"edit","write":"write","grep":"grep","glob":"glob","list":"list","patch":"patch","apply_patch":"patch"};

const program = fileURLToPath(new URL("../../dist/filehand.cjs", import.meta.url));

/** @param {{ directory: string }} project */
export const Filehand = async ({ directory }) => {
  const server = startServer(directory);
  const { tools } = /** @type {{ tools: Tool[] }} */ (await server.request("tools/list", {}));
  const offered = Object.entries(names).flatMap(([name, ours]) => {
    const tool = tools.find((one) => one.name === ours);
    return tool === undefined ? [] : [{ name, tool }];
  });
  return {
    tool: Object.fromEntries(
      offered.map(({ name, tool }) => [
        name,
        {
          description: tool.description,
          args: tool.inputSchema.properties ?? {},
          execute: (/** @type {object} */ input, /** @type {Context} */ context) => server.call(tool.name, input, context),
        },
      ]),
    ),
    // The exact schema: of the arguments above opencode takes every one for required.
    "tool.definition": async (/** @type {{ toolID: string }} */ { toolID }, /** @type {Definition} */ output) => {
      const found = offered.find(({ name }) => name === toolID);
      if (found !== undefined) output.jsonSchema = found.tool.inputSchema;
    },
  };
};

/** A client of MCP with what these tools need: calls, cancelling, and questions. @param {string} directory */
function startServer(directory) {
  const node = process.env["FILEHAND_NODE"] ?? "node";
  const child = spawn(node, [program, "mcp", directory, "--dialect", "opencode", "--patch-tool"], {
    cwd: directory,
    stdio: ["pipe", "pipe", "ignore"],
  });
  /** @type {Map<number, { resolve: (value: unknown) => void, reject: (error: Error) => void }>} */
  const waiting = new Map();
  /** The calls under way, the newest last: a question belongs to one of them. @type {{ input: object, context: Context }[]} */
  const calls = [];
  let ids = 0;
  const send = (/** @type {object} */ message) => void child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const ended = (/** @type {string} */ why) => {
    for (const { reject } of waiting.values()) reject(new Error(`Cannot reach Filehand: ${why}, start opencode anew`));
    waiting.clear();
  };
  child.on("error", (error) => ended(error.message));
  child.on("exit", () => ended("it has ended"));
  child.stdin.on("error", () => undefined);
  process.once("exit", () => child.kill());
  child.unref();

  createInterface({ input: child.stdout }).on("line", (line) => {
    const message = JSON.parse(line);
    if (message.method === "elicitation/create") return void answer(message.id, message.params);
    if (message.method !== undefined) return message.id === undefined ? undefined : send({ id: message.id, result: {} });
    const found = waiting.get(message.id);
    waiting.delete(message.id);
    if (message.error === undefined) found?.resolve(message.result);
    else found?.reject(new Error(message.error.message));
  });

  /** opencode asks, by its own permission rules. @param {number} id @param {{ message: string }} params */
  async function answer(id, { message }) {
    // The question names the file, by its path or as it is called in the workspace.
    const isAbout = (/** @type {{ input: object }} */ { input }) => message.includes(basename(pathOf(input)));
    const call = calls.findLast(isAbout) ?? calls.at(-1);
    try {
      if (call === undefined) throw new Error("no call is under way");
      const path = pathOf(call.input) || "*";
      await call.context.ask({ permission: "edit", patterns: [path], always: [], metadata: { filepath: path, diff: message } });
      send({ id, result: { action: "accept", content: { decision: "allow once" } } });
    } catch {
      send({ id, result: { action: "decline" } });
    }
  }

  /** @param {string} method @param {object} params @param {AbortSignal} [abort] */
  function request(method, params, abort) {
    const id = (ids += 1);
    send({ id, method, params });
    abort?.addEventListener("abort", () => send({ method: "notifications/cancelled", params: { requestId: id } }), { once: true });
    return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
  }

  const ready = request("initialize", {
    protocolVersion: "2025-06-18",
    capabilities: { elicitation: {} },
    clientInfo: { name: "opencode", version: "1" },
  }).then(() => send({ method: "notifications/initialized" }));

  return {
    request: (/** @type {string} */ method, /** @type {object} */ params) => ready.then(() => request(method, params)),
    /** @param {string} name @param {object} input @param {Context} context */
    async call(name, input, context) {
      await ready;
      const entry = { input, context };
      calls.push(entry);
      try {
        const session = { "io.github.filehand/session": context.sessionID };
        const params = { name, arguments: input, _meta: session };
        const { content, isError } = /** @type {Result} */ (await request("tools/call", params, context.abort));
        const output = content.flatMap(({ text }) => text ?? []).join("\n");
        if (isError === true) throw new Error(output);
        const attachments = content.flatMap(({ type, data, mimeType }) =>
          type === "image" ? [{ type: "file", mime: mimeType, url: `data:${mimeType};base64,${data}` }] : [],
        );
        return { title: pathOf(input), output, metadata: {}, attachments };
      } finally {
        calls.splice(calls.indexOf(entry), 1);
      }
    },
  };
}

/** @param {object} input */
function pathOf(input) {
  const { filePath, path, pattern } = /** @type {Record<string, string | undefined>} */ (input);
  return String(filePath ?? path ?? pattern ?? "");
}