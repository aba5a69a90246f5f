/**
 * The least that any reader of a small file must do, by hand and with nothing around it: open, fstat, pread, close,
 * decode, split, number, join. The floor that a warm read is compared with.
 */

import { isAscii } from "node:buffer";
import { closeSync, fstatSync, openSync, readSync } from "node:fs";

/** @returns {Promise<import("../worker.js").Reader<{ lines: string[], text: string }>>} */
export async function open() {
  return { read: readNumbered, lines: ({ lines }) => lines, total: ({ lines }) => lines.length };
}

function readNumbered(/** @type {string} */ path) {
  const descriptor = openSync(path, "r");
  const { size } = fstatSync(descriptor);
  const bytes = Buffer.allocUnsafe(size);
  readSync(descriptor, bytes, 0, size, 0);
  closeSync(descriptor);
  const text = bytes.toString(isAscii(bytes) ? "latin1" : "utf8");
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return { lines, text: lines.map((line, index) => `${index + 1}→${line}`).join("\n") };
}
