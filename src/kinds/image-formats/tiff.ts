/** TIFF, and EXIF, which is one: directories of tags. */

import type { Buffer } from "node:buffer";
import { headOf, type ImageHead } from "./head.ts";

const tagWidth = 0x100;
const tagHeight = 0x101;
const tagBits = 0x102;
const tagOrientation = 0x112;
const tagSamples = 0x115;
const tagStripRows = 0x116;
/** Pages counted at most; a list that runs in a circle ends here too. */
const tiffPagesMax = 1_000;

interface Directory {
  readonly tags: ReadonlyMap<number, number>;
  readonly next: number;
}

/** One directory of tags. Those that hold more than fits have an offset in place of a value. */
function tiffDirectory(file: Buffer, at: number): Directory {
  const little = file.readUInt16BE(0) === 0x4949;
  const short = (from: number): number => (little ? file.readUInt16LE(from) : file.readUInt16BE(from));
  const long = (from: number): number => (little ? file.readUInt32LE(from) : file.readUInt32BE(from));
  const start = at === 0 ? long(4) : at;
  const count = short(start);
  const tags = new Map<number, number>();
  for (let entry = start + 2; entry < start + 2 + count * 12; entry += 12) {
    tags.set(short(entry), short(entry + 2) === 3 ? short(entry + 8) : long(entry + 8));
  }
  const end = start + 2 + count * 12;
  return { tags, next: end + 4 <= file.length ? long(end) : 0 };
}

export function probeTiff(file: Buffer): ImageHead {
  const first = tiffDirectory(file, 0);
  let frames = 1;
  for (let at = first.next; at !== 0 && at < file.length && frames < tiffPagesMax; frames += 1) {
    at = tiffDirectory(file, at).next;
  }
  const { tags } = first;
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
    return upright(tiffDirectory(exif, 0).tags.get(tagOrientation));
  } catch {
    return 1;
  }
}

function upright(orientation: number | undefined): number {
  return orientation !== undefined && orientation >= 1 && orientation <= 8 ? orientation : 1;
}
