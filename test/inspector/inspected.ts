/** `filehand serve` with its inspector as a real process, and a browser's part of the conversation without a browser. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { onTestFinished } from "vitest";
import type { StreamEvent } from "../../src/surfaces/inspector/wire.ts";
import { commandLine, temporaryFolder } from "../ends/run.ts";
import { serverEnvironment } from "../mcp/server.ts";

export interface Served {
  readonly child: ChildProcess;
  readonly port: number;
  readonly token: string;
  readonly log: () => string;
  /** Waits until the log says so. */
  logged(pattern: RegExp): Promise<void>;
  readonly stdout: () => string;
  readonly ended: Promise<number | null>;
  /** The key of the newest address; waits for one that was not given out yet. */
  key(): Promise<string>;
}

export async function serveInspected(cwd: string, args: readonly string[] = [], command = "serve"): Promise<Served> {
  const home = temporaryFolder();
  const child = spawn(process.execPath, [commandLine, command, "--port", "0", ...args], {
    cwd,
    env: serverEnvironment(home),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [log, stdout] = ["", ""];
  const waiting: (() => void)[] = [];
  const wake = (): void => waiting.splice(0).forEach((resolve) => resolve());
  child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
    log += chunk;
    wake();
  });
  child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
    stdout += chunk;
    wake();
  });
  const ended = once(child, "close").then(([code]) => code as number | null);
  void ended.then(wake);
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
    home.remove();
  });
  const until = async (is: () => boolean): Promise<void> => {
    while (!is()) {
      if (child.exitCode !== null) throw new Error(log);
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
  };
  const keys = (): string[] => [...stdout.matchAll(/#key=(\S+)\n/g)].map(([, key]) => key ?? "");
  await until(() => log.includes('"listening"') && keys().length > 0);
  let given = 0;
  return {
    child,
    port: Number(/"url":"http:\/\/[^"]*:(\d+)\//.exec(log)?.[1]),
    token: /token of this run is (\S+)/.exec(log)?.[1] ?? "",
    log: () => log,
    logged: (pattern) => until(() => pattern.test(log)),
    stdout: () => stdout,
    ended,
    async key() {
      await until(() => keys().length > given);
      given = keys().length;
      return keys()[given - 1] ?? "";
    },
  };
}

export interface Answer<Value = never> {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly text: string;
  /** Parsed when it is asked for. */
  readonly json: Value;
}

export interface Ask {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** Just these headers, as no browser would let a test choose them. */
export function send<Value>(
  port: number,
  path: string,
  { method, headers = {}, body }: Ask = {},
): Promise<Answer<Value>> {
  const text = body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        host: "127.0.0.1",
        port,
        path,
        method: method ?? (text === undefined ? "GET" : "POST"),
        headers: {
          ...(text === undefined
            ? {}
            : { "content-type": "application/json", "content-length": String(Buffer.byteLength(text)) }),
          ...headers,
        },
      },
      (answer) => {
        const parts: Buffer[] = [];
        answer.on("data", (chunk: Buffer) => parts.push(chunk));
        answer.on("error", reject);
        answer.on("end", () => {
          const all = Buffer.concat(parts).toString("utf8");
          resolve({
            status: answer.statusCode ?? 0,
            headers: answer.headers,
            text: all,
            get json(): Value {
              return JSON.parse(all) as Value; // what the test says it is, and the test looks
            },
          });
        });
      },
    );
    sent.on("error", reject);
    sent.end(text);
  });
}

/** A browser that was let in. */
export interface Browser {
  readonly headers: Readonly<Record<string, string>>;
  ask<Value>(path: string, body?: unknown): Promise<Value>;
  raw<Value>(path: string, ask?: Ask): Promise<Answer<Value>>;
  events(after?: number): Promise<Events>;
}

export async function enter(served: Pick<Served, "port" | "key">): Promise<Browser> {
  const { port } = served;
  const entered = await send<{ page: string }>(port, "/api/exchange", { body: { key: await served.key() } });
  if (entered.status !== 200) throw new Error(entered.text);
  const [cookie = ""] = (entered.headers["set-cookie"]?.[0] ?? "").split(";", 1);
  const headers = { cookie, "filehand-page": entered.json.page, "sec-fetch-site": "same-origin" };
  const raw = <Value>(path: string, asked: Ask = {}): Promise<Answer<Value>> =>
    send<Value>(port, path, { ...asked, headers: { ...headers, ...asked.headers } });
  return {
    headers,
    raw,
    async ask<Value>(path: string, body?: unknown): Promise<Value> {
      const answer = await raw<Value>(path, body === undefined ? {} : { body });
      if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.text}`);
      return answer.json;
    },
    events: (after) => listen(port, headers, after),
  };
}

export interface Events {
  /** The next that fits; others are passed over, but not lost for a later call. */
  next<Type extends StreamEvent["type"]>(
    type: Type,
    fits?: (event: Extract<StreamEvent, { type: Type }>) => boolean,
  ): Promise<Extract<StreamEvent, { type: Type }>>;
  readonly ids: readonly number[];
  readonly raw: () => string;
  readonly status: number;
  close(): void;
  readonly closed: Promise<void>;
}

export async function listen(port: number, headers: Readonly<Record<string, string>>, after?: number): Promise<Events> {
  const sent = request({
    host: "127.0.0.1",
    port,
    path: `/api/events${after === undefined ? "" : `?after=${after}`}`,
    headers,
  });
  sent.end();
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  const heard: StreamEvent[] = [];
  const ids: number[] = [];
  let [raw, rest] = ["", ""];
  const waiting: (() => void)[] = [];
  const wake = (): void => waiting.splice(0).forEach((resolve) => resolve());
  answer.setEncoding("utf8").on("data", (chunk: string) => {
    raw += chunk;
    const blocks = (rest + chunk).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const data = /^data: (.*)$/m.exec(block)?.[1];
      if (data === undefined) continue;
      ids.push(Number(/^id: (\d+)$/m.exec(block)?.[1]));
      heard.push(JSON.parse(data) as StreamEvent);
    }
    wake();
  });
  let isOver = false;
  const closed = new Promise<void>((resolve) => {
    const end = (): void => {
      isOver = true;
      wake();
      resolve();
    };
    answer.on("close", end).on("error", end);
  });
  sent.on("error", () => undefined); // closed by this side
  onTestFinished(() => void sent.destroy());
  const taken = new Set<StreamEvent>();
  return {
    status: answer.statusCode ?? 0,
    ids,
    raw: () => raw,
    closed,
    close: () => sent.destroy(),
    async next(type, fits = () => true) {
      for (;;) {
        const found = heard.find((event) => event.type === type && !taken.has(event) && fits(event as never));
        if (found !== undefined) {
          taken.add(found);
          return found as never; // its type was compared
        }
        if (isOver) throw new Error(`the stream ended before "${type}" came: ${raw.slice(-500)}`);
        await new Promise<void>((resolve) => waiting.push(resolve));
      }
    },
  };
}
