/**
 * Lines as places in the bytes of a file: where a line starts, how many newlines there are. A small file is held in
 * memory; a large one is scanned once, as far as needed, and leaves behind how many newlines each 64 KiB block has, so
 * that any later line is a seek.
 */

import { setImmediate } from "node:timers/promises";
import { createKernel, type Kernel, type NewlineForm, countIn, skipIn } from "../text/newlines.ts";
import type { OpenFile } from "./open-file.ts";

export interface LineSource {
  readonly sizeBytes: number;
  /** Byte at which a line starts; undefined if there are not so many newlines. It may be the end of the file. */
  startOf(line: number): Promise<number | undefined>;
  /** Newlines in the whole file, and whether its last character is one. */
  newlines(): Promise<{ readonly count: number; readonly last: boolean }>;
  /** At most `bytesMax` bytes from `at` on; short only at the end of the file. */
  bytes(at: number, bytesMax: number): Promise<Uint8Array>;
  /** Byte behind the first newline at or after `at`; undefined if there is none. */
  afterNewline(at: number): Promise<number | undefined>;
}

/** The file became shorter while it was read: what was counted so far holds no longer. */
export class FileCut extends Error {
  override readonly name = "FileCut";
}

export interface SourceOptions {
  readonly form: NewlineForm;
  /** Bytes of the byte order mark. */
  readonly firstByte: number;
  readonly signal: AbortSignal;
}

const blockBytes = 65_536;
/** One read of a scan: large enough to pay for the call, small enough to stay in the cache of a core. */
const chunkBytes = 1_048_576;
/** Other calls get their turn after so many bytes. */
const turnBytes = 4 * chunkBytes;

export function sourceInMemory(bytes: Uint8Array, options: SourceOptions): LineSource {
  const { form, firstByte } = options;
  const sizeBytes = bytes.length;
  return {
    sizeBytes,
    startOf: async (line) => {
      if (line === 1) return firstByte;
      const start = skipIn(bytes, firstByte, sizeBytes, line - 1, form);
      return start === -1 ? undefined : start;
    },
    newlines: async () => ({
      count: countIn(bytes, firstByte, sizeBytes, form),
      last: endsWithNewline(bytes, firstByte, form),
    }),
    bytes: async (at, bytesMax) => bytes.subarray(at, at + bytesMax),
    afterNewline: async (at) => {
      const after = skipIn(bytes, at, sizeBytes, 1, form);
      return after === -1 ? undefined : after;
    },
  };
}

export function sourceInFile(file: OpenFile, options: SourceOptions): LineSource {
  const { form, firstByte, signal } = options;
  const { sizeBytes } = file;
  /** sums[i]: newlines before block i. */
  const sums: number[] = [0];
  let scanned = 0;
  let lastIsNewline = false;

  const bytes = async (at: number, bytesMax: number): Promise<Uint8Array> => {
    const wanted = Math.min(bytesMax, sizeBytes - at);
    const buffer = Buffer.allocUnsafe(Math.max(0, wanted));
    if ((await file.read(buffer, at)) < wanted) throw new FileCut();
    return buffer;
  };

  const found = (): number => sums[sums.length - 1] ?? 0;

  /** Scans until so many newlines were found, or so many bytes were seen, or the file ends. */
  const scan = async (goal: { readonly newlines: number } | { readonly bytes: number }): Promise<void> => {
    const reached = (): boolean => ("newlines" in goal ? found() >= goal.newlines : scanned >= goal.bytes);
    if (scanned >= sizeBytes || reached()) return;
    const kernel = takeKernel(form);
    try {
      for (let turn = 0; scanned < sizeBytes && !reached(); turn += chunkBytes) {
        if (turn >= turnBytes) {
          turn = 0;
          await setImmediate();
        }
        signal.throwIfAborted();
        const wanted = Math.min(chunkBytes, sizeBytes - scanned);
        const got = await file.read(wanted === chunkBytes ? kernel.chunk : kernel.chunk.subarray(0, wanted), scanned);
        if (got < wanted) throw new FileCut();
        let sum = found();
        for (const count of kernel.blocks(wanted, blockBytes)) {
          sum += count;
          sums.push(sum);
        }
        scanned += wanted;
        lastIsNewline = endsWithNewline(kernel.chunk.subarray(0, wanted), 0, form);
      }
    } finally {
      giveBack(kernel, form);
    }
  };

  return {
    sizeBytes,
    bytes,
    startOf: async (line) => {
      if (line === 1) return firstByte;
      const wanted = line - 1;
      await scan({ newlines: wanted });
      if (found() < wanted) return undefined;
      const block = lastBelow(sums, wanted);
      const inBlock = await bytes(block * blockBytes, blockBytes);
      const start = skipIn(inBlock, 0, inBlock.length, wanted - (sums[block] ?? 0), form);
      if (start === -1) throw new FileCut();
      return block * blockBytes + start;
    },
    newlines: async () => {
      await scan({ bytes: sizeBytes });
      return { count: found(), last: lastIsNewline };
    },
    afterNewline: async (at) => {
      const first = Math.floor(at / blockBytes);
      for (let block = first; block * blockBytes < sizeBytes; block += 1) {
        await scan({ bytes: Math.min(sizeBytes, (block + 1) * blockBytes) });
        if ((sums[block + 1] ?? 0) === (sums[block] ?? 0)) continue;
        const from = Math.max(at, block * blockBytes);
        const rest = await bytes(from, (block + 1) * blockBytes - from);
        const after = skipIn(rest, 0, rest.length, 1, form);
        if (after !== -1) return from + after;
      }
      return undefined;
    },
  };
}

/** The last index whose sum is below `wanted`: the wanted newline lies in that block. */
function lastBelow(sums: readonly number[], wanted: number): number {
  let low = 0;
  let high = sums.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if ((sums[middle] ?? 0) < wanted) low = middle;
    else high = middle - 1;
  }
  return low;
}

export const unitBytes = { byte: 1, "utf-16le": 2, "utf-16be": 2, "utf-32le": 4, "utf-32be": 4 } as const;

function endsWithNewline(bytes: Uint8Array, from: number, form: NewlineForm): boolean {
  const start = bytes.length - unitBytes[form];
  return start >= from && countIn(bytes, start, bytes.length, form) === 1;
}

/** Kernels own memory, so a few are kept for the next scan; two scans at once never share one. */
const idle = new Map<NewlineForm, Kernel[]>();
const idleMax = 2;

function takeKernel(form: NewlineForm): Kernel {
  return idle.get(form)?.pop() ?? createKernel(form, chunkBytes);
}

function giveBack(kernel: Kernel, form: NewlineForm): void {
  const kernels = idle.get(form) ?? [];
  if (kernels.length < idleMax) kernels.push(kernel);
  idle.set(form, kernels);
}
