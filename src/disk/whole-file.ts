/** Files that can only be read whole, within a limit; and the hash of a small file's content. */

import { hashOf } from "./line-index.ts";
import type { OpenFile } from "./open-file.ts";
import { FileCut } from "./scan.ts";

/** All bytes of the file, or undefined if there are more than `bytesMax`. */
export async function wholeFile(file: OpenFile, bytesMax: number): Promise<Buffer | undefined> {
  if (file.sizeBytes > bytesMax) return undefined;
  const bytes = Buffer.allocUnsafe(file.sizeBytes);
  if ((await file.read(bytes, 0)) < bytes.length) throw new FileCut();
  return bytes;
}

/** What a file's content is known by again; undefined for one that is too large to be hashed in passing. */
export async function contentHash(file: OpenFile, bytesMax: number): Promise<string | undefined> {
  const bytes = await wholeFile(file, bytesMax);
  return bytes === undefined ? undefined : hashOf(bytes).toString("base64");
}
