import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { EncodingName } from "../../contract/read.ts";
import { tableOf } from "./encode-tables.ts";
import { encode } from "./encode.ts";
import { decode } from "./encoding.ts";

const unicode = ["utf-8", "utf-16le", "utf-16be", "utf-32le", "utf-32be"] as const;
const doubleByte = ["gb18030", "big5", "shift_jis", "euc-jp", "euc-kr"] as const;
const singleByte = [
  ...(["koi8-r", "koi8-u", "ibm866", "macintosh", "windows-874", "windows-1250", "windows-1251"] as const),
  ...(["windows-1252", "windows-1253", "windows-1254", "windows-1255", "windows-1256", "windows-1257"] as const),
  ...(["windows-1258", "iso-8859-2", "iso-8859-3", "iso-8859-4", "iso-8859-5", "iso-8859-6"] as const),
  ...(["iso-8859-7", "iso-8859-8", "iso-8859-10", "iso-8859-13", "iso-8859-14", "iso-8859-15"] as const),
];
const everyEncoding: readonly EncodingName[] = [...unicode, ...doubleByte, ...singleByte, "iso-2022-jp"];

/** The bytes as Latin-1, or the missing character. */
function encoded(text: string, encoding: EncodingName): string {
  const result = encode(text, encoding);
  return "bytes" in result ? Buffer.from(result.bytes).toString("latin1") : `lacks ${result.lacks}`;
}

describe("encode", () => {
  for (const [text, encoding, bytes] of [
    ["café €", "windows-1252", "caf\xe9 \x80"],
    ["\x81", "windows-1252", "\x81"],
    ["a 😀 b", "windows-1252", "lacks 😀"],
    ["Ж", "windows-1252", "lacks Ж"],
    ["тест", "koi8-r", "\xd4\xc5\xd3\xd4"],
    ["中文", "gb18030", "\xd6\xd0\xce\xc4"],
    ["€", "gb18030", "\xa2\xe3"],
    ["ü😀", "gb18030", "\xa8\xb9\x94\x39\xfc\x36"],
    ["é\u0080", "gb18030", "\xa8\xa6\x81\x30\x81\x30"],
    ["\ufffd\uffff", "gb18030", "\x84\x31\xa4\x37\x84\x31\xa4\x39"],
    ["\u{10ffff}", "gb18030", "\xe3\x32\x9a\x35"],
    ["テスト\\ｱ", "shift_jis", "\x83e\x83X\x83g\\\xb1"],
    ["∵≒纊", "shift_jis", "\x81\xe6\x81\xe0\xfa\x5c"],
    ["①", "shift_jis", "\x87\x40"],
    ["😀", "shift_jis", "lacks 😀"],
    ["¥", "shift_jis", "lacks ¥"],
    ["テｱ丂", "euc-jp", "\xa5\xc6\x8e\xb1\x8f\xb0\xa1"],
    ["中十卅", "big5", "\xa4\xa4\xa4\x51\xa4\xca"],
    ["가똠", "euc-kr", "\xb0\xa1\x8cc"],
    ["a\tb\n", "iso-2022-jp", "a\tb\n"],
    ["テ", "iso-2022-jp", "lacks テ"],
    ["\x1b", "iso-2022-jp", "lacks \x1b"],
    ["é😀", "utf-8", "\xc3\xa9\xf0\x9f\x98\x80"],
    ["─│", "utf-8", "\xe2\x94\x80\xe2\x94\x82"],
    ["a😀", "utf-16le", "a\0\x3d\xd8\x00\xde"],
    ["a😀", "utf-16be", "\0a\xd8\x3d\xde\x00"],
    ["a😀", "utf-32le", "a\0\0\0\x00\xf6\x01\0"],
    ["a😀", "utf-32be", "\0\0\0a\0\x01\xf6\x00"],
  ] as const) {
    test(`${JSON.stringify(text)} in ${encoding}`, () => expect(encoded(text, encoding)).toBe(bytes));
  }

  test("every encoding has ASCII and takes nothing for a lone surrogate", () => {
    for (const encoding of everyEncoding) {
      const result = encode("a = [1];\r\n\t~", encoding);
      expect("bytes" in result && decode(result.bytes, encoding)).toEqual({ text: "a = [1];\r\n\t~", lossy: false });
      for (const [text, lone] of [
        ["a\ud83d", "\ud83d"],
        ["\ude00", "\ude00"],
        ["\udc80b", "\udc80"],
        ["\ude00\ud83d", "\ude00"],
      ] as const) {
        expect(encode(text, encoding)).toEqual({ lacks: lone });
      }
      expect(encoded("", encoding)).toBe("");
    }
  });

  for (const encoding of unicode) {
    test(`every text comes back from ${encoding}`, () => {
      fc.assert(
        fc.property(fc.string({ unit: "binary" }), (text) => {
          const result = encode(text, encoding);
          expect("bytes" in result && decode(result.bytes, encoding)).toEqual({ text, lossy: false });
        }),
      );
    });
  }

  for (const encoding of [...doubleByte, ...singleByte]) {
    test(`every character that ${encoding} has comes back`, () => {
      const characters = charactersOf(encoding);
      expect(characters.length).toBeGreaterThan(150);
      const text = characters.join("\n");
      const result = encode(text, encoding);
      expect("lacks" in result && result.lacks).toBe(false);
      expect("bytes" in result && decode(result.bytes, encoding).text === text).toBe(true);
    });
  }

  for (const encoding of [...doubleByte, ...singleByte]) {
    test(`any text is either lacking in ${encoding} or comes back`, () => {
      fc.assert(
        fc.property(fc.string({ unit: fc.oneof(fc.constantFrom(...charactersOf(encoding)), anyUnit) }), (text) => {
          const result = encode(text, encoding);
          if ("lacks" in result) expect(text).toContain(result.lacks);
          else expect(decode(result.bytes, encoding)).toEqual({ text, lossy: false });
        }),
      );
    });
  }
});

const anyUnit = fc.string({ unit: "binary", minLength: 1, maxLength: 1 });

/** All decodable characters, except bytes that are a control character or a lead byte depending on what follows. */
function charactersOf(encoding: (typeof doubleByte)[number] | (typeof singleByte)[number]): readonly string[] {
  const { singles, pairs, triples, quads } = tableOf(encoding);
  const found = new Set<string>(triples + quads);
  const leads = new Set<number>();
  for (const [pair, value] of pairs.entries()) {
    if (value === 0 || value === 0xffff_ffff) continue;
    found.add(decode(Uint8Array.of(pair >> 8, pair & 0xff), encoding).text);
    leads.add(pair >> 8);
  }
  for (const [byte, unit] of singles.entries()) if (unit >= 0 && !leads.has(byte)) found.add(String.fromCharCode(unit));
  if (encoding === "gb18030") for (const text of ["😀", "\u{10000}", "\u{20000}", "\u{10ffff}"]) found.add(text);
  else found.delete("\ufffd");
  return [...found];
}
