/** Reads the header of an image without decoding a pixel. The bytes are hostile: loops are bounded, nothing throws. */

import { Buffer } from "node:buffer";
import { promisify } from "node:util";
import * as zlib from "node:zlib";
import { type ImageMime, imageType } from "../kind.ts";
import { bmpHeader } from "./bmp.ts";

export interface Size {
  readonly width: number;
  readonly height: number;
}

export interface ImageHead {
  readonly mime: string;
  /** As stored, before rotation; for AVIF and HEIC the largest declared. */
  readonly width: number;
  readonly height: number;
  /** EXIF, 1 to 8; 1 is upright. AVIF and HEIC are rotated by their decoders. */
  readonly orientation: number;
  readonly frames: number;
  /** Measured memory for decoding, in bytes per pixel; 0 if the decoder buffers only a few rows. */
  readonly decodedBytes: number;
}

function imageHead(
  mime: string,
  width: number,
  height: number,
  decodedBytes: number,
  more: Partial<Pick<ImageHead, "orientation" | "frames">> = {},
): ImageHead {
  return { mime, width, height, decodedBytes, orientation: 1, frames: 1, ...more };
}

/** Undefined if the header is missing, cut off or absurd (a side of 0). */
export function probeImage(bytes: Uint8Array): ImageHead | undefined {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    const mime = imageType(file);
    const head = mime === undefined ? undefined : probes[mime](file);
    return head !== undefined && head.width > 0 && head.height > 0 ? head : undefined;
  } catch (error) {
    if (error instanceof RangeError) return undefined; // a field after the end of the bytes
    throw error;
  }
}

const probes: Readonly<Record<ImageMime, (file: Buffer) => ImageHead | undefined>> = {
  "image/png": probePng,
  "image/jpeg": probeJpeg,
  "image/gif": probeGif,
  "image/webp": probeWebp,
  "image/tiff": probeTiff,
  "image/bmp": (file) => {
    const header = bmpHeader(file);
    return header && imageHead("image/bmp", header.width, header.height, 4);
  },
  "image/avif": probeHeif,
  "image/heic": probeHeif,
};

/** True if a PNG, JPEG, GIF or WebP has all parts up to its end mark. The pixels in them may still be broken. */
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

export async function pngInflates(bytes: Uint8Array): Promise<boolean> {
  if (probeImage(bytes)?.mime !== "image/png") return false;
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const wantedBytes = pngDataBytes(file);
  const chunks = [...pngChunks(file)].filter(({ type }) => type === "IDAT");
  const data = Buffer.concat(chunks.map((chunk) => chunk.data));
  const inflated = await inflate(data, { maxOutputLength: wantedBytes }).catch(() => undefined);
  return inflated?.length === wantedBytes;
}

const inflate = promisify(zlib.inflate);

// PNG: chunks with checksums. Code below throws only a RangeError, for a field after the end of the bytes.

interface PngChunk {
  readonly type: string;
  readonly data: Buffer;
  intact(): boolean;
}

function* pngChunks(file: Buffer): Generator<PngChunk> {
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

const pngColours: Readonly<Record<number, { readonly depths: readonly number[]; readonly samples: number }>> = {
  0: { depths: [1, 2, 4, 8, 16], samples: 1 },
  2: { depths: [8, 16], samples: 3 },
  3: { depths: [1, 2, 4, 8], samples: 1 },
  4: { depths: [8, 16], samples: 2 },
  6: { depths: [8, 16], samples: 4 },
};

function probePng(file: Buffer): ImageHead | undefined {
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
  const decodedBytes = interlaced || orientation !== 1 ? pixelBytes + 1 : 0;
  return imageHead("image/png", file.readUInt32BE(16), file.readUInt32BE(20), decodedBytes, { orientation, frames });
}

/** Adam7: where each pass starts, and the distance between its pixels. */
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
  /** Every row begins with a filter byte. */
  const bytesOf = (columns: number, rows: number): number =>
    columns > 0 && rows > 0 ? rows * (1 + Math.ceil((columns * pixelBits) / 8)) : 0;
  if (file.readUInt8(28) === 0) return bytesOf(width, height);
  return passes.reduce(
    (sum, [x, y, stepX, stepY]) => sum + bytesOf(Math.ceil((width - x) / stepX), Math.ceil((height - y) / stepY)),
    0,
  );
}

// JPEG: segments, each with a marker, and scans between them.

const startOfScan = 0xda;
const endOfImage = 0xd9;

interface JpegSegment {
  readonly marker: number;
  readonly data: Buffer;
}

/** Skips the entropy-coded data after each scan header. Ends with the end marker, or early where the bytes end. */
function* jpegSegments(file: Buffer): Generator<JpegSegment> {
  let at = 2;
  while (at + 2 <= file.length) {
    const marker = file[at + 1] ?? 0;
    if (file[at] !== 0xff) return;
    if (marker === 0xff) {
      at += 1; // any number of fill bytes may precede a marker
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

/** The next marker that ends the scan: an escaped 0xff and restart markers do not. */
function endOfScan(file: Buffer, from: number): number {
  for (let at = file.indexOf(0xff, from); at !== -1; at = file.indexOf(0xff, at + 1)) {
    const next = file[at + 1] ?? 0;
    if (next !== 0 && next !== 0xff && (next < 0xd0 || next > 0xd7)) return at;
  }
  return file.length;
}

/** SOF0 to SOF15, without the three codes among them that mean something else. */
const isFrameHeader = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);

function probeJpeg(file: Buffer): ImageHead | undefined {
  let orientation = 1;
  let frame: JpegSegment | undefined;
  for (const segment of jpegSegments(file)) {
    const { marker, data } = segment;
    if (marker === 0xe1 && data.toString("latin1", 0, 6) === "Exif\0\0") orientation = orientationOf(data.subarray(6));
    if (isFrameHeader(marker)) frame ??= segment;
    if (frame === undefined || marker !== startOfScan) continue;
    const { data: header } = frame;
    const components = header.readUInt8(5);
    // An image in several scans, progressive or one per colour, is complete only after the last.
    const manyScans = frame.marker > 0xc1 || data.readUInt8(0) < components;
    const decodedBytes = manyScans ? 2 * jpegSamples(header) : orientation === 1 ? 0 : components;
    return imageHead("image/jpeg", header.readUInt16BE(3), header.readUInt16BE(1), decodedBytes, { orientation });
  }
  return undefined;
}

/** Samples per pixel: 3 for full colour, 1.5 if four pixels share theirs. */
function jpegSamples(header: Buffer): number {
  const factors = Array.from({ length: header.readUInt8(5) }, (_, index) => header.readUInt8(7 + index * 3));
  const products = factors.map((factor) => (factor >> 4) * (factor & 15));
  return products.reduce((sum, product) => sum + product, 0) / Math.max(1, ...products);
}

// GIF: blocks of sub-blocks, up to the trailer.

type GifBlock =
  | { readonly kind: "image"; readonly right: number; readonly bottom: number }
  | { readonly kind: "extension" | "trailer" };

function* gifBlocks(file: Buffer): Generator<GifBlock> {
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
      // A frame counts even if its data are cut off.
      yield { kind: "image", right: left + width, bottom: top + height };
      at = endOfSubBlocks(file, at + 11 + colourTableBytes(file[at + 9] ?? 0));
    } else return;
  }
}

const colourTableBytes = (flags: number): number => ((flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1));

function endOfSubBlocks(file: Buffer, from: number): number {
  let at = from;
  while (at < file.length && file[at] !== 0) at += 1 + (file[at] ?? 0);
  return at + 1;
}

function probeGif(file: Buffer): ImageHead {
  let [width, height, frames] = [file.readUInt16LE(6), file.readUInt16LE(8), 0];
  for (const block of gifBlocks(file)) {
    if (block.kind !== "image") continue;
    frames += 1;
    // Decoders enlarge the canvas for a frame that does not fit.
    [width, height] = [Math.max(width, block.right), Math.max(height, block.bottom)];
  }
  return imageHead("image/gif", width, height, 6, { frames: Math.max(1, frames) });
}

// WebP: chunks of a RIFF file.

interface RiffChunk {
  readonly type: string;
  readonly data: Buffer;
  readonly end: number;
}

/** The last chunk may be cut off: its `end` is then after the bytes. */
function* riffChunks(file: Buffer): Generator<RiffChunk> {
  for (let at = 12; at + 8 <= file.length; ) {
    const sizeBytes = file.readUInt32LE(at + 4);
    const end = at + 8 + sizeBytes + (sizeBytes % 2);
    yield { type: file.toString("latin1", at, at + 4), data: file.subarray(at + 8, at + 8 + sizeBytes), end };
    at = end;
  }
}

function probeWebp(file: Buffer): ImageHead | undefined {
  let size: readonly [number, number] | undefined;
  let [orientation, frames] = [1, 0];
  for (const { type, data } of riffChunks(file)) {
    if (type === "ANMF") frames += 1;
    if (type === "EXIF") {
      orientation = orientationOf(data.toString("latin1", 0, 6) === "Exif\0\0" ? data.subarray(6) : data);
    }
    size ??= webpSize(type, data);
  }
  return size && imageHead("image/webp", size[0], size[1], 4, { orientation, frames: Math.max(1, frames) });
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

// AVIF and HEIC: boxes within boxes.

/** The main brand may only say HEIF ("mif1"); the list of brands says whether AV1 or HEVC is inside. */
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

/** The sizes are in `ispe` boxes, one each for tiles, thumbnails and the whole image. The largest counts. */
function probeHeif(file: Buffer): ImageHead | undefined {
  const [mime, decodedBytes] = isAvif(file) ? (["image/avif", 16.4] as const) : (["image/heic", 8] as const);
  let largest: ImageHead | undefined;
  for (const data of contentsOf(contentsOf(contentsOf([file], "meta", 4), "iprp"), "ipco")) {
    for (const { type, data: size } of boxes(data)) {
      if (type !== "ispe") continue;
      const found = imageHead(mime, size.readUInt32BE(4), size.readUInt32BE(8), decodedBytes);
      if (largest === undefined || found.width * found.height > largest.width * largest.height) largest = found;
    }
  }
  return largest;
}

function* contentsOf(files: Iterable<Buffer>, type: string, skipBytes = 0): Generator<Buffer> {
  for (const file of files) {
    for (const box of boxes(file)) if (box.type === type) yield box.data.subarray(skipBytes);
  }
}

// TIFF, and EXIF, which has the same format: directories of tags.

const tagWidth = 0x100;
const tagHeight = 0x101;
const tagBits = 0x102;
const tagOrientation = 0x112;
const tagSamples = 0x115;
const tagStripRows = 0x116;
/** Bounds the walk through a hostile list of directories. */
const tiffPagesMax = 1_000;

type Reader = (at: number) => number;

function numbersOf(file: Buffer): { readonly short: Reader; readonly long: Reader } {
  const little = file.readUInt16BE(0) === 0x4949;
  return {
    short: (at) => (little ? file.readUInt16LE(at) : file.readUInt16BE(at)),
    long: (at) => (little ? file.readUInt32LE(at) : file.readUInt32BE(at)),
  };
}

/** The tags of the first directory. A value that does not fit into its tag is replaced by its offset. */
function firstTags(file: Buffer): ReadonlyMap<number, number> {
  const { short, long } = numbersOf(file);
  const start = long(4);
  const tags = new Map<number, number>();
  for (let entry = start + 2; entry < start + 2 + short(start) * 12; entry += 12) {
    tags.set(short(entry), short(entry + 2) === 3 ? short(entry + 8) : long(entry + 8));
  }
  return tags;
}

/** Follows the list of directories without reading their tags. A directory that comes again ends the list: it is a cycle. */
function countPages(file: Buffer): number {
  const { short, long } = numbersOf(file);
  const visited = new Set<number>();
  let at = long(4);
  while (at !== 0 && at + 2 <= file.length && !visited.has(at) && visited.size < tiffPagesMax) {
    visited.add(at);
    const end = at + 2 + short(at) * 12;
    at = end + 4 <= file.length ? long(end) : 0;
  }
  return Math.max(1, visited.size);
}

function probeTiff(file: Buffer): ImageHead {
  const tags = firstTags(file);
  const frames = countPages(file);
  const [width, height] = [tags.get(tagWidth) ?? 0, tags.get(tagHeight) ?? 0];
  const samples = tags.get(tagSamples) ?? 1;
  // For several samples the tag has the offset of their bits: 16 is the most that is common.
  const bits = samples === 1 ? (tags.get(tagBits) ?? 1) : 16;
  const orientation = validOrientation(tags.get(tagOrientation));
  // Strips are decoded one by one; a tiled image has no such tag and counts as a whole.
  const share = orientation === 1 ? Math.min(1, (tags.get(tagStripRows) ?? height) / height) : 1;
  const decodedBytes = share * Math.max(3, (samples * bits) / 8);
  return imageHead("image/tiff", width, height, decodedBytes, { orientation, frames });
}

/** 1 also if EXIF is broken: that is no reason to refuse the image. */
function orientationOf(exif: Buffer): number {
  try {
    return validOrientation(firstTags(exif).get(tagOrientation));
  } catch {
    return 1;
  }
}

const validOrientation = (orientation = 1): number => (orientation >= 1 && orientation <= 8 ? orientation : 1);
