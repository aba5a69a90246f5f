import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { bmp, bmpColour, bmpIndex } from "../../../test/samples/images.ts";
import { type Bitmap, bmpHeader, decodeBmp } from "./bmp.ts";

function decoded(bytes: Uint8Array): Bitmap {
  const bitmap = decodeBmp(bytes);
  if ("damaged" in bitmap) throw new Error(bitmap.damaged);
  return bitmap;
}

/** The colours that the writer drew, row by row from the top. */
function drawn(width: number, height: number, bits: number): number[] {
  const places = Array.from({ length: width * height }, (_, at) => [at % width, Math.floor(at / width)] as const);
  return places.flatMap(([x, y]) => bmpColour(bmpIndex(x, y, bits)));
}

describe("every form is read", () => {
  for (const [name, form] of [
    ["1 bit", { bits: 1 }],
    ["4 bits", { bits: 4 }],
    ["8 bits", { bits: 8 }],
    ["24 bits", { bits: 24 }],
    ["32 bits", { bits: 32 }],
    ["8 bits from the top", { bits: 8, topDown: true }],
    ["24 bits from the top", { bits: 24, topDown: true }],
    ["8 bits in runs", { bits: 8, compression: 1 }],
    ["4 bits in runs", { bits: 4, compression: 2 }],
    ["8 bits with the oldest header", { bits: 8, os2: true }],
    ["24 bits with the oldest header", { bits: 24, os2: true }],
  ] as const) {
    test(name, () => {
      // Every padding there is.
      for (const width of [1, 2, 3, 4, 5, 6, 7, 8, 9, 100]) {
        expect(bmpHeader(bmp(width, 5, form))).toMatchObject({ width, height: 5 });
        const { channels, data } = decoded(bmp(width, 5, form));
        expect([channels, ...data]).toEqual([3, ...drawn(width, 5, form.bits)]);
      }
    });
  }

  test("16 bits have five for each colour, stretched to the full range", () => {
    const pixels = Buffer.alloc(8);
    [0x7fff, 0x7c00, 0x03e0, 0x0001].forEach((pixel, at) => pixels.writeUInt16LE(pixel, at * 2));
    const { data } = decoded(bmp(4, 1, { bits: 16, pixels }));
    expect([...data]).toEqual([255, 255, 255, 255, 0, 0, 0, 255, 0, 0, 0, 8]);
  });

  test("bit fields lie where the masks say, alpha included", () => {
    const { channels, data } = decoded(bmp(3, 1, { bits: 32, compression: 3 }));
    const expected = [0, 1, 2].flatMap((index) => [...bmpColour(index), 255 - index]);
    expect([channels, ...data]).toEqual([4, ...expected]);
  });

  test("an alpha channel that is 0 everywhere was not meant", () => {
    const pixels = Buffer.from([1, 2, 3, 0, 4, 5, 6, 0]);
    const { channels, data } = decoded(bmp(2, 1, { bits: 32, compression: 3, pixels }));
    expect([channels, ...data]).toEqual([3, 1, 2, 3, 4, 5, 6]);
  });

  test("a run may jump, and what it jumps over has no colour", () => {
    const pixels = Buffer.from([0, 2, 1, 1, 1, 3, 0, 1]);
    const { data } = decoded(bmp(2, 2, { bits: 8, compression: 1, pixels }));
    expect([...data]).toEqual([0, 0, 0, ...bmpColour(3), ...Array.from({ length: 6 }, () => 0)]);
  });
});

describe("what is not all there is refused", () => {
  test("cut off anywhere", () => {
    for (const form of [{ bits: 24 }, { bits: 8, compression: 1 }, { bits: 1 }] as const) {
      const whole = bmp(12, 4, form);
      for (let length = 0; length < whole.length - 2; length += 1) {
        expect(decodeBmp(whole.subarray(0, length)), `${length} bytes`).toHaveProperty("damaged");
      }
    }
  });

  test("the padding of the last row may be missing", () => {
    expect([...decoded(bmp(1, 2, { bits: 24 }).subarray(0, -1)).data]).toEqual(drawn(1, 2, 24));
  });

  test("a size of 0, unknown bits, a JPEG inside", () => {
    expect(bmpHeader(bmp(0, 5, { bits: 24 }))).toBeUndefined();
    expect(bmpHeader(bmp(5, 0, { bits: 24 }))).toBeUndefined();
    for (const [at, value] of [
      [28, 7],
      [30, 4],
      [30, 1],
    ] as const) {
      const file = bmp(4, 4, { bits: 24 });
      file.writeUInt16LE(value, at);
      expect(bmpHeader(file)).toBeUndefined();
    }
  });
});

test("nothing behind a header makes the decoder throw", () => {
  const side = fc.integer({ min: -300, max: 300 });
  const word = fc.constantFrom(0, 1, 2, 3, 6, 26, 54, 70, 1_078, 2 ** 31, 2 ** 32 - 1);
  const headerBytes = fc.constantFrom(12, 40, 52, 56, 64, 108, 124);
  const bits = fc.constantFrom(0, 1, 4, 8, 16, 24, 32, 33);
  fc.assert(
    fc.property(side, side, word, word, headerBytes, bits, fc.uint8Array({ maxLength: 4_000 }), (...drawnInput) => {
      const [width, height, pixelsAt, compression, header, depth, rest] = drawnInput;
      const file = Buffer.concat([Buffer.alloc(54), rest]);
      file.write("BM", "latin1");
      file.writeUInt32LE(pixelsAt, 10);
      file.writeUInt32LE(header, 14);
      file.writeInt32LE(width, 18);
      file.writeInt32LE(height, 22);
      file.writeUInt16LE(depth, 28);
      file.writeUInt32LE(compression, 30);
      const bitmap = decodeBmp(file);
      if (!("damaged" in bitmap)) expect(bitmap.data.length).toBe(bitmap.width * bitmap.height * bitmap.channels);
    }),
    { numRuns: 2_000 },
  );
});
