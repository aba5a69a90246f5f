/**
 * A part of one line, from a character on. The characters before it are decoded and dropped window by window, so a line of any
 * length takes the memory of one window and of the part.
 */

import { bufferBytes, giveBuffer, takeBuffer } from "../disk/buffers.ts";
import { timeSlices } from "../disk/others-turn.ts";
import { cutChars, decodeInPieces } from "../text/encoding.ts";
import { skipIn } from "../text/newlines.ts";
import type { PageStepper } from "../text/page.ts";
import type { Reading } from "./text-file.ts";

export interface LinePartText {
  /** From `column` on: all of the rest, with a `\r` at its end, or two characters more than were wanted. */
  readonly text: string;
  /** One less than was asked for where that is the second half of a surrogate pair. */
  readonly column: number;
  /** How the line ends, if that was reached. */
  readonly ended: "newline" | "file" | undefined;
  /** UTF-16 units of the line that were looked at: all of them, if its end was reached. */
  readonly chars: number;
  /** Is a `\r` the last of them? */
  readonly endsInReturn: boolean;
}

/** The line begins at the byte `start`; at most about `charsMax` UTF-16 units are kept. */
export async function linePart(
  reading: Reading,
  start: number,
  column: number,
  charsMax: number,
  signal: AbortSignal,
): Promise<LinePartText> {
  const { decoder } = reading;
  const scratch = takeBuffer();
  try {
    for (;;) {
      const { encoding } = decoder;
      const part = await partIn(reading, start, column, charsMax, signal, scratch);
      // The bytes of the part can show that the text is in another encoding; then columns count otherwise, too.
      if (decoder.encoding === encoding) return part;
    }
  } finally {
    giveBuffer(scratch);
  }
}

async function partIn(
  { source, newline, decoder }: Reading,
  start: number,
  column: number,
  charsMax: number,
  signal: AbortSignal,
  scratch: Buffer,
): Promise<LinePartText> {
  const slices = timeSlices(signal);
  const next = decodeInPieces(decoder.encoding);
  // One more on the left, in case the column is inside of a surrogate pair, and two on the right: a line end of two characters.
  const from = column - 2;
  const to = column - 1 + charsMax + 2;
  const kept: string[] = [];
  let chars = 0;
  let ended: LinePartText["ended"];
  let endsInReturn = false;
  for (let at = start; ended === undefined && chars < to; ) {
    if (slices.isOver()) await slices.next();
    const window = await source.bytes(at, bufferBytes, scratch);
    const after = skipIn(window, 0, window.length, 1, newline);
    at += window.length;
    if (after !== -1) ended = "newline";
    else if (at >= source.sizeBytes) ended = "file";
    const bytes = after === -1 ? window : window.subarray(0, after);
    const decoded = next(bytes, ended !== undefined);
    const text = after === -1 ? decoded : decoded.slice(0, -1);
    if (chars + text.length > from) {
      const piece = text.slice(Math.max(0, from - chars), to - chars);
      if (piece.includes("\ufffd")) await decoder.beginning(fromCharacter(bytes, decoder.encoding));
      kept.push(piece);
    }
    chars += text.length;
    if (text !== "") endsInReturn = text.endsWith("\r");
  }
  const text = kept.join("");
  const isInside = isSecondHalf(text.charCodeAt(1));
  const begun = isInside ? { text, column: column - 1 } : { text: text.slice(1), column };
  return { ...begun, ended, chars, endsInReturn };
}

/** Without the rest of a character that began in the window before. */
function fromCharacter(bytes: Uint8Array, encoding: string): Uint8Array {
  let first = 0;
  if (encoding === "utf-8") while (first < 3 && ((bytes[first] ?? 0) & 0xc0) === 0x80) first += 1;
  return bytes.subarray(first);
}

const isSecondHalf = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;

/** Puts a part onto a page of one line, which cuts it where its own limits end. */
export function feedPart(stepper: PageStepper, { text, ended }: LinePartText, charsMax: number): void {
  const known = { ascii: false, utf8Bytes: undefined, newlines: undefined };
  if (ended === "newline") stepper.feed(`${text}\n`, known, false);
  else if (ended === "file") stepper.feed(text, known, true);
  else stepper.feedLong(cutChars(text, charsMax), false);
}
