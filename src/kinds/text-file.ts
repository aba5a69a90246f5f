/** A text file that was recognised, and what reading it works with: where its lines are and how its bytes decode. */

import type { EncodingName } from "../contract/read.ts";
import type { Target } from "../contract/target.ts";
import type { IndexStore } from "../disk/index-store.ts";
import { type LineSource, sourceInFile, sourceInMemory } from "../disk/line-source.ts";
import type { OpenFile } from "../disk/open-file.ts";
import type { ByteForm } from "../text/encoding.ts";
import type { NewlineForm } from "../text/newlines.ts";
import { type Decoder, startDecoding } from "./decoding.ts";

export interface TextFile {
  readonly file: OpenFile;
  readonly target: Target;
  readonly form: ByteForm | undefined;
  /** All of a small file; undefined for a larger one. */
  readonly whole: Uint8Array | undefined;
  /** The first bytes. */
  readonly head: () => Promise<Uint8Array>;
  /** What the first bytes say about the encoding, where the form does not say it: known from an earlier look, or not yet. */
  readonly guess: { encoding: EncodingName; decided: boolean } | undefined;
  /** Told once it is known. */
  readonly guessed: (guess: { encoding: EncodingName; decided: boolean }) => void;
}

/** What a large file is scanned with. */
export interface Scanning {
  readonly store: IndexStore;
  readonly signal: AbortSignal;
  readonly onProgress: ((doneBytes: number, totalBytes: number) => void) | undefined;
}

/** A text that is being read. */
export interface Reading {
  readonly source: LineSource;
  readonly newline: NewlineForm;
  readonly decoder: Decoder;
  /** Bytes of the byte order mark. */
  readonly firstByte: number;
}

export async function startReading(text: TextFile, scanning: Scanning): Promise<Reading> {
  const newline = newlineForm(text.form);
  const firstByte = text.form?.bomBytes ?? 0;
  const source =
    text.whole !== undefined
      ? sourceInMemory(text.whole, newline, firstByte)
      : sourceInFile(text.file, { ...scanning, form: newline, firstByte });
  return { source, newline, decoder: await startDecoding(text), firstByte };
}

function newlineForm(form: ByteForm | undefined): NewlineForm {
  switch (form?.encoding) {
    case "utf-16le":
    case "utf-16be":
    case "utf-32le":
    case "utf-32be":
      return form.encoding;
    default:
      return "byte";
  }
}
