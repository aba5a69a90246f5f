/** Servers that are called very often: over pipes and over HTTP, with a look at their heap from time to time. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { temporaryFolder } from "../ends/run.ts";
import { modernMeta, serverEnvironment } from "./server.ts";

export interface Call {
  readonly name: string;
  readonly arguments: object;
}

export interface Loaded {
  /** The text of the answer's line or body. */
  call(call: Call): Promise<string>;
  /** In bytes, after a collection. */
  memory(): Promise<{ readonly heapUsed: number; readonly rss: number }>;
  /** Lets go of connections that nobody uses. */
  rest(): void;
  close(): Promise<void>;
}

function start(args: readonly string[], cwd: string): ChildProcess {
  const home = temporaryFolder();
  const probe = ["--expose-gc", "--require", join(import.meta.dirname, "heap-probe.cjs")];
  const child = spawn(process.execPath, [...probe, ...args], {
    cwd,
    env: serverEnvironment(home),
    stdio: ["pipe", "pipe", "pipe", "ipc"],
  });
  onTestFinished(async () => {
    const over = child.exitCode === null && child.signalCode === null ? once(child, "close") : undefined;
    child.kill("SIGKILL");
    await over;
    home.remove();
  });
  return child;
}

const memoryOf = async (child: ChildProcess): Promise<{ heapUsed: number; rss: number }> => {
  const answer = once(child, "message");
  child.send("memory");
  const [memory] = (await answer) as [{ heapUsed: number; rss: number }]; // what the probe sends
  return memory;
};

const asRequest = (id: number, call: Call): string =>
  JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: { ...call, _meta: modernMeta() } });

export function overStdio(args: readonly string[], cwd: string): Loaded {
  const child = start(args, cwd);
  const { stdin, stdout } = child;
  if (stdin === null || stdout === null) throw new Error("both are pipes");
  child.stderr?.resume();
  const waiting = new Map<number, (line: string) => void>();
  let rest = "";
  let lastId = 0;
  stdout.setEncoding("utf8").on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const { id } = JSON.parse(line) as { id: number };
      waiting.get(id)?.(line);
      waiting.delete(id);
    }
  });
  return {
    call: (call) =>
      new Promise((resolve) => {
        lastId += 1;
        waiting.set(lastId, resolve);
        stdin.write(`${asRequest(lastId, call)}\n`);
      }),
    memory: () => memoryOf(child),
    rest: () => undefined,
    close: async () => {
      stdin.end();
      await once(child, "close");
    },
  };
}

/** A server that says its port on stderr, as ours does or as the bare one of the bench does. */
export async function overHttp(args: readonly string[], cwd: string): Promise<Loaded> {
  const child = start(args, cwd);
  child.stdout?.resume();
  const port = await new Promise<number>((resolve, reject) => {
    let said = "";
    child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
      said = (said + chunk).slice(-10_000);
      const [, bare, ours] = /port (\d+)|"url":"http:\/\/[^"]*:(\d+)\//.exec(said) ?? [];
      if (bare !== undefined || ours !== undefined) resolve(Number(bare ?? ours));
    });
    child.once("close", () => reject(new Error(said)));
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 100 });
  return {
    call: (call) =>
      new Promise((resolve, reject) => {
        const body = asRequest(1, call);
        const headers = {
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          "content-length": Buffer.byteLength(body),
          "mcp-protocol-version": "2026-07-28",
          "mcp-method": "tools/call",
          "mcp-name": call.name,
        };
        const sent = request({ host: "127.0.0.1", port, path: "/mcp", method: "POST", agent, headers }, (answer) => {
          let text = "";
          answer.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
          answer.on("end", () => resolve(text));
        });
        sent.on("error", reject);
        sent.end(body);
      }),
    memory: () => memoryOf(child),
    rest: () => agent.destroy(),
    close: async () => {
      agent.destroy();
      child.kill("SIGTERM");
      await once(child, "close");
    },
  };
}

/** As many callers at once, each with one call after another, as long as `more` says so. */
export async function callers(count: number, more: () => boolean, work: () => Promise<void>): Promise<void> {
  const one = async (): Promise<void> => {
    while (more()) await work();
  };
  await Promise.all(Array.from({ length: count }, one));
}
