/** How a content lies in a file: under which name, and compressed or not. */

import { hash } from "node:crypto";
import { brotliCompressSync, brotliDecompressSync, constants } from "node:zlib";
import { isHash } from "./versions.ts";

/** Up to here a content is held in memory and compressed. */
export const smallBytesMax = 1_048_576;
/** Less does not save a block. */
const compressedBytesMin = 4_096;

/** At the end of a name. */
export const compressed = ".br";

export const nameOf = (content: string): string =>
  isHash(content) ? `blobs/${content.slice(0, 2)}/${content}` : `blobs/inode/${content}`;
export const contentOf = (name: string): string =>
  name.endsWith(compressed) ? name.slice(0, -compressed.length) : name;

export const hashOf = (bytes: Uint8Array): string => hash("sha256", bytes, "hex");

/** Undefined where it does not pay: files take whole blocks, and sources shrink to a quarter. */
export function pack(bytes: Uint8Array): Buffer | undefined {
  if (bytes.length <= compressedBytesMin || bytes.length > smallBytesMax) return undefined;
  const packed = brotliCompressSync(bytes, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 1, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
  });
  return blocks(packed.length) < blocks(bytes.length) ? packed : undefined;
}

const blocks = (bytes: number): number => Math.ceil(bytes / compressedBytesMin);

export function unpack(bytes: Uint8Array): Buffer | undefined {
  try {
    return brotliDecompressSync(bytes, { maxOutputLength: smallBytesMax });
  } catch {
    return undefined;
  }
}
