import { deepEqual, equal, ok } from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import * as fc from "fast-check";
import { describe, test } from "vitest";
import {
  countNewlinesIn,
  createKernel,
  type Kernel,
  kernelBase64,
  type NewlineForm,
  plainKernel,
  skipNewlinesIn,
  newlinesSourceSha256,
} from "./newlines.ts";

const newlines: Readonly<Record<NewlineForm, readonly number[]>> = {
  byte: [10],
  "utf-16le": [10, 0],
  "utf-16be": [0, 10],
  "utf-32le": [10, 0, 0, 0],
  "utf-32be": [0, 0, 0, 10],
};
const forms = Object.keys(newlines) as NewlineForm[];
const chunkBytes = 1_048_576;

/** The reference: the end of every newline in [from, to). */
function ends(bytes: Uint8Array, from: number, to: number, form: NewlineForm): number[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const width = newlines[form].length;
  const littleEndian = form.endsWith("le");
  const unitAt = (at: number) =>
    width === 1 ? view.getUint8(at) : width === 2 ? view.getUint16(at, littleEndian) : view.getUint32(at, littleEndian);
  const found: number[] = [];
  for (let at = from; at + width <= to; at += width) if (unitAt(at) === 10) found.push(at + width);
  return found;
}

/** The operations that kernels and functions on bytes share. */
type Asked = Pick<Kernel, "count" | "skip">;

function agrees(asked: Asked, bytes: Uint8Array, from: number, to: number, ks: readonly number[], form: NewlineForm) {
  const expected = ends(bytes, from, to, form);
  equal(asked.count(from, to), expected.length);
  for (const k of ks) equal(asked.skip(from, to, k), expected[k - 1] ?? -1, `k is ${k}`);
}

/** Mostly zeros and tens, the bytes of newlines and of near misses. */
const byte = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(0, 10) },
  { weight: 1, arbitrary: fc.constantFrom(9, 11, 13, 0x8a, 0x80, 0xff) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 255 }) },
);
const fewBytes = fc.array(byte, { maxLength: 260, size: "max" }).map((bytes) => Uint8Array.from(bytes));

/** A random range of `bytes` that is aligned for the form. */
const rangeIn = (bytes: Uint8Array, form: NewlineForm) =>
  fc.tuple(fc.nat(bytes.length), fc.nat(bytes.length)).map(([one, other]) => {
    const from = Math.min(one, other);
    return { from: from - (from % newlines[form].length), to: Math.max(one, other) };
  });

/** Bytes that repeat without a period near a power of two; one in `sparseness` is a newline. */
function manyBytes(form: NewlineForm, sparseness: number): Uint8Array {
  const bytes = new Uint8Array(chunkBytes);
  const newline = newlines[form];
  let seed = 1;
  for (let at = 0; at < bytes.length; at += newline.length) {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    if ((seed >>> 8) % sparseness === 0) bytes.set(newline, at);
    else bytes.fill(seed >>> 24, at, at + newline.length);
  }
  return bytes;
}

const makers = { createKernel, plainKernel };

test("this Node has the fast kernel", () => equal(createKernel("byte", 65_536).kind, "simd"));

for (const form of forms) {
  for (const [maker, make] of Object.entries(makers)) {
    describe(`${maker} for ${form}`, () => {
      const kernel = make(form, chunkBytes);

      test("has a chunk of the size asked for", () => equal(kernel.chunk.length, chunkBytes));

      test("agrees with the reference on every length around its steps, whatever lies behind the end", () => {
        for (const stale of [0, 10]) {
          for (const filling of [newlines[form], [97], [0], [10]]) {
            for (let to = 0; to <= 200; to++) {
              kernel.chunk.fill(stale, 0, 300);
              for (let at = 0; at < to; at++) kernel.chunk[at] = filling[at % filling.length] ?? 0;
              agrees(kernel, kernel.chunk, 0, to, [1, 2, to, to + 1], form);
            }
          }
        }
      });

      test("agrees with the reference on any bytes, any range and any k", () => {
        const cases = fewBytes.chain((bytes) =>
          fc.record({
            bytes: fc.constant(bytes),
            range: rangeIn(bytes, form),
            k: fc.integer({ min: 1, max: 280 }),
            stale: byte,
            // Also at the end of the chunk, where the kernel loads bytes beyond it.
            start: fc.constantFrom(0, 64, 65_520, (chunkBytes - bytes.length) & -4),
          }),
        );
        fc.assert(
          fc.property(cases, ({ bytes, range, k, stale, start }) => {
            kernel.chunk.fill(stale, start, start + 400);
            kernel.chunk.set(bytes, start);
            agrees(kernel, kernel.chunk, start + range.from, start + range.to, [1, 2, k], form);
          }),
          { numRuns: 1_000 },
        );
      });

      for (const [name, bytes] of [
        ["nothing but newlines", manyBytes(form, 1)],
        ["a newline in three units", manyBytes(form, 3)],
        ["a newline in 40 units", manyBytes(form, 40)],
        ["a newline in 5,000 units", manyBytes(form, 5_000)],
        ["nothing but the byte 10", new Uint8Array(chunkBytes).fill(10)],
      ] as const) {
        test(`agrees with the reference on 1 MiB of ${name}`, () => {
          kernel.chunk.set(bytes);
          const total = ends(bytes, 0, chunkBytes, form).length;
          const ks = [1, 252, 253, 256, 1_000, total >> 1, total, total + 1].filter((k) => k >= 1);
          agrees(kernel, bytes, 0, chunkBytes, ks, form);
          agrees(kernel, bytes, 4, chunkBytes - 5, ks, form);
        });

        test(`counts blocks of 1 MiB of ${name}`, () => {
          kernel.chunk.set(bytes);
          const all = ends(bytes, 0, chunkBytes, form);
          for (const [to, blockBytes] of [
            [0, 65_536],
            [1, 65_536],
            [65_536, 65_536],
            [65_537, 65_536],
            [chunkBytes - 1, 65_536],
            [chunkBytes, 65_536],
            [chunkBytes, chunkBytes],
            [chunkBytes, 64],
            [1_000, 100],
          ] as const) {
            const expected = Array.from({ length: Math.ceil(to / blockBytes) }, () => 0);
            for (const end of all) if (end <= to) expected[Math.floor((end - 1) / blockBytes)]! += 1;
            deepEqual(Array.from(kernel.blocks(to, blockBytes)), expected, `${to} bytes by ${blockBytes}`);
          }
          equal(Buffer.compare(kernel.chunk, bytes), 0, "the counts are written beside the chunk");
        });
      }

      test("finds no newline of a number beyond 32 bits", () => {
        kernel.chunk.fill(10);
        agrees(kernel, kernel.chunk, 0, chunkBytes, [2 ** 31, 2 ** 32 + 1, Infinity], form);
      });

      test("finds nothing in an empty or reversed range", () => {
        kernel.chunk.fill(10);
        for (const [from, to] of [
          [0, 0],
          [64, 64],
          [chunkBytes, chunkBytes],
          [128, 64],
        ] as const) {
          agrees(kernel, kernel.chunk, from, to, [1, 5], form);
        }
      });
    });
  }

  test(`countNewlinesIn and skipNewlinesIn agree with the reference for ${form}, wherever the bytes lie in their buffer`, () => {
    const cases = fewBytes.chain((bytes) =>
      fc.record({
        bytes: fc.constant(bytes),
        range: rangeIn(bytes, form),
        k: fc.integer({ min: 1, max: 280 }),
        stale: byte,
        byteOffset: fc.nat(9),
      }),
    );
    fc.assert(
      fc.property(cases, ({ bytes, range, k, stale, byteOffset }) => {
        const buffer = new Uint8Array(byteOffset + bytes.length + 9).fill(stale);
        buffer.set(bytes, byteOffset);
        const there = buffer.subarray(byteOffset, byteOffset + bytes.length);
        agrees(inMemory(there, form), bytes, range.from, range.to, [1, 2, k], form);
      }),
      { numRuns: 1_000 },
    );
  });

  test(`countNewlinesIn and skipNewlinesIn agree with the reference for ${form} on many bytes`, () => {
    for (const sparseness of [1, 3, 40, 5_000]) {
      const bytes = manyBytes(form, sparseness).subarray(0, 50_003);
      const total = ends(bytes, 0, bytes.length, form).length;
      agrees(inMemory(bytes, form), bytes, 0, bytes.length, [1, 255, 256, total, total + 1], form);
    }
  });
}

const inMemory = (bytes: Uint8Array, form: NewlineForm): Asked => ({
  count: (from, to) => countNewlinesIn(bytes, from, to, form),
  skip: (from, to, k) => skipNewlinesIn(bytes, from, to, k, form),
});

test("kernels do not share bytes", () => {
  const one = createKernel("byte", 65_536);
  const other = createKernel("byte", 65_536);
  one.chunk.fill(10);
  deepEqual([one.count(0, 65_536), other.count(0, 65_536)], [65_536, 0]);
});

test("the chunk is never detached", () => {
  const kernel = createKernel("byte", 4 * chunkBytes);
  kernel.chunk.fill(10);
  equal(kernel.blocks(4 * chunkBytes, 65_536).length, 64);
  equal(kernel.skip(0, 4 * chunkBytes, 4 * chunkBytes), 4 * chunkBytes);
  equal(kernel.chunk.length, 4 * chunkBytes);
});

declare const WebAssembly: { validate(bytes: Uint8Array): boolean };

test("the module is valid and its base64 is under 2 KB", () => {
  ok(WebAssembly.validate(Buffer.from(kernelBase64, "base64")));
  ok(kernelBase64.length < 2_048);
});

test("the module was made from scripts/newlines.wat as it is now", () => {
  const source = readFileSync(new URL("../../../scripts/newlines.wat", import.meta.url));
  equal(createHash("sha256").update(source).digest("hex"), newlinesSourceSha256, "run scripts/kernel.js");
});
