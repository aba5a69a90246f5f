import * as fc from "fast-check";
import type { Sharp } from "sharp";
import { describe, expect, test } from "vitest";
import {
  animated,
  claiming,
  everyFormat,
  heicHeader,
  photo,
  png,
  pngChunk,
  sixteenBits,
  transparent,
  turned,
} from "../../../test/samples/images.ts";
import { hasAllParts, pngInflates, probeImage } from "./size.ts";

const sound = await everyFormat();
const handedOut = sound.filter(({ bytes }) => hasAllParts(bytes, probeImage(bytes)?.mime ?? ""));

describe("the header says it all", () => {
  test("the size of every format", () => {
    const others: Readonly<Record<string, object>> = {
      "extended webp": { width: 100, height: 100 },
      // The largest declared: a HEIC may be a grid of tiles, here of one of 64x64.
      heic: { width: 64, height: 64 },
    };
    for (const { name, bytes } of sound) {
      const side = others[name] ?? { width: 120, height: 80 };
      expect(probeImage(bytes), name).toMatchObject({ ...side, orientation: 1, frames: 1 });
    }
  });

  test("a size that is only claimed", async () => {
    for (const { name, bytes } of await claiming(12_345, 6_789)) {
      expect(probeImage(bytes), name).toMatchObject({ width: 12_345, height: 6_789 });
    }
  });

  test("how a photo is turned, in every format that can say so", async () => {
    for (let orientation = 1; orientation <= 8; orientation += 1) {
      const image = (): Sharp => photo(40, 20).withMetadata({ orientation });
      const files = [image().jpeg(), image().webp(), image().tiff(), image().png()];
      for (const bytes of await Promise.all(files.map((file) => file.toBuffer()))) {
        expect(probeImage(bytes)).toMatchObject({ width: 40, height: 20, orientation });
      }
    }
    expect(probeImage(await turned(30, 20, 6))?.orientation).toBe(6);
  });

  test("how many frames there are", async () => {
    expect(probeImage(await animated("gif", 20, 5))?.frames).toBe(5);
    expect(probeImage(await animated("webp", 20, 4))?.frames).toBe(4);
    const frames = Buffer.from([0, 0, 0, 7, 0, 0, 0, 0]);
    const still = await photo(20, 20).png().toBuffer();
    const moving = Buffer.concat([still.subarray(0, 33), pngChunk("acTL", frames), still.subarray(33)]);
    expect(probeImage(moving)?.frames).toBe(7);
  });

  test("what a decoder has to hold", () => {
    const held = Object.fromEntries(sound.map(({ name, bytes }) => [name, probeImage(bytes)?.decodedBytes]));
    expect(held).toMatchObject({ png: 0, jpeg: 0, "interlaced png": 4, "progressive jpeg": 3, webp: 4 });
  });

  test("AVIF that only calls itself some HEIF", () => {
    const file = heicHeader(10, 10, "avif");
    file.write("mif1", 8, "latin1");
    expect(probeImage(file)?.mime).toBe("image/avif");
    expect(probeImage(heicHeader(10, 10, "mif1"))?.mime).toBe("image/heic");
  });

  test("no header, half a header, a side of 0", async () => {
    expect(probeImage(Buffer.alloc(0))).toBeUndefined();
    for (const { name, bytes } of sound) expect(probeImage(bytes.subarray(0, 8)), name).toBeUndefined();
    expect(probeImage(png(0, 10, Buffer.alloc(1)))).toBeUndefined();
    expect(probeImage(heicHeader(10, 0))).toBeUndefined();
  });
});

describe("whether all parts are there", () => {
  test("of the four formats that are handed out", () => {
    expect(handedOut.map(({ name }) => name)).toEqual(
      sound.map(({ name }) => name).filter((name) => !/tiff|avif|bmp|heic/.test(name)),
    );
  });

  test("not one byte may be missing", () => {
    for (const { name, bytes } of handedOut) {
      const mime = probeImage(bytes)?.mime ?? "";
      for (const missing of [1, 2, 3, 12, Math.floor(bytes.length / 2)]) {
        expect(hasAllParts(bytes.subarray(0, -missing), mime), `${name} without ${missing}`).toBe(false);
      }
    }
  });

  test("a PNG's checksums are compared", () => {
    const bytes = Buffer.from(sound[0]?.bytes ?? []);
    const at = bytes.indexOf("IDAT") + 20;
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    expect(hasAllParts(bytes, "image/png")).toBe(false);
  });

  test("a PNG's data are as long as they should be", async () => {
    const files = [
      photo(37, 19).png(),
      photo(37, 19).png({ palette: true, colours: 4 }),
      photo(37, 19).greyscale().png(),
      transparent(33).png(),
    ];
    const widths = [1, 2, 3, 5, 8, 9].map((width) => photo(width, 3).png({ progressive: true }));
    for (const file of [...files, ...widths]) expect(await pngInflates(await file.toBuffer())).toBe(true);
    expect(await pngInflates(await sixteenBits(20, 20))).toBe(true);
    expect(await pngInflates(png(10, 10, Buffer.alloc(0)))).toBe(false);
    expect(await pngInflates(Buffer.from("no png"))).toBe(false);
  });
});

describe("nothing makes the walks throw", () => {
  const magics = sound.map(({ bytes }) => Buffer.from(bytes.subarray(0, 12)));
  const walk = (bytes: Uint8Array): void => {
    probeImage(bytes);
    for (const mime of ["image/png", "image/jpeg", "image/gif", "image/webp"]) hasAllParts(bytes, mime);
  };

  test("random bytes behind a magic number", () => {
    fc.assert(
      fc.property(fc.constantFrom(...magics), fc.uint8Array({ maxLength: 300 }), (magic, rest) =>
        walk(Buffer.concat([magic, rest])),
      ),
      { numRuns: 2_000 },
    );
  });

  test("a sound file with some bytes changed and its end cut off", () => {
    const change = fc.tuple(fc.nat(400), fc.nat(255));
    fc.assert(
      fc.property(
        fc.constantFrom(...sound),
        fc.array(change, { maxLength: 8 }),
        fc.nat(500),
        (sample, changes, length) => {
          const bytes = Buffer.from(sample.bytes.subarray(0, length));
          for (const [at, value] of changes) if (at < bytes.length) bytes[at] = value;
          walk(bytes);
        },
      ),
      { numRuns: 2_000 },
    );
  });
});
