/** The newest of any number of files, in memory for a few: newest first, the same age by path. */

import { compareCodePoints } from "../text/order.ts";

export interface Dated {
  readonly path: string;
  /** Undefined if it was gone, or could not be looked at, when its time was asked for: those come last. */
  readonly mtimeMs: number | undefined;
}

export interface Newest<File extends Dated> {
  /** `make` is called only for files that may be among the newest. */
  offer(mtimeMs: number | undefined, make: () => File): void;
  list(): readonly File[];
}

export function newest<File extends Dated>(filesMax: number): Newest<File> {
  let kept: File[] = [];
  let oldestMs = Number.NEGATIVE_INFINITY;
  const cut = (): void => {
    kept.sort((a, b) => ageOf(b.mtimeMs) - ageOf(a.mtimeMs) || compareCodePoints(a.path, b.path));
    if (kept.length > filesMax) kept = kept.slice(0, filesMax);
    const last = kept.at(-1);
    if (kept.length === filesMax && last !== undefined) oldestMs = ageOf(last.mtimeMs);
  };
  return {
    offer: (mtimeMs, make) => {
      if (ageOf(mtimeMs) < oldestMs) return;
      kept.push(make());
      // Sorting once for as many as are kept costs less than keeping the order all the time.
      if (kept.length >= 2 * filesMax + 64) cut();
    },
    list: () => {
      cut();
      return kept;
    },
  };
}

/** Finite, so that two of them can be subtracted. */
const ageOf = (mtimeMs: number | undefined): number => mtimeMs ?? -Number.MAX_SAFE_INTEGER;
