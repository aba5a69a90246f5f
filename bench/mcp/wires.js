/** Clients that cost as little as can be, so that what is measured is the server. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { Agent, request } from "node:http";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

// A repeated read would be answered with a stub every other time.
const env = {
  ...process.env,
  FILEHAND_DEDUP: "0",
  XDG_STATE_HOME: fileURLToPath(new URL("../../.bench/state", import.meta.url)),
};

export const meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
  "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1" },
};

/** @typedef {{ readonly name: string, readonly arguments: object }} Call */
/** @typedef {{ call(call: Call): Promise<string>, close(): Promise<void>, readonly pid: number | undefined }} Wire */

/**
 * One call after another over the pipes of a process.
 * @param {readonly string[]} args
 * @param {string} cwd
 * @returns {Wire}
 */
export function stdioWire(args, cwd) {
  const child = spawn(process.execPath, args, { cwd, env, stdio: ["pipe", "pipe", "ignore"] });
  let rest = "";
  let id = 0;
  /** @type {(line: string) => void} */
  let answer = () => undefined;
  child.stdout.setEncoding("utf8").on("data", (/** @type {string} */ chunk) => {
    rest += chunk;
    for (let end = rest.indexOf("\n"); end !== -1; end = rest.indexOf("\n")) {
      const line = rest.slice(0, end);
      rest = rest.slice(end + 1);
      answer(line);
    }
  });
  return {
    pid: child.pid,
    call: (call) =>
      new Promise((resolve) => {
        answer = resolve;
        id += 1;
        const params = { ...call, _meta: meta };
        child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params })}\n`);
      }),
    close: async () => {
      child.stdin.end();
      await once(child, "close");
    },
  };
}

/**
 * The same with the SDK's own client, as programs use it.
 * @param {readonly string[]} args
 * @param {string} cwd
 * @returns {Promise<Wire>}
 */
export async function clientWire(args, cwd) {
  const client = new Client({ name: "bench", version: "1" }, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
  const strings = Object.fromEntries(Object.entries(env).flatMap(([name, value]) => (value ? [[name, value]] : [])));
  const command = { command: process.execPath, args: [...args] };
  const transport = new StdioClientTransport({ ...command, cwd, env: strings, stderr: "ignore" });
  await client.connect(transport);
  return {
    pid: transport.pid ?? undefined,
    call: async (call) => JSON.stringify(await client.callTool({ name: call.name, arguments: { ...call.arguments } })),
    close: () => client.close(),
  };
}

/**
 * From the start of a process to its first answer, in milliseconds.
 * @param {readonly string[]} args
 * @param {string} cwd
 */
export async function firstReplyMs(args, cwd) {
  const startedMs = performance.now();
  const child = spawn(process.execPath, args, { cwd, env, stdio: ["pipe", "pipe", "ignore"] });
  child.stdin.write(
    `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "server/discover", params: { _meta: meta } })}\n`,
  );
  const [chunk] = await once(child.stdout, "data");
  const ms = performance.now() - startedMs;
  child.stdin.end();
  await once(child, "close");
  return { ms, text: String(chunk) };
}

/**
 * A server that says its port, and as many connections to it as there are callers.
 * @param {readonly string[]} args
 * @param {string} cwd
 * @returns {Promise<Wire>}
 */
export async function httpWire(args, cwd) {
  const child = spawn(process.execPath, args, { cwd, env, stdio: ["ignore", "ignore", "pipe"] });
  const port = await new Promise((resolve, reject) => {
    let said = "";
    child.stderr.setEncoding("utf8").on("data", (/** @type {string} */ chunk) => {
      said += chunk;
      const [, found] = /port (\d+)|"url":"http:\/\/[^"]*:(\d+)\//.exec(said)?.filter(Boolean) ?? [];
      if (found !== undefined) resolve(Number(found));
    });
    child.once("close", () => reject(new Error(said)));
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 1_000 });
  return {
    pid: child.pid,
    call: (call) =>
      new Promise((resolve, reject) => {
        const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { ...call, _meta: meta } });
        const headers = {
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          "content-length": Buffer.byteLength(body),
          "mcp-protocol-version": "2026-07-28",
          "mcp-method": "tools/call",
          "mcp-name": call.name,
        };
        const asked = request({ host: "127.0.0.1", port, path: "/mcp", method: "POST", agent, headers }, (res) => {
          let text = "";
          res.setEncoding("utf8").on("data", (/** @type {string} */ chunk) => (text += chunk));
          res.on("end", () => resolve(text));
        });
        asked.on("error", reject);
        asked.end(body);
      }),
    close: async () => {
      agent.destroy();
      child.kill("SIGTERM");
      await once(child, "close");
    },
  };
}
