/**
 * Lines out of chunks. Of a line over the limit only its ends are kept, and it is told as such. So is one that is not UTF-8:
 * decoded all the same, it would hold other characters than were sent, and they would be written into a file.
 */

import { isUtf8 } from "node:buffer";
import { idInPassing } from "./json-message.ts";

type Id = string | number | null;
export type Line =
  | { readonly text: string }
  | { readonly tooLong: true; readonly id: Id }
  | { readonly notUtf8: true; readonly id: Id };

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
      const line = lineOf(chunk.subarray(0, -1));
      return line === undefined ? [] : [line];
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

  /** What stands behind the last newline, when nothing more comes. */
  finish(): Line | undefined {
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

  #take(): Line | undefined {
    const tooLong = this.#bytes > this.#bytesMax;
    const bytes =
      this.#parts.length === 1 && this.#parts[0] !== undefined ? this.#parts[0] : Buffer.concat(this.#parts);
    const line: Line | undefined = tooLong
      ? { tooLong, id: idInPassing(this.#head, this.#tail.toString("utf8")) }
      : lineOf(bytes);
    this.#parts = [];
    this.#bytes = 0;
    this.#head = "";
    this.#tail = Buffer.alloc(0);
    return line;
  }
}

function lineOf(bytes: Buffer): Line | undefined {
  if (!isUtf8(bytes)) {
    const [head, tail] = [bytes.subarray(0, endBytes), bytes.subarray(-endBytes)];
    return { notUtf8: true, id: idInPassing(head.toString("latin1"), tail.toString("latin1")) };
  }
  const text = bytes.toString("utf8").trim();
  return text === "" ? undefined : { text };
}
