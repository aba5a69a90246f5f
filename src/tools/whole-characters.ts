/** In some encodings the bytes of a text can be found in the middle of other characters: those places are no hits. */

import { Problem } from "../contract/problem.ts";
import type { Target } from "../contract/target.ts";
import type { Hit } from "../disk/find-in-file.ts";
import { doubleByteStep, type Units } from "../text/encode-steps.ts";
import type { DoubleByteName } from "../text/encode-tables.ts";
import type { Bytes } from "./lines-around.ts";

interface Places {
  readonly hits: readonly Hit[];
  readonly total: number;
}

/** How far a line is followed back to its beginning, from where its characters can be told. */
const reachBytes = 1_048_576;

/** `found` are all places, overlapping ones included. With `overlapping` off, each begins behind the one before. */
export async function wholeCharacters(
  found: Places,
  needleBytes: number,
  encoding: DoubleByteName,
  source: Bytes,
  target: Target,
  overlapping: boolean,
): Promise<Places> {
  const tooLarge = (limit: string): Problem => new Problem({ code: "TOO_LARGE", place: target, kind: "text", limit });
  if (found.total > found.hits.length) throw tooLarge(`${found.hits.length} places of these bytes`);
  const hits: Hit[] = [];
  let free = 0;
  for (const hit of found.hits) {
    if (hit.at < free) continue;
    const above = Math.max(0, hit.at - reachBytes);
    const before = await source.read(above, hit.at);
    // A newline is never a part of a longer character.
    const lineStart = before.lastIndexOf(10) + 1;
    if (lineStart === 0 && above > 0) throw tooLarge(`${reachBytes} bytes of a line in ${encoding}`);
    const line = await source.read(above + lineStart, Math.min(source.sizeBytes, hit.at + 4));
    if (!beginsCharacter(line, hit.at - above - lineStart, encoding)) continue;
    hits.push(hit);
    free = overlapping ? hit.at + 1 : hit.at + needleBytes;
  }
  return { hits, total: hits.length };
}

function beginsCharacter(line: Uint8Array, wanted: number, encoding: DoubleByteName): boolean {
  const step = doubleByteStep(encoding);
  const units: Units = { bytes: Buffer.allocUnsafe(16), length: 0 };
  let at = 0;
  for (; at < wanted; units.length = 0) at += step(line, at, units);
  return at === wanted;
}
