/**
 * Keeps the store within its limits without being asked: a while after something was kept, and not more often than every
 * hour is it looked whether a collection is due. What comes of it is nobody's failure, and no process stays alive for it.
 */

export interface Upkeep {
  /** Something was kept. */
  kept(): void;
}

export interface UpkeepOptions {
  /** Collects, if it is due. */
  readonly collect: () => Promise<unknown>;
  readonly nowMs: () => number;
  /** Out of the way of the first changes. */
  readonly delayMs?: number;
}

const everyMs = 3_600_000;
const delayMsDefault = 5_000;

export function createUpkeep({ collect, nowMs, delayMs = delayMsDefault }: UpkeepOptions): Upkeep {
  let lookedMs = Number.NEGATIVE_INFINITY;
  return {
    kept() {
      if (nowMs() - lookedMs < everyMs) return;
      lookedMs = nowMs();
      // A store that is full or gone was told by the change itself; the next look may find it mended.
      setTimeout(() => void collect().catch(() => undefined), delayMs).unref();
    },
  };
}
