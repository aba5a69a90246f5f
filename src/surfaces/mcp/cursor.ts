/** Where a list goes on, as a client carries it: signed, so that one of its own making is told from ours. */

import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

export interface Cursors {
  seal(place: string): string;
  /** Undefined for what is not ours. */
  open(cursor: string): string | undefined;
}

export function createCursors(key: Uint8Array = randomBytes(32)): Cursors {
  const markOf = (place: string): Buffer => createHmac("sha256", key).update(place).digest().subarray(0, 12);
  return {
    seal: (place) => Buffer.concat([markOf(place), Buffer.from(place)]).toString("base64url"),
    open(cursor) {
      const bytes = Buffer.from(cursor, "base64url");
      if (bytes.length < 12) return undefined;
      const place = bytes.subarray(12).toString("utf8");
      return timingSafeEqual(bytes.subarray(0, 12), markOf(place)) ? place : undefined;
    },
  };
}
