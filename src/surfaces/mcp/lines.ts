/** Lines out of chunks. Of a line over the limit only its ends are kept, and it is told as such. */

import { idInPassing } from "./json-message.ts";

export type Line = { readonly text: string } | { readonly tooLong: true; readonly id: string | number | null };

const endBytes = 512;
const newline = 10;

export class Lines {
  #parts: Buffer[] = [];
  #bytes = 0;
  /** Of a line that is too long. */
  #head = "";
  #tail: Buffer = Buffer.alloc(0);
  readonly #bytesMax: number;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** The lines that end in this chunk. */
  feed(chunk: Buffer): readonly Line[] {
    // Nearly always: one line, whole.
    if (this.#bytes === 0 && chunk.indexOf(newline) === chunk.length - 1 && chunk.length <= this.#bytesMax) {
      const text = chunk.toString("utf8", 0, chunk.length - 1).trim();
      return text === "" ? [] : [{ text }];
    }
    const lines: Line[] = [];
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

  #take(): Line | undefined {
    const tooLong = this.#bytes > this.#bytesMax;
    const bytes =
      this.#parts.length === 1 && this.#parts[0] !== undefined ? this.#parts[0] : Buffer.concat(this.#parts);
    const line: Line = tooLong
      ? { tooLong, id: idInPassing(this.#head, this.#tail.toString("utf8")) }
      : { text: bytes.toString("utf8").trim() };
    this.#parts = [];
    this.#bytes = 0;
    this.#head = "";
    this.#tail = Buffer.alloc(0);
    return "text" in line && line.text === "" ? undefined : line;
  }
}
