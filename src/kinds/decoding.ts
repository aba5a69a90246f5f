/** From bytes of a text file to its text: UTF-8 until the bytes say otherwise. */

import { isAscii, isUtf8 as isWholeUtf8 } from "node:buffer";
import type { EncodingName } from "../contract/read.ts";
import { decode, isUtf8 } from "../text/encoding.ts";
import { textOfUtf8 } from "../text/page-kernel.ts";
import { decideEncoding } from "./charset.ts";
import type { TextFile } from "./text-file.ts";

export interface Decoder {
  readonly encoding: EncodingName;
  readonly lossy: boolean;
  /** Whole lines. */
  text(bytes: Uint8Array): Promise<DecodedLines>;
  /** The beginning of a line, cut anywhere: a character that the cut goes through is left out. */
  beginning(bytes: Uint8Array): Promise<string>;
}

export interface DecodedLines {
  readonly text: string;
  /** A promise, if true. Only in UTF-8 do ASCII bytes mean ASCII text: UTF-16 and ISO-2022-JP spell others with them. */
  readonly ascii: boolean;
  /** Are the bytes the text in UTF-8? */
  readonly utf8: boolean;
}

/**
 * UTF-8 until bytes turn up that are not; then the encoding is decided once, from the file's beginning and the bytes
 * at hand, and kept.
 */
export async function startDecoding(text: TextFile): Promise<Decoder> {
  if (text.guess !== undefined) return new FileDecoder(text, text.guess.encoding, text.guess.decided);
  if (text.form !== undefined) return new FileDecoder(text, text.form.encoding, true);
  const head = await text.head();
  const decided = !isUtf8(head, text.whole === undefined ? "anywhere" : "complete");
  const encoding = decided ? (await decideEncoding([head])).encoding : "utf-8";
  text.guessed({ encoding, decided });
  return new FileDecoder(text, encoding, decided);
}

/** A class, so that V8 forgets it as soon as nobody holds it (`text/page.ts` says why). */
class FileDecoder implements Decoder {
  readonly #file: TextFile;
  #decided: boolean;
  encoding: EncodingName;
  lossy = false;

  constructor(file: TextFile, encoding: EncodingName, decided: boolean) {
    this.#file = file;
    this.encoding = encoding;
    this.#decided = decided;
  }

  async text(bytes: Uint8Array): Promise<DecodedLines> {
    if (this.encoding !== "utf-8") return { text: await this.#decode(bytes, 0), ascii: false, utf8: false };
    if (isAscii(bytes)) return { text: viewOf(bytes).toString("latin1"), ascii: true, utf8: true };
    const utf8 = isWholeUtf8(bytes);
    const quick = utf8 ? textOfUtf8(bytes) : undefined;
    return { text: quick ?? (await this.#decode(bytes, 0)), ascii: false, utf8 };
  }

  beginning(bytes: Uint8Array): Promise<string> {
    return this.#decode(bytes, 3);
  }

  async #decode(bytes: Uint8Array, trimMax: number): Promise<string> {
    let result = decode(bytes, this.encoding);
    if (result.lossy && !this.#decided && !isUtf8(bytes, trimMax > 0 ? "anywhere" : "complete")) {
      this.#decided = true;
      ({ encoding: this.encoding } = await decideEncoding([await this.#file.head(), bytes]));
      result = decode(bytes, this.encoding);
    }
    for (let trim = 1; result.lossy && trim <= trimMax; trim += 1) {
      const shorter = decode(bytes.subarray(0, bytes.length - trim), this.encoding);
      if (!shorter.lossy) result = shorter;
    }
    this.lossy ||= result.lossy;
    return result.text;
  }
}

/** The same bytes with the methods of a Buffer; nothing is copied. */
const viewOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
