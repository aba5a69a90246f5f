/** Exact search in bytes that come in chunks, so that a file need not be in memory. */

import { Buffer } from "node:buffer";
import type { EncodingName } from "../../contract/read.ts";
import { isDoubleByte } from "../encoding/encode-tables.ts";
import { bytePlacesIn, isRepetitive, LinearSearch, type NextPlace, overlapsMax } from "./find-text.ts";

export interface FinderOptions {
  /** How many offsets are kept; hits beyond them are only counted. */
  readonly hitsMax: number;
  /** Whether a hit may begin inside the hit before it. `first`: only among the first ones (`overlapsMax`). */
  readonly overlapping: boolean | "first";
  /** Where the text begins, after the BOM; no hit begins before it. */
  readonly firstByte: number;
}

/** In the other encodings a hit can begin inside a character; they are searched as text (`sourceText`). */
export function isByteSearchable(encoding: EncodingName): boolean {
  return !isDoubleByte(encoding) && encoding !== "iso-2022-jp";
}

/**
 * Finds a needle in chunks that are fed in order, with memory for one needle; `total` grows with each chunk. The needle MUST NOT
 * change until the last chunk was fed; a chunk may change once it was fed. An empty needle has no hits.
 */
export function startFinding(needle: Uint8Array, { hitsMax, overlapping, firstByte }: FinderOptions) {
  const hits: number[] = [];
  /** The first offset at which a hit may begin. */
  let free = firstByte;
  /** The end of the last hit that overlaps none before it. */
  let apart = firstByte;
  /** The last bytes that were fed, too few for a hit. */
  let tail = Buffer.alloc(0);
  let fed = 0;
  const keep = Math.max(0, needle.length - 1);
  const sought = Buffer.from(needle.buffer, needle.byteOffset, needle.byteLength);

  /** A search that starts again in each part would be quadratic for a long needle. */
  const linear = isRepetitive(sought) ? new LinearSearch(new Uint16Array(sought)) : undefined;

  const search = (part: Buffer, partStart: number): void => {
    const next = bytePlacesIn(part, sought);
    collect((from) => {
      const at = next(Math.max(0, from - partStart));
      return at < 0 ? -1 : partStart + at;
    });
  };

  const collect = (next: NextPlace): void => {
    for (;;) {
      const hit = next(free);
      if (hit < 0) return;
      if (hits.length < hitsMax) hits.push(hit);
      finder.total += 1;
      if (hit >= apart) apart = hit + needle.length;
      const mayOverlap = overlapping === true || (overlapping === "first" && finder.total < overlapsMax);
      free = mayOverlap ? hit + 1 : apart;
    }
  };

  const finder = {
    /** The first `hitsMax` offsets, ascending, counted from the first byte that was fed. */
    hits: hits as readonly number[],
    total: 0,
    drain: (): readonly number[] => hits.splice(0),
    feed(chunk: Uint8Array): void {
      const part = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      if (needle.length === 0 || part.length === 0) return;
      if (linear !== undefined) {
        linear.feed(new Uint16Array(part));
        return collect((from) => linear.next(from));
      }
      // The seam has every hit that begins in the tail; hits that begin in the chunk are found in the chunk itself.
      const seam = Buffer.concat([tail, part.subarray(0, keep)]);
      if (tail.length > 0) search(seam, fed - tail.length);
      search(part, fed);
      fed += part.length;
      tail = part.length < keep ? seam.subarray(-keep) : Buffer.from(part.subarray(part.length - keep));
    },
  };
  return finder;
}
