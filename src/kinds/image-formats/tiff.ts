/** TIFF, and EXIF, which is one: directories of tags. */

import type { Buffer } from "node:buffer";
import { headOf, type ImageHead } from "./head.ts";

const tagWidth = 0x100;
const tagHeight = 0x101;
const tagBits = 0x102;
const tagOrientation = 0x112;
const tagSamples = 0x115;
const tagStripRows = 0x116;
/** Pages counted at most. */
const tiffPagesMax = 1_000;

type Reader = (at: number) => number;

/** How the numbers of a file are read: its first two letters say which end of them comes first. */
function numbersOf(file: Buffer): { readonly short: Reader; readonly long: Reader } {
  const little = file.readUInt16BE(0) === 0x4949;
  return {
    short: (at) => (little ? file.readUInt16LE(at) : file.readUInt16BE(at)),
    long: (at) => (little ? file.readUInt32LE(at) : file.readUInt32BE(at)),
  };
}

/** The tags of the first directory. Those that hold more than fits have an offset in place of a value. */
function firstTags(file: Buffer): ReadonlyMap<number, number> {
  const { short, long } = numbersOf(file);
  const start = long(4);
  const tags = new Map<number, number>();
  for (let entry = start + 2; entry < start + 2 + short(start) * 12; entry += 12) {
    tags.set(short(entry), short(entry + 2) === 3 ? short(entry + 8) : long(entry + 8));
  }
  return tags;
}

/** Goes from directory to directory without a look at their tags. One that was met before ends the list: it runs in a circle. */
function countPages(file: Buffer): number {
  const { short, long } = numbersOf(file);
  const met = new Set<number>();
  let at = long(4);
  while (at !== 0 && at + 2 <= file.length && !met.has(at) && met.size < tiffPagesMax) {
    met.add(at);
    const end = at + 2 + short(at) * 12;
    at = end + 4 <= file.length ? long(end) : 0;
  }
  return Math.max(1, met.size);
}

export function probeTiff(file: Buffer): ImageHead {
  const tags = firstTags(file);
  const frames = countPages(file);
  const [width, height] = [tags.get(tagWidth) ?? 0, tags.get(tagHeight) ?? 0];
  const samples = tags.get(tagSamples) ?? 1;
  // For several samples the tag has the offset of their bits: then 16, of the usual ones the most.
  const bits = samples === 1 ? (tags.get(tagBits) ?? 1) : 16;
  const orientation = upright(tags.get(tagOrientation));
  // Strips are decoded one by one; tiles, which have no such tag, count as the whole.
  const share = orientation === 1 ? Math.min(1, (tags.get(tagStripRows) ?? height) / height) : 1;
  const heldBytes = share * Math.max(3, (samples * bits) / 8);
  return headOf("image/tiff", width, height, heldBytes, { orientation, frames });
}

/** 1 also where EXIF is broken: that is no reason to refuse the picture. */
export function orientationOf(exif: Buffer): number {
  try {
    return upright(firstTags(exif).get(tagOrientation));
  } catch {
    return 1;
  }
}

function upright(orientation: number | undefined): number {
  return orientation !== undefined && orientation >= 1 && orientation <= 8 ? orientation : 1;
}
