/**
 * Counts newlines in bytes and finds the k-th. A kernel scans big files chunk by chunk with WebAssembly SIMD
 * (`scripts/newlines.wat`), as fast as they can be read; `countNewlinesIn` and `skipNewlinesIn` work on bytes in
 * memory: short ones in plain JavaScript, longer ones in a kernel's memory. Offsets are bytes in every form. `from`
 * MUST be a multiple of the form's unit (1, 2 or 4 bytes); a unit that `to` cuts through is not counted.
 */

import type { LineEndName } from "../../contract/edit.ts";

// Made by `scripts/kernel.js` from `scripts/newlines.wat`: change that and run it again.

/** What it was made from; a test compares. */
export const newlinesSourceSha256 = "d1af203198ddddb93f4fa2ce22280546524543fe2a99dcd3e00f181d0fcbe315";

export const kernelBase64 =
  "AGFzbQEAAAABLgZgA39/fwF/YAJ/fwF/YAR/f39/AX9gBn9/f39/fwF/YAV/f39/fwF/YAF7AX8DDQwCAwQCAQUAAAABAQEEBQFwAQYGBQMBAAEHHQQBbQIABWNvdW50AAAGYmxvY2tzAAEEc2tpcAACCQwBAEEACwYGBwgJCgsK0AUMZQECfwJAA0AgASAAa0HAAEgNASAAIAEgAGtBQHFBwB8QBGohBSAEIAAgBSACIAMRAABqIQQgBSEADAALCwJAA0AgACABTg0BIAQgACABIAIgAxADaWohBCAAQRBqIQAMAAsLIAQLQgEBfwJAA0AgACABTg0BIAMgBkECdGogACAAIAIgASAAaxAEaiAEIAUQADYCACAGQQFqIQYgACACaiEADAALCyAGC58BAQF/AkADQCABIABrQYAISA0BIAAgAEGACGogAyAEEAAhBSAFIAJODQEgAiAFayECIABBgAhqIQAMAAsLAkADQCAAIAFOBEBBfw8LIAAgASADIAQQAyEFIAVpIAJODQEgAiAFaWshAiAAQRBqIQAMAAsLAkADQCACQQFMDQEgBSAFQQFrcSEFIAJBAWshAgwACwsgACAFaEEBaiAEdGoLIQAgACACIANBA2oRAQBBASABIABrQRAQBCADdnRBAWtxCwwAIAAgASAAIAFIGwshACAA/X39fyEAIAD9GwAgAP0bAWogAP0bAiAA/RsDamoLUgECeyAC/Q8hAwNAIAQgAP0ABAAgA/0jIAD9AAQQIAP9I/1uIAD9AAQgIAP9IyAA/QAEMCAD/SP9bv1u/XEhBCAAQcAAaiIAIAFIDQALIAQQBQtVAQJ7IAL9ECEDA0AgBCAA/QAEACAD/S0gAP0ABBAgA/0t/W4gAP0ABCAgA/0tIAD9AAQwIAP9Lf1u/W79cSEEIABBwABqIgAgAUgNAAsgBBAFQQF2C1UBAnsgAv0RIQMDQCAEIAD9AAQAIAP9NyAA/QAEECAD/Tf9biAA/QAEICAD/TcgAP0ABDAgA/03/W79bv1xIQQgAEHAAGoiACABSA0ACyAEEAVBAnYLEAAgAP0ABAAgAf0P/SP9ZAsRACAA/QAEACAB/RD9Lf2EAQsRACAA/QAEACAB/RH9N/2kAQs=";

/** How a newline is encoded. `byte` covers UTF-8 and every legacy encoding: 10 is never a trail byte. */
export type NewlineForm = "byte" | "utf-16le" | "utf-16be" | "utf-32le" | "utf-32be";

/** Scans one chunk at a time; two concurrent scans need two kernels. */
export interface Kernel {
  /** Callers read bytes into this. Never detached, since the memory does not grow after creation. */
  readonly chunk: Uint8Array<ArrayBuffer>;
  /** Newlines in [from, to) of the chunk. */
  count(from: number, to: number): number;
  /**
   * Newlines of each block in [0, to); the last block may be short. `blockBytes` is a multiple of 4 and divides the
   * chunk into at most `blocksMax` blocks. The next call overwrites the result.
   */
  blocks(to: number, blockBytes: number): Uint32Array;
  /** The offset after the k-th newline in [from, to), or -1 if there are fewer. k is at least 1 and may be Infinity. */
  skip(from: number, to: number, k: number): number;
  readonly kind: "simd" | "plain";
}

/** Local: the counts that fit into one page of wasm memory. */
export const blocksMax = 16_384;

/** SIMD if available, else plain JavaScript. The first call compiles the module, in about 0.5 ms. */
export function createKernel(form: NewlineForm, chunkBytes: number): Kernel {
  return simdKernel(form, chunkBytes) ?? plainKernel(form, chunkBytes);
}

/** For a Node without WebAssembly SIMD: a scan takes three to four times as long, eight times in UTF-16. */
export function plainKernel(form: NewlineForm, chunkBytes: number): Kernel {
  const chunk = new Uint8Array(chunkBytes);
  const counts = new Uint32Array(blocksMax);
  return {
    kind: "plain",
    chunk,
    count: (from, to) => countPlain(chunk, from, to, form),
    blocks(to, blockBytes) {
      let blocks = 0;
      for (let from = 0; from < to; from += blockBytes) {
        counts[blocks++] = countPlain(chunk, from, Math.min(from + blockBytes, to), form);
      }
      return counts.subarray(0, blocks);
    },
    skip: (from, to, k) => skipPlain(chunk, from, to, k, form),
  };
}

/** From this size on, copying into a kernel and counting there is faster, above all in cold code. */
const scratchBytesMin = 16_384;
const scratchBytes = 65_536;
const scratches = new Map<NewlineForm, Kernel>();

/** A kernel for bytes outside its memory. It is used within one call only, so one per form is enough. */
function scratchFor(form: NewlineForm): Kernel {
  const known = scratches.get(form);
  if (known !== undefined) return known;
  const made = createKernel(form, scratchBytes);
  scratches.set(form, made);
  return made;
}

/** `Kernel.count` on any bytes. */
export function countNewlinesIn(bytes: Uint8Array, from: number, to: number, form: NewlineForm): number {
  if (to - from < scratchBytesMin) return countPlain(bytes, from, to, form);
  const scratch = scratchFor(form);
  if (scratch.kind === "plain") return countPlain(bytes, from, to, form);
  let total = 0;
  for (let at = from; at < to; at += scratchBytes) {
    const end = Math.min(at + scratchBytes, to);
    scratch.chunk.set(bytes.subarray(at, end));
    total += scratch.count(0, end - at);
  }
  return total;
}

/** `Kernel.skip` on any bytes. */
export function skipNewlinesIn(bytes: Uint8Array, from: number, to: number, k: number, form: NewlineForm): number {
  if (to - from < scratchBytesMin) return skipPlain(bytes, from, to, k, form);
  const scratch = scratchFor(form);
  if (scratch.kind === "plain") return skipPlain(bytes, from, to, k, form);
  let left = k;
  for (let at = from; at < to; at += scratchBytes) {
    const end = Math.min(at + scratchBytes, to);
    scratch.chunk.set(bytes.subarray(at, end));
    const after = scratch.skip(0, end - at, left);
    if (after !== -1) return at + after;
    left -= scratch.count(0, end - at);
  }
  return -1;
}

function countPlain(bytes: Uint8Array, from: number, to: number, form: NewlineForm): number {
  if (form === "byte") return countBytes(bytes, from, to);
  const { width, tenAt } = units[form];
  let total = 0;
  for (let at = from; at + width <= to; at += width) {
    if (isNewline(bytes, at, width, tenAt)) total += 1;
  }
  return total;
}

function skipPlain(bytes: Uint8Array, from: number, to: number, k: number, form: NewlineForm): number {
  const { width, tenAt } = units[form];
  let at = from;
  let left = k;
  // Counting is the faster way to skip newlines, so only the stride with the k-th one is searched byte by byte.
  for (; at + strideBytes <= to; at += strideBytes) {
    const found = countPlain(bytes, at, at + strideBytes, form);
    if (found >= left) break;
    left -= found;
  }
  for (; at + width <= to; at += width) {
    if (isNewline(bytes, at, width, tenAt) && --left === 0) return at + width;
  }
  return -1;
}

const strideBytes = 4_096;

interface Unit {
  readonly width: 1 | 2 | 4;
  /** Which byte of the unit is 10; the others are 0. */
  readonly tenAt: 0 | 1 | 3;
}

const units: Readonly<Record<NewlineForm, Unit>> = {
  byte: { width: 1, tenAt: 0 },
  "utf-16le": { width: 2, tenAt: 0 },
  "utf-16be": { width: 2, tenAt: 1 },
  "utf-32le": { width: 4, tenAt: 0 },
  "utf-32be": { width: 4, tenAt: 3 },
};

function isNewline(bytes: Uint8Array, at: number, width: number, tenAt: number): boolean {
  if (bytes[at + tenAt] !== 10) return false;
  for (let index = 0; index < width; index++) {
    if (index !== tenAt && bytes[at + index] !== 0) return false;
  }
  return true;
}

/** Four bytes at a time: four times as fast as byte by byte, and unlike `indexOf` not slow for short lines. */
function countBytes(bytes: Uint8Array, from: number, to: number): number {
  if (to - from < 64) return countOneByOne(bytes, from, to);
  // Word views begin at multiples of 4 in the buffer; the bytes around them are counted one by one.
  const first = from + (-(bytes.byteOffset + from) & 3);
  const words = new Int32Array(bytes.buffer, bytes.byteOffset + first, (to - first) >> 2);
  let total = countOneByOne(bytes, from, first) + countOneByOne(bytes, first + words.length * 4, to);
  for (let start = 0; start < words.length; start += wordsMax) {
    total += countInWords(words, start, Math.min(start + wordsMax, words.length));
  }
  return total;
}

/** A newline adds 1 to its byte of the sum, so a byte may be full after 255 words. */
const wordsMax = 255;

function countInWords(words: Int32Array, from: number, to: number): number {
  let sum = 0;
  for (let index = from; index < to; index++) {
    const zeroWhereTen = (words[index] ?? 0) ^ 0x0a0a0a0a;
    // The top bit of each byte is set unless the byte is zero; no carry leaves its byte.
    const tops = ((zeroWhereTen & 0x7f7f7f7f) + 0x7f7f7f7f) | zeroWhereTen;
    sum = (sum + ((~tops >>> 7) & 0x01010101)) | 0; // `| 0`: an integer all the way, which is faster
  }
  return (sum & 255) + ((sum >>> 8) & 255) + ((sum >>> 16) & 255) + (sum >>> 24);
}

function countOneByOne(bytes: Uint8Array, from: number, to: number): number {
  let total = 0;
  for (let at = from; at < to; at++) if (bytes[at] === 10) total += 1;
  return total;
}

function simdKernel(form: NewlineForm, chunkBytes: number): Kernel | undefined {
  const chunkPages = Math.ceil(chunkBytes / pageBytes);
  const exports = instantiate(chunkPages);
  if (exports === undefined) return undefined;
  const countsAt = chunkPages * pageBytes;
  const { width, tenAt } = units[form];
  const unit = 10 << (8 * tenAt); // wasm memory is little-endian on every machine
  const shift = Math.log2(width);
  const counts = new Uint32Array(exports.m.buffer, countsAt, blocksMax);
  return {
    kind: "simd",
    chunk: new Uint8Array(exports.m.buffer, 0, chunkBytes),
    count: (from, to) => exports.count(from, to, unit, shift),
    blocks: (to, blockBytes) => counts.subarray(0, exports.blocks(0, to, blockBytes, countsAt, unit, shift)),
    // No chunk has that many newlines, and a larger k would wrap round on its way into wasm.
    skip: (from, to, k) => exports.skip(from, to, Math.min(k, 0x7fffffff), unit, shift),
  };
}

const pageBytes = 65_536;

/** What `scripts/newlines.wat` exports; its comments say what the parameters are. */
interface Exports {
  readonly m: { readonly buffer: ArrayBuffer; grow(pages: number): number };
  count(from: number, to: number, unit: number, shift: number): number;
  blocks(from: number, to: number, size: number, out: number, unit: number, shift: number): number;
  skip(from: number, to: number, k: number, unit: number, shift: number): number;
}

/** The part of WebAssembly that is used here: neither the `es2023` library nor Node 20's types declare it. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: unknown };
};

let compiled: object | undefined;

const compile = (): object => {
  compiled ??= new WebAssembly.Module(Buffer.from(kernelBase64, "base64"));
  return compiled;
};

/** What another thread needs to count like a kernel of this form; undefined without WebAssembly SIMD. */
export function kernelForThread(
  form: NewlineForm,
): { readonly module: object; readonly unit: number; readonly shift: number } | undefined {
  const { width, tenAt } = units[form];
  try {
    return { module: compile(), unit: 10 << (8 * tenAt), shift: Math.log2(width) };
  } catch {
    return undefined;
  }
}

/**
 * Undefined if not available: `node --jitless` has no WebAssembly, old processors lack the SIMD instructions, and every
 * instance reserves gigabytes of address space, which may run out.
 */
function instantiate(chunkPages: number): Exports | undefined {
  try {
    // A cast, because a module's exports have no type; the tests call each of them.
    const exports = new WebAssembly.Instance(compile()).exports as Exports;
    // Growing detaches all views, so it happens once, before there are any. The module's initial page is for the
    // counts.
    exports.m.grow(chunkPages);
    return exports;
  } catch {
    return undefined;
  }
}

export function countNewlines(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}

/** Undefined if the text has no line ending. */
export function lineEndOf(text: string): LineEndName | undefined {
  if (!text.includes("\r")) return text.includes("\n") ? "LF" : undefined;
  let crlf = 0;
  let lf = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) {
    if (text[at - 1] === "\r") crlf += 1;
    else lf += 1;
  }
  if (crlf > 0 && lf > 0) return "mixed";
  if (crlf > 0) return "CRLF";
  if (lf > 0) return "LF";
  return "CR";
}

export const withLineEnds = (text: string, end: "\n" | "\r\n"): string =>
  end === "\n" ? text.replaceAll("\r\n", "\n") : text.replace(/\r?\n/g, "\r\n");
