/** How often somebody may come: a bucket each that fills by time, and the emptiest are forgotten last. */

export interface Rate {
  /** True if it may go on; otherwise it is too often. */
  take(who: string): boolean;
}

export function createRate(
  perSecond: number,
  burst: number,
  nowMs: () => number = () => performance.now(),
  peopleMax = 10_000,
): Rate {
  const buckets = new Map<string, { left: number; atMs: number }>();
  return {
    take(who) {
      const now = nowMs();
      const bucket = buckets.get(who) ?? { left: burst, atMs: now };
      bucket.left = Math.min(burst, bucket.left + ((now - bucket.atMs) * perSecond) / 1_000);
      bucket.atMs = now;
      // Last used last: who has been away longest has the fullest bucket, and loses nothing by being forgotten.
      buckets.delete(who);
      buckets.set(who, bucket);
      if (buckets.size > peopleMax) {
        const [oldest = who] = buckets.keys();
        buckets.delete(oldest);
      }
      if (bucket.left < 1) return false;
      bucket.left -= 1;
      return true;
    },
  };
}
