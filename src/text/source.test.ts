import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { EncodingName } from "../contract/read.ts";
import { encode } from "./encoding/encode.ts";
import { decode } from "./encoding/encoding.ts";
import { type SourceText, sourceText } from "./source.ts";

const unicode = ["utf-8", "utf-16le", "utf-16be", "utf-32le", "utf-32be"] as const;
const doubleByte = ["gb18030", "big5", "shift_jis", "euc-jp", "euc-kr"] as const;
const singleByte = ["windows-1252", "windows-1253", "windows-1255", "iso-8859-8", "koi8-r", "windows-874"] as const;
const everyEncoding: readonly EncodingName[] = [...unicode, ...doubleByte, ...singleByte, "iso-2022-jp"];

const latin1 = (text: string): Uint8Array => Buffer.from(text, "latin1");
const source = (bytes: string | Uint8Array, encoding: EncodingName, bomBytes = 0): SourceText =>
  sourceText(typeof bytes === "string" ? latin1(bytes) : bytes, { encoding, bomBytes });

describe("sourceText", () => {
  for (const [name, encoding, bytes, text, places] of [
    ["ASCII", "utf-8", "abc", "abc", [0, 1, 2, 3]],
    ["UTF-8", "utf-8", "\xc3\xa9a\xf0\x9f\x98\x80b", "éa😀b", [0, 2, 3, 3, 7, 8]],
    ["one byte that is not UTF-8", "utf-8", "a\xe9\xc3\xa9", "a\udce9é", [0, 1, 2, 4]],
    ["half a character", "utf-8", "a\xf0\x9f\x98", "a\udcf0\udc9f\udc98", [0, 1, 2, 3, 4]],
    ["an overlong form", "utf-8", "\xe0\x80\x80", "\udce0\udc80\udc80", [0, 1, 2, 3]],
    ["a surrogate in UTF-8", "utf-8", "\xed\xa0\xbd", "\udced\udca0\udcbd", [0, 1, 2, 3]],
    ["U+FFFD in UTF-8", "utf-8", "\xef\xbf\xbd", "\ufffd", [0, 3]],
    ["UTF-16", "utf-16le", "a\0\x3d\xd8\x00\xde", "a😀", [0, 2, 2, 6]],
    ["an unpaired half", "utf-16be", "\xd8\x3d\0a\xdc\x80", "\ud83da\udc80", [0, 2, 4, 6]],
    ["an odd byte", "utf-16le", "a\0b", "a\udc62", [0, 2, 3]],
    ["an odd byte behind half a pair", "utf-16be", "\0a\xd8\x3da", "a\udcd8\udc3d\udc61", [0, 2, 3, 4, 5]],
    ["UTF-32", "utf-32be", "\0\0\0a\0\x01\xf6\x00\0\0\0b", "a😀b", [0, 4, 4, 8, 12]],
    [
      "a word that is no character",
      "utf-32le",
      "a\0\0\0\0\xd8\0\0b",
      "a\udc00\udcd8\udc00\udc00\udc62",
      [0, 4, 5, 6, 7, 8, 9],
    ],
    ["windows-1252", "windows-1252", "caf\xe9\x80", "café€", [0, 1, 2, 3, 4, 5]],
    ["a byte that windows-1253 lacks", "windows-1253", "\xe1\xd2a", "α\udcd2a", [0, 1, 2, 3]],
    ["GBK", "gb18030", "a\xd6\xd0\x94\x39\xfc\x36\xff", "a中😀\udcff", [0, 1, 3, 3, 7, 8]],
    ["four bytes without a meaning", "gb18030", "\x85\x30\x81\x30a", "\udc85\udc30\udc81\udc30a", [0, 1, 2, 3, 4, 5]],
    ["Shift_JIS", "shift_jis", "\x83e\\\xb1\x81", "テ\\ｱ\udc81", [0, 2, 3, 4, 5]],
    ["a pair without a meaning", "shift_jis", "\x81\xad\x83e", "\udc81\udcadテ", [0, 1, 2, 4]],
    ["EUC-JP", "euc-jp", "\x8f\xb0\xa1\x8e\xb1\xa5\xc6", "丂ｱテ", [0, 3, 5, 7]],
    ["EUC-KR with the syllables of Windows", "euc-kr", "\x8cc\xb0\xa1a", "똠가a", [0, 2, 4, 5]],
    ["ISO-2022-JP", "iso-2022-jp", "a\x1b$B%\n\x1b(Bb", "a\udc1b\udc24\udc42\udc25\n\udc1b\udc28\udc42b", [0, 1, 2]],
  ] as const) {
    test(name, () => {
      const made = source(bytes, encoding);
      expect(made.text).toBe(text);
      expect(made.encoding).toBe(encoding);
      for (const [unit, place] of places.entries()) expect(made.byteAt(unit), `unit ${unit}`).toBe(place);
      expect(made.byteAt(text.length)).toBe(bytes.length);
    });
  }

  for (const encoding of unicode) {
    test(`a byte-order mark of ${encoding} is no text and keeps its room`, () => {
      const mark = bytesOf("\ufeff", encoding);
      const made = source(Buffer.concat([mark, bytesOf("é😀", encoding)]), encoding, mark.length);
      expect(made.text).toBe("é😀");
      expect(made.byteAt(0)).toBe(mark.length);
      expect(made.byteAt(1)).toBe(mark.length + bytesOf("é", encoding).length);
      expect(made.byteAt(3)).toBe(mark.length + bytesOf("é😀", encoding).length);
    });
  }

  for (const encoding of everyEncoding) {
    test(`${encoding}: the pieces between any places are the file`, () => {
      fc.assert(
        fc.property(bytesLike(encoding), fc.array(fc.nat()), (bytes, picks) => {
          const made = source(bytes, encoding);
          const units = [0, ...picks.map((pick) => pick % (made.text.length + 1)).toSorted((a, b) => a - b)];
          const places = [...units.map((unit) => made.byteAt(unit)), bytes.length];
          expect(made.byteAt(0)).toBe(0);
          expect(made.byteAt(made.text.length)).toBe(bytes.length);
          const pieces = places.slice(1).map((place, at) => bytes.subarray(places[at], place));
          expect(places).toEqual(places.toSorted((a, b) => a - b));
          expect(Buffer.concat(pieces).equals(bytes)).toBe(true);
        }),
        { numRuns: 300 },
      );
    });

    test(`${encoding}: each character leads to bytes that say it, each escape to the byte it stands for`, () => {
      fc.assert(
        fc.property(bytesLike(encoding), (bytes) => {
          const made = source(bytes, encoding);
          let unit = 0;
          for (const character of made.text) {
            const part = bytes.subarray(made.byteAt(unit), made.byteAt(unit + character.length));
            unit += character.length;
            if (encoding.startsWith("utf-16") && part.length === 2) continue;
            if (/[\ud800-\udfff]/u.test(character)) expect([...part]).toEqual([character.charCodeAt(0) - 0xdc00]);
            else expect(decode(part, encoding)).toEqual({ text: character, lossy: false });
          }
        }),
        { numRuns: 300 },
      );
    });
  }

  test.each(["utf-16le", "utf-16be"] as const)("%s: halves of pairs before an odd byte at the end", (encoding) => {
    const halves = encoding === "utf-16be" ? [0xd8, 0, 0xd8, 0] : [0, 0xd8, 0, 0xd8];
    const made = source(Uint8Array.from([...halves, 0]), encoding);
    expect(Array.from(made.text, (one) => one.charCodeAt(0) - 0xdc00)).toEqual([...halves, 0]);
    expect([0, 1, 2, 3, 4, 5].map((unit) => made.byteAt(unit))).toEqual([0, 1, 2, 3, 4, 5]);
  });

  for (const encoding of everyEncoding.filter((each) => each !== "iso-2022-jp")) {
    test(`${encoding}: what decodes is what Read shows, also behind what does not`, () => {
      fc.assert(
        fc.property(bytesLike(encoding), (bytes) => {
          // At the end of a file a decoder drops an incomplete character; the lines here end before that.
          const whole = Buffer.concat([bytes, bytesOf("\n\n", encoding)]);
          const oneLoss = (text: string): string => text.replace(/[\ud800-\udfff\ufffd]+/gu, "\ufffd");
          expect(oneLoss(source(whole, encoding).text)).toBe(oneLoss(decode(whole, encoding).text));
        }),
        { numRuns: 1_000 },
      );
    });
  }

  for (const encoding of ["utf-8", "utf-16le", "utf-32le", "gb18030"] as const) {
    test(`${encoding}: places far into a long text, asked for in any order`, () => {
      const text = "aé中😀\n".repeat(5_000);
      const made = source(bytesOf(text, encoding), encoding);
      expect(made.text).toBe(text);
      const lineBytes = bytesOf("aé中😀\n", encoding).length;
      for (const line of [4_999, 1, 2_500, 683, 0, 1_366, 4_000]) {
        expect(made.byteAt(line * 6)).toBe(line * lineBytes);
        expect(made.byteAt(line * 6 + 3)).toBe(line * lineBytes + bytesOf("aé中", encoding).length);
        expect(made.byteAt(line * 6 + 4)).toBe(made.byteAt(line * 6 + 3));
      }
    });
  }

  test("an escape far into a long text leads to its byte", () => {
    const bytes = Buffer.concat([Buffer.from("é😀".repeat(20_000)), latin1("\xff"), Buffer.from("é".repeat(9_000))]);
    const made = source(bytes, "utf-8");
    const unit = made.text.indexOf("\udcff");
    expect(made.byteAt(unit)).toBe(120_000);
    expect(made.byteAt(unit + 1)).toBe(120_001);
    expect(made.byteAt(unit + 5_001)).toBe(130_001);
  });
});

function bytesOf(text: string, encoding: EncodingName): Uint8Array {
  const result = encode(text, encoding);
  if ("lacks" in result) throw new Error(`${encoding} lacks ${result.lacks}`);
  return result.bytes;
}

/** Random bytes, random bytes typical of the encoding, and real text with a few broken bytes. */
function bytesLike(encoding: EncodingName): fc.Arbitrary<Uint8Array> {
  const likely = fc.oneof(
    fc.integer({ min: 0, max: 255 }),
    fc.constantFrom(
      0x0a,
      0x1b,
      0x24,
      0x28,
      0x30,
      0x39,
      0x41,
      0x42,
      0x81,
      0x84,
      0x8e,
      0x8f,
      0x90,
      0xa1,
      0xb0,
      0xd8,
      0xdc,
      0xe3,
    ),
  );
  const letters = fc.constantFrom(..."ab\né中テ가Ж😀".split(/(?:)/u));
  const broken = fc
    .tuple(fc.array(letters), fc.array(fc.tuple(fc.nat(), likely), { maxLength: 3 }))
    .map(([characters, breaks]) => {
      const bytes = Buffer.concat(
        characters.map((character) => {
          const result = encode(character, encoding);
          return "bytes" in result ? result.bytes : Buffer.alloc(0);
        }),
      );
      for (const [at, byte] of breaks) if (bytes.length > 0) bytes[at % bytes.length] = byte;
      return bytes;
    });
  return fc.oneof(
    fc.uint8Array(),
    fc.array(likely).map((all) => Uint8Array.from(all)),
    broken,
  );
}
