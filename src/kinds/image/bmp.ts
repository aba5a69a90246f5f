/** Decodes BMP, which the image library does not read. The caller MUST have limited the pixels: a few bytes can be many. */

import { Buffer } from "node:buffer";

/** Rows from the top, no padding. Four channels only if a pixel is really transparent. */
export interface Bitmap {
  readonly width: number;
  readonly height: number;
  readonly channels: 3 | 4;
  readonly data: Uint8Array;
}

export interface BmpHeader {
  readonly width: number;
  readonly height: number;
  readonly topDown: boolean;
  readonly bits: number;
  readonly coding: "plain" | "rle" | "fields";
  readonly pixelsAt: number;
  readonly paletteAt: number;
  /** 3 in the oldest headers (OS/2), else 4. */
  readonly paletteEntryBytes: number;
}

export function bmpHeader(bytes: Uint8Array): BmpHeader | undefined {
  const file = asBuffer(bytes);
  if (file.length < 26) return undefined;
  const headerBytes = file.readUInt32LE(14);
  const common = { pixelsAt: file.readUInt32LE(10), paletteAt: 14 + headerBytes };
  if (headerBytes === 12) {
    const [width, height, bits] = [file.readUInt16LE(18), file.readUInt16LE(20), file.readUInt16LE(24)];
    if (width === 0 || height === 0 || ![1, 4, 8, 24].includes(bits)) return undefined;
    return { ...common, width, height, topDown: false, bits, coding: "plain", paletteEntryBytes: 3 };
  }
  if (headerBytes < 40 || file.length < 14 + headerBytes) return undefined;
  const [width, height] = [file.readInt32LE(18), file.readInt32LE(22)];
  const bits = file.readUInt16LE(28);
  const coding = codingOf(file.readUInt32LE(30), bits, headerBytes);
  if (width <= 0 || height === 0 || coding === undefined) return undefined;
  return { ...common, width, height: Math.abs(height), topDown: height < 0, bits, coding, paletteEntryBytes: 4 };
}

/** Compressions 4 and 5 are a JPEG or PNG for printers; a header of 64 bytes is OS/2, where 3 is a fax code. */
function codingOf(compression: number, bits: number, headerBytes: number): BmpHeader["coding"] | undefined {
  if (compression === 0) return [1, 4, 8, 16, 24, 32].includes(bits) ? "plain" : undefined;
  if ((compression === 1 && bits === 8) || (compression === 2 && bits === 4)) return "rle";
  const fields = (compression === 3 || compression === 6) && headerBytes !== 64;
  return fields && (bits === 16 || bits === 32) ? "fields" : undefined;
}

export function decodeBmp(bytes: Uint8Array): Bitmap | { readonly damaged: string } {
  const header = bmpHeader(bytes);
  if (header === undefined) return { damaged: "the BMP header is cut off or of an unknown kind" };
  const file = asBuffer(bytes);
  if (header.coding === "rle") return decodeRuns(file, header);
  const strideBytes = Math.floor((header.bits * header.width + 31) / 32) * 4;
  // Some writers omit the padding of the last row.
  const lastRowBytes = Math.ceil((header.bits * header.width) / 8);
  const wanted = header.pixelsAt + strideBytes * (header.height - 1) + lastRowBytes;
  if (wanted > file.length) return { damaged: `the BMP is cut off: ${file.length} of ${wanted} bytes are there` };
  if (header.bits <= 8) return decodeIndexed(file, header, strideBytes);
  if (header.bits === 24) return decodeTriples(file, header, strideBytes);
  return decodeFields(file, header, strideBytes);
}

function decodeIndexed(file: Buffer, header: BmpHeader, strideBytes: number): Bitmap {
  const { width, bits } = header;
  const palette = readPalette(file, header);
  const bitmap = blank(header);
  const mask = (1 << bits) - 1;
  for (const [from, row] of rows(header, strideBytes)) {
    let to = row * width * 3;
    for (let x = 0; x < width; x += 1, to += 3) {
      const bit = x * bits;
      const index = ((file[from + (bit >> 3)] ?? 0) >> (8 - bits - (bit & 7))) & mask;
      paint(bitmap.data, to, palette, index);
    }
  }
  return bitmap;
}

function decodeTriples(file: Buffer, header: BmpHeader, strideBytes: number): Bitmap {
  const bitmap = blank(header);
  const { data } = bitmap;
  for (const [start, row] of rows(header, strideBytes)) {
    let from = start;
    const end = (row + 1) * header.width * 3;
    for (let to = row * header.width * 3; to < end; to += 3, from += 3) {
      data[to] = file[from + 2] ?? 0;
      data[to + 1] = file[from + 1] ?? 0;
      data[to + 2] = file[from] ?? 0;
    }
  }
  return bitmap;
}

function decodeFields(file: Buffer, header: BmpHeader, strideBytes: number): Bitmap {
  const [red, green, blue, alpha] = masksOf(file, header);
  const { width, height, bits } = header;
  const data = new Uint8Array(width * height * 4);
  let alphaSeen = 0;
  for (const [start, row] of rows(header, strideBytes)) {
    let to = row * width * 4;
    for (let x = 0; x < width; x += 1, to += 4) {
      const pixel = bits === 16 ? file.readUInt16LE(start + x * 2) : file.readUInt32LE(start + x * 4);
      data[to] = field(pixel, red);
      data[to + 1] = field(pixel, green);
      data[to + 2] = field(pixel, blue);
      const opacity = field(pixel, alpha);
      alphaSeen |= opacity;
      data[to + 3] = opacity;
    }
  }
  // Many writers declare an alpha channel and leave it 0: that is an opaque image, not an empty one.
  if (alphaSeen !== 0) return { width, height, channels: 4, data };
  for (let from = 0, to = 0; from < data.length; from += 4, to += 3) data.copyWithin(to, from, from + 3);
  return { width, height, channels: 3, data: data.subarray(0, width * height * 3) };
}

interface Mask {
  readonly shift: number;
  readonly bits: number;
  readonly scale: number;
}

function masksOf(file: Buffer, header: BmpHeader): readonly [Mask, Mask, Mask, Mask] {
  if (header.coding === "plain") {
    const [red, green, blue] = header.bits === 16 ? [0x7c00, 0x3e0, 0x1f] : [0xff0000, 0xff00, 0xff];
    return [mask(red ?? 0), mask(green ?? 0), mask(blue ?? 0), mask(0)];
  }
  // After the first 40 bytes of the header, whether the header's size includes them or not.
  const at = (index: number): Mask => mask(54 + index * 4 + 4 <= file.length ? file.readUInt32LE(54 + index * 4) : 0);
  const alphaThere = header.paletteAt >= 14 + 56 || file.readUInt32LE(30) === 6;
  return [at(0), at(1), at(2), alphaThere ? at(3) : mask(0)];
}

function mask(value: number): Mask {
  if (value === 0) return { shift: 0, bits: 0, scale: 0 };
  const shift = 31 - Math.clz32(value & -value);
  const bits = value >>> shift;
  return { shift, bits, scale: 255 / bits };
}

function field(pixel: number, { shift, bits, scale }: Mask): number {
  return Math.round(((pixel >>> shift) & bits) * scale) & 255;
}

/** RLE4 and RLE8. The position only moves forward, so the work is bounded by the pixels and the bytes. */
function decodeRuns(file: Buffer, header: BmpHeader): Bitmap | { readonly damaged: string } {
  const { width, height, bits } = header;
  const palette = readPalette(file, header);
  const bitmap = blank(header);
  let [x, y] = [0, 0];
  let at = header.pixelsAt;
  /** The bytes at `from` are palette indexes; a run repeats its one byte. */
  const put = (count: number, from: number, repeat: "repeat" | "literal"): void => {
    const row = header.topDown ? y : height - 1 - y;
    const end = y < height ? Math.min(count, width - x) : 0;
    for (let step = 0; step < end; step += 1) {
      const place = bits === 8 ? step : step >> 1;
      const byte = file[repeat === "repeat" ? from : from + place] ?? 0;
      const index = bits === 8 ? byte : step % 2 === 0 ? byte >> 4 : byte & 15;
      paint(bitmap.data, (row * width + x + step) * 3, palette, index);
    }
    x = Math.min(width, x + count);
  };
  while (at + 1 < file.length) {
    const count = file[at] ?? 0;
    const value = file[at + 1] ?? 0;
    at += 2;
    if (count > 0) put(count, at - 1, "repeat");
    else if (value === 0) [x, y] = [0, y + 1];
    else if (value === 1) return bitmap;
    else if (value === 2) {
      x = Math.min(width, x + (file[at] ?? 0));
      y += file[at + 1] ?? 0;
      at += 2;
    } else {
      const literalBytes = bits === 8 ? value : (value + 1) >> 1;
      if (at + literalBytes > file.length) break;
      put(value, at, "literal");
      at += literalBytes + (literalBytes % 2);
    }
    // All rows are complete; not every writer adds the end mark.
    if (y >= height) return bitmap;
  }
  return { damaged: `the BMP is cut off in row ${y + 1} of ${height}` };
}

/** RGB triples; an index without an entry is black. */
function readPalette(file: Buffer, header: BmpHeader): Uint8Array {
  const palette = new Uint8Array(256 * 3);
  const { paletteAt, paletteEntryBytes, pixelsAt } = header;
  const end = Math.min(pixelsAt, file.length);
  for (let index = 0; index < 1 << header.bits; index += 1) {
    const from = paletteAt + index * paletteEntryBytes;
    if (from + 3 > end) break;
    palette.set([file[from + 2] ?? 0, file[from + 1] ?? 0, file[from] ?? 0], index * 3);
  }
  return palette;
}

function paint(data: Uint8Array, to: number, palette: Uint8Array, index: number): void {
  data[to] = palette[index * 3] ?? 0;
  data[to + 1] = palette[index * 3 + 1] ?? 0;
  data[to + 2] = palette[index * 3 + 2] ?? 0;
}

function* rows(header: BmpHeader, strideBytes: number): Generator<readonly [from: number, row: number]> {
  for (let row = 0; row < header.height; row += 1) {
    yield [header.pixelsAt + row * strideBytes, header.topDown ? row : header.height - 1 - row];
  }
}

function blank({ width, height }: BmpHeader): Bitmap {
  return { width, height, channels: 3, data: new Uint8Array(width * height * 3) };
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
