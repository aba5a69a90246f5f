/** Exact search in bytes that come in chunks, so that a file need not be in memory. */

import { Buffer } from "node:buffer";
import type { EncodingName } from "../../contract/read.ts";
import { isDoubleByte } from "../encoding/encode-tables.ts";
import { bytePlacesIn, overlapsMax } from "./find-text.ts";

export interface FindOptions {
  /** How many offsets are kept; hits beyond them are only counted. */
  readonly hitsMax: number;
  /** Counting stops above this many; by default never. */
  readonly totalMax?: number;
  /** Whether a hit may begin inside the hit before it. `first`: only among the first ones (`overlapsMax`). */
  readonly overlapping: boolean | "first";
  /** A hit begins at a multiple of this from `firstByte`: 2 in UTF-16, 4 in UTF-32. */
  readonly unitBytes: 1 | 2 | 4;
  /** Where the text begins, after the BOM; no hit begins before it. */
  readonly firstByte: number;
}

export interface Found {
  /** The first `hitsMax` offsets, ascending, counted from the first byte that was fed. */
  readonly hits: readonly number[];
  readonly total: number;
}

/** Finds a needle in chunks that are fed in order, with memory for one needle. `hits` and `total` grow with each chunk. */
export interface Finder extends Found {
  feed(chunk: Uint8Array): void;
  /** Returns the hits since the last call and forgets them. */
  drain(): readonly number[];
}

/** In the other encodings a hit can begin inside a character; they are searched as text (`sourceText`). */
export function isByteSearchable(encoding: EncodingName): boolean {
  return !isDoubleByte(encoding) && encoding !== "iso-2022-jp";
}

export function findAll(bytes: Uint8Array, needle: Uint8Array, options: FindOptions): Found {
  const finder = startFinding(needle, options);
  finder.feed(bytes);
  return { hits: finder.hits, total: finder.total };
}

/** The needle MUST NOT change until the last chunk was fed; a chunk may change once it was fed. An empty needle has no hits. */
export function startFinding(needle: Uint8Array, options: FindOptions): Finder {
  const { hitsMax, totalMax = Number.POSITIVE_INFINITY, overlapping, unitBytes, firstByte } = options;
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
