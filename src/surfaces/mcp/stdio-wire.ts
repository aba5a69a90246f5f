/**
 * The transport of stdio. The SDK's own closes the connection at a message of 10 MiB and leaves a line that is no JSON
 * without an answer; this one takes calls as large as a Write may be, answers every line, and sends nothing that would make
 * a client on the other side hang up.
 */

import type { Readable, Writable } from "node:stream";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/server";
import { limits } from "../../contract/limits.ts";
import { parseMessage, requestFault } from "./json-message.ts";
import { type Line, Lines } from "./lines.ts";

type Id = string | number | null;
type Request = Extract<JSONRPCMessage, { readonly method: string; readonly id: string | number }>;

const isRequest = (message: JSONRPCMessage): message is Request => "method" in message && "id" in message;

/** How long answers that are under way may take when nothing more comes in. */
const graceMs = 10_000;

/** Requests that are begun at once, and bytes of answers that the client has not read; beyond that requests wait their turn. */
const atOnceMax = 512;
const unreadBytesMax = 4_194_304;
/** Lines that wait like this, and their characters; beyond that nothing is read. */
const heldMax = 10_000;
const heldCharsMax = limits.mcpLineBytesMax;
/** How many are begun when the client reads again; each answer then brings the next one. */
const begunAtOnce = 32;

/** A line whose turn has not come: a request, or the refusal of what is none. */
type Held = { readonly chars: number } & ({ readonly request: Request } | { readonly refusal: object });

export class StdioWire implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** Kept when whoever answers is there; until then no answer is late. */
  ready: Promise<void> = Promise.resolve();
  readonly #stdin: Readable;
  readonly #stdout: Writable;
  readonly #lines = new Lines(limits.mcpLineBytesMax);
  /** Requests that wait for their answer. */
  readonly #pending = new Set<Id>();
  /** What is not begun yet, because the client does not read or has asked for too much at once. */
  readonly #held: Held[] = [];
  #heldChars = 0;
  /** Our own requests, which only the client can answer. */
  readonly #asked = new Set<Id>();
  /** One for all who wait: a listener each would be hundreds. */
  #drained: Promise<void> | undefined;
  #ended = false;
  #closed = false;

  constructor(stdin: Readable, stdout: Writable) {
    this.#stdin = stdin;
    this.#stdout = stdout;
  }

  async start(): Promise<void> {
    this.#stdin.on("data", this.#onData).on("end", this.#onEnd).on("close", this.#onEnd).on("error", this.#onEnd);
    this.#stdout.on("error", this.#onBroken);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const isAnswer = "id" in message && !("method" in message);
    if (isAnswer) return this.sendAnswer(message.id ?? null, JSON.stringify(message));
    const json = JSON.stringify(message);
    if (!this.#fits(json)) return;
    if (isRequest(message)) this.#ask(message.id);
    if (!this.#ended || !isRequest(message)) await this.#write(json);
  }

  /** Nobody answers any more when the input has ended. */
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
        this.#begin(begunAtOnce);
      });
    }));
  }

  #isFull(): boolean {
    return this.#pending.size >= atOnceMax || this.#stdout.writableLength > unreadBytesMax;
  }

  /** Begins requests that were held back, so many at most; a refusal brings no answer that would begin the next one. */
  #begin(count: number): void {
    for (let left = count; left > 0 && !this.#closed && !this.#isFull(); ) {
      const next = this.#held.shift();
      if (next === undefined) break;
      this.#heldChars -= next.chars;
      if ("request" in next) left -= 1;
      this.#run(next);
    }
    if (!this.#isOverfull() && !this.#closed) this.#stdin.resume();
    this.#closeIfDone();
  }

  #run(held: Held): void {
    if ("refusal" in held) return void this.#write(JSON.stringify(held.refusal));
    this.#pending.add(held.request.id);
    this.onmessage?.(held.request);
  }

  #isOverfull(): boolean {
    return this.#held.length >= heldMax || this.#heldChars >= heldCharsMax;
  }

  #closeIfDone(): void {
    if (this.#ended && this.#pending.size === 0 && this.#held.length === 0) void this.close();
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

  #take(line: Line): void {
    if ("notUtf8" in line) return this.#refuse(line.id, -32700, "Parse error: not valid UTF-8");
    if ("tooLong" in line) {
      const most = Math.floor(limits.mcpLineBytesMax / 1_048_576);
      return this.#refuse(line.id, -32600, `Invalid request: longer than ${most} MiB, send it in parts`);
    }
    const parsed = parseMessage(line.text);
    const refused = "fault" in parsed ? parsed : requestFault(parsed.message);
    if (refused !== undefined) return this.#refuse(refused.id, refused.code, refused.fault);
    if ("message" in parsed) this.#deliver(parsed.message as JSONRPCMessage, line.text.length); // its outline was looked at, the SDK looks closer
  }

  #deliver(message: JSONRPCMessage, chars: number): void {
    if (isRequest(message)) return this.#runInTurn({ request: message, chars });
    // All else is never held back: calls that are under way may wait for it.
    if ("method" in message && message.method === "notifications/cancelled") {
      const cancelled = message.params?.["requestId"];
      const at = this.#held.findIndex((held) => "request" in held && held.request.id === cancelled);
      if (at !== -1) {
        this.#heldChars -= this.#held[at]?.chars ?? 0;
        this.#held.splice(at, 1);
        if (!this.#isOverfull()) this.#stdin.resume();
        return;
      }
      if (typeof cancelled === "string" || typeof cancelled === "number") this.#settled(cancelled);
    }
    if (!("method" in message)) this.#asked.delete(message.id ?? null);
    this.onmessage?.(message);
  }

  #refuse(id: Id, code: number, message: string): void {
    this.#runInTurn({ refusal: failure(id, code, message), chars: message.length });
  }

  #runInTurn(held: Held): void {
    if (this.#closed) return;
    if (this.#held.length === 0 && !this.#isFull()) return this.#run(held);
    this.#held.push(held);
    this.#heldChars += held.chars;
    if (this.#isOverfull()) this.#stdin.pause();
  }

  #settled(id: Id): void {
    this.#pending.delete(id);
    if (this.#held.length > 0) this.#begin(1);
    else this.#closeIfDone();
  }

  readonly #onEnd = (): void => {
    if (this.#ended) return;
    const last = this.#lines.finish();
    if (last !== undefined) this.#take(last);
    this.#ended = true;
    if (this.#pending.size === 0 && this.#held.length === 0) return void this.close();
    this.#leaveUnanswered();
    void this.ready.then(() => setTimeout(() => void this.close(), graceMs).unref());
  };

  /** Nobody reads any more. */
  readonly #onBroken = (): void => {
    void this.close();
  };
}

const failure = (id: Id, code: number, message: string) => ({ jsonrpc: "2.0", id, error: { code, message } });
