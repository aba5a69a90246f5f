/** A recognised text file and the tools to read it: where its lines are and how its bytes decode. */

import { isAscii, isUtf8 as isWholeUtf8 } from "node:buffer";
import type { EncodingName } from "../contract/read.ts";
import type { Target } from "../contract/target.ts";
import { type IndexStore, type LineSource, type OpenFile, sourceInFile, sourceInMemory } from "../disk/disk.ts";
import { type ByteForm, decode, isUtf8, type NewlineForm, decodeUtf8 } from "../text/text.ts";
import { decideEncoding } from "./charset.ts";

export interface TextFile {
  readonly file: OpenFile;
  readonly target: Target;
  readonly form: ByteForm | undefined;
  readonly whole: Uint8Array | undefined;
  readonly head: () => Promise<Uint8Array>;
  /** The encoding guessed from the first bytes if the form does not say it; undefined if it was not guessed yet. */
  readonly guess: { encoding: EncodingName; decided: boolean } | undefined;
  readonly guessed: (guess: { encoding: EncodingName; decided: boolean }) => void;
}

export interface Scanning {
  readonly store: IndexStore;
  readonly signal: AbortSignal;
  readonly onProgress: ((doneBytes: number, totalBytes: number) => void) | undefined;
}

export interface TextReading {
  readonly source: LineSource;
  readonly newline: NewlineForm;
  readonly decoder: Decoder;
  readonly firstByte: number;
}

export async function startReading(text: TextFile, scanning: Scanning): Promise<TextReading> {
  const newline = newlineForm(text.form);
  const firstByte = text.form?.bomBytes ?? 0;
  const source =
    text.whole !== undefined
      ? sourceInMemory(text.whole, newline, firstByte)
      : sourceInFile(text.file, { ...scanning, form: newline, firstByte });
  return { source, newline, decoder: await startDecoding(text), firstByte };
}

const newlineForm = (form: ByteForm | undefined): NewlineForm => {
  const encoding = form?.encoding;
  const isWide =
    encoding === "utf-16le" || encoding === "utf-16be" || encoding === "utf-32le" || encoding === "utf-32be";
  return isWide ? encoding : "byte";
};

interface Decoder {
  readonly encoding: EncodingName;
  readonly lossy: boolean;
  text(bytes: Uint8Array): Promise<DecodedLines>;
  /** The beginning of a line, cut anywhere: a character that was cut in two is left out. */
  beginning(bytes: Uint8Array): Promise<string>;
}

export interface DecodedLines {
  readonly text: string;
  /** True only if certain. Only in UTF-8 do ASCII bytes mean ASCII text: UTF-16 and ISO-2022-JP spell other text with them. */
  readonly ascii: boolean;
  readonly utf8: boolean;
}

/** Decodes as UTF-8 until bytes are invalid; then the encoding is decided once, from the file's beginning and these. */
export async function startDecoding(text: TextFile): Promise<Decoder> {
  if (text.guess !== undefined) return new FileDecoder(text, text.guess.encoding, text.guess.decided);
  if (text.form !== undefined) return new FileDecoder(text, text.form.encoding, true);
  const head = await text.head();
  const decided = !isUtf8(head, text.whole === undefined ? "anywhere" : "complete");
  const encoding = decided ? (await decideEncoding([head])).encoding : "utf-8";
  text.guessed({ encoding, decided });
  return new FileDecoder(text, encoding, decided);
}

/** A class, so that V8 frees it early (`text/lines/page.ts` says why). */
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
    const quick = utf8 ? decodeUtf8(bytes) : undefined;
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

export const viewOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
