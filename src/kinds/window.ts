/** Walks through a text window by window: feeds a page, or measures the whole. It holds one window at a time. */

import { setImmediate } from "node:timers/promises";
import { bufferBytes, giveBuffer, takeBuffer } from "../disk/buffers.ts";
import { countIn, type NewlineForm, skipIn } from "../text/newlines.ts";
import type { PageStepper } from "../text/page.ts";
import { estimateTokens } from "../text/tokens.ts";
import { type Reading, type Scanning, startReading, type TextFile } from "./text-file.ts";

/** Bytes looked at in one step of a page; more if the page is likely to need them, so that it is one text. */
const windowBytes = bufferBytes;
const windowBytesMax = 524_288;
const windowBytesMin = 4_096;
const likelyLineBytes = 200;

/** Feeds the page from `start` on until it is full or the file ends. It is `likely` to need so many bytes, if that is known. */
export async function fill(
  stepper: PageStepper,
  start: number,
  linesMax: number,
  reading: Reading,
  lineCharsMax: number,
  likely = 0,
): Promise<{ readonly reached: boolean }> {
  // Few lines are likely to be few bytes.
  const step =
    likely > windowBytes
      ? Math.min(windowBytesMax, likely)
      : Math.min(windowBytes, Math.max(windowBytesMin, linesMax * likelyLineBytes));
  const scratch = step > windowBytes ? takeLargeBuffer() : takeBuffer();
  try {
    return await fillWith(scratch, step, stepper, start, linesMax, reading, lineCharsMax);
  } finally {
    if (step > windowBytes) giveLargeBuffer(scratch);
    else giveBuffer(scratch);
  }
}

/** One is kept: pages are mostly read one after the other. */
let idle: Buffer | undefined;

function takeLargeBuffer(): Buffer {
  const buffer = idle ?? Buffer.allocUnsafeSlow(windowBytesMax);
  idle = undefined;
  return buffer;
}

const giveLargeBuffer = (buffer: Buffer): void => void (idle = buffer);

async function fillWith(
  scratch: Buffer,
  firstStep: number,
  stepper: PageStepper,
  start: number,
  linesMax: number,
  { source, newline, decoder }: Reading,
  lineCharsMax: number,
): Promise<{ readonly reached: boolean }> {
  // Four bytes hold any character of any encoding here, so this many bytes show all of a line that may be shown.
  const longLineBytes = Math.max(windowBytes, lineCharsMax * 4);
  let at = start;
  let step = firstStep;
  for (;;) {
    const window = await source.bytes(at, step, scratch);
    const end = at + window.length >= source.sizeBytes;
    const wanted = linesMax - stepper.count;
    const enough =
      wanted < Number.POSITIVE_INFINITY ? skipIn(window, 0, window.length, Math.max(1, wanted), newline) : -1;
    let to = enough;
    if (to === -1) to = end ? window.length : lastNewline(window, newline);
    if (to === 0 && !end) {
      if (step < longLineBytes) {
        step = step < windowBytes ? windowBytes : longLineBytes;
        continue;
      }
      const after = await source.afterNewline(at + window.length);
      const status = stepper.feedLong(await decoder.beginning(window), after !== undefined);
      at = after ?? source.sizeBytes;
      step = windowBytes;
      if (status === "full") return { reached: at === source.sizeBytes };
      if (after === undefined) return { reached: true };
      if (stepper.count >= linesMax && at < source.sizeBytes) return { reached: false };
      continue;
    }
    const bytes = window.subarray(0, to);
    const atEnd = end && to === window.length;
    const { text, ascii, utf8 } = await decoder.text(bytes);
    const known = utf8
      ? { ascii, utf8Bytes: to, newlines: enough === -1 ? countIn(bytes, 0, to, newline) : Math.max(1, wanted) }
      : { ascii, utf8Bytes: undefined, newlines: undefined };
    const status = stepper.feed(text, known, atEnd);
    at += to;
    if (status === "full" || atEnd) return { reached: atEnd };
    if (stepper.count >= linesMax) return { reached: false };
  }
}

/** Byte behind the last newline; 0 if there is none. */
export function lastNewline(bytes: Uint8Array, form: NewlineForm): number {
  if (form === "byte") return bytes.lastIndexOf(10) + 1;
  const width = form.startsWith("utf-16") ? 2 : 4;
  for (let at = bytes.length - (bytes.length % width) - width; at >= 0; at -= width) {
    if (skipIn(bytes, at, at + width, 1, form) !== -1) return at + width;
  }
  return 0;
}

/** The tokens of a whole text, estimated as it streams; with the text itself, if it is short enough to be counted. */
export async function measureText(
  text: TextFile,
  scanning: Scanning,
  charsMax: number,
): Promise<{ readonly tokens: number; readonly lines: number; readonly text: string | undefined }> {
  const { source, newline, decoder, firstByte } = await startReading(text, scanning);
  let tokens = 0;
  let kept: string[] | undefined = [];
  let chars = 0;
  for (let at = firstByte; at < source.sizeBytes; ) {
    scanning.signal.throwIfAborted();
    const window = await source.bytes(at, windowBytes);
    const end = at + window.length >= source.sizeBytes;
    // A line longer than a window is measured in pieces: a character more or less does not matter here.
    const to = end ? window.length : lastNewline(window, newline) || window.length;
    const part = await decoder.beginning(window.subarray(0, to));
    tokens += estimateTokens(part);
    chars += part.length;
    if (chars > charsMax) kept = undefined;
    kept?.push(part);
    at += to;
    scanning.onProgress?.(at, source.sizeBytes);
    await setImmediate();
  }
  const { count, last } = await source.newlines();
  const lines = count + (last || source.sizeBytes === firstByte ? 0 : 1);
  return { tokens, lines, text: kept?.join("") };
}
