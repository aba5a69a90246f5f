/**
 * One language server as a child process: JSON-RPC over its standard input and output. A server is untrusted code that may be
 * slow, silent, broken or gone at any moment, so nothing here rejects: every request comes to an end, and says which.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { limits } from "../contract/limits.ts";
import { createFraming, type Frame, framed } from "./framing.ts";

export interface ServerProgram {
  /** The absolute path of the program; there is no shell. */
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** All of its environment. */
  readonly env: NodeJS.ProcessEnv;
}

/** How a request ended. */
export type Answered =
  | { readonly is: "result"; readonly value: unknown }
  | { readonly is: "error"; readonly code: number; readonly message: string }
  | { readonly is: "timeout" }
  | { readonly is: "cancelled" }
  /** The server is gone, or was never there. */
  | { readonly is: "ended"; readonly why: string };

export interface Handlers {
  /** Must not throw. */
  notified(method: string, params: unknown): void;
  /** What the server asks. Undefined: nobody knows such a method. */
  asked(method: string, params: unknown): { readonly result: unknown } | { readonly error: RpcError } | undefined;
}

export interface RpcError {
  readonly code: number;
  readonly message: string;
}

export interface Client {
  /** Never rejects. After `waitMsMax` the server is told that nobody waits any more. */
  request(
    method: string,
    params: unknown,
    options: { readonly waitMsMax: number; readonly signal?: AbortSignal },
  ): Promise<Answered>;
  notify(method: string, params: unknown): void;
  readonly isAlive: boolean;
  /** Kept when the server is gone; says why. */
  readonly ended: Promise<string>;
  /** Asks it to end, and makes it. */
  stop(): Promise<void>;
  /** The last of what it printed to standard error. */
  complaints(): string;
}

export function startClient(program: ServerProgram, handlers: Handlers): Client {
  const { command, args, cwd, env } = program;
  const child = spawn(command, [...args], { cwd, env, stdio: ["pipe", "pipe", "pipe"], windowsHide: true });
  keepTrackOf(child);
  const waiting = new Map<number, (answer: Answered) => void>();
  const complaints = tailOf(child);
  let lastId = 0;
  let endedBy: string | undefined;
  let resolveEnded: (why: string) => void = () => undefined;
  const ended = new Promise<string>((resolve) => (resolveEnded = resolve));

  const end = (why: string): void => {
    if (endedBy !== undefined) return;
    endedBy = why;
    for (const settle of waiting.values()) settle({ is: "ended", why });
    child.stdin?.end();
    resolveEnded(why);
  };
  /** It cannot be talked to any more. */
  const drop = (why: string): void => {
    end(why);
    child.kill("SIGKILL");
  };
  const send = (message: object): void => {
    const { stdin } = child;
    if (endedBy !== undefined || stdin === null) return;
    stdin.write(framed({ jsonrpc: "2.0", ...message }));
    // What it does not read would pile up here.
    if (stdin.writableLength > limits.languageUnreadBytesMax) drop("it does not read what it is sent");
  };
  const taken = (frame: Frame): void => {
    if (frame.is === "fault") return drop(`it sent ${frame.why}`);
    const message = messageOf(frame.value);
    switch (message.is) {
      case "notification":
        return handlers.notified(message.method, message.params);
      case "request": {
        const answer = handlers.asked(message.method, message.params);
        return send({ id: message.id, ...(answer ?? { error: { code: methodNotFound, message: "Not supported" } }) });
      }
      case "response":
        return waiting.get(message.id)?.(message.answer);
      case "nothing":
        return undefined;
    }
  };

  const framing = createFraming();
  child.stdout?.on("data", (chunk: Buffer) => {
    for (const frame of framing.feed(chunk)) if (endedBy === undefined) taken(frame);
  });
  // Broken pipes tell nothing that the end of the process does not.
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.on("error", () => undefined);
  child.once("error", (error: NodeJS.ErrnoException) => end(`it could not be started (${error.code ?? "unknown"})`));
  child.once("exit", (status, signal) => end(`it ended (${signal ?? `status ${status}`})`));
  unref(child);

  const request: Client["request"] = (method, params, { waitMsMax, signal }) =>
    new Promise((resolve) => {
      if (endedBy !== undefined) return resolve({ is: "ended", why: endedBy });
      if (signal?.aborted === true) return resolve({ is: "cancelled" });
      if (waiting.size >= limits.languageRequestsMax) {
        return resolve({ is: "error", code: serverBusy, message: "too many requests wait for an answer" });
      }
      const id = (lastId += 1);
      const settle = (answer: Answered): void => {
        if (!waiting.delete(id)) return;
        clearTimeout(timer);
        signal?.removeEventListener("abort", onAbort);
        resolve(answer);
      };
      const giveUp = (answer: Answered): void => {
        settle(answer);
        send({ method: "$/cancelRequest", params: { id } });
      };
      const onAbort = (): void => giveUp({ is: "cancelled" });
      // Not unreferenced: it is what keeps a host alive that awaits the answer.
      const timer = setTimeout(() => giveUp({ is: "timeout" }), waitMsMax);
      waiting.set(id, settle);
      signal?.addEventListener("abort", onAbort, { once: true });
      send({ id, method, params });
    });

  return {
    request,
    notify: (method, params) => send({ method, params }),
    get isAlive() {
      return endedBy === undefined;
    },
    ended,
    complaints,
    stop: async () => {
      if (endedBy === undefined) {
        await request("shutdown", null, { waitMsMax: limits.languageShutdownMsMax });
        send({ method: "exit", params: null });
        end("it was shut down");
      }
      await gone(child);
    },
  };
}

const methodNotFound = -32_601;
const serverBusy = -32_000;

type Message =
  | { readonly is: "notification"; readonly method: string; readonly params: unknown }
  | { readonly is: "request"; readonly id: number | string; readonly method: string; readonly params: unknown }
  | { readonly is: "response"; readonly id: number; readonly answer: Answered }
  /** No message of the protocol: left alone. */
  | { readonly is: "nothing" };

function messageOf(value: unknown): Message {
  if (typeof value !== "object" || value === null) return { is: "nothing" };
  const { id, method, params, result, error } = value as Readonly<Record<string, unknown>>; // any object has such fields or lacks them
  if (typeof method === "string") {
    if (typeof id === "number" || typeof id === "string") return { is: "request", id, method, params };
    return { is: "notification", method, params };
  }
  if (typeof id !== "number") return { is: "nothing" };
  if (typeof error === "object" && error !== null) {
    const { code, message } = error as Readonly<Record<string, unknown>>; // as above
    const words = typeof message === "string" ? message.slice(0, limits.languageMessageCharsMax) : "";
    return {
      is: "response",
      id,
      answer: { is: "error", code: typeof code === "number" ? code : 0, message: words },
    };
  }
  return { is: "response", id, answer: { is: "result", value: result } };
}

/** A host that has nothing else to do may end, whatever its servers are at. */
function unref(child: ChildProcess): void {
  child.unref();
  for (const stream of [child.stdin, child.stdout, child.stderr]) {
    if (stream !== null && "unref" in stream && typeof stream.unref === "function") stream.unref();
  }
}

function tailOf(child: ChildProcess): () => string {
  let tail = "";
  child.stderr?.setEncoding("utf8").on("data", (piece: string) => {
    tail = (tail + piece).slice(-limits.languageComplaintCharsMax);
  });
  return () => tail;
}

/**
 * Waits for the end of a child that was asked to end, and brings it about after a moment. It always settles: a child that even
 * outlives its kill, as one that hangs in the system does, is left behind.
 */
export function gone(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return resolve();
    // Never unreferenced: a host that awaits this has perhaps nothing else to live for, and would end in the middle.
    let timer = setTimeout(() => {
      child.kill("SIGKILL");
      timer = setTimeout(resolve, limits.languageExitMsMax);
    }, limits.languageExitMsMax);
    child.once("exit", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

const children = new Set<ChildProcess>();
let watching = false;

/** A host that exits takes its servers along. One that is killed closes their input, which tells them the same. */
function keepTrackOf(child: ChildProcess): void {
  if (!watching) {
    watching = true;
    process.once("exit", () => {
      for (const each of children) each.kill("SIGKILL");
    });
  }
  children.add(child);
  const forget = (): void => void children.delete(child);
  child.once("exit", forget);
  child.once("error", forget);
}
