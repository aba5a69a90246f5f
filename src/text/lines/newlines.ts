/**
 * Counts newlines in bytes and finds the k-th. A kernel scans big files chunk by chunk with WebAssembly SIMD
 * (`scripts/newlines.wat`), as fast as they can be read; `countNewlinesIn` and `skipNewlinesIn` work on bytes in
 * memory: short ones in plain JavaScript, longer ones in a kernel's memory. Offsets are bytes in every form. `from`
 * MUST be a multiple of the form's unit (1, 2 or 4 bytes); a unit that `to` cuts through is not counted.
 */

import type { LineEndName } from "../../contract/edit.ts";
import { doubled } from "../match/find-text.ts";

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

/** For a Node without WebAssembly SIMD: correct, and slower. */
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
  const { width, tenAt } = units[form];
  let total = 0;
  for (let at = from; at + width <= to; at += width) {
    if (bytes[at + tenAt] === 10 && (width === 1 || isWide(bytes, at, width, tenAt))) total += 1;
  }
  return total;
}

function skipPlain(bytes: Uint8Array, from: number, to: number, k: number, form: NewlineForm): number {
  const { width, tenAt } = units[form];
  let left = k;
  for (let at = from; at + width <= to; at += width) {
    if (bytes[at + tenAt] !== 10 || (width > 1 && !isWide(bytes, at, width, tenAt))) continue;
    left -= 1;
    if (left === 0) return at + width;
  }
  return -1;
}

/** `tenAt`: which byte of the unit is 10; the others are 0. */
const units: Readonly<Record<NewlineForm, { readonly width: number; readonly tenAt: number }>> = {
  byte: { width: 1, tenAt: 0 },
  "utf-16le": { width: 2, tenAt: 0 },
  "utf-16be": { width: 2, tenAt: 1 },
  "utf-32le": { width: 4, tenAt: 0 },
  "utf-32be": { width: 4, tenAt: 3 },
};

/** Are all bytes of the unit but the 10 zero? */
function isWide(bytes: Uint8Array, at: number, width: number, tenAt: number): boolean {
  for (let index = 0; index < width; index++) {
    if (index !== tenAt && bytes[at + index] !== 0) return false;
  }
  return true;
}

function simdKernel(form: NewlineForm, chunkBytes: number): Kernel | undefined {
  const chunkPages = Math.ceil(chunkBytes / pageBytes);
  const exports = instantiate(compile, chunkPages) as Exports | undefined;
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
interface Exports extends WasmMemory {
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

const compile = (): object => (compiled ??= compileWasm(kernelBase64));

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
 * instance reserves gigabytes of address space, which may run out. Growing detaches all views, so it happens here, before there
 * are any; a module's initial page is not among `pages`.
 */
export function instantiate(compileModule: () => object, pages: number): WasmMemory | undefined {
  try {
    // Casts, here and in callers, because a module's exports have no type; the tests call each of them.
    const exports = new WebAssembly.Instance(compileModule()).exports as WasmMemory;
    exports.m.grow(pages);
    return exports;
  } catch {
    return undefined;
  }
}

export interface WasmMemory {
  readonly m: { readonly buffer: ArrayBuffer; grow(pages: number): number };
}

export const compileWasm = (base64: string): object => new WebAssembly.Module(Buffer.from(base64, "base64"));

export function countNewlines(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}

export function startsIn(text: string, end: "\n" | "\r"): Int32Array {
  let starts = new Int32Array(64);
  let count = 1;
  for (let at = text.indexOf(end); at >= 0; at = text.indexOf(end, at + 1), count += 1) {
    if (count === starts.length) starts = doubled(starts);
    starts[count] = at + 1;
  }
  return starts.slice(0, count);
}

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
