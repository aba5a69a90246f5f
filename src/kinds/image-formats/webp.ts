/** WebP: chunks of a RIFF file. */

import type { Buffer } from "node:buffer";
import { headOf, type ImageHead } from "./head.ts";
import { orientationOf } from "./tiff.ts";

interface RiffChunk {
  readonly type: string;
  readonly data: Buffer;
  readonly end: number;
}

/** The last chunk may be cut off: its `end` then lies behind the bytes. */
export function* riffChunks(file: Buffer): Generator<RiffChunk> {
  for (let at = 12; at + 8 <= file.length; ) {
    const sizeBytes = file.readUInt32LE(at + 4);
    const end = at + 8 + sizeBytes + (sizeBytes % 2);
    yield { type: file.toString("latin1", at, at + 4), data: file.subarray(at + 8, at + 8 + sizeBytes), end };
    at = end;
  }
}

export function probeWebp(file: Buffer): ImageHead | undefined {
  let size: readonly [number, number] | undefined;
  let [orientation, frames] = [1, 0];
  for (const { type, data } of riffChunks(file)) {
    if (type === "ANMF") frames += 1;
    if (type === "EXIF") {
      orientation = orientationOf(data.toString("latin1", 0, 6) === "Exif\0\0" ? data.subarray(6) : data);
    }
    size ??= webpSize(type, data);
  }
  return size && headOf("image/webp", size[0], size[1], 4, { orientation, frames: Math.max(1, frames) });
}

function webpSize(type: string, data: Buffer): readonly [number, number] | undefined {
  switch (type) {
    case "VP8X":
      return [data.readUIntLE(4, 3) + 1, data.readUIntLE(7, 3) + 1];
    case "VP8L": {
      if (data.readUInt8(0) !== 0x2f) return undefined;
      const packed = data.readUInt32LE(1);
      return [(packed & 0x3fff) + 1, ((packed >>> 14) & 0x3fff) + 1];
    }
    case "VP8 ":
      if (data.readUIntBE(3, 3) !== 0x9d012a) return undefined;
      return [data.readUInt16LE(6) & 0x3fff, data.readUInt16LE(8) & 0x3fff];
    default:
      return undefined;
  }
}
