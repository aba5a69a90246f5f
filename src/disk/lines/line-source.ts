/** Lines as byte offsets in a file. A large file is scanned once, as far as needed; after that any line is a seek. */

import { countNewlinesIn, firstIndex, type NewlineForm, skipNewlinesIn } from "../../text/text.ts";
import type { OpenFile } from "../lookup/open-file.ts";
import { isAtRest } from "../time-grain.ts";
import { blockBytes, type IndexStore } from "./index-store.ts";
import { FileTruncated, returnKernel, scanAll, scanBlocks, type ScanOptions, takeKernel } from "./scan.ts";

export type LineSource = Readonly<ReturnType<typeof sourceInMemory>>;

export interface SourceOptions extends ScanOptions {
  readonly firstByte: number;
  readonly store: IndexStore;
}

export class IndexWrong extends Error {
  override readonly name = "IndexWrong";
}

export function sourceInMemory(bytes: Uint8Array, form: NewlineForm, firstByte: number) {
  const sizeBytes = bytes.length;
  const orUndefined = (offset: number): number | undefined => (offset === -1 ? undefined : offset);
  return {
    sizeBytes,
    /** The byte at which a line starts, possibly the end of the file; undefined if there are too few newlines. */
    startOf: async (line: number) =>
      line === 1 ? firstByte : orUndefined(skipNewlinesIn(bytes, firstByte, sizeBytes, line - 1, form)),
    /** A byte at or shortly after the start of a line, if the index knows it without reading the file. */
    near: (_line: number): number | undefined => undefined,
    newlines: async () => ({
      count: countNewlinesIn(bytes, firstByte, sizeBytes, form),
      last: endsWithNewline(bytes, firstByte, form),
    }),
    /** At most `bytesMax` bytes from `at`; fewer only at the end of the file. They may be in `scratch` if it is large enough. */
    bytes: async (at: number, bytesMax: number, _scratch?: Buffer): Promise<Uint8Array> =>
      bytes.subarray(at, at + bytesMax),
    /** The byte after the first newline at or after `at`; undefined if there is none. */
    afterNewline: async (at: number) => orUndefined(skipNewlinesIn(bytes, at, sizeBytes, 1, form)),
    /** The byte after the k-th newline before `end`, counting backwards; undefined if there are fewer. Scans nothing else. */
    beforeEnd: async (k: number, end: number) => {
      const count = countNewlinesIn(bytes, firstByte, end, form);
      return count < k ? undefined : orUndefined(skipNewlinesIn(bytes, firstByte, end, count - k + 1, form));
    },
  };
}

export function sourceInFile(file: OpenFile, options: SourceOptions): LineSource {
  const { form, firstByte, store } = options;
  const { sizeBytes, identity } = file;
  const known = store.find(identity, form);
  let sums: ArrayLike<number> = known?.sums ?? [0];
  let scanned = known?.scannedBytes ?? 0;
  let lastIsNewline = known?.lastIsNewline ?? false;

  const bytes = async (at: number, bytesMax: number, scratch?: Buffer): Promise<Uint8Array> => {
    const wanted = Math.max(0, Math.min(bytesMax, sizeBytes - at));
    const buffer =
      scratch !== undefined && wanted <= scratch.length ? scratch.subarray(0, wanted) : Buffer.allocUnsafe(wanted);
    const reading = file.read(buffer, at);
    if ((typeof reading === "number" ? reading : await reading) < wanted) throw new FileTruncated();
    return buffer;
  };
  const newlinesFound = (): number => sums[sums.length - 1] ?? 0;

  /** Scans up to so many newlines, so many bytes or the end of the file, then caches the index. */
  const scan = async (goal: { readonly newlines: number } | { readonly bytes: number }): Promise<void> => {
    const enough = (): boolean => ("newlines" in goal ? newlinesFound() >= goal.newlines : scanned >= goal.bytes);
    if (scanned >= sizeBytes || enough()) return;
    if ("bytes" in goal && goal.bytes >= sizeBytes) {
      sums = appendRunningSums(sums, await scanAll(file, scanned, options));
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

  /** The byte after the k-th newline of a block. The block is counted again, and a count that differs drops the index. */
  const skipInBlock = async (block: number, from: number, k: number): Promise<number> => {
    const start = block * blockBytes;
    const length = Math.min(blockBytes, sizeBytes - start);
    const kernel = takeKernel(form);
    try {
      const reading = file.read(kernel.chunk.subarray(0, length), start);
      if ((typeof reading === "number" ? reading : await reading) < length) throw new FileTruncated();
      const expected = (sums[block + 1] ?? 0) - (sums[block] ?? 0);
      if (kernel.count(0, length) !== expected) {
        store.drop(identity, form);
        throw new IndexWrong();
      }
      const offset = kernel.skip(from - start, length, k);
      return offset === -1 ? -1 : start + offset;
    } finally {
      returnKernel(kernel, form);
    }
  };

  return {
    sizeBytes,
    bytes,
    startOf: async (line) => {
      if (line === 1) return firstByte;
      const wanted = line - 1;
      await scan({ newlines: wanted });
      if (newlinesFound() < wanted) return undefined;
      const block = lastBelow(sums, wanted);
      return skipInBlock(block, block * blockBytes, wanted - (sums[block] ?? 0));
    },
    near: (line) => {
      if (newlinesFound() < line - 1) return scanned >= sizeBytes ? sizeBytes : undefined;
      return Math.min(sizeBytes, (lastBelow(sums, line - 1) + 1) * blockBytes);
    },
    newlines: async () => {
      await scan({ bytes: sizeBytes });
      return { count: newlinesFound(), last: lastIsNewline };
    },
    afterNewline: async (at) => {
      const block = Math.floor(at / blockBytes);
      // One byte less than all, so that only the needed part is scanned, never the whole file at once.
      await scan({ bytes: Math.min(sizeBytes - 1, (block + 1) * blockBytes) });
      if ((sums[block + 1] ?? 0) > (sums[block] ?? 0)) {
        const after = await skipInBlock(block, at, 1);
        if (after !== -1) return after;
      }
      const wanted = (sums[block + 1] ?? newlinesFound()) + 1;
      await scan({ newlines: wanted });
      if (newlinesFound() < wanted) return undefined;
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

function appendRunningSums(before: ArrayLike<number>, counts: Uint32Array): Float64Array {
  const sums = new Float64Array(before.length + counts.length);
  sums.set(before);
  let sum = before[before.length - 1] ?? 0;
  for (let index = 0; index < counts.length; index += 1) {
    sum += counts[index] ?? 0;
    sums[before.length + index] = sum;
  }
  return sums;
}

/** The last index whose sum is below `wanted`: that block contains the wanted newline. */
const lastBelow = (sums: ArrayLike<number>, wanted: number): number =>
  Math.max(0, firstIndex(sums.length, (at) => (sums[at] ?? 0) >= wanted) - 1);

const unitBytes = { byte: 1, "utf-16le": 2, "utf-16be": 2, "utf-32le": 4, "utf-32be": 4 } as const;

function endsWithNewline(bytes: Uint8Array, from: number, form: NewlineForm): boolean {
  const start = bytes.length - unitBytes[form];
  return start >= from && countNewlinesIn(bytes, start, bytes.length, form) === 1;
}
