/** In some encodings the bytes of a text can be found in the middle of other characters: those places are no hits. */

import { Problem } from "../contract/problem.ts";
import type { Target } from "../contract/target.ts";
import type { Hit } from "../disk/find-in-file.ts";
import { othersTurn } from "../disk/others-turn.ts";
import { doubleByteStep, type Units } from "../text/encode-steps.ts";
import type { DoubleByteName } from "../text/encode-tables.ts";
import type { Bytes } from "./lines-around.ts";

interface Places {
  readonly hits: readonly Hit[];
  readonly total: number;
}

/** How far a line is followed back to its beginning, from where its characters can be told. */
const reachBytes = 1_048_576;
/** Most lines are not longer. */
const firstReachBytes = 512;
/** Other calls get their turn after so many places. */
const turnPlaces = 1_000;

/**
 * `found` are all places, overlapping ones included. With `overlapping` off, each begins behind the one before. What lies
 * between two places is passed once at most, however long the lines are.
 */
export async function wholeCharacters(
  found: Places,
  needleBytes: number,
  encoding: DoubleByteName,
  source: Bytes,
  target: Target,
  { overlapping, signal }: { readonly overlapping: boolean; readonly signal: AbortSignal },
): Promise<Places> {
  const tooLarge = (limit: string): Problem => new Problem({ code: "TOO_LARGE", place: target, kind: "text", limit });
  if (found.total > found.hits.length) throw tooLarge(`${found.hits.length} places of these bytes`);
  const hits: Hit[] = [];
  let free = 0;
  /** Here a character begins, and there is none between this and the last place. */
  let known = 0;
  for (const [index, hit] of found.hits.entries()) {
    if (index % turnPlaces === turnPlaces - 1) {
      signal.throwIfAborted();
      await othersTurn();
    }
    if (hit.at < Math.max(free, known)) continue;
    const from = await characterBefore(source, hit.at, known);
    if (from === undefined) throw tooLarge(`${reachBytes} bytes of a line in ${encoding}`);
    const bytes = await source.read(from, Math.min(source.sizeBytes, hit.at + 4));
    known = from + firstCharacter(bytes, hit.at - from, encoding);
    if (known > hit.at) continue;
    hits.push(hit);
    free = overlapping ? hit.at + 1 : hit.at + needleBytes;
  }
  return { hits, total: hits.length };
}

/** Where a character begins for certain: the line, or what is known. Undefined: both are too far away. */
async function characterBefore(source: Bytes, at: number, known: number): Promise<number | undefined> {
  for (let reach = firstReachBytes; ; reach = Math.min(reach * 8, reachBytes)) {
    const from = Math.max(known, at - reach);
    // A newline is never a part of a longer character.
    const newline = (await source.read(from, at)).lastIndexOf(10);
    if (newline !== -1) return from + newline + 1;
    if (from === known) return known;
    if (reach === reachBytes) return undefined;
  }
}

/** The first character at or behind an offset. */
function firstCharacter(bytes: Uint8Array, wanted: number, encoding: DoubleByteName): number {
  const step = doubleByteStep(encoding);
  const units: Units = { bytes: Buffer.allocUnsafe(16), length: 0 };
  let at = 0;
  for (; at < wanted; units.length = 0) at += step(bytes, at, units);
  return at;
}
