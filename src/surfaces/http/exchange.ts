/** Node's requests and responses, and those of the web platform that the SDK speaks. */

import { isUtf8 } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Delivery } from "../mcp/tool-call.ts";

/** Aborted when the other side hangs up before it has its answer. */
export function goneSignal(res: ServerResponse): AbortSignal {
  const gone = new AbortController();
  res.once("close", () => {
    if (!res.writableFinished) gone.abort();
  });
  return gone.signal;
}

/** The response that each connection had last: until the next request comes on it, nothing says that it was read. */
const lastOn = new WeakMap<Socket, () => void>();

/**
 * Whether a response arrives. It does not if the connection closes before all of it is written. It does not either if the
 * connection then breaks with an error: a client that goes away with unread bytes resets it, one that has read them closes it.
 */
export function watchDelivery(res: ServerResponse): Delivery {
  let isLost = false;
  const told: (() => void)[] = [];
  const lose = (): void => {
    isLost = true;
    for (const tell of told.splice(0)) tell();
  };
  res.once("close", () => {
    if (!res.writableFinished) lose();
  });
  const { socket } = res;
  if (socket !== null) {
    if (!lastOn.has(socket)) {
      socket.on("error", () => lastOn.get(socket)?.());
      // A client that closed before the answer was written has reset the connection by now, which a read does not tell after the
      // end: a write of nothing does, on Linux. First, since Node's own listener ends the socket.
      socket.prependListener("end", () => void (socket.writable && socket.write("")));
    }
    lastOn.set(socket, lose);
  }
  return {
    onLost: (tell) => {
      if (isLost) tell();
      else told.push(tell);
    },
  };
}

/** Without the body: that was read and parsed already. */
export function webRequest(req: IncomingMessage, signal: AbortSignal): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(req.headers)) {
    if (value !== undefined && name !== "authorization")
      headers.set(name, Array.isArray(value) ? value.join(", ") : value);
  }
  return new Request(`http://${req.headers.host}${req.url}`, { method: req.method ?? "GET", headers, signal });
}

export type Body =
  | { readonly text: string }
  | { readonly notUtf8: true }
  | { readonly tooLarge: true }
  | { readonly tooLate: true }
  | { readonly gone: true };

/** What is over the limit is not kept, and its sender is not waited for. `msMax`: for senders who are not known yet. */
export function readBody(req: IncomingMessage, bytesMax: number, msMax?: number): Promise<Body> {
  if (Number(req.headers["content-length"] ?? 0) > bytesMax) return Promise.resolve({ tooLarge: true });
  // Not with `for await`: nearly every body comes in one piece, and that would make listeners and promises for many.
  return new Promise((resolve) => {
    const parts: Buffer[] = [];
    let bytes = 0;
    if (msMax !== undefined) {
      const late = setTimeout(() => resolve({ tooLate: true }), msMax).unref();
      req.once("close", () => clearTimeout(late)).once("end", () => clearTimeout(late));
    }
    const onData = (part: Buffer): void => {
      bytes += part.length;
      parts.push(part);
      if (bytes <= bytesMax) return;
      req.off("data", onData).pause();
      resolve({ tooLarge: true });
    };
    req
      .on("data", onData)
      .once("end", () => resolve(textOf(parts)))
      .once("error", () => resolve({ gone: true }))
      .once("close", () => resolve({ gone: true }));
  });
}

/** What is not UTF-8 would be decoded to other characters than were sent, and they would be written into a file. */
function textOf(parts: readonly Buffer[]): Body {
  const bytes = parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
  return isUtf8(bytes) ? { text: bytes.toString("utf8") } : { notUtf8: true };
}

const isJson = ({ headers }: Response): boolean => headers.get("content-type")?.startsWith("application/json") === true;

/** Resolves when everything is written, or when nobody reads any more. */
export async function sendResponse(response: Response, res: ServerResponse): Promise<void> {
  const headers: Record<string, string> = {};
  response.headers.forEach((value, name) => {
    headers[name] = value;
  });
  if (response.body === null) {
    res.writeHead(response.status, headers).end();
    return;
  }
  if (isJson(response)) {
    const body = Buffer.from(await response.arrayBuffer());
    res.writeHead(response.status, { ...headers, "content-length": body.length }).end(body);
    return;
  }
  // Proxies keep streams back unless they are told not to.
  res.writeHead(response.status, { ...headers, "x-accel-buffering": "no" });
  res.flushHeaders();
  const reader = response.body.getReader();
  res.once("close", () => void reader.cancel().catch(() => undefined));
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      if (!res.write(part.value) && !res.destroyed)
        await new Promise((resolve) => res.once("drain", resolve).once("close", resolve));
    }
  } catch {
    // The stream was cut by its maker; what was sent stays sent.
  }
  res.end();
}

/** `text`: the whole answer. */
export function sendJson(res: ServerResponse, status: number, text: string): void {
  // Head and body as one text are written at once.
  res.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(text) }).end(text);
}

/** Proxies and clients give up on a stream that is silent for too long. */
const silentMsMax = 15_000;

/** A message of an answer that is a stream; the first one begins it. */
export function sendEvent(res: ServerResponse, text: string): void {
  if (!res.headersSent) {
    res.writeHead(200, {
      "content-type": "text/event-stream",
      "cache-control": "no-cache, no-transform",
      "x-accel-buffering": "no",
    });
    const timer = setInterval(() => void res.write(": keepalive\n\n"), silentMsMax).unref();
    res.once("close", () => clearInterval(timer));
  }
  res.write(`event: message\ndata: ${text}\n\n`);
}

/** An answer in the protocol's form, for what never reaches it. */
export function refuse(res: ServerResponse, status: number, message: string, more: HttpRefusal = {}): void {
  const { headers = {}, code = -32000, id = null } = more;
  const body = JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } });
  res.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(body), ...headers });
  res.end(body);
}

export interface HttpRefusal {
  readonly headers?: Readonly<Record<string, string>>;
  readonly code?: number;
  readonly id?: string | number | null;
}

/** How often somebody may come: a bucket each that fills by time, and the emptiest are forgotten last. */

export interface Rate {
  /** True if it may go on; otherwise it is too often. */
  take(who: string): boolean;
}

export function createRate(
  perSecond: number,
  burst: number,
  nowMs: () => number = () => performance.now(),
  peopleMax = 10_000,
): Rate {
  const buckets = new Map<string, { left: number; atMs: number }>();
  return {
    take(who) {
      const now = nowMs();
      const bucket = buckets.get(who) ?? { left: burst, atMs: now };
      bucket.left = Math.min(burst, bucket.left + ((now - bucket.atMs) * perSecond) / 1_000);
      bucket.atMs = now;
      // Last used last: who has been away longest has the fullest bucket, and loses nothing by being forgotten.
      buckets.delete(who);
      buckets.set(who, bucket);
      if (buckets.size > peopleMax) {
        const [oldest = who] = buckets.keys();
        buckets.delete(oldest);
      }
      if (bucket.left < 1) return false;
      bucket.left -= 1;
      return true;
    },
  };
}
