/** Files of 10 MB and more that are not UTF-8 are edited like small ones: every byte outside the change stays. */

import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { createFilehand, type Reply, type Session } from "../../src/index.ts";

const root = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), "filehand-large-encodings-"));
afterAll(() => fs.rmSync(root, { recursive: true, force: true }));
const at = (name: string): string => path.join(root, name);

const session = (): Session => createFilehand({ roots: [root], ask: "yes", readFirst: false }).session();
const edit = (oldText: string, newText: string, editor = session()): Promise<Reply> =>
  editor.call("Edit", { file_path: "a.txt", old_string: oldText, new_string: newText });

/** A line over and over, at least so many bytes. */
const filler = (line: Buffer, bytes: number): Buffer =>
  Buffer.alloc(Math.ceil(bytes / line.length) * line.length, line);
const same = (actual: Buffer, expected: Buffer): boolean => Buffer.compare(actual, expected) === 0;

describe("a file of 10 MB", () => {
  for (const [encoding, line, place, oldText, newText, after] of [
    [
      "windows-1252",
      Buffer.from("Le gar\xe7on na\xeff pr\xe9f\xe8re la for\xeat.\n", "latin1"),
      Buffer.from("l'\xe9t\xe9 ici\n", "latin1"),
      "l'été ici",
      "déjà 5 €",
      Buffer.from("d\xe9j\xe0 5 \x80\n", "latin1"),
    ],
    [
      "shift_jis",
      // 日本語の表示 (its fourth character ends in the byte of a backslash)
      Buffer.from("93fa967b8cea82cc955c8ea60a", "hex"),
      Buffer.from("955c8ea620310a", "hex"),
      "表示 1",
      "表 2",
      Buffer.from("955c20320a", "hex"),
    ],
    [
      "gb18030",
      // 中文文本文件
      Buffer.from("d6d0cec4cec4b1becec4bcfe0a", "hex"),
      Buffer.from("bcfe20310a", "hex"),
      "件 1",
      "文 2",
      Buffer.from("cec420320a", "hex"),
    ],
  ] as const) {
    test(`in ${encoding}`, async () => {
      const rest = filler(line, 5_300_000);
      fs.writeFileSync(at("a.txt"), Buffer.concat([rest, place, rest]));
      const editor = session();
      const shown = await editor.call("Read", { file_path: "a.txt", offset: rest.length / line.length + 1, limit: 1 });
      expect(JSON.stringify(shown.content)).toContain(oldText);
      expect((await edit(oldText, newText, editor)).error).toBeUndefined();
      expect(same(fs.readFileSync(at("a.txt")), Buffer.concat([rest, after, rest]))).toBe(true);
    });
  }

  test("a byte that is no UTF-8 stays", async () => {
    const rest = filler(Buffer.from("größer und weiter\n"), 5_300_000);
    const broken = Buffer.from([0xff, 0x80, 10]);
    fs.writeFileSync(at("a.txt"), Buffer.concat([rest, broken, Buffer.from("hier é\n"), rest, broken]));
    expect((await edit("hier é", "dort ü")).error).toBeUndefined();
    const expected = Buffer.concat([rest, broken, Buffer.from("dort ü\n"), rest, broken]);
    expect(same(fs.readFileSync(at("a.txt")), expected)).toBe(true);
  });
});

// "Привет, как дела сегодня" in windows-1251
const russian = Buffer.from("cff0e8e2e5f22c20eae0ea20e4e5ebe020f1e5e3eee4edff0a", "hex");

describe("one line that is not UTF-8 tells the encoding wherever it stands", () => {
  const line = Buffer.from("abc def ghi jkl\n");
  for (const [size, bytes] of [
    ["3 MB", 1_572_864],
    ["40 MB", 20_971_520],
  ] as const) {
    // At the beginning of a chunk that is searched, and cut by one.
    for (const early of [0, 2]) {
      test(`in a file of ${size}, with ${early} bytes before a chunk's border`, async () => {
        const plain = filler(line, bytes);
        const content = Buffer.concat([plain.subarray(early), russian, plain, Buffer.from("the end\n")]);
        fs.writeFileSync(at("a.txt"), content);
        await new Promise((resolve) => setTimeout(resolve, 1_100)); // what was changed just now is held whatever its size
        expect((await edit("the end", "конец")).error).toBeUndefined();
        const after = Buffer.concat([content.subarray(0, -8), Buffer.from("eaeeede5f60a", "hex")]);
        expect(same(fs.readFileSync(at("a.txt")), after)).toBe(true);
      });
    }
  }
});

describe("a file too large to be held", () => {
  const ascii = filler(Buffer.from("plain text, as far as the first bytes tell\n"), 17_500_000);

  test("whose beginning is ASCII gets no island of UTF-8", async () => {
    const french = Buffer.from("Le gar\xe7on na\xeff pr\xe9f\xe8re la for\xeat.\n", "latin1");
    fs.writeFileSync(at("a.txt"), Buffer.concat([ascii, french, ascii, Buffer.from("here\n")]));
    expect((await edit("here", "là-bas")).error).toBeUndefined();
    expect((await edit("naïf", "rusé")).error).toBeUndefined();
    const sly = Buffer.from("Le gar\xe7on rus\xe9 pr\xe9f\xe8re la for\xeat.\n", "latin1");
    const expected = Buffer.concat([ascii, sly, ascii, Buffer.from("l\xe0-bas\n", "latin1")]);
    expect(same(fs.readFileSync(at("a.txt")), expected)).toBe(true);
    expect((await edit("rusé", "😀")).error?.code).toBe("ENCODING");
  });

  test("keeps its encoding when an edit takes away what told it", async () => {
    fs.writeFileSync(at("a.txt"), Buffer.concat([ascii, russian, ascii]));
    const editor = session();
    expect((await edit("Привет, как дела сегодня", "Да", editor)).error).toBeUndefined();
    expect((await edit("Да", "Нет", editor)).error).toBeUndefined();
    const expected = Buffer.concat([ascii, Buffer.from("cde5f20a", "hex"), ascii]);
    expect(same(fs.readFileSync(at("a.txt")), expected)).toBe(true);
  });

  test("and is UTF-8 further on is edited as that", async () => {
    fs.writeFileSync(at("a.txt"), Buffer.concat([ascii, Buffer.from("größer 漢字\n"), ascii]));
    expect((await edit("größer", "kühler")).error).toBeUndefined();
    expect(same(fs.readFileSync(at("a.txt")), Buffer.concat([ascii, Buffer.from("kühler 漢字\n"), ascii]))).toBe(true);
  });

  test("in an encoding whose characters share bytes is edited by whole characters", async () => {
    const japanese = filler(Buffer.from("93fa967b8cea82cc955c8ea60a", "hex"), 4_000);
    const content = Buffer.concat([ascii, japanese, Buffer.from("C:\\x\n"), ascii]);
    fs.writeFileSync(at("a.txt"), content);
    // The backslash is half of a character on every other line there.
    expect((await edit("\\", "/")).error).toBeUndefined();
    expect((await edit("/x", "表示")).error).toBeUndefined();
    const shown = Buffer.from("433a955c8ea60a", "hex");
    expect(same(fs.readFileSync(at("a.txt")), Buffer.concat([ascii, japanese, shown, ascii]))).toBe(true);
    expect((await edit("日本語", "x")).error?.code).toBe("AMBIGUOUS");
    expect((await edit("\\", "/")).error?.code).toBe("NO_MATCH");
    expect((await edit("C:表示", "😀")).error?.code).toBe("ENCODING");
    const everywhere = { file_path: "a.txt", old_string: "表", new_string: "x", replace_all: true };
    expect((await session().call("Edit", everywhere)).error).toBeUndefined();
    const replaced = Buffer.from(
      Buffer.concat([japanese, shown]).toString("latin1").replaceAll("\x95\\", "x"),
      "latin1",
    );
    expect(same(fs.readFileSync(at("a.txt")), Buffer.concat([ascii, replaced, ascii]))).toBe(true);
  });

  test("in such an encoding, on a line without an end, is refused and stays", async () => {
    const line = filler(Buffer.from("93fa967b8cea82cc955c8ea6", "hex"), 34_000_000);
    const lines = filler(Buffer.from("93fa967b8cea82cc955c8ea60a", "hex"), 100_000);
    fs.writeFileSync(at("a.txt"), Buffer.concat([lines, line, Buffer.from("end")]));
    expect((await edit("end", "x")).error?.code).toBe("TOO_LARGE");
    expect(fs.statSync(at("a.txt")).size).toBe(lines.length + line.length + 3);
  });
});

test("a file above 32 MB in UTF-16 is refused, and the refusal says what to do", async () => {
  const text = `\ufeffNEEDLE\n${"some line of a file\n".repeat(1_800_000)}`;
  fs.writeFileSync(at("a.txt"), Buffer.from(text, "utf16le"));
  const reply = await edit("NEEDLE", "x");
  expect(reply.error?.code).toBe("TOO_LARGE");
  expect(JSON.stringify(reply.content)).toContain("32 MB for a file in utf-16le");
  expect(JSON.stringify(reply.content)).toContain("convert it to UTF-8");
});
