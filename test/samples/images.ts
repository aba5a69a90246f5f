/** Images made by recipe, sound and hostile ones, so that no binary file is kept; only HEIC is packed text. The same on every run. */

import { crc32, deflateSync, inflateSync } from "node:zlib";
import sharp, { type JpegOptions, type Sharp } from "sharp";

export interface ImageSample {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** Numbers from 0 up to 1, always the same row of them. */
export function randomNumbers(seed = 1): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

export function randomBytes(count: number, seed = 1): Buffer {
  const random = randomNumbers(seed);
  return Buffer.from(Array.from({ length: count }, () => Math.floor(random() * 256)));
}

const fromRaw = (data: Buffer, width: number, height: number, channels: 1 | 3 | 4): Sharp =>
  sharp(data, { raw: { width, height, channels } });

/** Soft shapes with a little noise: compresses like a photo. */
export function photo(width: number, height: number, noise = 16): Sharp {
  const random = randomNumbers(width * height);
  const data = Buffer.allocUnsafe(width * height * 3);
  const columns = Float64Array.from({ length: width }, (_, x) => 60 * Math.sin(x / 97));
  for (let y = 0, at = 0; y < height; y += 1) {
    const row = 128 + 50 * Math.cos(y / 61) - noise / 2;
    for (let x = 0; x < width; x += 1, at += 3) {
      const value = row + (columns[x] ?? 0) + random() * noise;
      data[at] = value;
      data[at + 1] = value * 0.8;
      data[at + 2] = 255 - value;
    }
  }
  return fromRaw(data, width, height, 3);
}

/** Nothing compresses this. */
export const noise = (width: number, height: number): Sharp =>
  fromRaw(randomBytes(width * height * 3), width, height, 3);

/** Flat areas and thin lines: a screenshot, which a PNG holds in few bytes. */
export function drawing(width: number, height: number): Sharp {
  const data = Buffer.alloc(width * height * 3, 250);
  for (let y = 0; y < height; y += 12) data.fill(40, y * width * 3, y * width * 3 + Math.floor(width * 1.5));
  return fromRaw(data, width, height, 3);
}

export const flat = (width: number, height: number): Sharp =>
  sharp({ create: { width, height, channels: 3, background: "#3060c0" } });

/** Red left of the middle, blue right of it: shows how a picture was turned. */
export function twoHalves(width: number, height: number): Sharp {
  const row = Buffer.concat([
    Buffer.alloc(Math.floor(width / 2) * 3, Buffer.from([255, 0, 0])),
    Buffer.alloc(Math.ceil(width / 2) * 3, Buffer.from([0, 0, 255])),
  ]);
  return fromRaw(Buffer.concat(Array.from({ length: height }, () => row)), width, height, 3);
}

/** A disc that fades out at its edge. */
export function transparent(side: number): Sharp {
  const data = Buffer.alloc(side * side * 4);
  for (let at = 0; at < side * side; at += 1) {
    const away = Math.hypot((at % side) - side / 2, Math.floor(at / side) - side / 2) / side;
    data.set([200, 30, at % 251, Math.max(0, Math.min(255, (0.5 - away) * 1_000))], at * 4);
  }
  return fromRaw(data, side, side, 4);
}

export const sixteenBits = (width: number, height: number): Promise<Buffer> =>
  photo(width, height).toColourspace("rgb16").png().toBuffer();

export const cmyk = (width: number, height: number): Promise<Buffer> =>
  photo(width, height).toColourspace("cmyk").jpeg().toBuffer();

/** Stored `width` × `height`, with the EXIF number that says how to turn it. */
export const turned = (width: number, height: number, orientation: number): Promise<Buffer> =>
  twoHalves(width, height).withMetadata({ orientation }).jpeg({ quality: 95 }).toBuffer();

/** Frames of one colour each, the first one red. */
export async function animated(format: "gif" | "webp", side: number, frames: number): Promise<Buffer> {
  const pages = await Promise.all(
    Array.from({ length: frames }, (_, index) =>
      sharp({ create: { width: side, height: side, channels: 3, background: { r: 255, g: index * 40, b: 0 } } })
        .png()
        .toBuffer(),
    ),
  );
  const joined = sharp(pages, { join: { animated: true } });
  return format === "gif" ? joined.gif().toBuffer() : joined.webp({ lossless: true }).toBuffer();
}

/** Every format that sharp writes, small. */
export async function everyFormat(): Promise<readonly ImageSample[]> {
  const picture = photo(120, 80);
  const of = async (name: string, image: Sharp): Promise<ImageSample> => ({ name, bytes: await image.toBuffer() });
  return Promise.all([
    of("png", picture.clone().png()),
    of("interlaced png", picture.clone().png({ progressive: true })),
    of("palette png", picture.clone().png({ palette: true })),
    of("jpeg", picture.clone().jpeg()),
    of("progressive jpeg", picture.clone().jpeg({ progressive: true })),
    of("webp", picture.clone().webp()),
    of("lossless webp", picture.clone().webp({ lossless: true })),
    of("extended webp", transparent(100).webp()),
    of("gif", picture.clone().gif()),
    of("tiff", picture.clone().tiff({ compression: "lzw" })),
    of("avif", picture.clone().avif({ effort: 0 })),
    Promise.resolve({ name: "bmp", bytes: bmp(120, 80, { bits: 24 }) }),
    Promise.resolve({ name: "heic", bytes: heicGradient() }),
  ]);
}

// BMP: sharp writes none

interface BmpForm {
  readonly bits: 1 | 4 | 8 | 16 | 24 | 32;
  readonly topDown?: boolean;
  /** 3 is bit fields; the header then has 108 bytes and an alpha mask. */
  readonly compression?: 0 | 1 | 2 | 3;
  /** The oldest header, 12 bytes. */
  readonly os2?: boolean;
  /** Instead of the drawn pixels. */
  readonly pixels?: Uint8Array;
}

/** The colour that `bmp` gives a pixel: palette entry, or the same value written out. */
export const bmpIndex = (x: number, y: number, bits: number): number => (x + 2 * y) % Math.min(2 ** bits, 16);
export const bmpColour = (index: number): readonly [number, number, number] => [index * 16, 255 - index * 16, index];

export function bmp(width: number, height: number, form: BmpForm): Buffer {
  const { bits, topDown = false, compression = 0, os2 = false } = form;
  const palette = bits > 8 ? [] : Array.from({ length: 2 ** bits }, (_, index) => [...bmpColour(index)].reverse());
  const header = Buffer.alloc(os2 ? 12 : compression === 3 ? 108 : 40);
  header.writeUInt32LE(header.length, 0);
  if (os2) {
    header.writeUInt16LE(width, 4);
    header.writeUInt16LE(height, 6);
    header.writeUInt16LE(1, 8);
    header.writeUInt16LE(bits, 10);
  } else {
    header.writeInt32LE(width, 4);
    header.writeInt32LE(topDown ? -height : height, 8);
    header.writeUInt16LE(1, 12);
    header.writeUInt16LE(bits, 14);
    header.writeUInt32LE(compression, 16);
  }
  if (compression === 3)
    [0xff, 0xff00, 0xff0000, 0xff000000].forEach((mask, at) => header.writeUInt32LE(mask, 40 + at * 4));
  const colours = Buffer.from(palette.flatMap((colour) => (os2 ? colour : [...colour, 0])));
  const pixels = form.pixels ?? bmpPixels(width, height, form);
  const file = Buffer.alloc(14);
  file.write("BM", "latin1");
  file.writeUInt32LE(14 + header.length + colours.length + pixels.length, 2);
  file.writeUInt32LE(14 + header.length + colours.length, 10);
  return Buffer.concat([file, header, colours, pixels]);
}

function bmpPixels(width: number, height: number, { bits, topDown = false, compression = 0 }: BmpForm): Buffer {
  const rows = Array.from({ length: height }, (_, y) => {
    const indexes = Array.from({ length: width }, (__, x) => bmpIndex(x, y, bits));
    if (compression === 1 || compression === 2) return Buffer.from(runs(indexes, bits));
    const row = Buffer.alloc(Math.floor((bits * width + 31) / 32) * 4);
    indexes.forEach((index, x) => {
      const [red, green, blue] = bmpColour(index);
      if (bits <= 8) row[(x * bits) >> 3] = (row[(x * bits) >> 3] ?? 0) | (index << (8 - bits - ((x * bits) & 7)));
      else if (bits === 16) row.writeUInt16LE(((red >> 3) << 10) | ((green >> 3) << 5) | (blue >> 3), x * 2);
      else if (bits === 24) row.set([blue, green, red], x * 3);
      else row.set(compression === 3 ? [red, green, blue, 255 - index] : [blue, green, red, 0], x * 4);
    });
    return row;
  });
  if (!topDown) rows.reverse();
  return Buffer.concat(compression === 1 || compression === 2 ? [...rows, Buffer.from([0, 1])] : rows);
}

/** A run of one, then the others one by one or, where the form allows it (from 3 on), as they are; the end of the row. */
function runs(indexes: readonly number[], bits: number): number[] {
  const runOfOne = (index: number): number[] => [1, bits === 8 ? index : index << 4];
  const [first = 0, ...rest] = indexes;
  if (rest.length < 3) return [...indexes.flatMap(runOfOne), 0, 0];
  const pairs = rest.filter((_, at) => at % 2 === 0).map((index, at) => (index << 4) | (rest[at * 2 + 1] ?? 0));
  const bytes = bits === 8 ? rest : pairs;
  return [...runOfOne(first), 0, rest.length, ...bytes, ...(bytes.length % 2 === 1 ? [0] : []), 0, 0];
}

// Hostile ones

export function pngChunk(type: string, data: Uint8Array): Buffer {
  const typed = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(typed));
  return Buffer.concat([length, typed, sum]);
}

/** 8-bit RGB with whatever is claimed to be its pixels. */
export function png(width: number, height: number, data: Uint8Array, interlace: 0 | 1 = 0): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, interlace], 8);
  const chunks = [pngChunk("IHDR", header), pngChunk("IDAT", data), pngChunk("IEND", Buffer.alloc(0))];
  return Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), ...chunks]);
}

// HEIC: sharp writes none. Two pictures of our own, encoded with heif-enc of libheif and packed.

const unpacked = (...parts: readonly string[]): Buffer => inflateSync(Buffer.from(parts.join(""), "base64"));

/** 64x48: red grows from left to right, green from top to bottom, blue is 128 everywhere. */
export const heicGradient = (): Buffer =>
  unpacked(
    "eNpjYGCQSSupLMhIzUxmAILczDRDEDs3MzGNgYFxbW5qSSIDBChmpOQUQdkMBZnJJQxogK8gsyQXzGICYoHMlESIEgcGAyBpkZmTn8wIZLg4AO",
    "UZIVoYL8JYDAUIUTjNAdaXmZcGN1UUyEllAqkAqskoSzZkQBIEK0kvykwBMW9kFhQVAOltmQXJ+UC6DKjamZG5AO5cuQ8Mf/7++MHAwM+sADRN",
    "woGRh/H/f5ACZoYJIAKI5HYxOSgCJbWcGBnRZBYoNLJOe/Vk2c4dAgIGCiAhMKGoBFTO5sJ4sPhAJ9ASkcziglSohQ5QjC4GCh2BgsyKTJAAMw",
    "cHyNdSmQW5sIAHhgtTIxMDExNzC1imKDUNFuIpmbnp4HADhVhFLiTEczQY1ws3fHW1fRx6cPNv1ov3lyd0HWA02ylf97rmWY5HY45i84dPjz+Y",
    "Xv4/qfREnPmGnKuxB/ZNeDqXzb22ipkvvcJb+8/Nq8vO74zIWPVcKMmqyOD5yXtvnQ73pCTxTlFWbpTdH670/K9sdaaCiH95AwCQnIAc",
  );

/** 6000x4000 of one colour, in 6 kB: as many pixels as a camera makes. */
export const heicGiant = (): Buffer =>
  unpacked(
    "eNpjYGCQSSupLMhIzUxmAILczDRDEDs3MzGNgYHRJTe1JJEBAhQzUnKKoGyGgszkEgY0wFeQWZILZjECsVJmTj7YSBcHIJ8RLJwBoRkYRA8BCe",
    "XMzLw0uHpRICeVCcrLKEs2BDGPZBYUFQDpZZkFyflAugoo4czIXAC3c8sHhj9/f/xgYOBnVgBqlHBg5GH8/x+kgJlhAogAoi27mBwUgZK6ToyM",
    "aDILGHZ3MPwSi16psmznDgEBAwWQKJhQVALqYHdhPFi0IckBaJFIZnFBKsROcaAZ/AuADIGCzIpMkAgzBwcHkBLLLMiFhRbQy8yNTM1Af53KTU",
    "kEhpXoPg3G9SwCdbXlube3pp2dLaZ9fX3c3qqvr4HU1qyrq8PWRuGj/lRavP7/ffHym0K1ahP3b/BLdy/QbO2cAfUINRHrneUv3rElHLWlgdnM",
    "DExak3lNDtDEaAYuj3baGAxEXg40M1omgFZGM0+ilcniBrQyOYdGiYOZ0ZBGBjNl0cZgVhUaZZMO2pjLbzG08oemAm3MtXtAG3NjaJQzCmlUtE",
    "1poI25G2lk7k0amfuDNuYyetLG2GLaGNtIG2Of08bYzzRq/NDGWNpUQExJtDF2EW2M3UcbY4/Rxthno8aOGjtq7NA09t2osaPGjho7auyosSPE",
    "WMZYAP+Lubs=",
  );

/** A module in place of libheif that decodes every HEIC by this code, which returns the sides of an opaque picture. */
export const heicDecoder = (code: string): string => `
  const decode = async () => { ${code} };
  module.exports = {
    HeifDecoder: class { decode() { return [{ has_alpha_channel: () => false, free() {} }]; } },
    heif_colorspace: {},
    heif_chroma: {},
    async heif_js_decode_image2() {
      const { width, height } = await decode();
      // Rows are padded, as libheif pads them.
      const stride = width * 3 + 5;
      return { image: {}, channels: [{ width, height, stride, data: new Uint8Array(stride * height).fill(255) }] };
    },
    heif_image_release() {},
    heif_context_free() {},
  };`;

/** The smallest file that has a HEIC's boxes, with nothing to decode inside. */
export function heicHeader(width: number, height: number, brand = "heic"): Buffer {
  const box = (type: string, ...parts: readonly Uint8Array[]): Buffer => {
    const data = Buffer.concat(parts);
    const head = Buffer.alloc(8);
    head.writeUInt32BE(data.length + 8);
    head.write(type, 4, "latin1");
    return Buffer.concat([head, data]);
  };
  const size = Buffer.alloc(12);
  size.writeUInt32BE(width, 4);
  size.writeUInt32BE(height, 8);
  const kind = Buffer.from(`${brand}\0\0\0\0mif1${brand}`, "latin1");
  const properties = box("iprp", box("ipco", box("ispe", size)));
  return Buffer.concat([box("ftyp", kind), box("meta", Buffer.alloc(4), properties)]);
}

/** A small image whose header claims other sides. */
export async function claiming(width: number, height: number): Promise<readonly ImageSample[]> {
  const picture = photo(24, 16);
  const patch = (bytes: Buffer, change: (bytes: Buffer) => void): Buffer => {
    change(bytes);
    return bytes;
  };
  const jpeg = async (options: JpegOptions, marker: number): Promise<Buffer> =>
    patch(await picture.clone().jpeg(options).toBuffer(), (bytes) => {
      const at = bytes.indexOf(Buffer.from([0xff, marker]));
      bytes.writeUInt16BE(Math.min(height, 65_535), at + 5);
      bytes.writeUInt16BE(Math.min(width, 65_535), at + 7);
    });
  const [wide, high] = [Math.min(width, 16_383), Math.min(height, 16_383)];
  return [
    { name: "png", bytes: png(width, height, deflateSync(Buffer.alloc(1_000))) },
    { name: "interlaced png", bytes: png(width, height, deflateSync(Buffer.alloc(1_000)), 1) },
    { name: "jpeg", bytes: await jpeg({}, 0xc0) },
    { name: "progressive jpeg", bytes: await jpeg({ progressive: true }, 0xc2) },
    {
      name: "gif",
      bytes: patch(await picture.clone().gif().toBuffer(), (bytes) => {
        bytes.writeUInt16LE(Math.min(width, 65_535), 6);
        bytes.writeUInt16LE(Math.min(height, 65_535), 8);
      }),
    },
    {
      name: "webp",
      bytes: patch(await picture.clone().webp().toBuffer(), (bytes) => {
        bytes.writeUInt16LE(wide, 26);
        bytes.writeUInt16LE(high, 28);
      }),
    },
    {
      name: "lossless webp",
      bytes: patch(await picture.clone().webp({ lossless: true }).toBuffer(), (bytes) => {
        bytes.writeUInt32LE((wide - 1) | ((high - 1) << 14), 21);
      }),
    },
    {
      name: "extended webp",
      bytes: patch(await transparent(24).webp().toBuffer(), (bytes) => {
        bytes.writeUIntLE(width - 1, 24, 3);
        bytes.writeUIntLE(height - 1, 27, 3);
      }),
    },
    {
      name: "tiff",
      bytes: patch(await picture.clone().tiff({ compression: "lzw" }).toBuffer(), (bytes) => {
        const first = bytes.readUInt32LE(4) + 2;
        for (let at = first; at < first + 12 * bytes.readUInt16LE(first - 2); at += 12) {
          const side = { 256: width, 257: height, 278: height }[bytes.readUInt16LE(at)];
          if (side === undefined) continue;
          bytes.writeUInt16LE(4, at + 2);
          bytes.writeUInt32LE(side, at + 8);
        }
      }),
    },
    {
      name: "avif",
      bytes: patch(await picture.clone().avif({ effort: 0 }).toBuffer(), (bytes) => {
        const at = bytes.indexOf("ispe");
        bytes.writeUInt32BE(width, at + 8);
        bytes.writeUInt32BE(height, at + 12);
      }),
    },
    { name: "heic", bytes: heicHeader(width, height) },
    { name: "bmp", bytes: bmp(width, height, { bits: 24, pixels: Buffer.alloc(100) }) },
    { name: "rle bmp", bytes: bmp(width, height, { bits: 8, compression: 1, pixels: Buffer.from([0, 0, 0, 1]) }) },
  ];
}

/** Cut off, turned to garbage, or made to cost more than they look. Small files all of them, but for the two bombs. */
export async function hostileImages(): Promise<readonly ImageSample[]> {
  const sound = await everyFormat();
  const bytesOf = (name: string): Buffer => Buffer.from(sound.find((sample) => sample.name === name)?.bytes ?? []);
  const samples: ImageSample[] = [{ name: "zero bytes", bytes: Buffer.alloc(0) }];
  for (const { name, bytes } of sound) {
    for (let percent = 10; percent < 100; percent += 10) {
      samples.push({ name: `${name} cut at ${percent} %`, bytes: bytes.subarray(0, (bytes.length * percent) / 100) });
    }
    for (const count of [8, 16, 32]) samples.push({ name: `${name}, ${count} bytes`, bytes: bytes.subarray(0, count) });
    for (const kept of [12, 40]) {
      const garbage = Buffer.concat([bytes.subarray(0, kept), randomBytes(5_000, kept)]);
      samples.push({ name: `${name}, random from ${kept}`, bytes: garbage });
    }
  }
  for (const { name, bytes } of await claiming(50_000, 50_000)) samples.push({ name: `${name} of 50,000`, bytes });
  // Just what is let through: the decoder meets the end of the bytes, or fills the picture with nothing.
  for (const { name, bytes } of await claiming(7_000, 7_000)) samples.push({ name: `${name} of 7,000`, bytes });

  const wrongSum = bytesOf("png");
  wrongSum[wrongSum.indexOf("IDAT") + 6] = ~(wrongSum[wrongSum.indexOf("IDAT") + 6] ?? 0);
  const jpeg = bytesOf("jpeg");
  const scan = jpeg.indexOf(Buffer.from([0xff, 0xda]));
  const garbage = Buffer.concat([jpeg.subarray(0, scan + 14), randomBytes(jpeg.length), jpeg.subarray(-2)]);
  return [
    ...samples,
    { name: "png with a wrong checksum", bytes: wrongSum },
    { name: "png with a bomb inside", bytes: png(100, 100, deflateSync(Buffer.alloc(200_000_000))) },
    { name: "png without data", bytes: png(100, 100, Buffer.alloc(0)) },
    { name: "gif without trailer", bytes: bytesOf("gif").subarray(0, -1) },
    { name: "jpeg with garbage in its scan", bytes: garbage },
    { name: "jpeg with ten thousand scans", bytes: manyScans(bytesOf("progressive jpeg"), 10_000) },
    { name: "heic header", bytes: heicHeader(100, 100) },
    { name: "heic header, mif1", bytes: heicHeader(100, 100, "mif1") },
    { name: "avif header", bytes: heicHeader(100, 100, "avif") },
  ];
}

/** The last scan of a progressive JPEG, again and again. */
function manyScans(jpeg: Buffer, count: number): Buffer {
  const scan = jpeg.subarray(jpeg.lastIndexOf(Buffer.from([0xff, 0xda])), -2);
  return Buffer.concat([jpeg.subarray(0, -2), ...Array.from({ length: count }, () => scan), jpeg.subarray(-2)]);
}

/** Sound, flat, small, and nearly as many pixels as are let through of each kind. Take some seconds to make. */
export function flatGiants(): readonly { readonly name: string; readonly make: () => Promise<ImageSample> }[] {
  const giants: readonly (readonly [kind: string, side: number, as: (image: Sharp) => Sharp])[] = [
    ["png", 9_900, (image) => image.png()],
    ["jpeg", 9_900, (image) => image.jpeg()],
    ["progressive jpeg", 8_100, (image) => image.jpeg({ progressive: true })],
    ["progressive jpeg, full colour", 5_700, (image) => image.jpeg({ progressive: true, chromaSubsampling: "4:4:4" })],
    ["interlaced png", 7_000, (image) => image.png({ progressive: true })],
    ["webp", 7_000, (image) => image.webp({ effort: 0 })],
    ["lossless webp", 7_000, (image) => image.webp({ effort: 0, lossless: true })],
    ["gif", 5_700, (image) => image.gif({ effort: 1 })],
    ["tiff", 9_900, (image) => image.tiff({ compression: "deflate" })],
    ["avif", 3_490, (image) => image.avif({ effort: 0 })],
  ];
  return giants.map(([kind, side, as]) => {
    const name = `${kind} of ${side} x ${side}`;
    return { name, make: async () => ({ name, bytes: await as(flat(side, side)).toBuffer() }) };
  });
}
