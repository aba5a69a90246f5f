import { Buffer } from "node:buffer";
import { expect, test } from "vitest";
import type { Target } from "../../contract/target.ts";
import type { Hit } from "../../disk/lines/find-in-file.ts";
import { sourceText } from "../../text/source.ts";
import { type Bytes, wholeCharacters } from "./edit-bytes.ts";

const target = { asked: "a.txt", real: "/a.txt" } as Target; // only handed on
const { signal } = new AbortController();

/** A file in memory that counts how much of it is read. */
function counting(bytes: Buffer): { readonly source: Bytes; readonly readBytes: () => number } {
  let read = 0;
  const source = {
    sizeBytes: bytes.length,
    read: async (from: number, to: number) => {
      read += to - from;
      return bytes.subarray(from, to);
    },
  };
  return { source, readBytes: () => read };
}

function placesOf(bytes: Buffer, needle: Buffer): { readonly hits: readonly Hit[]; readonly total: number } {
  const hits: Hit[] = [];
  for (let at = bytes.indexOf(needle); at !== -1; at = bytes.indexOf(needle, at + 1)) hits.push({ at, line: 1 });
  return { hits, total: hits.length };
}

// 表ソ: the second byte of both is a backslash.
const line = Buffer.from("955c835c5c615c", "hex");
const backslash = Buffer.from("\\");

for (const [what, bytes] of [
  ["short lines", Buffer.concat(Array.from({ length: 20_000 }, () => Buffer.concat([line, Buffer.from("\n")])))],
  ["one long line", Buffer.concat(Array.from({ length: 20_000 }, () => line))],
  ["a long line behind others", Buffer.concat([Buffer.from("a\nb\n"), Buffer.alloc(100_000, line)])],
] as const) {
  test(`in ${what} all characters are told, and nothing is read over and over`, async () => {
    const { source, readBytes } = counting(bytes);
    const found = placesOf(bytes, backslash);
    const whole = await wholeCharacters(found, 1, "shift_jis", source, target, { overlapping: true, signal });
    const decoded = sourceText(bytes, { encoding: "shift_jis", bomBytes: 0 });
    const expected = Array.from(decoded.text.matchAll(/\\/g), ({ index }) => decoded.byteAt(index));
    expect(whole.hits.map(({ at }) => at)).toEqual(expected);
    expect(readBytes()).toBeLessThan(bytes.length * 20);
  });
}

test("a search for many places can be cancelled", async () => {
  const bytes = Buffer.alloc(50_000, line);
  const cancelled = { overlapping: true, signal: AbortSignal.abort() };
  const work = wholeCharacters(placesOf(bytes, backslash), 1, "shift_jis", counting(bytes).source, target, cancelled);
  await expect(work).rejects.toThrow("aborted");
});
