/** A real server process and a real client for it; everything is closed when the test is over. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { Client, type ClientCapabilities } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { onTestFinished } from "vitest";
import { commandLine, environment, type Folder, temporaryFolder } from "../ends/run.ts";

export const eras = ["legacy", "modern"] as const;
export type Era = (typeof eras)[number];

/** `auto` finds the modern era if there is one, so a test can say which one it wants. */
export const newClient = (era: Era, capabilities: ClientCapabilities = {}, name = "filehand-test"): Client =>
  new Client(
    { name, version: "1" },
    { capabilities, versionNegotiation: { mode: era === "modern" ? { pin: "2026-07-28" } : "legacy" } },
  );

/** The environment of a server: nothing of the person who runs the tests. */
export const serverEnvironment = (home: Folder, env: Readonly<Record<string, string>> = {}): Record<string, string> =>
  Object.fromEntries(
    Object.entries(environment({ HOME: home.path, XDG_STATE_HOME: `${home.path}/state`, ...env })).flatMap(
      ([name, value]) => (value === undefined ? [] : [[name, value]]),
    ),
  );

export interface Connected {
  readonly client: Client;
  /** What the server has said on stderr so far. */
  readonly log: () => string;
}

export interface ConnectOptions {
  readonly era: Era;
  readonly cwd: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly capabilities?: ClientCapabilities;
  /** The name that the client gives itself. */
  readonly name?: string;
  /** Before the connection: the place for handlers. */
  readonly prepare?: (client: Client) => void;
}

export async function connect(options: ConnectOptions): Promise<Connected> {
  const home = temporaryFolder();
  const client = newClient(options.era, options.capabilities, options.name);
  options.prepare?.(client);
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [commandLine, "mcp", ...(options.args ?? [])],
    cwd: options.cwd,
    env: serverEnvironment(home, options.env),
    stderr: "pipe",
  });
  let log = "";
  transport.stderr?.on("data", (chunk: Buffer) => (log += chunk.toString("utf8")));
  onTestFinished(async () => {
    await client.close();
    home.remove();
  });
  await client.connect(transport);
  return { client, log: () => log };
}

/** The text of a result's first part. */
export function textOf(result: { readonly content?: unknown }): string {
  const [first] = Array.isArray(result.content) ? (result.content as readonly { readonly text?: string }[]) : [];
  return first?.text ?? "";
}

export interface RawServer {
  readonly child: ChildProcess;
  send(message: unknown): void;
  sendText(text: string | Uint8Array): Promise<void>;
  /** The next message that fits; others are passed over. */
  next(fits: (message: RawMessage) => boolean): Promise<RawMessage>;
  call(id: number, method: string, params?: object): Promise<RawMessage>;
  readonly lines: readonly string[];
  /** What it has said on stderr so far. */
  readonly log: () => string;
  readonly ended: Promise<number | null>;
}

export interface RawMessage {
  readonly id?: string | number | null;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown> & { readonly content?: readonly { readonly text: string }[] };
  readonly error?: { readonly code: number; readonly message: string };
}

/** A server without a client: for what no client would send. */
export function startRaw(
  cwd: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): RawServer {
  const home = temporaryFolder();
  const child = spawn(process.execPath, [commandLine, "mcp", ...args], { cwd, env: serverEnvironment(home, env) });
  const lines: string[] = [];
  let waiting: (() => void)[] = [];
  let rest = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    const parts = (rest + chunk).split("\n");
    rest = parts.pop() ?? "";
    lines.push(...parts);
    for (const wake of waiting.splice(0)) wake();
  });
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (log += chunk));
  child.stdin.on("error", () => undefined);
  const ended = once(child, "close").then(([code]) => {
    waiting.forEach((wake) => wake());
    waiting = [];
    return code as number | null;
  });
  onTestFinished(async () => {
    child.kill();
    await ended;
    home.remove();
  });
  let seen = 0;
  const next: RawServer["next"] = async (fits) => {
    for (;;) {
      while (seen < lines.length) {
        const message = JSON.parse(lines[seen++] ?? "") as RawMessage;
        if (fits(message)) return message;
      }
      if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}`);
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
  };
  const send = (message: unknown): void => void child.stdin.write(`${JSON.stringify(message)}\n`);
  return {
    child,
    lines,
    log: () => log,
    ended,
    next,
    send,
    sendText: async (text) => {
      if (!child.stdin.write(text)) await once(child.stdin, "drain");
    },
    call: (id, method, params = {}) => {
      send({ jsonrpc: "2.0", id, method, params });
      return next((message) => message.id === id && message.method === undefined);
    },
  };
}

/** What every request of the modern era carries. */
export const modernMeta = (capabilities: object = {}) => ({
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": capabilities,
  "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1" },
});

export const initialize = {
  protocolVersion: "2025-06-18",
  capabilities: {},
  clientInfo: { name: "raw", version: "1" },
} as const;
