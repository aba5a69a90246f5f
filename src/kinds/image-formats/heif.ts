/** AVIF and HEIC: boxes within boxes. */

import type { Buffer } from "node:buffer";
import { headOf, type ImageHead } from "./head.ts";

/** The main brand may only say that it is some HEIF ("mif1"); whether AV1 or HEVC is inside, the list of brands says. */
function isAvif(file: Buffer): boolean {
  const brands = file.toString("latin1", 8, Math.min(file.readUInt32BE(0), 256));
  return /^(.{4})*avi[fs]/s.test(brands);
}

interface Box {
  readonly type: string;
  readonly data: Buffer;
}

function* boxes(file: Buffer): Generator<Box> {
  for (let at = 0; at + 8 <= file.length; ) {
    const declared = file.readUInt32BE(at);
    const headBytes = declared === 1 ? 16 : 8;
    const sizeBytes =
      declared === 1 ? Number(file.readBigUInt64BE(at + 8)) : declared === 0 ? file.length - at : declared;
    if (sizeBytes < headBytes) return;
    yield { type: file.toString("latin1", at + 4, at + 8), data: file.subarray(at + headBytes, at + sizeBytes) };
    at += sizeBytes;
  }
}

/** The sizes stand in `ispe` boxes, one per picture: of tiles, thumbnails and the whole. The largest counts. */
export function probeHeif(file: Buffer): ImageHead | undefined {
  const [mime, heldBytes] = isAvif(file) ? (["image/avif", 16.4] as const) : (["image/heic", 8] as const);
  let largest: ImageHead | undefined;
  for (const data of inside(inside(inside([file], "meta", 4), "iprp"), "ipco")) {
    for (const { type, data: size } of boxes(data)) {
      if (type !== "ispe") continue;
      const found = headOf(mime, size.readUInt32BE(4), size.readUInt32BE(8), heldBytes);
      if (largest === undefined || found.width * found.height > largest.width * largest.height) largest = found;
    }
  }
  return largest;
}

/** What the boxes of a type hold, behind their version and flags. */
function* inside(files: Iterable<Buffer>, type: string, skipBytes = 0): Generator<Buffer> {
  for (const file of files) {
    for (const box of boxes(file)) if (box.type === type) yield box.data.subarray(skipBytes);
  }
}
