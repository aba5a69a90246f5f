/**
 * The envelope of the protocol: `Content-Length: N`, an empty line, N bytes of JSON. What comes from a server is untrusted: a
 * header or a body beyond the limit, or bytes that are no header at all, are a fault that ends the connection.
 */

import { limits } from "../contract/limits.ts";

export type Frame =
  | { readonly is: "message"; readonly value: unknown }
  | { readonly is: "fault"; readonly why: string };

export interface Framing {
  /** Messages that are complete now. After a fault there is nothing more to come. */
  feed(chunk: Uint8Array): readonly Frame[];
}

export function framed(value: unknown): Buffer {
  const body = Buffer.from(JSON.stringify(value), "utf8");
  return Buffer.concat([Buffer.from(`Content-Length: ${body.length}\r\n\r\n`, "ascii"), body]);
}

export function createFraming(): Framing {
  let chunks: Buffer[] = [];
  let held = 0;
  /** The body that is awaited; undefined while a header is. */
  let bodyBytes: number | undefined;
  let dead = false;

  const fault = (why: string): Frame => {
    dead = true;
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
    held = rest.length;
    chunks = held === 0 ? [] : [rest];
  };
  const header = (): Frame | "more" | "done" => {
    const all = joined();
    if (!looksLikeHeader(all)) return fault("something that is no message");
    const end = all.subarray(0, limits.languageHeaderBytesMax + headerEnd.length).indexOf(headerEnd);
    if (end < 0) {
      if (held > limits.languageHeaderBytesMax) return fault("a header that is too long");
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
    try {
      return { is: "message", value: JSON.parse(text) as unknown };
    } catch {
      return fault("a message that is no JSON");
    }
  };

  /** The next message or fault; undefined if more bytes are needed. */
  const next = (): Frame | undefined => {
    if (dead) return undefined;
    if (bodyBytes !== undefined) return held < bodyBytes ? undefined : body(bodyBytes);
    if (held === 0) return undefined;
    const step = header();
    if (step === "more") return undefined;
    return step === "done" ? next() : step;
  };

  return {
    feed: (chunk) => {
      if (dead) return [];
      chunks.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
      held += chunk.byteLength;
      const frames: Frame[] = [];
      for (let frame = next(); frame !== undefined; frame = next()) frames.push(frame);
      return frames;
    },
  };
}

const headerEnd = Buffer.from("\r\n\r\n", "ascii");

/** Servers that print to standard output by mistake are found out at once, not after 64 KiB. */
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
