/**
 * Lines as places in the bytes of a file: where a line starts, how many newlines there are. A small file is held in
 * memory; a large one is scanned once, as far as needed, and its index makes any later line a seek.
 */

import { countNewlinesIn, type NewlineForm, skipNewlinesIn } from "../../text/text.ts";
import type { OpenFile } from "../lookup/open-file.ts";
import { isAtRest } from "../time-grain.ts";
import type { IndexStore } from "./index-store.ts";
import { blockBytes } from "./line-index.ts";
import { FileCut, giveBack, scanAll, scanBlocks, type ScanOptions, takeKernel } from "./scan.ts";

export interface LineSource {
  readonly sizeBytes: number;
  /** Byte at which a line starts; undefined if there are not so many newlines. It may be the end of the file. */
  startOf(line: number): Promise<number | undefined>;
  /** A byte at or a little behind the start of a line, as far as that is known without a look at the file. */
  near(line: number): number | undefined;
  /** Newlines in the whole file, and whether its last character is one. */
  newlines(): Promise<{ readonly count: number; readonly last: boolean }>;
  /** At most `bytesMax` bytes from `at` on; short only at the end of the file. They may lie in `scratch`, if it has room. */
  bytes(at: number, bytesMax: number, scratch?: Buffer): Promise<Uint8Array>;
  /** Byte behind the first newline at or after `at`; undefined if there is none. */
  afterNewline(at: number): Promise<number | undefined>;
  /** Byte behind the k-th newline before `end`, counted backwards; undefined if there are fewer. Nothing else is scanned. */
  beforeEnd(k: number, end: number): Promise<number | undefined>;
}

export interface SourceOptions extends ScanOptions {
  /** Bytes of the byte order mark. */
  readonly firstByte: number;
  readonly store: IndexStore;
}

/** A cached index that the file's bytes contradict. */
export class IndexWrong extends Error {
  override readonly name = "IndexWrong";
}

export function sourceInMemory(bytes: Uint8Array, form: NewlineForm, firstByte: number): LineSource {
  const sizeBytes = bytes.length;
  const place = (offset: number): number | undefined => (offset === -1 ? undefined : offset);
  return {
    sizeBytes,
    startOf: async (line) =>
      line === 1 ? firstByte : place(skipNewlinesIn(bytes, firstByte, sizeBytes, line - 1, form)),
    near: () => undefined,
    newlines: async () => ({
      count: countNewlinesIn(bytes, firstByte, sizeBytes, form),
      last: endsWithNewline(bytes, firstByte, form),
    }),
    bytes: async (at, bytesMax) => bytes.subarray(at, at + bytesMax),
    afterNewline: async (at) => place(skipNewlinesIn(bytes, at, sizeBytes, 1, form)),
    beforeEnd: async (k, end) => {
      const count = countNewlinesIn(bytes, firstByte, end, form);
      return count < k ? undefined : place(skipNewlinesIn(bytes, firstByte, end, count - k + 1, form));
    },
  };
}

export function sourceInFile(file: OpenFile, options: SourceOptions): LineSource {
  const { form, firstByte, store } = options;
  const { sizeBytes, identity } = file;
  const known = store.find(identity, form);
  /** sums[i]: newlines before block i. */
  let sums: ArrayLike<number> = known?.sums ?? [0];
  let scanned = known?.scannedBytes ?? 0;
  let lastIsNewline = known?.lastIsNewline ?? false;

  const bytes = async (at: number, bytesMax: number, scratch?: Buffer): Promise<Uint8Array> => {
    const wanted = Math.max(0, Math.min(bytesMax, sizeBytes - at));
    const buffer =
      scratch !== undefined && wanted <= scratch.length ? scratch.subarray(0, wanted) : Buffer.allocUnsafe(wanted);
    const reading = file.read(buffer, at);
    if ((typeof reading === "number" ? reading : await reading) < wanted) throw new FileCut();
    return buffer;
  };
  const found = (): number => sums[sums.length - 1] ?? 0;

  /** Scans until so many newlines were found, or so many bytes were seen, or the file ends; then keeps the index. */
  const scan = async (goal: { readonly newlines: number } | { readonly bytes: number }): Promise<void> => {
    const enough = (): boolean => ("newlines" in goal ? found() >= goal.newlines : scanned >= goal.bytes);
    if (scanned >= sizeBytes || enough()) return;
    if ("bytes" in goal && goal.bytes >= sizeBytes) {
      sums = running(sums, await scanAll(file, scanned, options));
      scanned = sizeBytes;
    } else {
      const growing = Array.from(sums);
      sums = growing;
      await scanBlocks(file, scanned, sizeBytes, options, (counts) => {
        for (const count of counts) growing.push((growing[growing.length - 1] ?? 0) + count);
        scanned = Math.min(sizeBytes, (growing.length - 1) * blockBytes);
        return enough() ? "enough" : "more";
      });
    }
    if (scanned === sizeBytes) {
      const width = unitBytes[form];
      lastIsNewline = endsWithNewline(await bytes(Math.max(0, sizeBytes - width), width), 0, form);
    }
    keep();
  };

  const keep = (): void => {
    if (file.changed() === "rewritten" || !isAtRest(identity)) return;
    store.keep({ form, identity, scannedBytes: scanned, sums: Float64Array.from(sums), lastIsNewline });
  };

  /** Byte behind the k-th newline of a block, seen again: a count that differs from the index drops it. */
  const skipInBlock = async (block: number, from: number, k: number): Promise<number> => {
    const start = block * blockBytes;
    const length = Math.min(blockBytes, sizeBytes - start);
    const kernel = takeKernel(form);
    try {
      const reading = file.read(kernel.chunk.subarray(0, length), start);
      if ((typeof reading === "number" ? reading : await reading) < length) throw new FileCut();
      const expected = (sums[block + 1] ?? 0) - (sums[block] ?? 0);
      if (kernel.count(0, length) !== expected) {
        store.drop(identity, form);
        throw new IndexWrong();
      }
      const offset = kernel.skip(from - start, length, k);
      return offset === -1 ? -1 : start + offset;
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
      return skipInBlock(block, block * blockBytes, wanted - (sums[block] ?? 0));
    },
    near: (line) => {
      if (found() < line - 1) return scanned >= sizeBytes ? sizeBytes : undefined;
      return Math.min(sizeBytes, (lastBelow(sums, line - 1) + 1) * blockBytes);
    },
    newlines: async () => {
      await scan({ bytes: sizeBytes });
      return { count: found(), last: lastIsNewline };
    },
    afterNewline: async (at) => {
      const block = Math.floor(at / blockBytes);
      // One byte less than all: only as much is scanned as is needed, never the whole file at once.
      await scan({ bytes: Math.min(sizeBytes - 1, (block + 1) * blockBytes) });
      if ((sums[block + 1] ?? 0) > (sums[block] ?? 0)) {
        const after = await skipInBlock(block, at, 1);
        if (after !== -1) return after;
      }
      const wanted = (sums[block + 1] ?? found()) + 1;
      await scan({ newlines: wanted });
      if (found() < wanted) return undefined;
      const next = lastBelow(sums, wanted);
      return skipInBlock(next, next * blockBytes, wanted - (sums[next] ?? 0));
    },
    beforeEnd: async (k, end) => {
      let left = k;
      for (let to = end; to > firstByte; ) {
        options.signal.throwIfAborted();
        const from = Math.max(0, Math.floor((to - 1) / blockBytes) * blockBytes);
        const block = await bytes(from, to - from);
        const count = countNewlinesIn(block, 0, block.length, form);
        if (count >= left) return from + skipNewlinesIn(block, 0, block.length, count - left + 1, form);
        left -= count;
        to = from;
      }
      return undefined;
    },
  };
}

/** Running sums, gone on from the last of `before`. */
function running(before: ArrayLike<number>, counts: Uint32Array): Float64Array {
  const sums = new Float64Array(before.length + counts.length);
  sums.set(before);
  let sum = before[before.length - 1] ?? 0;
  for (let index = 0; index < counts.length; index += 1) {
    sum += counts[index] ?? 0;
    sums[before.length + index] = sum;
  }
  return sums;
}

/** The last index whose sum is below `wanted`: the wanted newline lies in that block. */
function lastBelow(sums: ArrayLike<number>, wanted: number): number {
  let low = 0;
  let high = sums.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if ((sums[middle] ?? 0) < wanted) low = middle;
    else high = middle - 1;
  }
  return low;
}

const unitBytes = { byte: 1, "utf-16le": 2, "utf-16be": 2, "utf-32le": 4, "utf-32be": 4 } as const;

function endsWithNewline(bytes: Uint8Array, from: number, form: NewlineForm): boolean {
  const start = bytes.length - unitBytes[form];
  return start >= from && countNewlinesIn(bytes, start, bytes.length, form) === 1;
}
