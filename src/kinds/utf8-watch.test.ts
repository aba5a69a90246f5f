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

test("windows-1252 is found behind any number of chunks that are ASCII", async () => {
  const bytes = Buffer.concat([Buffer.from("plain text\n".repeat(1_000)), Buffer.from(french, "latin1")]);
  for (const chunkBytes of [1_000, 4_096, 1_048_576]) expect(await seen(bytes, chunkBytes)).toBe("windows-1252");
});
