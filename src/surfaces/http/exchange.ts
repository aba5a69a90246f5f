/** Requests and responses: Node's own, and the web platform's, which the SDK uses. Also the rate limit. */

import { isUtf8 } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { dropOldest } from "../../contract/common.ts";

/** For each connection, called if its last response is lost: only the next request proves that the client has read it. */
const lastOn = new WeakMap<Socket, () => void>();

/** What becomes of a response. */
export interface Watched {
  /** Aborted when the client closes the connection before it has its answer. */
  readonly signal: AbortSignal;
  /** Calls back if the response is lost: the connection closes before all of it is written, or breaks with an error afterwards. */
  readonly onLost: (callback: () => void) => void;
  /** The call is over, so that nothing needs its signal any more. */
  readonly done: (giveBack: (controller: AbortController) => void) => void;
}

/** A client that goes away with unread bytes resets the connection; one that has read them closes it. */
export function watchResponse(res: ServerResponse, controller: AbortController): Watched {
  let isLost = false;
  let isDone = false;
  const callbacks: (() => void)[] = [];
  const lose = (): void => {
    isLost = true;
    for (const callback of callbacks.splice(0)) callback();
  };
  res.once("close", () => {
    if (res.writableFinished) return;
    if (!isDone) controller.abort();
    lose();
  });
  const { socket } = res;
  if (socket !== null) {
    if (!lastOn.has(socket)) {
      socket.on("error", () => lastOn.get(socket)?.());
      // A client that closed before the answer was written has reset the connection by now. After the end of the stream no read
      // reports that, but on Linux an empty write does. Prepended, since Node's own listener ends the socket.
      socket.prependListener("end", () => void (socket.writable && socket.write("")));
    }
    lastOn.set(socket, lose);
  }
  return {
    signal: controller.signal,
    onLost: (callback) => {
      if (isLost) callback();
      else callbacks.push(callback);
    },
    done: (giveBack) => {
      isDone = true;
      giveBack(controller);
    },
  };
}

/** Without the body, which is already parsed, and without the token. */
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

/** Stops reading at the limit. `msMax` is for senders who are not authenticated yet. */
export function readBody(req: IncomingMessage, bytesMax: number, msMax?: number): Promise<Body> {
  if (Number(req.headers["content-length"] ?? 0) > bytesMax) return Promise.resolve({ tooLarge: true });
  // Not `for await`, which costs listeners and promises: nearly every body comes in one chunk.
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
      .once("end", () => resolve(decodeBody(parts)))
      .once("error", () => resolve({ gone: true }))
      .once("close", () => resolve({ gone: true }));
  });
}

/** Bytes that are not UTF-8 would be decoded to other characters than were sent, which would end up in a file. */
function decodeBody(parts: readonly Buffer[]): Body {
  const bytes = parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
  return isUtf8(bytes) ? { text: bytes.toString("utf8") } : { notUtf8: true };
}

const isJson = ({ headers }: Response): boolean => headers.get("content-type")?.startsWith("application/json") === true;

/** Resolves when everything is written, or the client is gone. */
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
  // Without this header, proxies such as nginx buffer streams.
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
    // The SDK ended the stream with an error; the response ends where it is.
  }
  res.end();
}

/** `text`: the whole answer. */
export function sendJson(res: ServerResponse, status: number, text: string): void {
  // A body that is a string is written together with the head, in one packet.
  res.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(text) }).end(text);
}

/** Proxies and clients give up on a stream that is silent for too long. */
const silentMsMax = 15_000;

/** Sends a message of a streamed answer; the first one begins the stream. */
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

/** An error in the form of the protocol, for requests that do not reach an endpoint. */
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

/** A rate limit: one token bucket per sender. */
export function createRate(perSecond: number, burst: number, nowMs = () => performance.now(), peopleMax = 10_000) {
  const buckets = new Map<string, { left: number; atMs: number }>();
  return {
    /** False if the sender is over its rate. */
    take(who: string): boolean {
      const now = nowMs();
      const bucket = buckets.get(who) ?? { left: burst, atMs: now };
      bucket.left = Math.min(burst, bucket.left + ((now - bucket.atMs) * perSecond) / 1_000);
      bucket.atMs = now;
      // Least recently used first: that bucket is the fullest, so a sender loses nothing if it is dropped.
      buckets.delete(who);
      buckets.set(who, bucket);
      dropOldest(buckets, peopleMax);
      if (bucket.left < 1) return false;
      bucket.left -= 1;
      return true;
    },
  };
}
