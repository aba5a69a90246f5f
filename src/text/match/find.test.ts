import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { findAll, type FindOptions, isByteSearchable, startFinding } from "./find.ts";

const usual: FindOptions = { hitsMax: 100, overlapping: true, unitBytes: 1, firstByte: 0 };
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
    ["UTF-16 hits begin at a unit", "a\0a\0\0a\0", "\0a", { unitBytes: 2 }, [4]],
    ["UTF-16 behind a mark of odd length", "xa\0a\0", "a\0", { unitBytes: 2, firstByte: 1 }, [1, 3]],
    ["the byte-order mark is not text", "\xff\xfe\xff\xfe", "\xff\xfe", { unitBytes: 2, firstByte: 2 }, [2]],
    ["UTF-32 hits begin at a word", "\0\0\0a\0\0\0\0\0\0\0a", "\0\0\0a", { unitBytes: 4 }, [0, 8]],
    ["a hit that was not aligned takes no room", "\0aa\0aa", "aa", { overlapping: false, unitBytes: 2 }, [4]],
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
          unitBytes: fc.constantFrom(1, 2, 4),
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

  test("a needle as long as many chunks is found", () => {
    const needle = Uint8Array.from({ length: 1_000 }, (_, at) => at % 7);
    const bytes = Buffer.concat([needle.subarray(3), needle, needle, needle.subarray(0, 500)]);
    const finder = startFinding(needle, { ...usual, overlapping: false });
    for (let at = 0; at < bytes.length; at += 13) finder.feed(bytes.subarray(at, at + 13));
    expect(finder.hits).toEqual([997, 1_997]);
  });
});

function plainly(bytes: Uint8Array, needle: Uint8Array, options: FindOptions): readonly number[] {
  const hits: number[] = [];
  for (let at = options.firstByte; at + needle.length <= bytes.length; at += options.unitBytes) {
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
