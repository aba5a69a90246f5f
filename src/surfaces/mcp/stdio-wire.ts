/**
 * The stdio transport. The SDK's own closes the connection at a message of 10 MiB and does not answer a line that is not JSON;
 * this one accepts calls as large as a Write may be, answers every line, and sends no message that is too large for a client.
 */

import { isUtf8 } from "node:buffer";
import type { Readable, Writable } from "node:stream";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/server";
import { isRecord } from "../../contract/common.ts";
import { limits } from "../../contract/limits.ts";
import { escapeName, parseJson, tooManyParts } from "../../text/text.ts";
import { metaFault } from "./envelope.ts";

/** A line that is not UTF-8 is refused: decoded, it would have other characters than were sent, which would end up in a file. */
export type WireLine =
  | { readonly text: string }
  | { readonly tooLong: true; readonly id: Id }
  | { readonly notUtf8: true; readonly id: Id };

/** Bytes at both ends of a refused line that are searched for its id. */
const endBytes = 512;
const newline = 10;

/** Splits chunks into lines. Of a line over the limit only the ends are kept. */
export class Lines {
  #parts: Buffer[] = [];
  #bytes = 0;
  /** The beginning and the end of a line that is too long. */
  #head = "";
  #tail: Buffer = Buffer.alloc(0);
  readonly #bytesMax: number;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** The lines that end in this chunk. */
  feed(chunk: Buffer): readonly WireLine[] {
    const lines: WireLine[] = [];
    let from = 0;
    for (let to = chunk.indexOf(newline); to !== -1; to = chunk.indexOf(newline, from)) {
      this.#keep(chunk.subarray(from, to));
      const line = this.#take();
      if (line !== undefined) lines.push(line);
      from = to + 1;
    }
    if (from < chunk.length) this.#keep(chunk.subarray(from));
    return lines;
  }

  /** The text after the last newline, at the end of the input. */
  finish(): WireLine | undefined {
    return this.#bytes === 0 ? undefined : this.#take();
  }

  #keep(part: Buffer): void {
    this.#bytes += part.length;
    if (this.#bytes <= this.#bytesMax) {
      this.#parts.push(part);
      return;
    }
    if (this.#parts.length > 0) {
      this.#head = Buffer.concat(this.#parts).subarray(0, endBytes).toString("utf8");
      this.#parts = [];
    }
    this.#tail = Buffer.from(Buffer.concat([this.#tail, part.subarray(-endBytes)]).subarray(-endBytes));
  }

  #take(): WireLine | undefined {
    const tooLong = this.#bytes > this.#bytesMax;
    const [only] = this.#parts;
    const line: WireLine | undefined = tooLong
      ? { tooLong, id: idInPassing(this.#head, this.#tail.toString("utf8")) }
      : lineOf(this.#parts.length === 1 && only !== undefined ? only : Buffer.concat(this.#parts));
    this.#parts = [];
    this.#bytes = 0;
    if (tooLong) [this.#head, this.#tail] = ["", Buffer.alloc(0)];
    return line;
  }
}

function lineOf(bytes: Buffer): WireLine | undefined {
  if (!isUtf8(bytes)) {
    const [head, tail] = [bytes.subarray(0, endBytes), bytes.subarray(-endBytes)];
    return { notUtf8: true, id: idInPassing(head.toString("latin1"), tail.toString("latin1")) };
  }
  const text = bytes.toString("utf8").trim();
  return text === "" ? undefined : { text };
}

type Id = string | number | null;
type Request = Extract<JSONRPCMessage, { readonly method: string; readonly id: string | number }>;

const isRequest = (message: JSONRPCMessage): message is Request => "method" in message && "id" in message;

/** How long running calls may take after the input has ended. */
const graceMs = 10_000;

/** Requests that run at once; more of them are queued. */
const atOnceMax = 512;
/** Bytes of answers that the client has not read; beyond that, requests are queued, so that a slow client cannot fill the memory. */
const unreadBytesMax = 4_194_304;
/** Lines in the queue; beyond that, stdin is not read. */
const queuedMax = 10_000;
/** The same for their characters together. */
const queuedCharsMax = limits.mcpLineBytesMax;
/** How many start when the client reads again; each answer then starts the next one. */
const startedAtOnce = 32;

/** A line that waits: a request, or the refusal of a line that is not one. */
type Queued = { readonly chars: number } & ({ readonly request: Request } | { readonly refusal: object });

export class StdioWire implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** Resolves when the SDK is loaded; the grace period of answers begins after it. */
  ready: Promise<void> = Promise.resolve();
  readonly #stdin: Readable;
  readonly #stdout: Writable;
  readonly #lines = new Lines(limits.mcpLineBytesMax);
  /** Requests that are running. */
  readonly #pending = new Set<Id>();
  /** Requests that wait, because the client does not read or has sent too many at once. */
  readonly #queue: Queued[] = [];
  #queuedChars = 0;
  /** Our own requests to the client. */
  readonly #asked = new Set<Id>();
  /** One promise for all writes that wait: one listener each would be hundreds. */
  #drained: Promise<void> | undefined;
  #ended = false;
  #closed = false;

  constructor(stdin: Readable, stdout: Writable) {
    this.#stdin = stdin;
    this.#stdout = stdout;
  }

  async start(): Promise<void> {
    this.#stdin.on("data", this.#onData).on("end", this.#onEnd).on("close", this.#onEnd).on("error", this.#onEnd);
    this.#stdout.on("error", () => void this.close()); // the client has closed its end
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const isAnswer = "id" in message && !("method" in message);
    if (isAnswer) return this.sendAnswer(message.id ?? null, JSON.stringify(message));
    const json = JSON.stringify(message);
    if (!this.#fits(json)) return;
    if (isRequest(message)) this.#ask(message.id);
    if (!this.#ended || !isRequest(message)) await this.#write(json);
  }

  /** After the end of the input the client cannot answer. */
  #ask(id: Id): void {
    this.#asked.add(id);
    if (this.#ended) setImmediate(() => this.#leaveUnanswered());
  }

  #leaveUnanswered(): void {
    for (const id of this.#asked) {
      this.#asked.delete(id);
      this.onmessage?.({ jsonrpc: "2.0", id: id ?? 0, error: { code: -32000, message: "the connection has ended" } });
    }
  }

  /** `json`: the whole answer to the request with this id. */
  async sendAnswer(id: Id, json: string): Promise<void> {
    const tooLarge = "Internal error: the answer is too large for one message";
    await this.#write(this.#fits(json) ? json : JSON.stringify(failure(id, -32603, tooLarge)));
    this.#settled(id);
  }

  #fits(json: string): boolean {
    // A unit of UTF-16 has at most three bytes.
    if (json.length * 3 <= limits.mcpResultBytesMax) return true;
    if (Buffer.byteLength(json) <= limits.mcpResultBytesMax) return true;
    this.onerror?.(new Error("a message was too large to be sent"));
    return false;
  }

  #write(json: string): Promise<void> | undefined {
    if (this.#closed) throw new Error("the connection is closed");
    if (this.#stdout.write(`${json}\n`)) return undefined;
    return (this.#drained ??= new Promise((resolve) => {
      this.#stdout.once("drain", () => {
        this.#drained = undefined;
        resolve();
        this.#startQueued(startedAtOnce);
      });
    }));
  }

  #isFull(): boolean {
    return this.#pending.size >= atOnceMax || this.#stdout.writableLength > unreadBytesMax;
  }

  /** Starts at most so many queued requests. Refusals do not count: no answer of theirs would start the next request. */
  #startQueued(count: number): void {
    for (let left = count; left > 0 && !this.#closed && !this.#isFull(); ) {
      const next = this.#queue.shift();
      if (next === undefined) break;
      this.#queuedChars -= next.chars;
      if ("request" in next) left -= 1;
      this.#run(next);
    }
    if (!this.#isQueueFull() && !this.#closed) this.#stdin.resume();
    this.#closeIfDone();
  }

  #run(next: Queued): void {
    if ("refusal" in next) return void this.#write(JSON.stringify(next.refusal));
    this.#pending.add(next.request.id);
    this.onmessage?.(next.request);
  }

  #isQueueFull(): boolean {
    return this.#queue.length >= queuedMax || this.#queuedChars >= queuedCharsMax;
  }

  #closeIfDone(): void {
    if (this.#ended && this.#pending.size === 0 && this.#queue.length === 0) void this.close();
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#stdin.off("data", this.#onData).off("end", this.#onEnd).off("close", this.#onEnd).pause();
    this.onclose?.();
  }

  readonly #onData = (chunk: Buffer): void => {
    for (const line of this.#lines.feed(chunk)) this.#take(line);
  };

  #take(line: WireLine): void {
    if ("notUtf8" in line) return this.#refuse(line.id, -32700, "Parse error: not valid UTF-8");
    if ("tooLong" in line) {
      const most = Math.floor(limits.mcpLineBytesMax / 1_048_576);
      return this.#refuse(line.id, -32600, `Invalid request: longer than ${most} MiB, send it in parts`);
    }
    const parsed = parseMessage(line.text);
    const refused = "fault" in parsed ? parsed : requestFault(parsed.message);
    if (refused !== undefined) return this.#refuse(refused.id, refused.code, refused.fault);
    if ("message" in parsed) this.#deliver(parsed.message as JSONRPCMessage, line.text.length); // its outline is checked; the SDK checks the rest
  }

  #deliver(message: JSONRPCMessage, chars: number): void {
    if (isRequest(message)) return this.#runOrQueue({ request: message, chars });
    // Other messages are never queued: running calls may wait for them.
    if ("method" in message && message.method === "notifications/cancelled") {
      const cancelled = message.params?.["requestId"];
      const at = this.#queue.findIndex((queued) => "request" in queued && queued.request.id === cancelled);
      if (at !== -1) {
        this.#queuedChars -= this.#queue[at]?.chars ?? 0;
        this.#queue.splice(at, 1);
        if (!this.#isQueueFull()) this.#stdin.resume();
        return;
      }
      if (typeof cancelled === "string" || typeof cancelled === "number") this.#settled(cancelled);
    }
    if (!("method" in message)) this.#asked.delete(message.id ?? null);
    this.onmessage?.(message);
  }

  #refuse(id: Id, code: number, message: string): void {
    this.#runOrQueue({ refusal: failure(id, code, message), chars: message.length });
  }

  #runOrQueue(next: Queued): void {
    if (this.#closed) return;
    if (this.#queue.length === 0 && !this.#isFull()) return this.#run(next);
    this.#queue.push(next);
    this.#queuedChars += next.chars;
    if (this.#isQueueFull()) this.#stdin.pause();
  }

  #settled(id: Id): void {
    this.#pending.delete(id);
    if (this.#queue.length > 0) this.#startQueued(1);
    else this.#closeIfDone();
  }

  readonly #onEnd = (): void => {
    if (this.#ended) return;
    const last = this.#lines.finish();
    if (last !== undefined) this.#take(last);
    this.#ended = true;
    if (this.#pending.size === 0 && this.#queue.length === 0) return void this.close();
    this.#leaveUnanswered();
    void this.ready.then(() => setTimeout(() => void this.close(), graceMs).unref());
  };
}

const failure = (id: Id, code: number, message: string) => ({ jsonrpc: "2.0", id, error: { code, message } });

/** Levels of braces and brackets; deeper nesting is refused before any code recurses into it. Our calls have at most five. */
export const depthMax = 64;

export type Parsed =
  | { readonly message: object }
  | { readonly code: -32700 | -32600 | -32602; readonly fault: string; readonly id: string | number | null };

export function parseMessage(text: string): Parsed {
  const parsed = parseJson(text);
  if ("fault" in parsed) {
    return parsed.fault === "not json"
      ? { code: -32700, fault: "Parse error: not valid JSON", id: null }
      : {
          code: -32600,
          fault: `Invalid request: the message ${tooManyParts}`,
          id: idInPassing(text.slice(0, endBytes), text.slice(-endBytes)),
        };
  }
  const { value } = parsed;
  if (!isRecord(value)) {
    return { code: -32600, fault: "Invalid request: a message is one JSON object", id: null };
  }
  const id = idOf(value);
  const fault = isPlainText(text) ? undefined : structureFault(value);
  if (fault !== undefined) return { code: -32600, fault: `Invalid request: ${fault}`, id };
  if (!("jsonrpc" in value) || value.jsonrpc !== "2.0") {
    return { code: -32600, fault: 'Invalid request: "jsonrpc" must be "2.0"', id };
  }
  const isCall = "method" in value && typeof value.method === "string";
  const isAnswer = "id" in value && ("result" in value || "error" in value);
  return isCall || isAnswer
    ? { message: value }
    : { code: -32600, fault: "Invalid request: neither a method nor a result", id };
}

/** Is the text so short and simple that `structureFault` cannot find anything? True for most calls. */
function isPlainText(text: string): boolean {
  if (text.length > 4_096 || text.includes("__proto__") || text.includes("\\u")) return false;
  let opened = 0;
  for (const bracket of "{[") {
    for (let at = text.indexOf(bracket); at !== -1; at = text.indexOf(bracket, at + 1)) opened += 1;
  }
  return opened <= depthMax;
}

/** The answer repeats the id, so a long one could make it too large. */
const idCharsMax = 1_024;

/** Finds malformed requests, which the SDK would not answer. */
export function requestFault(message: object): Exclude<Parsed, { readonly message: object }> | undefined {
  if (!("method" in message) || !("id" in message)) return undefined;
  const id = idOf(message);
  if (id === null || (typeof id === "number" ? !Number.isSafeInteger(id) : id.length > idCharsMax)) {
    const text = `text of at most ${idCharsMax} characters`;
    return { code: -32600, fault: `Invalid request: "id" must be ${text} or a whole number`, id: null };
  }
  if (typeof message.method !== "string") {
    return { code: -32600, fault: 'Invalid request: "method" must be text', id };
  }
  for (const key in message) {
    if (key === "jsonrpc" || key === "id" || key === "method" || key === "params") continue;
    const fault = `a request has "jsonrpc", "id", "method" and "params" only, not "${escapeName(key.slice(0, 100))}"`;
    return { code: -32600, fault: `Invalid request: ${fault}`, id };
  }
  const params = "params" in message ? message.params : undefined;
  if (params !== undefined && !isRecord(params)) {
    return { code: -32602, fault: 'Invalid params: "params" must be an object', id };
  }
  const meta = params?.["_meta"];
  if (meta !== undefined && !isRecord(meta)) {
    return { code: -32602, fault: 'Invalid params: "_meta" must be an object', id };
  }
  const fault = meta === undefined ? undefined : metaFault(meta);
  return fault === undefined ? undefined : { code: -32602, fault: `Invalid params: ${fault}`, id };
}

/** Finds nesting and keys that no message of the protocol has. Level by level instead of recursion, which could overflow. */
export function structureFault(value: object): string | undefined {
  let level: object[] = [value];
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > depthMax) return `nested more than ${depthMax} levels deep`;
    const next: object[] = [];
    for (const node of level) {
      // Some parsers drop such a key and some obey it, so the call could be applied in part.
      if (Object.hasOwn(node, "__proto__")) return 'a key is named "__proto__"';
      for (const child of Object.values(node)) if (typeof child === "object" && child !== null) next.push(child);
    }
    level = next;
  }
  return undefined;
}

function idOf(value: object): string | number | null {
  const id = "id" in value ? value.id : null;
  return typeof id === "string" || typeof id === "number" ? id : null;
}

/** The id of a message that cannot be parsed. Only at its beginning or its end is it certain that an id is at the top level. */
export function idInPassing(head: string, tail: string): string | number | null {
  const found =
    /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(-?\d{1,15}|"[^"\\]{1,200}")\s*[,}]/.exec(head) ??
    /[,{]\s*"id"\s*:\s*(-?\d{1,15}|"[^"\\]{1,200}")\s*\}\s*$/.exec(tail);
  return found?.[1] === undefined ? null : (JSON.parse(found[1]) as string | number); // the pattern allows nothing else
}
