/**
 * What an image file says of itself, without decoding a pixel: its size, how it is turned, its frames, and whether all
 * of it is there. The bytes are hostile: every walk is bounded by their number, and nothing here throws.
 */

import { Buffer } from "node:buffer";
import { bmpHeader } from "./bmp.ts";
import { gifBlocks, probeGif } from "./image-formats/gif.ts";
import { headOf, type ImageHead } from "./image-formats/head.ts";
import { probeHeif } from "./image-formats/heif.ts";
import { endOfImage, isFrameHeader, jpegSegments, probeJpeg, startOfScan } from "./image-formats/jpeg.ts";
import { inflatesWhole, pngChunks, probePng } from "./image-formats/png.ts";
import { probeTiff } from "./image-formats/tiff.ts";
import { probeWebp, riffChunks } from "./image-formats/webp.ts";
import { imageType } from "./media.ts";

/** Undefined where the header is missing, cut off or absurd (a side of 0). */
export function probeImage(bytes: Uint8Array): ImageHead | undefined {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    const head = probe(file);
    return head !== undefined && head.width > 0 && head.height > 0 ? head : undefined;
  } catch (error) {
    if (error instanceof RangeError) return undefined; // a field behind the end of the bytes
    throw error;
  }
}

function probe(file: Buffer): ImageHead | undefined {
  switch (imageType(file)) {
    case "image/png":
      return probePng(file);
    case "image/jpeg":
      return probeJpeg(file);
    case "image/gif":
      return probeGif(file);
    case "image/webp":
      return probeWebp(file);
    case "image/tiff":
      return probeTiff(file);
    case "image/bmp": {
      const header = bmpHeader(file);
      return header && headOf("image/bmp", header.width, header.height, 4);
    }
    case "image/avif":
    case "image/heic":
      return probeHeif(file);
    default:
      return undefined;
  }
}

/**
 * True if the parts that a PNG, JPEG, GIF or WebP is made of are all there, up to the end mark. The pixels inside a part
 * may still be broken. Parts can be as small as 4 bytes, so they are looked at one by one and never listed.
 */
export function hasAllParts(bytes: Uint8Array, mime: string): boolean {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  switch (mime) {
    case "image/png": {
      let last = "";
      for (const chunk of pngChunks(file)) {
        if (!chunk.intact()) return false;
        last = chunk.type;
      }
      return last === "IEND";
    }
    case "image/jpeg": {
      let last = 0;
      let [scan, frame] = [false, false];
      for (const { marker } of jpegSegments(file)) {
        last = marker;
        scan ||= marker === startOfScan;
        frame ||= isFrameHeader(marker);
      }
      return last === endOfImage && scan && frame;
    }
    case "image/gif": {
      let last = "";
      for (const { kind } of gifBlocks(file)) last = kind;
      return last === "trailer";
    }
    case "image/webp": {
      let end = 0;
      for (const chunk of riffChunks(file)) ({ end } = chunk);
      return file.length >= 12 && file.readUInt32LE(4) + 8 === file.length && end === file.length;
    }
    default:
      return false;
  }
}

/** The proof without a decoder that all pixels of a PNG are there. */
export async function pngInflates(bytes: Uint8Array): Promise<boolean> {
  if (probeImage(bytes)?.mime !== "image/png") return false;
  return inflatesWhole(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
}
