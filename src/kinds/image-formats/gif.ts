/** GIF: blocks of sub-blocks, up to the trailer. */

import type { Buffer } from "node:buffer";
import { headOf, type ImageHead } from "./head.ts";

type GifBlock =
  | { readonly kind: "image"; readonly right: number; readonly bottom: number }
  | { readonly kind: "extension" | "trailer" };

/** Ends with the trailer, or early where the bytes do. */
export function* gifBlocks(file: Buffer): Generator<GifBlock> {
  if (file.length < 13) return;
  let at = 13 + colourTableBytes(file[10] ?? 0);
  while (at < file.length) {
    const label = file[at];
    if (label === 0x3b) {
      yield { kind: "trailer" };
      return;
    }
    if (label === 0x21) {
      at = endOfSubBlocks(file, at + 2);
      if (at <= file.length) yield { kind: "extension" };
    } else if (label === 0x2c && at + 11 <= file.length) {
      const [left, top] = [file.readUInt16LE(at + 1), file.readUInt16LE(at + 3)];
      const [width, height] = [file.readUInt16LE(at + 5), file.readUInt16LE(at + 7)];
      // Cut off or not, the frame is declared.
      yield { kind: "image", right: left + width, bottom: top + height };
      at = endOfSubBlocks(file, at + 11 + colourTableBytes(file[at + 9] ?? 0));
    } else return;
  }
}

function colourTableBytes(flags: number): number {
  return (flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1);
}

function endOfSubBlocks(file: Buffer, from: number): number {
  let at = from;
  while (at < file.length && file[at] !== 0) at += 1 + (file[at] ?? 0);
  return at + 1;
}

export function probeGif(file: Buffer): ImageHead {
  let [width, height, frames] = [file.readUInt16LE(6), file.readUInt16LE(8), 0];
  for (const block of gifBlocks(file)) {
    if (block.kind !== "image") continue;
    frames += 1;
    // Decoders make the canvas as large as a frame that does not fit.
    [width, height] = [Math.max(width, block.right), Math.max(height, block.bottom)];
  }
  return headOf("image/gif", width, height, 6, { frames: Math.max(1, frames) });
}
