/** Open, pread of exactly the wanted bytes, decode, close: what a page costs if its place is already known. */

import { isAscii } from "node:buffer";
import { closeSync, openSync, readSync } from "node:fs";

/** @returns {Promise<import("../worker.js").Reader<string>>} */
export async function open() {
  return {
    read: (path, { fromByte, toByte }) => {
      const descriptor = openSync(path, "r");
      const bytes = Buffer.allocUnsafe(toByte - fromByte);
      readSync(descriptor, bytes, 0, bytes.length, fromByte);
      closeSync(descriptor);
      return bytes.toString(isAscii(bytes) ? "latin1" : "utf8");
    },
    lines: (text) => text.replace(/\n$/, "").split("\n"),
    total: () => undefined,
  };
}
