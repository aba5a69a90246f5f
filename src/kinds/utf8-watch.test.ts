import { Buffer } from "node:buffer";
import { describe, expect, test } from "vitest";
import { startUtf8Watch } from "./utf8-watch.ts";

const none = new Uint8Array();
const french = "Le garçon naïf préfère la forêt.\nOù est passé l'été ?\n";

async function seen(bytes: Uint8Array, chunkBytes: number): Promise<string> {
  const watch = startUtf8Watch();
  for (let at = 0; at < bytes.length; at += chunkBytes) watch.see(bytes.subarray(at, at + chunkBytes));
  return watch.encoding(none);
}

describe("wherever the chunks are cut", () => {
  for (const chunkBytes of [1, 2, 3, 4, 5, 7, 1_000]) {
    test(`after ${chunkBytes} bytes UTF-8 is UTF-8`, async () => {
      expect(await seen(Buffer.from(`${french}漢字 😀😀 ä\n`), chunkBytes)).toBe("utf-8");
      expect(await seen(Buffer.from("plain\n"), chunkBytes)).toBe("utf-8");
      expect(await seen(none, chunkBytes)).toBe("utf-8");
    });
  }
});

describe("one line is enough", () => {
  // "Привет, как дела?" in windows-1251, at the very beginning of the second chunk, and cut in all its places
  const russian = Buffer.from("cff0e8e2e52c20eae0ea20e4e5ebe03f20d5eef0eef8ee2e0a", "hex");
  for (let before = 0; before <= russian.length; before += 1) {
    test(`of which ${before} bytes were in the chunk before`, async () => {
      const plain = Buffer.alloc(4_096 - before, "plain text\n");
      const bytes = Buffer.concat([plain.fill("\n", plain.length - 1), russian, Buffer.alloc(10_000, "plain text\n")]);
      expect(await seen(bytes, 4_096)).toBe("windows-1251");
    });
  }

  test("also a long one, in many chunks", async () => {
    const words = Buffer.concat([Buffer.alloc(50_000, "plain text "), Buffer.alloc(20_000, russian.subarray(0, -1))]);
    for (const chunkBytes of [100, 4_096, 16_384]) expect(await seen(words, chunkBytes)).toBe("windows-1251");
  });
});

test("much valid UTF-8 with some damage behind it stays UTF-8", async () => {
  const bytes = Buffer.concat([Buffer.from(french.repeat(1_000)), Buffer.from(french, "latin1")]);
  for (const chunkBytes of [1_000, 4_096, 1_048_576]) expect(await seen(bytes, chunkBytes)).toBe("utf-8");
});

test("windows-1252 is found behind any number of chunks that are ASCII", async () => {
  const bytes = Buffer.concat([Buffer.from("plain text\n".repeat(1_000)), Buffer.from(french, "latin1")]);
  for (const chunkBytes of [1_000, 4_096, 1_048_576]) expect(await seen(bytes, chunkBytes)).toBe("windows-1252");
});
