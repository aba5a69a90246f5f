/** The known word that was most likely meant, if one is near enough. */

import { distance } from "fastest-levenshtein";

export function nearest(word: string, known: readonly string[]): string | undefined {
  let best: string | undefined;
  let bestDistance = Number.POSITIVE_INFINITY;
  // A long word is no typing error, and comparing it costs time that a hostile caller could buy.
  const asked = bare(word.slice(0, 64));
  for (const candidate of known) {
    const length = distance(asked, bare(candidate));
    if (length < bestDistance) [best, bestDistance] = [candidate, length];
  }
  const contained = known.find((candidate) => isPartOf(asked, bare(candidate)) || isPartOf(bare(candidate), asked));
  return bestDistance <= Math.max(1, Math.floor(asked.length / 3)) ? best : contained;
}

const isPartOf = (part: string, whole: string): boolean => part.length > 2 && whole.includes(part);

/** `filePath`, `file_path` and `FILE-PATH` are one word. */
const bare = (word: string): string => word.toLowerCase().replace(/[_-]/g, "");
