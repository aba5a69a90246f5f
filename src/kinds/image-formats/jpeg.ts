/** JPEG: segments, each with its marker, and scans between them. */

import type { Buffer } from "node:buffer";
import { headOf, type ImageHead } from "./head.ts";
import { orientationOf } from "./tiff.ts";

export const startOfScan = 0xda;
export const endOfImage = 0xd9;

interface JpegSegment {
  readonly marker: number;
  readonly data: Buffer;
}

/** Steps over the entropy-coded data behind each scan header. Ends with the end mark, or early where the bytes do. */
export function* jpegSegments(file: Buffer): Generator<JpegSegment> {
  let at = 2;
  while (at + 2 <= file.length) {
    const marker = file[at + 1] ?? 0;
    if (file[at] !== 0xff) return;
    if (marker === 0xff) {
      at += 1; // any number of them may stand before a marker
      continue;
    }
    if (marker === endOfImage) {
      yield { marker, data: file.subarray(at, at) };
      return;
    }
    if (at + 4 > file.length) return;
    const end = at + 2 + file.readUInt16BE(at + 2);
    if (end > file.length || end < at + 4) return;
    yield { marker, data: file.subarray(at + 4, end) };
    at = marker === startOfScan ? endOfScan(file, end) : end;
  }
}

/** The next marker that is none of those within a scan: an escaped 0xff, a restart. */
function endOfScan(file: Buffer, from: number): number {
  for (let at = file.indexOf(0xff, from); at !== -1; at = file.indexOf(0xff, at + 1)) {
    const next = file[at + 1] ?? 0;
    if (next !== 0 && next !== 0xff && (next < 0xd0 || next > 0xd7)) return at;
  }
  return file.length;
}

/** SOF0 to SOF15, without the three codes among them that mean something else. */
export function isFrameHeader(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
}

export function probeJpeg(file: Buffer): ImageHead | undefined {
  let orientation = 1;
  let frame: JpegSegment | undefined;
  for (const segment of jpegSegments(file)) {
    const { marker, data } = segment;
    if (marker === 0xe1 && data.toString("latin1", 0, 6) === "Exif\0\0") orientation = orientationOf(data.subarray(6));
    if (isFrameHeader(marker)) frame ??= segment;
    if (frame === undefined || marker !== startOfScan) continue;
    const { data: header } = frame;
    const components = header.readUInt8(5);
    // A picture in several scans, progressive or colour by colour, is complete only after the last.
    const manyScans = frame.marker > 0xc1 || data.readUInt8(0) < components;
    const heldBytes = manyScans ? 2 * jpegSamples(header) : orientation === 1 ? 0 : components;
    return headOf("image/jpeg", header.readUInt16BE(3), header.readUInt16BE(1), heldBytes, { orientation });
  }
  return undefined;
}

/** Samples per pixel: 3 for colours in full, 1.5 where four pixels share theirs. */
function jpegSamples(header: Buffer): number {
  const factors = Array.from({ length: header.readUInt8(5) }, (_, index) => header.readUInt8(7 + index * 3));
  const products = factors.map((factor) => (factor >> 4) * (factor & 15));
  return products.reduce((sum, product) => sum + product, 0) / Math.max(1, ...products);
}
