import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { EncodingName } from "../../contract/read.ts";
import { codePoints, cutChars, decode, decodeInPieces, highLines, isUtf8, looksBinary, sniff } from "./encoding.ts";

type UnicodeForm = "utf-8" | "utf-16le" | "utf-16be" | "utf-32le" | "utf-32be";
const forms: readonly UnicodeForm[] = ["utf-8", "utf-16le", "utf-16be", "utf-32le", "utf-32be"];

function encode(text: string, form: UnicodeForm): Uint8Array {
  if (form === "utf-8") return Buffer.from(text);
  if (form === "utf-16le") return Buffer.from(text, "utf16le");
  if (form === "utf-16be") return Buffer.from(text, "utf16le").swap16();
  const points = Array.from(text, (character) => character.codePointAt(0) ?? 0);
  const bytes = new DataView(new ArrayBuffer(points.length * 4));
  for (const [at, point] of points.entries()) bytes.setUint32(at * 4, point, form === "utf-32le");
  return new Uint8Array(bytes.buffer);
}

const latin1 = (text: string): Uint8Array => Buffer.from(text, "latin1");
const anyText = fc.string({ unit: "binary" });

describe("sniff", () => {
  for (const form of forms) {
    test(`a byte-order mark says ${form}`, () => {
      const head = encode("\ufeffa = 1\n", form);
      const unitBytes = form === "utf-8" ? 1 : form.startsWith("utf-16") ? 2 : 4;
      expect(sniff(head)).toEqual({ encoding: form, bomBytes: encode("\ufeff", form).length, unitBytes });
    });
  }

  for (const form of ["utf-16le", "utf-16be"] as const) {
    for (const [name, text] of [
      ["source text", 'const answer = 42;\r\nconsole.log("done");\r\n'],
      ["source text with Chinese comments", "// 打开文件之前，必须先检查它是否存在\nexport const a = 1;\n".repeat(3)],
      ["Russian", "Перед открытием файла нужно проверить, что он существует и доступен. ".repeat(2)],
      ["Chinese", "打开文件之前，必须先检查它是否存在，\n以及是否可以读取。一二三四五六七\n".repeat(3)],
      ["Japanese", "ファイルを開く前に、それが存在し、読み取れることを確認します。\n".repeat(4)],
      ["a terminal log", "\u001b[31mfailed\u001b[0m\n"],
      ["emoji", "All tests passed 🎉 and shipped 🚀\n"],
    ] as const) {
      test(`${name} in ${form} without a mark is text`, () => {
        expect(sniff(encode(text, form))).toEqual({ encoding: form, bomBytes: 0, unitBytes: 2 });
      });
    }

    test(`${form} is found when the sample ends inside a character`, () => {
      const bytes = encode("smile 🎉".repeat(2_000), form);
      for (const end of [64, 65, 66, 67, 8_191, 8_192, 8_193]) {
        expect(sniff(bytes.subarray(0, end))?.encoding).toBe(form);
      }
    });
  }

  for (const [name, bytes] of [
    ["nothing", []],
    ["ASCII", latin1("hello world\n")],
    ["UTF-8", Buffer.from("größe 中文 🎉")],
    ["six bytes", latin1("a\0b\0\n\0")],
    ["zeroes", new Uint8Array(4_096)],
    ["names between NULs", latin1("./a\0./b\0./c\0./d\0".repeat(50))],
    ["longer names between NULs", latin1("./src/ab.ts\0./src/cd.ts\0".repeat(50))],
    ["small numbers of 16 bits", Uint8Array.from({ length: 2_000 }, (_, at) => (at % 2 === 0 ? at % 64 : 0))],
    [
      "samples of sound",
      new Uint8Array(Int16Array.from({ length: 1_000 }, (_, at) => 3_000 * Math.sin(at / 9)).buffer),
    ],
    ["numbers of 32 bits", new Uint8Array(Uint32Array.from({ length: 500 }, (_, at) => 64 + at).buffer)],
    ["an ELF header", latin1("\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\x3e\0\x01\0\0\0")],
    ["a PNG header", latin1("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x10\0\0\0\x10\x08\x06\0\0\0")],
    ["a SQLite header", latin1("SQLite format 3\0\x10\0\x01\x01\0\x40\x20\x20\0\0\0\x0c\0\0\0\x07")],
  ] as const) {
    test(`${name}: no Unicode form`, () => expect(sniff(Uint8Array.from(bytes))).toBeUndefined());
  }

  test("random bytes are not taken for UTF-16", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 256, maxLength: 512 }), (bytes) => {
        fc.pre(new Set(bytes).size > 64 && bytes[0] !== 0xfe && bytes[0] !== 0xff && bytes[0] !== 0xef);
        expect(sniff(bytes)).toBeUndefined();
      }),
    );
  });
});

describe("isUtf8", () => {
  for (const [name, bytes, anywhere, complete] of [
    ["nothing", "", true, true],
    ["ASCII", "abc", true, true],
    ["a whole character", "\xc3\xa9", true, true],
    ["half a character", "a\xc3", true, false],
    ["three quarters of a character", "\xf0\x9f\x8e", true, false],
    ["a continuation alone", "\x80", false, false],
    ["three continuations", "\x80\x80\x80", false, false],
    ["an overlong beginning", "a\xe0\x80", false, false],
    ["the beginning of a surrogate", "a\xed\xa0", false, false],
    ["the beginning of more than Unicode has", "a\xf4\x90", false, false],
    ["a byte no character begins with", "a\xff", false, false],
    ["a bad byte before the end", "\xff a\xc3", false, false],
  ] as const) {
    test(`${name}: ${anywhere} in a sample, ${complete} in a whole file`, () => {
      expect(isUtf8(latin1(bytes), "anywhere")).toBe(anywhere);
      expect(isUtf8(latin1(bytes), "complete")).toBe(complete);
    });
  }

  test("every beginning of valid UTF-8 is valid as a sample", () => {
    fc.assert(
      fc.property(anyText, fc.nat(), (text, cut) => {
        const bytes = Buffer.from(text);
        expect(isUtf8(bytes.subarray(0, cut % (bytes.length + 1)), "anywhere")).toBe(true);
      }),
    );
  });
});

describe("looksBinary", () => {
  for (const [name, bytes, binary] of [
    ["an empty file", "", false],
    ["text", "a\tb\r\n\f", false],
    ["a NUL", "text\0", true],
    ["a NUL behind the sample", `${"x".repeat(100)}\0`, false],
    ["three controls in ten", "\x01\x02\x0eabcdefg", false],
    ["four controls in ten", "\x01\x02\x0e\x1fabcdef", true],
    ["legacy text", "caf\xe9 \x93quotes\x94", false],
  ] as const) {
    test(`${name}: ${binary}`, () => expect(looksBinary(latin1(bytes), 100)).toBe(binary));
  }
});

describe("decode", () => {
  for (const form of forms) {
    test(`every text comes back from ${form}`, () => {
      fc.assert(
        fc.property(anyText, (text) => {
          expect(decode(encode(text, form), form)).toEqual({ text, lossy: false });
        }),
      );
    });
  }

  const all: readonly EncodingName[] = [
    ...forms,
    "gb18030",
    "big5",
    "shift_jis",
    "euc-kr",
    "iso-2022-jp",
    "windows-1252",
  ];
  test("random bytes never throw", () => {
    fc.assert(fc.property(fc.uint8Array(), fc.constantFrom(...all), (bytes, encoding) => void decode(bytes, encoding)));
  });

  test("what is lost is what strict decoding refuses, also after an earlier failure", () => {
    for (const [encoding, bytes, text, lossy] of [
      ["utf-8", "a\xff", "a\ufffd", true],
      ["utf-8", "\xef\xbf\xbd", "\ufffd", false],
      ["utf-8", "\xef\xbb\xbfa", "\ufeffa", false],
      ["utf-16le", "\xff\xfea\0", "\ufeffa", false],
      ["utf-16le", "a\0b", "a\ufffd", true],
      ["utf-16le", "\x3d\xd8a\0", "\ufffda", true],
      ["utf-16be", "\0a", "a", false],
      ["utf-32le", "a\0\0\0\0\xd8\0\0", "a\ufffd", true],
      ["utf-32be", "\0\0\0a\0\x11\0\0", "a\ufffd", true],
      ["utf-32be", "\0\0\0a\0\0", "a\ufffd", true],
      ["gb18030", "\xc4\xe3\xff", "你\ufffd", true],
      ["gb18030", "\xc4\xe3", "你", false],
      ["shift_jis", "\x83e\x83X\x83g", "テスト", false],
      ["iso-2022-jp", "\x1b$B%F\x1b(B", "テ", false],
      ["euc-kr", "\xb0\xa1a\x8cc\xb9\xe6\xb0\xa2", "가a똠방각", false],
      ["euc-kr", "\x81A\xa0\xfe\xa1A\xc6R", "갂좤좥힣", false],
      ["euc-kr", "\xb0\xa1\xb0!", "가\ufffd!", true],
      ["koi8-r", "\xd4\xc5\xd3\xd4", "тест", false],
      ["windows-1252", "\x80\x93caf\xe9\x94\x9f", "€“café”Ÿ", false],
      ["windows-1252", "\xff\xfe", "ÿþ", false],
    ] as const) {
      expect(decode(latin1(bytes), encoding), `${encoding} ${bytes}`).toEqual({ text, lossy });
    }
  });

  test("a slice in the middle of a buffer is decoded by itself", () => {
    for (const form of forms) {
      const bytes = Buffer.concat([encode("x", form), encode("é🎉", form), encode("y", form)]);
      const margin = encode("x", form).length;
      expect(decode(bytes.subarray(margin, -margin), form).text).toBe("é🎉");
    }
  });
});

describe("cutChars", () => {
  for (const [text, charsMax, cut] of [
    ["abc", 3, "abc"],
    ["abc", 2, "ab"],
    ["a🎉b", 2, "a"],
    ["a🎉b", 3, "a🎉"],
    ["🎉", 1, ""],
    ["abc", 0, ""],
  ] as const) {
    test(`${text} in ${charsMax} is "${cut}"`, () => expect(cutChars(text, charsMax)).toBe(cut));
  }

  test("a cut is a beginning, as long as may be, and well formed", () => {
    fc.assert(
      fc.property(anyText, fc.nat({ max: 20 }), (text, charsMax) => {
        const cut = cutChars(text, charsMax);
        expect(text.startsWith(cut)).toBe(true);
        expect(cut).not.toMatch(/[\ud800-\udbff]$/);
        expect(cut.length).toBeLessThanOrEqual(charsMax);
        expect(cut.length).toBeGreaterThanOrEqual(Math.min(text.length, charsMax - 1));
      }),
    );
  });
});

test("code points are counted as iteration counts them", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: "grapheme-ascii" }), fc.string({ unit: "binary" })), (text) => {
      expect(codePoints(text)).toBe(Array.from(text).length);
    }),
  );
  expect(codePoints("a\ud83d")).toBe(2);
});

describe("highLines", () => {
  for (const [name, bytes, bytesMax, kept] of [
    ["only lines above ASCII stay", "a\n\xe9b\nc\n\xe8", 100, "\xe9b\n\xe8"],
    ["ASCII leaves nothing", "a\nb\n", 100, ""],
    ["a line that does not fit ends it", "\xe9\nab\xe9\n\xe9\n", 4, "\xe9\n"],
    ["a first line too long is cut from where it is above ASCII", "abcdef\xe9ghi\n", 3, "\xe9gh"],
    ["a line of the exact length fits", "ab\xe9\n", 4, "ab\xe9\n"],
  ] as const) {
    test(name, () => expect(Buffer.from(highLines(latin1(bytes), bytesMax)).toString("latin1")).toBe(kept));
  }
});

describe("bytes in pieces", () => {
  test.each([
    ["utf-8", Buffer.from("a😀é漢\xff b")],
    ["utf-8", Buffer.from("61f09f98f09f9880c3", "hex")],
    ["utf-16le", Buffer.from("a😀é漢 b", "utf16le")],
    ["windows-1252", Buffer.from("6180e420", "hex")],
    ["shift_jis", Buffer.from("82a0a682a282a46182", "hex")],
    ["euc-kr", Buffer.from("b0a120b3aa8141618142b0", "hex")],
    ["gb18030", Buffer.from("b0a1618130813020d6d0", "hex")],
    ["big5", Buffer.from("a4a4614120a4e5", "hex")],
    ["iso-2022-jp", Buffer.from("611b24424c3c45791b284262", "hex")],
  ] as const)("%s decodes alike wherever it is cut", (encoding, bytes) => {
    const whole = decode(bytes, encoding).text;
    for (let first = 0; first <= bytes.length; first += 1) {
      for (let second = first; second <= bytes.length; second += 1) {
        const next = decodeInPieces(encoding);
        const pieces = [
          next(bytes.subarray(0, first), false),
          next(bytes.subarray(first, second), false),
          next(bytes.subarray(second), true),
        ];
        expect(pieces.join("")).toBe(whole);
      }
    }
  });
});
