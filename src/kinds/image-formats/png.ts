/** PNG: chunks with checksums. Nothing here throws but a RangeError for a field behind the end of the bytes. */

import { Buffer } from "node:buffer";
import { promisify } from "node:util";
import * as zlib from "node:zlib";
import { headOf, type ImageHead } from "./head.ts";
import { orientationOf } from "./tiff.ts";

interface PngChunk {
  readonly type: string;
  readonly data: Buffer;
  /** Compares the checksum: reads all of the chunk. */
  intact(): boolean;
}

/** Ends with IEND, or early where the bytes do. */
export function* pngChunks(file: Buffer): Generator<PngChunk> {
  for (let at = 8; at + 12 <= file.length; ) {
    const end = at + 12 + file.readUInt32BE(at);
    if (end > file.length) return;
    const typed = file.subarray(at + 4, end - 4);
    const type = typed.toString("latin1", 0, 4);
    yield { type, data: typed.subarray(4), intact: () => zlib.crc32(typed) === file.readUInt32BE(end - 4) };
    if (type === "IEND") return;
    at = end;
  }
}

/** Bit depths by colour type, and samples per pixel. */
const pngColours: Readonly<Record<number, { readonly depths: readonly number[]; readonly samples: number }>> = {
  0: { depths: [1, 2, 4, 8, 16], samples: 1 },
  2: { depths: [8, 16], samples: 3 },
  3: { depths: [1, 2, 4, 8], samples: 1 },
  4: { depths: [8, 16], samples: 2 },
  6: { depths: [8, 16], samples: 4 },
};

export function probePng(file: Buffer): ImageHead | undefined {
  if (file.toString("latin1", 12, 16) !== "IHDR" || file.readUInt32BE(8) !== 13) return undefined;
  const colours = pngColours[file.readUInt8(25)];
  const interlaced = file.readUInt8(28) !== 0;
  if (colours?.depths.includes(file.readUInt8(24)) !== true) return undefined;
  let [orientation, frames] = [1, 1];
  for (const { type, data } of pngChunks(file)) {
    if (type === "IDAT") break;
    if (type === "acTL") frames = Math.max(1, data.readUInt32BE(0));
    if (type === "eXIf") orientation = orientationOf(data);
  }
  const pixelBytes = Math.max(3, colours.samples * (file.readUInt8(24) / 8));
  const heldBytes = interlaced || orientation !== 1 ? pixelBytes + 1 : 0;
  return headOf("image/png", file.readUInt32BE(16), file.readUInt32BE(20), heldBytes, { orientation, frames });
}

const inflate = promisify(zlib.inflate);

/** True if the compressed data are as many bytes as the header wants, not one more. The header must be a sound one. */
export async function inflatesWhole(file: Buffer): Promise<boolean> {
  const wantedBytes = pngDataBytes(file);
  const chunks = [...pngChunks(file)].filter(({ type }) => type === "IDAT");
  const data = Buffer.concat(chunks.map((chunk) => chunk.data));
  const inflated = await inflate(data, { maxOutputLength: wantedBytes }).catch(() => undefined);
  return inflated?.length === wantedBytes;
}

/** Adam7: where each pass starts and how far its pixels are apart. */
const passes = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const;

function pngDataBytes(file: Buffer): number {
  const [width, height] = [file.readUInt32BE(16), file.readUInt32BE(20)];
  const pixelBits = file.readUInt8(24) * (pngColours[file.readUInt8(25)]?.samples ?? 0);
  /** Every row begins with the byte of its filter. */
  const bytesOf = (columns: number, rows: number): number =>
    columns > 0 && rows > 0 ? rows * (1 + Math.ceil((columns * pixelBits) / 8)) : 0;
  if (file.readUInt8(28) === 0) return bytesOf(width, height);
  return passes.reduce(
    (sum, [x, y, stepX, stepY]) => sum + bytesOf(Math.ceil((width - x) / stepX), Math.ceil((height - y) / stepY)),
    0,
  );
}
