/** The new content of a file as pieces, and the loops that write, copy, sync and compare it with constant memory. */

import { createHash, type Hash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import type { MadePiece, Piece } from "../../contract/edit.ts";
import { bufferBytes, giveBuffer, takeBuffer } from "../buffers.ts";
import { yieldToEventLoop } from "../event-loop.ts";
import { both } from "../lookup/folder-handle.ts";
import type { ReadMode } from "../lookup/lookup.ts";
import type { OpenFile } from "../lookup/open-file.ts";
import type { System } from "../system.ts";
import { asWriteFailed, during, duringLater, FileChanged, WriteFailed } from "./write-failed.ts";

export interface Content {
  readonly sizeBytes: number;
  /** The number of bytes at the beginning that equal those of the old file at the same offset. */
  readonly headBytes: number;
  /** Fills `into` from `at`; the content has that many bytes. Throws FileChanged if the old file has become shorter. */
  read(into: Uint8Array, at: number): Promise<void>;
  /** Bytes in memory and ranges of the old file, in order; each begins at `at`. Without it everything is read. */
  parts?(from: number, to: number): readonly Part[];
  readonly whole?: Uint8Array | undefined;
  readonly source?: OpenFile | undefined;
}

type Part = { readonly at: number } & (
  | { readonly bytes: Uint8Array }
  | { readonly from: number; readonly to: number }
  | { readonly readTo: number }
);

/** `source` is the old file if `isOld`; without a source all pieces are new bytes. */
export function contentOf(pieces: readonly Piece[], source: OpenFile | undefined, isOld = true): Content {
  const starts: number[] = [];
  let sizeBytes = 0;
  let headBytes = 0;
  for (const piece of pieces) {
    starts.push(sizeBytes);
    const length = lengthOf(piece);
    if ("from" in piece) {
      const inside = piece.from >= 0 && length >= 0 && piece.to <= (source?.sizeBytes ?? 0);
      if (!inside) throw new RangeError(`The old file has no bytes ${piece.from} to ${piece.to}`);
      if (isOld && piece.from === sizeBytes && headBytes === sizeBytes) headBytes += length;
    }
    sizeBytes += length;
  }
  const read = async (into: Uint8Array, at: number): Promise<void> => {
    let done = 0;
    for (let index = pieceAt(starts, at); done < into.length; index += 1) {
      const piece = pieces[index];
      if (piece === undefined) throw new RangeError("Read behind the end of the content");
      const skipped = at + done - (starts[index] ?? 0);
      const wanted = into.subarray(done, done + Math.min(into.length - done, lengthOf(piece) - skipped));
      if ("length" in piece) into.set(piece.subarray(skipped, skipped + wanted.length), done);
      else if ("make" in piece) into.set((await made(piece)).subarray(skipped, skipped + wanted.length), done);
      else if (wanted.length > 0) {
        const got = await duringLater("reading the old content", () => source?.read(wanted, piece.from + skipped) ?? 0);
        if (got < wanted.length) throw new FileChanged();
      }
      done += wanted.length;
    }
  };
  /** The last computed piece, cached because it is written and compared in several steps. */
  let last: { readonly piece: MadePiece; readonly bytes: Uint8Array } | undefined;
  async function made(piece: MadePiece): Promise<Uint8Array> {
    if (last?.piece !== piece) {
      await yieldToEventLoop();
      last = { piece, bytes: await duringLater("reading the old content", piece.make) };
    }
    if (last.bytes.length !== piece.sizeBytes) throw new FileChanged();
    return last.bytes;
  }
  const parts = (from: number, to: number): readonly Part[] =>
    pieces.flatMap((piece, index): readonly Part[] => {
      const start = starts[index] ?? 0;
      const [first, end] = [Math.max(from, start), Math.min(to, start + lengthOf(piece))];
      if (first >= end) return [];
      if ("length" in piece) return [{ at: first, bytes: piece.subarray(first - start, end - start) }];
      if ("make" in piece) return [{ at: first, readTo: end }];
      return [{ at: first, from: piece.from + first - start, to: piece.from + end - start }];
    });
  const [only] = pieces;
  const whole = pieces.length === 1 && only !== undefined && "length" in only ? only : undefined;
  return { sizeBytes, headBytes, read, parts, whole, source };
}

export const lengthOf = (piece: Piece): number =>
  "length" in piece ? piece.length : "make" in piece ? piece.sizeBytes : piece.to - piece.from;

function pieceAt(starts: readonly number[], at: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] ?? 0) <= at) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** A single part for little content: assembling it costs less than a call for each part. */
function partsOf(content: Content, from: number, to: number): readonly Part[] {
  if (content.whole !== undefined) return from < to ? [{ at: from, bytes: content.whole.subarray(from, to) }] : [];
  return (to - from > chunkBytes ? content.parts?.(from, to) : undefined) ?? [{ at: from, from, to }];
}

function endOf(part: Part): number {
  if ("readTo" in part) return part.readTo;
  return part.at + ("bytes" in part ? part.bytes.length : part.to - part.from);
}

export interface IoOptions {
  readonly system: System;
  readonly reads: ReadMode;
  readonly signal: AbortSignal | undefined;
}

/** Writes bytes `from` to `to` of the content at the same offsets of a file, plus `shift`. `hash` gets the written bytes. */
export async function writeContent(
  fd: number,
  content: Content,
  { from, to, shift = 0 }: { readonly from: number; readonly to: number; readonly shift?: number },
  io: IoOptions,
  hash?: Hash,
): Promise<void> {
  const early = to - from > earlySyncBytes ? syncWhileWriting(fd, io) : undefined;
  const write = async (bytes: Uint8Array, at: number): Promise<void> => {
    hash?.update(bytes);
    await writeAll(fd, bytes, at + shift, io);
    await early?.wrote(bytes.length);
  };
  try {
    for (const part of partsOf(content, from, to)) {
      if ("bytes" in part) {
        await inSteps(part.bytes, io, (bytes, at) => write(bytes, part.at + at));
        continue;
      }
      const copies = "from" in part && hash === undefined;
      const copied = copies ? await copyRange(content.source, fd, { ...part, at: part.at + shift }, io) : 0;
      await inChunks(part.at + copied, endOf(part), io, async (buffer, at) => {
        await content.read(buffer, at);
        await write(buffer, at);
      });
    }
  } finally {
    await early?.settled(); // the descriptor is in use until then
  }
  early?.check();
}

/** Large enough that a sync's fixed cost disappears, small enough to keep the disk busy from early on. */
const earlySyncBytes = 67_108_864;

/** Syncs during the writing: 1 GB takes 12 % less time. A failure is remembered, because no later sync reports it. */
function syncWhileWriting(fd: number, { system }: IoOptions) {
  let waiting = 0;
  let running: Promise<void> | undefined;
  let failure: { readonly error: unknown } | undefined;
  const check = (): void => {
    if (failure !== undefined) throw asWriteFailed(failure.error, "syncing the file");
  };
  return {
    check,
    settled: () => running,
    wrote: async (bytes: number): Promise<void> => {
      waiting += bytes;
      if (waiting < earlySyncBytes) return;
      waiting = 0;
      await running;
      check();
      running = system.syncLater(fd).catch((error: unknown) => {
        failure = { error };
      });
    },
  };
}

export async function writeAll(fd: number, bytes: Uint8Array, at: number, { system, reads }: IoOptions): Promise<void> {
  const call = reads === "at once" ? "write" : "writeLater";
  for (let done = 0; done < bytes.length; ) {
    const from = done;
    const writing = during("writing", () => system[call](fd, bytes, from, bytes.length - from, at + from));
    const written = typeof writing === "number" ? writing : await duringLater("writing", () => writing);
    if (written <= 0) throw new WriteFailed("EIO", "writing");
    done += written;
  }
}

/** Fills `into` from a descriptor; returns fewer bytes only at the end of the file. */
export async function readAll(
  fd: number,
  into: Uint8Array,
  at: number,
  { system, reads }: Pick<IoOptions, "system" | "reads">,
): Promise<number> {
  const step = "reading back what was written";
  const call = reads === "at once" ? "read" : "readLater";
  let done = 0;
  while (done < into.length) {
    const from = done;
    const reading = during(step, () => system[call](fd, into, from, into.length - from, at + from));
    const got = typeof reading === "number" ? reading : await duringLater(step, () => reading);
    if (got === 0) break;
    done += got;
  }
  return done;
}

export async function hashOfFile(fd: number, sizeBytes: number, io: IoOptions): Promise<Buffer | undefined> {
  const hash = createHash("sha256");
  let short = false;
  await inChunks(0, sizeBytes, io, async (buffer, at) => {
    short ||= (await readAll(fd, buffer, at, io)) < buffer.length;
    hash.update(buffer);
  });
  return short ? undefined : hash.digest();
}

/** Throws WriteFailed unless `read` returns exactly the bytes of the content from `from`. */
export async function compareContent(
  content: Content,
  from: number,
  read: (into: Uint8Array, at: number) => number | Promise<number>,
  io: IoOptions,
): Promise<void> {
  const step = "reading back what was written";
  const { sizeBytes } = content;
  const found = async (into: Buffer, at: number): Promise<Buffer> => {
    if ((await duringLater(step, () => read(into, at))) < into.length) throw new WriteFailed("EIO", step);
    return into;
  };
  let second: Buffer | undefined;
  for (const part of partsOf(content, from, sizeBytes)) {
    const to = endOf(part);
    await inChunks(part.at, to, { signal: io.signal, stepBytes: comparedBytes }, async (buffer, at) => {
      let same: boolean;
      if ("bytes" in part) {
        const start = at - part.at;
        same = (await found(buffer, at)).compare(part.bytes, start, start + buffer.length) === 0;
      } else {
        await content.read(buffer, at);
        if (second === undefined || second.length < buffer.length) second = Buffer.allocUnsafe(buffer.length);
        same = (await found(second.subarray(0, buffer.length), at)).equals(buffer);
      }
      if (!same) throw new WriteFailed("EIO", step);
    });
  }
}

/** A large sync may take seconds; on a fast disk a small one takes less than handing it to another thread and back. */
const syncAtOnceBytesMax = 1_048_576;
/** A sync in this thread blocks every call, so it is not used while the last small sync took longer than this. */
const quickSyncMs = 3;

export const syncsAtOnce = (sizeBytes: number, { syncPace }: Pick<System, "syncPace">): boolean =>
  sizeBytes <= syncAtOnceBytesMax && syncPace.lastMs <= quickSyncMs;

/** A failed sync is final: the kernel may have dropped the bytes. The descriptor is not in use when this ends. */
export async function syncFile(
  fd: number,
  sizeBytes: number,
  { system, reads }: IoOptions,
  meanwhile?: () => Promise<void>,
): Promise<void> {
  const startedMs = performance.now();
  const took = (): void => {
    if (sizeBytes <= syncAtOnceBytesMax) system.syncPace.lastMs = performance.now() - startedMs;
  };
  if (meanwhile === undefined && reads === "at once" && syncsAtOnce(sizeBytes, system)) {
    during("syncing the file", () => system.sync(fd));
    took();
    return;
  }
  await both(duringLater("syncing the file", () => system.syncLater(fd)).then(took), async () => meanwhile?.());
}

const chunkBytes = 1_048_576;
/** For comparisons: two buffers of this size stay in the processor's cache, which halves the time. */
export const comparedBytes = 131_072;
/** Loops yield to the event loop after so many bytes. */
const bytesPerTurn = 8_388_608;

/** A process-wide pool of one: allocating a large buffer for every change would cost more than the change. */
let idleBuffer: Buffer | undefined;

export async function inChunks(
  from: number,
  to: number,
  { signal, stepBytes = chunkBytes }: { readonly signal: AbortSignal | undefined; readonly stepBytes?: number },
  step: (buffer: Buffer, at: number) => Promise<void>,
): Promise<void> {
  const small = to - from <= bufferBytes;
  const whole = small ? takeBuffer() : (idleBuffer ?? Buffer.allocUnsafeSlow(chunkBytes));
  if (!small) idleBuffer = undefined;
  try {
    let sinceTurn = 0;
    for (let at = from; at < to; ) {
      const buffer = whole.subarray(0, Math.min(whole.length, stepBytes, to - at));
      await step(buffer, at);
      at += buffer.length;
      sinceTurn += buffer.length;
      if (sinceTurn >= bytesPerTurn) {
        signal?.throwIfAborted();
        await setImmediate();
        sinceTurn = 0;
      }
    }
  } finally {
    if (small) giveBuffer(whole);
    else idleBuffer = whole;
  }
}

async function inSteps(
  bytes: Uint8Array,
  { signal }: IoOptions,
  step: (bytes: Uint8Array, at: number) => Promise<void>,
): Promise<void> {
  for (let at = 0; at < bytes.length; at += bytesPerTurn) {
    if (at > 0) {
      signal?.throwIfAborted();
      await setImmediate();
    }
    await step(bytes.subarray(at, at + bytesPerTurn), at);
  }
}

/** A smaller range is read and written before another thread has begun. */
const worthBytesMin = 1_048_576;
/** Small enough to cancel soon and to keep the disk busy early. */
const stepBytes = 16_777_216;

/** Copies to `at` in the kernel; returns the number of bytes copied from the start of the range. The caller copies the rest. */
async function copyRange(
  source: OpenFile | undefined,
  fd: number,
  { from, to, at }: { readonly from: number; readonly to: number; readonly at: number },
  { system, reads, signal }: IoOptions,
): Promise<number> {
  const descriptor = source?.descriptor;
  if (descriptor === undefined || reads !== "at once" || to - from < worthBytesMin) return 0;
  const calls = await duringLater("writing", () => system.copyCalls());
  if (calls === undefined) return 0;
  let done = 0;
  let writing: Promise<void> | undefined;
  try {
    while (from + done < to) {
      signal?.throwIfAborted();
      const wanted = Math.min(stepBytes, to - from - done);
      const copied = await calls.copy(descriptor, from + done, fd, at + done, wanted);
      // Reading and writing the same bytes reports the error, and an old file that became shorter.
      if (copied === undefined || copied === 0) break;
      await writing;
      writing = calls.startWriting(fd, at + done, copied).catch(() => undefined); // the final sync reports errors
      done += copied;
    }
  } finally {
    await writing; // the descriptor is in use until then
  }
  return done;
}
