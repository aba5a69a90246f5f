import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { growsLikeItsInput } from "../../../test/support/growth.ts";
import { type FinderOptions, isByteSearchable, startFinding } from "./find.ts";

function findAll(bytes: Uint8Array, needle: Uint8Array, options: FinderOptions) {
  const finder = startFinding(needle, options);
  finder.feed(bytes);
  return { hits: finder.hits, total: finder.total };
}

const usual: FinderOptions = { hitsMax: 100, overlapping: true, firstByte: 0 };
const latin1 = (text: string): Uint8Array => Buffer.from(text, "latin1");

describe("findAll", () => {
  for (const [name, bytes, needle, options, hits] of [
    ["nothing in nothing", "", "a", {}, []],
    ["an empty needle is nowhere", "abc", "", {}, []],
    ["one byte", "banana", "a", {}, [1, 3, 5]],
    ["overlapping hits", "aaaa", "aa", {}, [0, 1, 2]],
    ["hits side by side", "aaaaa", "aa", { overlapping: false }, [0, 2]],
    ["a needle longer than the file", "ab", "abc", {}, []],
    ["the whole file", "abc", "abc", {}, [0]],
    ["after a mark of odd length", "xa\0a\0", "a\0", { firstByte: 1 }, [1, 3]],
    ["the byte-order mark is not text", "\xff\xfe\xff\xfe", "\xff\xfe", { firstByte: 2 }, [2]],
  ] as const) {
    test(name, () => {
      expect(findAll(latin1(bytes), latin1(needle), { ...usual, ...options })).toEqual({ hits, total: hits.length });
    });
  }

  test("hits beyond the limit are counted and not kept", () => {
    expect(findAll(latin1("aaaaa"), latin1("a"), { ...usual, hitsMax: 2 })).toEqual({ hits: [0, 1], total: 5 });
  });
});

describe("startFinding", () => {
  test("finds what a plain search finds, however the bytes are cut and whatever becomes of the chunks", () => {
    const letters = fc.integer({ min: 0, max: 2 });
    const bytesOf = (minLength: number, maxLength: number): fc.Arbitrary<Uint8Array> =>
      fc.array(letters, { minLength, maxLength }).map((all) => Uint8Array.from(all));
    fc.assert(
      fc.property(
        bytesOf(0, 60),
        bytesOf(1, 6),
        fc.array(fc.nat({ max: 60 })),
        fc.record({
          hitsMax: fc.nat({ max: 20 }),
          overlapping: fc.boolean(),
          firstByte: fc.nat({ max: 4 }),
        }),
        (bytes, needle, cuts, options) => {
          const finder = startFinding(needle, options);
          const borders = [0, ...cuts.filter((cut) => cut < bytes.length).toSorted((a, b) => a - b), bytes.length];
          for (const [at, border] of borders.slice(1).entries()) {
            const chunk = bytes.slice(borders[at], border);
            finder.feed(chunk);
            chunk.fill(9);
          }
          const expected = plainly(bytes, needle, options);
          expect(finder.hits).toEqual(expected.slice(0, options.hitsMax));
          expect(finder.total).toBe(expected.length);
          expect(findAll(bytes, needle, options).hits).toEqual(finder.hits);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  test("four times a long needle that repeats, in chunks of one size, is four times the work", async () => {
    const input = (size: number) => ({
      bytes: Buffer.alloc(4 * size, "ab\n"),
      needle: Buffer.from(`b${"ab\n".repeat(size / 3)}`),
    });
    await growsLikeItsInput(30_000, input, ({ bytes, needle }) => {
      const finder = startFinding(needle, usual);
      for (let at = 0; at < bytes.length; at += 4_096) finder.feed(bytes.subarray(at, at + 4_096));
      expect(finder.total).toBe(0);
    });
  });

  test("a needle as long as many chunks is found", () => {
    const needle = Uint8Array.from({ length: 1_000 }, (_, at) => at % 7);
    const bytes = Buffer.concat([needle.subarray(3), needle, needle, needle.subarray(0, 500)]);
    const finder = startFinding(needle, { ...usual, overlapping: false });
    for (let at = 0; at < bytes.length; at += 13) finder.feed(bytes.subarray(at, at + 13));
    expect(finder.hits).toEqual([997, 1_997]);
  });
});

function plainly(bytes: Uint8Array, needle: Uint8Array, options: FinderOptions): readonly number[] {
  const hits: number[] = [];
  for (let at = options.firstByte; at + needle.length <= bytes.length; at += 1) {
    if (!needle.every((byte, each) => bytes[at + each] === byte)) continue;
    const last = hits.at(-1);
    if (options.overlapping || last === undefined || at >= last + needle.length) hits.push(at);
  }
  return hits;
}

test("bytes are searched only where a character cannot begin inside another", () => {
  for (const [encoding, searchable] of [
    ["utf-8", true],
    ["utf-16be", true],
    ["utf-32le", true],
    ["windows-1252", true],
    ["koi8-u", true],
    ["shift_jis", false],
    ["gb18030", false],
    ["euc-kr", false],
    ["iso-2022-jp", false],
  ] as const) {
    expect(isByteSearchable(encoding), encoding).toBe(searchable);
  }
});
