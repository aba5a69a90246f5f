/** Numbers that work once: given out, taken back a single time, and forgotten after a while. */

import { randomBytes } from "node:crypto";

export interface Once {
  give(): string;
  /** True for the first who brings it back in time. */
  take(nonce: string): boolean;
}

export function createOnce(ageMsMax: number, countMax = 10_000, nowMs: () => number = Date.now): Once {
  const given = new Map<string, number>();
  return {
    give() {
      // In the order in which they were given: the first that is young enough ends the search.
      for (const [old, atMs] of given) {
        if (given.size < countMax && nowMs() - atMs <= ageMsMax) break;
        given.delete(old);
      }
      const nonce = randomBytes(18).toString("base64url");
      given.set(nonce, nowMs());
      return nonce;
    },
    take(nonce) {
      const atMs = given.get(nonce);
      given.delete(nonce);
      return atMs !== undefined && nowMs() - atMs <= ageMsMax;
    },
  };
}
