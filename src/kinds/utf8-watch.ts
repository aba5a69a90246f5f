/** Checks whether a stream of bytes is UTF-8, and names the encoding if it is not. */

import { Buffer, isAscii } from "node:buffer";
import type { EncodingName } from "../contract/read.ts";
import { highLines, isUtf8, unfinishedBytes } from "../text/text.ts";
import { decideEncoding, sampleBytesMax } from "./charset.ts";

export function startUtf8Watch() {
  const lines = new HighLines();
  let valid = true;
  /** An incomplete character at the end of the last chunk. */
  let cut = none;
  return {
    /** Chunks in their order, cut anywhere. They are not kept. */
    see(chunk: Uint8Array): void {
      const plain = isAscii(chunk);
      lines.see(chunk, plain);
      if (!valid || (plain && cut.length === 0)) return;
      const bytes = cut.length === 0 ? chunk : Buffer.concat([cut, chunk]);
      valid = isUtf8(bytes, "anywhere");
      const cutBytes = unfinishedBytes(bytes);
      cut = cutBytes === 0 ? none : Buffer.from(bytes.subarray(-cutBytes));
    },
    /** UTF-8 if all bytes were; else the encoding that the same bytes have in one piece, wherever the chunks were cut. */
    async encoding(head: Uint8Array): Promise<EncodingName> {
      return valid && cut.length === 0 ? "utf-8" : (await decideEncoding([head, lines.all()])).encoding;
    },
  };
}

const none = Buffer.alloc(0);
const newline = 10;
/** What is kept of a line that was ASCII so far: enough for the word of its first other letter. */
const plainBytesMax = 1_024;

/** Collects the first lines with a byte above ASCII, as many as `decideEncoding` samples; lines are joined across chunks. */
class HighLines {
  readonly #lines: Uint8Array[] = [];
  #bytes = 0;
  /** The last bytes, if they are ASCII. One buffer for all: much of a large file passes through it. */
  readonly #plain = Buffer.alloc(plainBytesMax);
  #plainBytes = 0;
  #begun = none;

  see(chunk: Uint8Array, plain: boolean): void {
    if (this.#bytes >= sampleBytesMax) return;
    if (plain && this.#begun.length === 0) {
      this.#pass(chunk);
      return;
    }
    const firstEnd = chunk.indexOf(newline) + 1;
    const first = Buffer.concat([this.#lineSoFar(), firstEnd === 0 ? chunk : chunk.subarray(0, firstEnd)]);
    if (firstEnd === 0) {
      this.#begin(first);
      return;
    }
    const lastStart = chunk.lastIndexOf(newline) + 1;
    this.#keep(first);
    this.#keep(chunk.subarray(firstEnd, lastStart));
    this.#begin(chunk.subarray(lastStart));
  }

  all(): Uint8Array {
    return Buffer.concat([...this.#lines, this.#begun]);
  }

  #lineSoFar(): Buffer {
    if (this.#begun.length > 0) return this.#begun;
    const plain = this.#plain.subarray(0, this.#plainBytes);
    return plain.subarray(plain.lastIndexOf(newline) + 1);
  }

  #begin(line: Uint8Array): void {
    this.#begun = none;
    this.#plainBytes = 0;
    if (isAscii(line)) this.#pass(line);
    else if (line.length >= sampleBytesMax) this.#keep(line);
    else this.#begun = Buffer.from(line);
  }

  #pass(plain: Uint8Array): void {
    const last = plain.subarray(-plainBytesMax);
    const keptBytes = Math.min(this.#plainBytes, plainBytesMax - last.length);
    this.#plain.copyWithin(0, this.#plainBytes - keptBytes, this.#plainBytes);
    this.#plain.set(last, keptBytes);
    this.#plainBytes = keptBytes + last.length;
  }

  #keep(lines: Uint8Array): void {
    if (isAscii(lines)) return;
    const high = highLines(lines, Infinity);
    this.#lines.push(high);
    this.#bytes += high.length;
  }
}
