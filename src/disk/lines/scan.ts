/**
 * Counts the newlines of a file block by block at memory speed, and yields to the event loop every few milliseconds. Above half
 * a gigabyte a second thread takes part: both claim the next piece from a shared counter, so neither waits for the other, and
 * the pieces of a failed thread are counted again.
 */

import { setImmediate } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { createKernel, type Kernel, kernelForThread, type NewlineForm } from "../../text/text.ts";
import type { OpenFile } from "../lookup/open-file.ts";
import { blockBytes } from "./index-store.ts";

export class FileTruncated extends Error {
  override readonly name = "FileTruncated";
}

export interface ScanOptions {
  readonly form: NewlineForm;
  readonly signal: AbortSignal;
  readonly onProgress?: ((doneBytes: number, totalBytes: number) => void) | undefined;
}

/** One read of a scan: large enough to pay for the call, small enough for a core's cache. */
export const chunkBytes = 1_048_576;
/** The scan yields to the event loop after so many bytes: about a millisecond. */
const turnBytes = 2_097_152;
/** A thread takes 30 ms to start, which pays only above this size. */
const threadBytesMin = 536_870_912;
const pieceBytes = 8_388_608;

/** Passes the newlines of each block from `from` (a multiple of a block) to `to` to `take`, in order, until it returns "enough". */
export async function scanBlocks(
  file: OpenFile,
  from: number,
  to: number,
  options: ScanOptions,
  take: (counts: Uint32Array) => "more" | "enough",
): Promise<void> {
  const kernel = takeKernel(options.form);
  try {
    let turn = 0;
    for (let at = from; at < to; at += chunkBytes) {
      options.signal.throwIfAborted();
      const wanted = Math.min(chunkBytes, to - at);
      await fillChunk(file, kernel, at, wanted);
      if (take(kernel.blocks(wanted, blockBytes)) === "enough") return;
      turn += wanted;
      if (turn < turnBytes) continue;
      turn = 0;
      options.onProgress?.(at + wanted, file.sizeBytes);
      await setImmediate();
    }
  } finally {
    returnKernel(kernel, options.form);
  }
}

/** The newlines of each block of the rest of a file; a large local file gets a second thread. */
export async function scanAll(file: OpenFile, from: number, options: ScanOptions): Promise<Uint32Array> {
  const blocks = Math.ceil((file.sizeBytes - from) / blockBytes);
  const counts = new Uint32Array(new SharedArrayBuffer(blocks * 4));
  if (file.descriptor === undefined || file.sizeBytes - from < threadBytesMin) {
    let done = 0;
    await scanBlocks(file, from, file.sizeBytes, options, (chunk) => {
      counts.set(chunk, done);
      done += chunk.length;
      return "more";
    });
    return counts;
  }

  const pieces = Math.ceil((file.sizeBytes - from) / pieceBytes);
  /** The next unclaimed piece, then a flag for each finished piece. */
  const shared = new Int32Array(new SharedArrayBuffer((pieces + 1) * 4));
  await setImmediate(); // the work before the scan took time, and so does starting a thread
  const worker = startWorker(file.descriptor, from, file.sizeBytes, counts, shared, options.form);
  const countPiece = async (piece: number): Promise<void> => {
    const start = from + piece * pieceBytes;
    let at = (piece * pieceBytes) / blockBytes;
    await scanBlocks(
      file,
      start,
      Math.min(start + pieceBytes, file.sizeBytes),
      { ...options, onProgress: undefined },
      (chunk) => {
        counts.set(chunk, at);
        at += chunk.length;
        return "more";
      },
    );
    Atomics.store(shared, piece + 1, 1);
    options.onProgress?.(Math.min(from + Atomics.load(shared, 0) * pieceBytes, file.sizeBytes), file.sizeBytes);
  };
  try {
    await setImmediate();
    for (let piece = Atomics.add(shared, 0, 1); piece < pieces; piece = Atomics.add(shared, 0, 1))
      await countPiece(piece);
    await worker.ended;
    for (let piece = 0; piece < pieces; piece += 1) if (Atomics.load(shared, piece + 1) === 0) await countPiece(piece);
    return counts;
  } finally {
    // Before the caller closes the file, because the thread reads from the same descriptor.
    await worker.stop();
  }
}

function startWorker(
  fd: number,
  from: number,
  to: number,
  counts: Uint32Array,
  shared: Int32Array,
  form: NewlineForm,
): { readonly ended: Promise<void>; stop(): Promise<unknown> } {
  const kernel = kernelForThread(form);
  if (kernel === undefined) return { ended: Promise.resolve(), stop: async () => undefined };
  const worker = new Worker(scanWorkerSource, {
    eval: true,
    workerData: { fd, from, to, counts, shared, ...kernel, blockBytes, chunkBytes, pieceBytes },
    resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2, stackSizeMb: 1 },
  });
  const ended = new Promise<void>((resolve) => {
    worker.once("exit", () => resolve());
    worker.once("error", () => resolve());
  });
  return { ended, stop: () => worker.terminate() };
}

async function fillChunk(file: OpenFile, kernel: Kernel, at: number, wanted: number): Promise<void> {
  const reading = file.read(wanted === kernel.chunk.length ? kernel.chunk : kernel.chunk.subarray(0, wanted), at);
  const got = typeof reading === "number" ? reading : await reading;
  if (got < wanted) throw new FileTruncated();
}

/** A process-wide pool that only saves allocations: a kernel is used by one scan at a time and overwritten by each. */
const idle = new Map<NewlineForm, Kernel[]>();
/** Enough for the usual number of concurrent scans; each kernel owns more than a mebibyte. */
const idleMax = 2;

export function takeKernel(form: NewlineForm): Kernel {
  return idle.get(form)?.pop() ?? createKernel(form, chunkBytes);
}

export function returnKernel(kernel: Kernel, form: NewlineForm): void {
  const kernels = idle.get(form) ?? [];
  if (kernels.length < idleMax) kernels.push(kernel);
  idle.set(form, kernels);
}

/** The program of the second thread, as a string: the command line ships as one file, and a thread needs its own. */
const scanWorkerSource = `
"use strict";
const { readSync } = require("node:fs");
const { workerData } = require("node:worker_threads");
const { fd, from, to, counts, shared, module: compiled, unit, shift, blockBytes, chunkBytes, pieceBytes } = workerData;
const kernel = new WebAssembly.Instance(compiled).exports;
kernel.m.grow(chunkBytes / 65536);
const chunk = new Uint8Array(kernel.m.buffer, 0, chunkBytes);
const pieces = Math.ceil((to - from) / pieceBytes);
for (let piece = Atomics.add(shared, 0, 1); piece < pieces; piece = Atomics.add(shared, 0, 1)) {
  const start = from + piece * pieceBytes;
  const end = Math.min(start + pieceBytes, to);
  let block = (piece * pieceBytes) / blockBytes;
  for (let at = start; at < end; at += chunkBytes) {
    const wanted = Math.min(chunkBytes, end - at);
    for (let done = 0; done < wanted; ) {
      const got = readSync(fd, chunk, done, wanted - done, at + done);
      if (got === 0) throw new Error("the file became shorter");
      done += got;
    }
    const found = kernel.blocks(0, wanted, blockBytes, chunkBytes, unit, shift);
    counts.set(new Uint32Array(kernel.m.buffer, chunkBytes, found), block);
    block += found;
  }
  Atomics.store(shared, piece + 1, 1);
}
`;
