/** Files that can only be read whole, within a limit; and the hash of a small file's content. */

import { createHash, hash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import type { OpenFile } from "./open-file.ts";
import { FileCut } from "./scan.ts";

/** All bytes of the file, or undefined if there are more than `bytesMax`. */
export async function wholeFile(file: OpenFile, bytesMax: number): Promise<Buffer | undefined> {
  if (file.sizeBytes > bytesMax) return undefined;
  const bytes = Buffer.allocUnsafe(file.sizeBytes);
  if ((await file.read(bytes, 0)) < bytes.length) throw new FileCut();
  return bytes;
}

/** What content is known by again. */
export const hashOfContent = (bytes: Uint8Array): string => hash("sha256", bytes, "base64");

/** The same of a file; undefined for one that is too large to be hashed in passing. */
export async function contentHash(file: OpenFile, bytesMax: number): Promise<string | undefined> {
  const bytes = await wholeFile(file, bytesMax);
  return bytes === undefined ? undefined : hashOfContent(bytes);
}

const chunkBytes = 1_048_576;

/** The same for a file of any size, chunk by chunk. */
export async function fullHash(file: OpenFile): Promise<string> {
  const whole = createHash("sha256");
  const chunk = Buffer.allocUnsafe(Math.min(chunkBytes, Math.max(1, file.sizeBytes)));
  for (let at = 0; at < file.sizeBytes; at += chunk.length) {
    const part = chunk.subarray(0, Math.min(chunk.length, file.sizeBytes - at));
    if ((await file.read(part, at)) < part.length) throw new FileCut();
    whole.update(part);
    // Others get their turn.
    await setImmediate();
  }
  return whole.digest("base64");
}
