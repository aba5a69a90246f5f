/** Finds a byte text in a file of any size, in one pass and constant memory, and the line of each hit. */

import { setImmediate } from "node:timers/promises";
import { countNewlinesIn, startFinding } from "../../text/text.ts";
import type { OpenFile } from "../lookup/open-file.ts";
import { chunkBytes, FileCut, giveBack, takeKernel } from "./scan.ts";

export interface Hit {
  readonly at: number;
  /** Lines count from 1. */
  readonly line: number;
}

export interface FindOptions {
  readonly hitsMax: number;
  readonly overlapping: boolean;
  /** Where the text begins, behind the BOM; no hit begins before. */
  readonly firstByte: number;
  /** Lines of every hit, or right ones only up to the chunk of the first. */
  readonly lines: "all" | "first";
  readonly signal: AbortSignal;
  readonly onProgress: ((doneBytes: number, totalBytes: number) => void) | undefined;
  /** Told every hit, in order, before it is known how many there are; then none is kept, and all are counted. */
  readonly onHit?: ((at: number, line: number) => void) | undefined;
  /** Shown every chunk in passing; it MUST NOT keep it. */
  readonly onChunk?: ((chunk: Uint8Array) => void) | undefined;
}

/** Nobody wants to know how many more than this; and a text that overlaps itself would take its time. */
const totalMax = 1_000_000;
/** Other calls get their turn after so many bytes. */
const turnBytes = 4 * chunkBytes;
/** And after so many hits. */
const turnHits = 32_768;
/** Read at a time: what is looked at several times stays near the processor, and a file has no memory of its own. */
const stepBytes = chunkBytes / 8;

/** For encodings whose newline is byte 10 and whose characters can be told in any bytes: `isByteSearchable`. */
export async function findInFile(
  file: Pick<OpenFile, "sizeBytes" | "read">,
  needle: Uint8Array,
  options: FindOptions,
): Promise<{ readonly hits: readonly Hit[]; readonly total: number }> {
  const { overlapping, firstByte, signal, onHit } = options;
  const hitsMax = onHit === undefined ? options.hitsMax : Number.POSITIVE_INFINITY;
  const finder = startFinding(needle, { hitsMax, overlapping, unitBytes: 1, firstByte });
  const kernel = takeKernel("byte");
  const hits: Hit[] = [];
  let newlines = 0;
  try {
    for (let at = 0; at < file.sizeBytes; at += stepBytes) {
      signal.throwIfAborted();
      const wanted = Math.min(stepBytes, file.sizeBytes - at);
      const reading = file.read(kernel.chunk.subarray(0, wanted), at);
      if ((typeof reading === "number" ? reading : await reading) < wanted) throw new FileCut();
      const chunk = kernel.chunk.subarray(0, wanted);
      options.onChunk?.(chunk);
      finder.feed(chunk);
      let counted = 0;
      let inChunk = 0;
      let told = 0;
      for (const hit of onHit === undefined ? finder.hits.slice(hits.length) : finder.drain()) {
        // A hit that began in the chunk before has its first newlines there.
        let before = newlines - (hit < at ? countNewlinesIn(needle, 0, at - hit, "byte") : 0);
        if (hit >= at) {
          inChunk += kernel.count(counted, hit - at);
          counted = hit - at;
          before += inChunk;
        }
        if (onHit === undefined) hits.push({ at: hit, line: before + 1 });
        else onHit(hit, before + 1);
        told += 1;
        if (told % turnHits !== 0) continue;
        await setImmediate();
        signal.throwIfAborted();
      }
      if (onHit === undefined && finder.total > totalMax) break;
      // Behind the only place that matters nobody asks for lines; a second one shows below that they are wanted after all.
      if (options.lines === "all" || hits.length === 0) newlines += kernel.count(0, wanted);
      if ((at + wanted) % turnBytes !== 0) continue;
      options.onProgress?.(at + wanted, file.sizeBytes);
      await setImmediate();
    }
    return { hits, total: finder.total };
  } finally {
    giveBack(kernel, "byte");
  }
}
