/** Exact search in bytes that need not be in memory at once. */

import { Buffer } from "node:buffer";
import type { EncodingName } from "../../contract/read.ts";
import { isDoubleByte } from "../encoding/encode-tables.ts";
import { bytePlacesIn, overlapsMax } from "./find-text.ts";

export interface FindOptions {
  /** How many offsets are kept; all hits are counted. */
  readonly hitsMax: number;
  /** Counting ends above this many; none by default. */
  readonly totalMax?: number;
  /** May a hit begin inside the hit before it? `first`: the first ones may (`overlapsMax`). */
  readonly overlapping: boolean | "first";
  /** A hit begins at a multiple of this from `firstByte`: 2 in UTF-16, 4 in UTF-32. */
  readonly unitBytes: 1 | 2 | 4;
  /** Where the text begins, behind the BOM; no hit begins before. */
  readonly firstByte: number;
}

export interface Found {
  /** Offsets in all the bytes, the first `hitsMax` of them, ascending. */
  readonly hits: readonly number[];
  readonly total: number;
}

/** Finds a byte text in chunks that are fed in order; memory is one needle. `hits` and `total` grow with each chunk. */
export interface Finder extends Found {
  feed(chunk: Uint8Array): void;
  /** The hits since the last time, which are no longer kept. */
  drain(): readonly number[];
}

/** In the other encodings a hit can begin in the middle of a character; they are searched as text, by `sourceText`. */
export function isByteSearchable(encoding: EncodingName): boolean {
  return !isDoubleByte(encoding) && encoding !== "iso-2022-jp";
}

export function findAll(bytes: Uint8Array, needle: Uint8Array, options: FindOptions): Found {
  const finder = startFinding(needle, options);
  finder.feed(bytes);
  return { hits: finder.hits, total: finder.total };
}

/** The needle must not change until the last chunk was fed; a chunk may, once it was fed. An empty needle has no hits. */
export function startFinding(needle: Uint8Array, options: FindOptions): Finder {
  const { hitsMax, totalMax = Number.POSITIVE_INFINITY, overlapping, unitBytes, firstByte } = options;
  const hits: number[] = [];
  /** The first offset at which a hit may begin. */
  let free = firstByte;
  /** The end of the last of those hits that are apart. */
  let apart = firstByte;
  /** The end of what was fed, too short to hold a hit. */
  let tail = Buffer.alloc(0);
  let fed = 0;
  const keep = Math.max(0, needle.length - 1);
  const sought = Buffer.from(needle.buffer, needle.byteOffset, needle.byteLength);

  const search = (part: Buffer, partStart: number): void => {
    const next = bytePlacesIn(part, sought);
    for (;;) {
      const at = next(Math.max(0, free - partStart));
      if (at < 0 || finder.total > totalMax) return;
      const hit = partStart + at;
      if ((hit - firstByte) % unitBytes !== 0) {
        free = hit + 1;
        continue;
      }
      if (hits.length < hitsMax) hits.push(hit);
      finder.total += 1;
      if (hit >= apart) apart = hit + needle.length;
      const mayOverlap = overlapping === true || (overlapping === "first" && finder.total < overlapsMax);
      free = mayOverlap ? hit + unitBytes : apart;
    }
  };

  const finder = {
    hits,
    total: 0,
    drain: () => hits.splice(0),
    feed(chunk: Uint8Array): void {
      const part = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      if (needle.length === 0 || part.length === 0) return;
      // What begins in the tail ends within this much of the chunk; what begins in the chunk is found in place.
      const seam = Buffer.concat([tail, part.subarray(0, keep)]);
      if (tail.length > 0) search(seam, fed - tail.length);
      search(part, fed);
      fed += part.length;
      tail = part.length < keep ? seam.subarray(-keep) : Buffer.from(part.subarray(part.length - keep));
    },
  };
  return finder;
}
