/** Finds a byte sequence in a file of any size, in one pass and constant memory, with the line of each hit. */

import { countNewlinesIn, type FinderOptions, startFinding } from "../../text/text.ts";
import { timeSlices } from "../event-loop.ts";
import type { OpenFile } from "../lookup/open-file.ts";
import { chunkBytes, FileTruncated, returnKernel, takeKernel } from "./scan.ts";

export interface Hit {
  readonly at: number;
  readonly line: number;
}

export interface FindOptions extends FinderOptions {
  /** `first`: line numbers are right only up to the chunk of the first hit. */
  readonly lines: "all" | "first";
  readonly signal: AbortSignal;
  readonly onProgress: ((doneBytes: number, totalBytes: number) => void) | undefined;
  /** Receives every hit in order, before the total is known; then no hit is stored, and all are counted. */
  readonly onHit?: ((at: number, line: number) => void) | undefined;
  /** Receives every chunk; it MUST NOT keep it. */
  readonly onChunk?: ((chunk: Uint8Array) => void) | undefined;
}

/** An exact count above this helps no caller, and counting a needle that overlaps itself would take long. */
const totalMax = 1_000_000;
const progressBytes = 4 * chunkBytes;
const sliceHits = 1_024;
/** Small enough to stay in the processor's cache, since each piece is scanned several times. */
const stepBytes = chunkBytes / 8;

/** For encodings whose newline is byte 10 and whose characters cannot begin inside others: `isByteSearchable`. */
export async function findInFile(
  file: Pick<OpenFile, "sizeBytes" | "read">,
  needle: Uint8Array,
  options: FindOptions,
): Promise<{ readonly hits: readonly Hit[]; readonly total: number }> {
  const { overlapping, firstByte, signal, onHit } = options;
  const hitsMax = onHit === undefined ? options.hitsMax : Number.POSITIVE_INFINITY;
  const finder = startFinding(needle, { hitsMax, overlapping, firstByte });
  const kernel = takeKernel("byte");
  const hits: Hit[] = [];
  const slices = timeSlices(signal);
  let newlines = 0;
  try {
    for (let at = 0; at < file.sizeBytes; at += stepBytes) {
      signal.throwIfAborted();
      const wanted = Math.min(stepBytes, file.sizeBytes - at);
      const reading = file.read(kernel.chunk.subarray(0, wanted), at);
      if ((typeof reading === "number" ? reading : await reading) < wanted) throw new FileTruncated();
      const chunk = kernel.chunk.subarray(0, wanted);
      options.onChunk?.(chunk);
      finder.feed(chunk);
      let counted = 0;
      let inChunk = 0;
      let reported = 0;
      for (const hit of onHit === undefined ? finder.hits.slice(hits.length) : finder.drain()) {
        // A hit that began in an earlier chunk has its first newlines there.
        let before = newlines - (hit < at ? countNewlinesIn(needle, 0, at - hit, "byte") : 0);
        if (hit >= at) {
          inChunk += kernel.count(counted, hit - at);
          counted = hit - at;
          before += inChunk;
        }
        if (onHit === undefined) hits.push({ at: hit, line: before + 1 });
        else onHit(hit, before + 1);
        reported += 1;
        if (reported % sliceHits === 0 && slices.isOver()) await slices.next();
      }
      if (onHit === undefined && finder.total > totalMax) break;
      // After a single hit no lines are needed; a second hit makes the caller search again with all lines.
      if (options.lines === "all" || hits.length === 0) newlines += kernel.count(0, wanted);
      if (slices.isOver()) await slices.next();
      if ((at + wanted) % progressBytes === 0) options.onProgress?.(at + wanted, file.sizeBytes);
    }
    return { hits, total: finder.total };
  } finally {
    returnKernel(kernel, "byte");
  }
}
