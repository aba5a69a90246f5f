/** `filehand serve` as a real process, and requests to it, with and without a client. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { request } from "node:http";
import { type Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { onTestFinished } from "vitest";
import { commandLine, temporaryFolder } from "../ends/run.ts";
import { type Era, newClient, serverEnvironment } from "./server.ts";

export interface Served {
  readonly child: ChildProcess;
  readonly port: number;
  readonly token: string;
  readonly log: () => string;
  readonly ended: Promise<number | null>;
}

export async function serve(cwd: string, args: readonly string[] = []): Promise<Served> {
  const home = temporaryFolder();
  const child = spawn(process.execPath, [commandLine, "serve", "--port", "0", ...args], {
    cwd,
    env: serverEnvironment(home),
    stdio: ["ignore", "ignore", "pipe"],
  });
  let log = "";
  let wake = (): void => undefined;
  child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
    log += chunk;
    wake();
  });
  const ended = once(child, "close").then(([code]) => code as number | null);
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
    home.remove();
  });
  void ended.then(() => wake());
  while (!log.includes('"listening"')) {
    if (child.exitCode !== null) throw new Error(log);
    await new Promise<void>((resolve) => (wake = resolve));
  }
  const port = Number(/"url":"http:\/\/[^"]*:(\d+)\//.exec(log)?.[1]);
  const token = /token of this run is (\S+)/.exec(log)?.[1] ?? "";
  return { child, port, token, log: () => log, ended };
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

export interface HttpAsk {
  readonly method?: string;
  readonly path?: string;
  /** Whom to connect to, whatever the header says. */
  readonly host?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

/** Just these headers: `fetch` would not let a test choose its Host. */
export function ask(
  { port, token }: Pick<Served, "port" | "token">,
  { method = "POST", path = "/mcp", host = "127.0.0.1", headers = {}, body }: HttpAsk,
): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        host,
        port,
        method,
        path,
        headers: {
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          authorization: `Bearer ${token}`,
          ...(body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) }),
          ...headers,
        },
      },
      (answer) => {
        let text = "";
        answer.setEncoding("utf8");
        answer.on("data", (chunk: string) => (text += chunk));
        answer.on("end", () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }));
        answer.on("error", reject);
      },
    );
    sent.on("error", reject);
    sent.end(body);
  });
}

export async function connectHttp(
  { port, token }: Pick<Served, "port" | "token">,
  era: Era,
  options: {
    readonly path?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly capabilities?: Parameters<typeof newClient>[1];
    readonly prepare?: (client: Client) => void;
  } = {},
): Promise<Client> {
  const client = newClient(era, options.capabilities);
  options.prepare?.(client);
  const transport = new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}${options.path ?? "/mcp"}`), {
    requestInit: { headers: { authorization: `Bearer ${token}`, ...options.headers } },
  });
  onTestFinished(() => client.close());
  await client.connect(transport);
  return client;
}
