/** The beginning of a text file, decoded: whole lines, and no more bytes than a parser shall be given. */

import type { EncodingName } from "../contract/read.ts";
import { type Scanning, startReading, type TextFile } from "./text-file.ts";
import { lastNewline } from "./window.ts";

export interface Beginning {
  readonly text: string;
  /** Is it all of the file? */
  readonly whole: boolean;
  /** Of the whole file. */
  readonly linesTotal: number;
  readonly encoding: EncodingName;
  readonly lossy: boolean;
}

export async function beginningOf(file: TextFile, bytesMax: number, scanning: Scanning): Promise<Beginning> {
  const { source, newline, decoder, firstByte } = await startReading(file, scanning);
  const bytes = await source.bytes(firstByte, Math.max(0, Math.min(source.sizeBytes - firstByte, bytesMax)));
  const whole = firstByte + bytes.length >= source.sizeBytes;
  const to = whole ? bytes.length : lastNewline(bytes, newline);
  const isCut = to === 0 && !whole;
  const text = isCut ? await decoder.beginning(bytes) : (await decoder.text(bytes.subarray(0, to))).text;
  const { count, last } = await source.newlines();
  const linesTotal = count + (last || source.sizeBytes === firstByte ? 0 : 1);
  return { text, whole, linesTotal, encoding: decoder.encoding, lossy: decoder.lossy };
}
