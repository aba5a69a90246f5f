import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { noise, overlapping, patched, withEntryCount, zipOf } from "../../../test/samples/office.ts";
import { type OfficeFailure, Unreadable } from "./unreadable.ts";
import { openZip, type ZipLimits } from "./zip.ts";

const limits: ZipLimits = { entriesMax: 1_000, entryBytesMax: 4_194_304, totalBytesMax: 6_291_456, ratioMax: 200 };

async function readAll(
  bytes: Uint8Array,
  changed: Partial<ZipLimits> = {},
): Promise<Record<string, string> | OfficeFailure> {
  try {
    const zip = openZip(bytes, { ...limits, ...changed });
    const parts: Record<string, string> = {};
    for (const name of zip.names) parts[name] = Buffer.from(zip.read(name) ?? []).toString();
    return parts;
  } catch (error) {
    if (error instanceof Unreadable) return error.failure;
    throw error;
  }
}

describe("entries are read", () => {
  const long = noise(200_000);
  for (const level of [0, 6] as const) {
    test(`at level ${level}`, async () => {
      expect(await readAll(zipOf({ "a.xml": "<a/>", "long.xml": long, "empty.xml": "" }, level))).toEqual({
        "a.xml": "<a/>",
        "long.xml": long,
        "empty.xml": "",
      });
    });
  }

  test("in any letter case and with either slash", async () => {
    const zip = openZip(zipOf({ "Word\\Document.xml": "x" }), limits);
    expect([zip.has("word/document.xml"), zip.has("/WORD/document.XML"), zip.has("word")]).toEqual([true, true, false]);
  });

  test("behind a comment, also one that looks like an end", async () => {
    const zip = Buffer.from(zipOf({ a: "1" }));
    const comment = Buffer.concat([zip.subarray(-22), Buffer.from("comment")]);
    zip.writeUInt16LE(comment.length, zip.length - 2);
    expect(await readAll(Buffer.concat([zip, comment]))).toEqual({ a: "1" });
  });

  test("with sizes of 64 bits", async () => {
    expect(await readAll(zip64("hello"))).toEqual({ "a.xml": "hello" });
  });

  test("what is not there is undefined", async () => {
    expect(openZip(zipOf({ a: "1" }), limits).read("b")).toBe(undefined);
  });

  test("from the middle of a larger buffer", async () => {
    const zip = zipOf({ a: "1" });
    const around = Buffer.concat([Buffer.alloc(7), zip, Buffer.alloc(9)]);
    expect(await readAll(around.subarray(7, 7 + zip.length))).toEqual({ a: "1" });
  });
});

describe("what lies is refused", () => {
  const plain = zipOf({ "a.xml": noise(5_000) });
  for (const [name, bytes, kind] of [
    ["no zip", Buffer.from("hello"), "damaged"],
    ["a zip that is cut", plain.subarray(0, -30), "damaged"],
    ["bytes that are overlaid", overlapping(), "bomb"],
    ["a size that is too small", patched(plain, "a.xml", { bytes: 4_000 }), "bomb"],
    ["a size that is too large", patched(plain, "a.xml", { bytes: 6_000 }), "damaged"],
    ["a header that contradicts the directory", patched(plain, "a.xml", { bytes: 6_000 }, "directory"), "damaged"],
    ["more entries than there are", withEntryCount(plain, 2), "damaged"],
    ["more entries than allowed", withEntryCount(plain, 1_001), "bomb"],
    ["a part over the limit", zipOf({ a: noise(4_200_000) }), "too large"],
    ["parts over the limit together", zipOf({ a: noise(4_000_000), b: noise(4_000_000) }), "too large"],
    ["a part that grows too much", zipOf({ a: " ".repeat(2_000_000) }), "bomb"],
    ["another method", withField(plain, "a.xml", 10, 12), "damaged"],
    ["a wrong checksum", withField(plain, "a.xml", 16, 1), "damaged"],
    ["a password", withField(plain, "a.xml", 8, 1), "encrypted"],
    ["two entries of one name", zipOf({ "a.xml": "1", "A.xml": "2" }), "damaged"],
  ] as const) {
    test(name, async () => expect(await readAll(bytes)).toMatchObject({ kind }));
  }

  test("a small part may grow as it likes", async () => {
    expect(await readAll(zipOf({ a: " ".repeat(1_000_000) }))).toEqual({ a: " ".repeat(1_000_000) });
  });
});

test("no bytes and no change make it fail in another way", async () => {
  const zip = Buffer.from(zipOf({ "a.xml": "<a>hello</a>".repeat(20), b: "x" }));
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat(zip.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 }),
      async (changes) => {
        const copy = Buffer.from(zip);
        for (const [at, byte] of changes) copy[at] = byte;
        await readAll(copy);
      },
    ),
    { numRuns: 2_000 },
  );
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
      await readAll(Buffer.concat([bytes, zip.subarray(-22)]));
      await readAll(bytes);
    }),
  );
});

/** Sets a field of the directory, and the same field of the local header. */
function withField(zip: Uint8Array, name: string, offset: number, value: number): Uint8Array {
  const copy = Buffer.from(zip);
  copy.writeUInt16LE(value, copy.lastIndexOf(name) - 46 + offset);
  copy.writeUInt16LE(value, copy.indexOf(name) - 30 + offset - 2);
  return copy;
}

/** One stored entry, all its sizes and places in the fields for large zips. */
function zip64(content: string): Uint8Array {
  const plain = Buffer.from(zipOf({ "a.xml": content }, 0));
  const directoryAt = plain.readUInt32LE(plain.length - 6);
  const header = Buffer.from(plain.subarray(directoryAt, directoryAt + 46));
  header.writeUInt32LE(0xffffffff, 20);
  header.writeUInt32LE(0xffffffff, 24);
  header.writeUInt32LE(0xffffffff, 42);
  header.writeUInt16LE(28, 30);
  const extra = Buffer.alloc(28);
  extra.writeUInt16LE(1, 0);
  extra.writeUInt16LE(24, 2);
  extra.writeBigUInt64LE(BigInt(content.length), 4);
  extra.writeBigUInt64LE(BigInt(content.length), 12);
  const directory = Buffer.concat([header, Buffer.from("a.xml"), extra]);
  const largeEnd = Buffer.alloc(56);
  largeEnd.writeUInt32LE(0x06064b50, 0);
  largeEnd.writeBigUInt64LE(1n, 32);
  largeEnd.writeBigUInt64LE(BigInt(directory.length), 40);
  largeEnd.writeBigUInt64LE(BigInt(directoryAt), 48);
  const locator = Buffer.alloc(20);
  locator.writeUInt32LE(0x07064b50, 0);
  locator.writeBigUInt64LE(BigInt(directoryAt + directory.length), 8);
  const end = Buffer.from(plain.subarray(-22));
  end.writeUInt16LE(0xffff, 10);
  end.writeUInt32LE(0xffffffff, 12);
  end.writeUInt32LE(0xffffffff, 16);
  return Buffer.concat([plain.subarray(0, directoryAt), directory, largeEnd, locator, end]);
}
