/** One language server as a child process: JSON-RPC with untrusted code. Nothing rejects; every request ends. */

import { type ChildProcess, spawn } from "node:child_process";
import { limits } from "../contract/limits.ts";
import { parseJson } from "../text/text.ts";
import { type Capabilities, fieldsOf, pullOf } from "./capabilities.ts";
import { uriOf } from "./diagnostics.ts";

export interface ServerProgram {
  /** The absolute path of the program; there is no shell. */
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

export type RequestEnd =
  | { readonly is: "result"; readonly value: unknown }
  | { readonly is: "error"; readonly code: number; readonly message: string }
  | { readonly is: "timeout" }
  | { readonly is: "cancelled" }
  | { readonly is: "ended"; readonly why: string };

interface Handlers {
  notified(method: string, params: unknown): void;
  asked(method: string, params: unknown): { readonly result: unknown } | { readonly error: RpcError } | undefined;
}

export interface RpcError {
  readonly code: number;
  readonly message: string;
}

export type Client = ReturnType<typeof startClient>;

interface RequestOptions {
  readonly waitMsMax: number;
  readonly signal?: AbortSignal;
}

export function startClient(program: ServerProgram, handlers: Handlers) {
  const { command, args, cwd, env } = program;
  const child = spawn(command, [...args], { cwd, env, stdio: ["pipe", "pipe", "pipe"], windowsHide: true });
  killOnExit(child);
  const waiting = new Map<number, (answer: RequestEnd) => void>();
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
  const drop = (why: string): void => {
    end(why);
    child.kill("SIGKILL");
  };
  const send = (message: object): void => {
    const { stdin } = child;
    if (endedBy !== undefined || stdin === null) return;
    stdin.write(frameMessage({ jsonrpc: "2.0", ...message }));
    // What the server does not read piles up in memory.
    if (stdin.writableLength > limits.languageUnreadBytesMax) drop("it does not read what it is sent");
  };
  const handleFrame = (frame: Frame): void => {
    if (frame.is === "fault") return drop(`it sent ${frame.why}`);
    const { id, method, params, result, error } = fieldsOf(frame.value);
    if (typeof method === "string") {
      if (typeof id !== "number" && typeof id !== "string") return handlers.notified(method, params);
      const answer = handlers.asked(method, params);
      return send({ id, ...(answer ?? { error: { code: methodNotFound, message: "Not supported" } }) });
    }
    if (typeof id === "number") waiting.get(id)?.(endOf(result, error));
  };

  const framing = createFraming();
  child.stdout?.on("data", (chunk: Buffer) => {
    for (const frame of framing.feed(chunk)) if (endedBy === undefined) handleFrame(frame);
  });
  // Broken pipes are ignored: the exit of the process is handled.
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.on("error", () => undefined);
  child.once("error", (error: NodeJS.ErrnoException) => end(`it could not be started (${error.code ?? "unknown"})`));
  child.once("exit", (status, signal) => end(`it ended (${signal ?? `status ${status}`})`));
  unref(child);

  /** Never rejects. After `waitMsMax` the request is cancelled at the server. */
  const request = (method: string, params: unknown, { waitMsMax, signal }: RequestOptions): Promise<RequestEnd> =>
    new Promise((resolve) => {
      if (endedBy !== undefined) return resolve({ is: "ended", why: endedBy });
      if (signal?.aborted === true) return resolve({ is: "cancelled" });
      if (waiting.size >= limits.languageRequestsMax) {
        return resolve({ is: "error", code: serverBusy, message: "too many requests wait for an answer" });
      }
      const id = (lastId += 1);
      const settle = (answer: RequestEnd): void => {
        if (!waiting.delete(id)) return;
        clearTimeout(timer);
        signal?.removeEventListener("abort", onAbort);
        resolve(answer);
      };
      const giveUp = (answer: RequestEnd): void => {
        settle(answer);
        send({ method: "$/cancelRequest", params: { id } });
      };
      const onAbort = (): void => giveUp({ is: "cancelled" });
      // Not unreferenced: this timer keeps a host alive that awaits the answer.
      const timer = setTimeout(() => giveUp({ is: "timeout" }), waitMsMax);
      waiting.set(id, settle);
      signal?.addEventListener("abort", onAbort, { once: true });
      send({ id, method, params });
    });

  return {
    request,
    notify: (method: string, params: unknown): void => send({ method, params }),
    get isAlive(): boolean {
      return endedBy === undefined;
    },
    ended,
    complaints,
    stop: async (): Promise<void> => {
      if (endedBy === undefined) {
        await request("shutdown", null, { waitMsMax: limits.languageShutdownMsMax });
        send({ method: "exit", params: null });
        end("it was shut down");
      }
      await waitForExit(child);
    },
  };
}

const methodNotFound = -32_601;
const serverBusy = -32_000;

function endOf(result: unknown, error: unknown): RequestEnd {
  if (typeof error !== "object" || error === null) return { is: "result", value: result };
  const { code, message } = fieldsOf(error);
  const text = typeof message === "string" ? message.slice(0, limits.languageMessageCharsMax) : "";
  return { is: "error", code: typeof code === "number" ? code : 0, message: text };
}

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

/** Waits until the child is gone, and kills it after a moment. One that hangs in a system call is abandoned. */
export function waitForExit(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return resolve();
    // Not unreferenced: a host that awaits this may have nothing else to keep it alive, and would exit too early.
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

/** Kills servers when the host exits. If the host is killed, their input is closed, which ends them too. */
function killOnExit(child: ChildProcess): void {
  if (!watching) {
    watching = true;
    process.once("exit", () => {
      for (const server of children) server.kill("SIGKILL");
    });
  }
  children.add(child);
  const forget = (): void => void children.delete(child);
  child.once("exit", forget);
  child.once("error", forget);
}

// The protocol's framing: `Content-Length: N`, an empty line, N bytes of JSON. Servers are untrusted: a header or a body above
// the limit, or bytes that are no header, are a fault that ends the connection.

type Frame = { readonly is: "message"; readonly value: unknown } | { readonly is: "fault"; readonly why: string };

export function frameMessage(value: unknown): Buffer {
  const body = Buffer.from(JSON.stringify(value), "utf8");
  return Buffer.concat([Buffer.from(`Content-Length: ${body.length}\r\n\r\n`, "ascii"), body]);
}

export function createFraming() {
  let chunks: Buffer[] = [];
  let bufferedBytes = 0;
  let bodyBytes: number | undefined;
  let isFaulty = false;

  const fault = (why: string): Frame => {
    isFaulty = true;
    chunks = [];
    return { is: "fault", why };
  };
  const joined = (): Buffer => {
    const all = chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
    chunks = [all];
    return all;
  };
  const drop = (bytes: number): void => {
    const rest = joined().subarray(bytes);
    bufferedBytes = rest.length;
    chunks = bufferedBytes === 0 ? [] : [rest];
  };
  const header = (): Frame | "more" | "done" => {
    const all = joined();
    if (!looksLikeHeader(all)) return fault("something that is no message");
    const end = all.subarray(0, limits.languageHeaderBytesMax + headerEnd.length).indexOf(headerEnd);
    if (end < 0) {
      if (bufferedBytes > limits.languageHeaderBytesMax) return fault("a header that is too long");
      return "more";
    }
    const length = lengthIn(all.toString("latin1", 0, end));
    if (length === undefined) return fault("a header without a length");
    if (length > limits.languageBodyBytesMax) return fault(`a message of ${length} bytes`);
    drop(end + headerEnd.length);
    bodyBytes = length;
    return "done";
  };
  const body = (bytes: number): Frame => {
    const text = joined().toString("utf8", 0, bytes);
    drop(bytes);
    bodyBytes = undefined;
    const parsed = parseJson(text, limits.languageContainersMax);
    if ("value" in parsed) return { is: "message", value: parsed.value };
    if (parsed.fault === "not json") return fault("a message that is no JSON");
    const why = `a message with more than ${limits.languageContainersMax} objects and lists or ${limits.jsonKeysMax} keys`;
    const id = answerId.exec(text.slice(0, 200))?.[1];
    if (id === undefined) return fault(why);
    return { is: "message", value: { id: Number(id), error: { code: answerTooLarge, message: `it sent ${why}` } } };
  };

  const next = (): Frame | undefined => {
    if (isFaulty) return undefined;
    if (bodyBytes !== undefined) return bufferedBytes < bodyBytes ? undefined : body(bodyBytes);
    if (bufferedBytes === 0) return undefined;
    const step = header();
    if (step === "more") return undefined;
    return step === "done" ? next() : step;
  };

  return {
    feed: (chunk: Uint8Array): readonly Frame[] => {
      if (isFaulty) return [];
      chunks.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
      bufferedBytes += chunk.byteLength;
      const frames: Frame[] = [];
      for (let frame = next(); frame !== undefined; frame = next()) frames.push(frame);
      return frames;
    },
  };
}

/** The id of an answer, which servers send before its result. An answer that is not parsed fails its request alone. */
const answerId = /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,15})\s*,\s*"(?:jsonrpc|result)"/;
const answerTooLarge = -32_000;

const headerEnd = Buffer.from("\r\n\r\n", "ascii");

/** Detects servers that print to standard output by mistake at once, not after 64 KiB. */
function looksLikeHeader(bytes: Buffer): boolean {
  const start = bytes.toString("latin1", 0, 8).toLowerCase();
  return "content-".startsWith(start) || start.startsWith("content-");
}

function lengthIn(header: string): number | undefined {
  for (const line of header.split("\r\n")) {
    const found = /^content-length:\s*(\d{1,12})\s*$/i.exec(line);
    if (found?.[1] !== undefined) return Number(found[1]);
  }
  return undefined;
}

// Requests of servers and our answers: configuration, progress, registrations. Edits are refused.

export interface Registered {
  watching(id: string, options: unknown): void;
  pulling(options: NonNullable<Capabilities["pull"]>): void;
  unregistered(id: string): void;
  refresh(): void;
}

export interface AnswerContext {
  readonly root: string;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly registered: Registered;
}

export function answerTo(method: string, params: unknown, context: AnswerContext): ReturnType<Handlers["asked"]> {
  switch (method) {
    case "workspace/configuration":
      return { result: configuration(fieldsOf(params)["items"], context.settings) };
    case "client/registerCapability":
      for (const one of listIn(fieldsOf(params)["registrations"])) register(one, context.registered);
      return { result: null };
    case "client/unregisterCapability":
      // The protocol misspells it so.
      for (const one of listIn(fieldsOf(params)["unregisterations"])) {
        const { id } = fieldsOf(one);
        if (typeof id === "string") context.registered.unregistered(id);
      }
      return { result: null };
    case "workspace/workspaceFolders":
      return { result: [{ uri: uriOf(context.root), name: context.root.split(/[\\/]/).at(-1) ?? "" }] };
    case "workspace/applyEdit":
      // Files are only changed by calls that were permitted.
      return { result: { applied: false, failureReason: "Files are changed by the session only" } };
    case "workspace/diagnostic/refresh":
      context.registered.refresh();
      return { result: null };
    case "window/showDocument":
      return { result: { success: false } };
    case "window/workDoneProgress/create":
    case "window/showMessageRequest":
    case "workspace/codeLens/refresh":
    case "workspace/semanticTokens/refresh":
    case "workspace/inlayHint/refresh":
    case "workspace/inlineValue/refresh":
    case "workspace/foldingRange/refresh":
      return { result: null };
    default:
      return undefined;
  }
}

function register(value: unknown, registered: Registered): void {
  const { id, method, registerOptions } = fieldsOf(value);
  if (typeof id !== "string") return;
  if (method === "workspace/didChangeWatchedFiles") registered.watching(id, registerOptions);
  if (method === "textDocument/diagnostic") registered.pulling(pullOf(registerOptions));
}

function configuration(items: unknown, settings: AnswerContext["settings"]): readonly unknown[] {
  return listIn(items).map((item) => {
    const { section } = fieldsOf(item);
    if (typeof section !== "string" || section === "") return settings;
    let value: unknown = settings;
    for (const name of section.split(".")) {
      value = typeof value === "object" && value !== null && Object.hasOwn(value, name) ? fieldsOf(value)[name] : null;
    }
    return value ?? null;
  });
}

const listIn = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value.slice(0, limits.languageRequestsMax) : [];
