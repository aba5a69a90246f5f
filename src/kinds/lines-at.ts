/** Reads lines at known offsets, for search results; of a long line only the part around its match. */

import { isUtf8 } from "node:buffer";
import type { EncodingName } from "../contract/read.ts";
import { limits } from "../contract/limits.ts";
import type { OpenFile } from "../disk/disk.ts";
import { decode, sniff } from "../text/text.ts";
import { decideEncoding } from "./charset.ts";
import { viewOf } from "./text-file.ts";

export interface LinePlace {
  readonly line: number;
  /** In bytes from 1, counted in UTF-8 even if the file is UTF-16; 0 if the line has no match. */
  readonly column: number;
  readonly offset: number;
}

export interface LineText {
  readonly text: string;
  readonly cutBefore: boolean;
  readonly cutBehind: boolean;
}

export async function linesAt(
  file: OpenFile,
  places: readonly LinePlace[],
  charsMax: number,
): Promise<readonly (LineText | undefined)[]> {
  const head = await bytesAt(file, 0, limits.headBytesMax);
  const form = sniff(head);
  if (form !== undefined && form.unitBytes > 1) return wideLines(file, places, form.encoding, form.bomBytes, charsMax);
  const reader = new LineReader(file, head, form?.bomBytes ?? 0, charsMax);
  const texts: (LineText | undefined)[] = [];
  for (const place of places) texts.push(await reader.textAt(place));
  return texts;
}

const newline = 0x0a;

class LineReader {
  readonly #file: OpenFile;
  readonly #head: Uint8Array;
  readonly #markBytes: number;
  readonly #charsMax: number;
  #encoding: EncodingName | undefined;

  constructor(file: OpenFile, head: Uint8Array, markBytes: number, charsMax: number) {
    this.#file = file;
    this.#head = head;
    this.#markBytes = markBytes;
    this.#charsMax = charsMax;
  }

  async textAt({ column, offset }: LinePlace): Promise<LineText | undefined> {
    const start = offset + this.#markBytes;
    // Includes the byte before the line, which must be a newline.
    const first = start > this.#markBytes ? start - 1 : start;
    const bytes = await this.#bytes(first, this.#charsMax * 4 + 2);
    if (first < start && bytes[0] !== newline) return undefined;
    if (first === start && bytes.length === 0) return undefined;
    const line = bytes.subarray(start - first);
    const end = line.indexOf(newline);
    const whole = end >= 0 || start + line.length >= this.#file.sizeBytes;
    if (whole) {
      const content = withoutReturn(end < 0 ? line : line.subarray(0, end));
      return around(await this.#decode(content), await this.#charsIn(content, column), this.#charsMax, false, false);
    }
    // The line is so long that the match may be after the bytes read so far.
    const before = Math.min(Math.max(0, column - 1), this.#charsMax);
    const from = start + Math.max(0, column - 1) - before;
    const part = from === start ? line : await this.#bytes(from, this.#charsMax * 4 + before);
    const partEnd = part.indexOf(newline);
    const content = wholeCharacters(withoutReturn(partEnd < 0 ? part : part.subarray(0, partEnd)));
    const at = await this.#charsIn(content.bytes, before - content.skipped + 1);
    return around(await this.#decode(content.bytes), at, this.#charsMax, from > start, partEnd < 0);
  }

  async #charsIn(bytes: Uint8Array, column: number): Promise<number> {
    return column <= 1 ? 0 : (await this.#decode(bytes.subarray(0, column - 1))).length;
  }

  /** UTF-8 until a line is not valid UTF-8; then the encoding of the file. */
  async #decode(bytes: Uint8Array): Promise<string> {
    if (this.#encoding === undefined) {
      if (isUtf8(bytes)) return viewOf(bytes).toString("utf8");
      // Decides as a read of the file does: by the head, unless the head is valid UTF-8.
      const samples = isUtf8(this.#head) ? [this.#head, bytes] : [this.#head];
      ({ encoding: this.#encoding } = await decideEncoding(samples));
    }
    return decode(bytes, this.#encoding).text;
  }

  async #bytes(from: number, length: number): Promise<Uint8Array> {
    const to = from + length;
    const inHead = to <= this.#head.length || this.#head.length >= this.#file.sizeBytes;
    return inHead ? this.#head.subarray(from, to) : bytesAt(this.#file, from, length);
  }
}

async function bytesAt(file: OpenFile, from: number, length: number): Promise<Uint8Array> {
  const bytes = Buffer.allocUnsafeSlow(Math.max(0, Math.min(length, file.sizeBytes - from)));
  return bytes.subarray(0, await file.read(bytes, from));
}

/** UTF-16 and UTF-32: offsets are those of the text in UTF-8, so only line numbers are usable. */
async function wideLines(
  file: OpenFile,
  places: readonly LinePlace[],
  encoding: EncodingName,
  markBytes: number,
  charsMax: number,
): Promise<readonly (LineText | undefined)[]> {
  if (file.sizeBytes > limits.wideTextBytesMax) return places.map(() => undefined);
  const { text } = decode(await bytesAt(file, markBytes, file.sizeBytes), encoding);
  const lines = text.split("\n");
  return places.map(({ line, column }) => {
    const found = lines[line - 1]?.replace(/\r$/, "");
    if (found === undefined) return undefined;
    const at =
      column <= 1
        ? 0
        : Buffer.from(found)
            .subarray(0, column - 1)
            .toString("utf8").length;
    return around(found, at, charsMax, false, false);
  });
}

/** At most `charsMax` UTF-16 units around `at`; no surrogate pair is split. */
function around(text: string, at: number, charsMax: number, cutBefore: boolean, cutBehind: boolean): LineText {
  if (text.length <= charsMax) return { text, cutBefore, cutBehind };
  const wanted = Math.min(Math.max(0, at - Math.floor(charsMax / 4)), text.length - charsMax);
  const from = isSecondHalf(text, wanted) ? wanted + 1 : wanted;
  const end = Math.min(text.length, from + charsMax);
  const to = isSecondHalf(text, end) ? end - 1 : end;
  return { text: text.slice(from, to), cutBefore: cutBefore || from > 0, cutBehind: cutBehind || to < text.length };
}

const isSecondHalf = (text: string, at: number): boolean => (text.charCodeAt(at) & 0xfc00) === 0xdc00;

const withoutReturn = (bytes: Uint8Array): Uint8Array =>
  bytes.at(-1) === 0x0d ? bytes.subarray(0, bytes.length - 1) : bytes;

/** Drops the partial characters that a cut left at both ends, if the rest is UTF-8. */
function wholeCharacters(bytes: Uint8Array): { readonly bytes: Uint8Array; readonly skipped: number } {
  for (let skipped = 0; skipped < 4; skipped += 1) {
    for (let dropped = 0; dropped < 4; dropped += 1) {
      const inner = bytes.subarray(skipped, bytes.length - dropped);
      if (isUtf8(inner)) return { bytes: inner, skipped };
    }
  }
  return { bytes, skipped: 0 };
}
