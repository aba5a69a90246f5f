/**
 * Reads the zip container of an office document. The directory is parsed here, because lenient readers ignore what matters:
 * wrong sizes, entries that share their bytes, two entries with one name. Nothing is inflated before its sizes have been
 * checked, and never more than declared.
 *
 * Node inflates, because it stops at a given size; fflate would stop only afterwards.
 */

import { Buffer } from "node:buffer";
import * as zlib from "node:zlib";
import { bomb, damaged, tooLarge, Unreadable } from "./unreadable.ts";

export interface ZipLimits {
  readonly entriesMax: number;
  readonly entryBytesMax: number;
  readonly totalBytesMax: number;
  /** Inflated to packed size, for entries of more than 1 MiB. */
  readonly ratioMax: number;
}

interface Entry {
  readonly name: string;
  readonly method: number;
  readonly crc: number;
  readonly packedBytes: number;
  readonly bytes: number;
  readonly headerAt: number;
  readonly streamed: boolean;
}

const ratioFreeBytes = 1_048_576;
const stored = 0;
const deflated = 8;

export function openZip(file: Uint8Array, limits: ZipLimits) {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  const directory = findDirectory(bytes);
  if (directory.entries > limits.entriesMax) throw bomb(`it has ${directory.entries} entries`);
  const entries = new Map<string, Entry>();
  for (const entry of readDirectory(bytes, directory)) {
    const key = keyOf(entry.name);
    if (entries.has(key)) throw damaged(`two entries are called "${entry.name}"`);
    entries.set(key, entry);
  }
  refuseOverlaps([...entries.values()], directory.at);

  let totalBytes = 0;
  return {
    /** From the directory, but in lower case and with `/`: office writers disagree on both. */
    names: entries.keys(),
    has: (name: string) => entries.has(keyOf(name)),
    read(name: string): Uint8Array | undefined {
      const entry = entries.get(keyOf(name));
      if (entry === undefined) return undefined;
      totalBytes += entry.bytes;
      checkSize(entry, totalBytes, limits);
      return inflate(entry, packedBytes(bytes, entry));
    },
  };
}

const keyOf = (name: string): string => name.replaceAll("\\", "/").replace(/^\/+/, "").toLowerCase();

interface Directory {
  readonly at: number;
  readonly end: number;
  readonly entries: number;
}

const endBytes = 22;
/** By the format: the length of the comment has 16 bits. */
const commentBytesMax = 65_535;

/** The last end record whose comment ends exactly at the end of the file; a comment may contain other records. */
function findDirectory(bytes: Buffer): Directory {
  const lowest = Math.max(0, bytes.length - endBytes - commentBytesMax);
  for (let at = bytes.length - endBytes; at >= lowest; at -= 1) {
    if (bytes[at] !== 0x50 || bytes.readUInt32LE(at) !== 0x06054b50) continue;
    if (at + endBytes + bytes.readUInt16LE(at + 20) !== bytes.length) continue;
    return checkedDirectory(endRecord(bytes, at), at);
  }
  throw damaged("the zip directory at its end is missing, as if the file were cut");
}

function endRecord(bytes: Buffer, at: number): Directory {
  const start = bytes.readUInt32LE(at + 16);
  const entries = bytes.readUInt16LE(at + 10);
  const large = start === 0xffffffff || entries === 0xffff;
  if (!large || at < 20 || bytes.readUInt32LE(at - 20) !== 0x07064b50) {
    return { at: start, end: start + bytes.readUInt32LE(at + 12), entries };
  }
  const largeAt = Number(bytes.readBigUInt64LE(at - 12));
  if (largeAt + 56 > at || bytes.readUInt32LE(largeAt) !== 0x06064b50) throw damaged("its zip64 end record is missing");
  const largeStart = Number(bytes.readBigUInt64LE(largeAt + 48));
  return {
    at: largeStart,
    end: largeStart + Number(bytes.readBigUInt64LE(largeAt + 40)),
    entries: Number(bytes.readBigUInt64LE(largeAt + 32)),
  };
}

function checkedDirectory(directory: Directory, endAt: number): Directory {
  if (directory.end > endAt) throw damaged("its zip directory lies beyond its end");
  return directory;
}

function* readDirectory(bytes: Buffer, directory: Directory): Generator<Entry> {
  let at = directory.at;
  for (let index = 0; index < directory.entries; index += 1) {
    if (at + 46 > directory.end || bytes.readUInt32LE(at) !== 0x02014b50) {
      throw damaged(`its zip directory ends after ${index} of ${directory.entries} entries`);
    }
    const nameEnd = at + 46 + bytes.readUInt16LE(at + 28);
    const extraEnd = nameEnd + bytes.readUInt16LE(at + 30);
    if (extraEnd > directory.end) throw damaged("its zip directory is cut");
    const flags = bytes.readUInt16LE(at + 8);
    if ((flags & 1) !== 0) throw new Unreadable({ kind: "encrypted" });
    yield {
      name: bytes.toString("utf8", at + 46, nameEnd),
      method: bytes.readUInt16LE(at + 10),
      crc: bytes.readUInt32LE(at + 16),
      streamed: (flags & 8) !== 0,
      ...largeSizes(bytes, nameEnd, extraEnd, {
        bytes: bytes.readUInt32LE(at + 24),
        packedBytes: bytes.readUInt32LE(at + 20),
        headerAt: bytes.readUInt32LE(at + 42),
      }),
    };
    at = extraEnd + bytes.readUInt16LE(at + 32);
  }
}

type Sizes = Pick<Entry, "bytes" | "packedBytes" | "headerAt">;

/** A field that is all ones is replaced by a 64-bit field, in this order, in the extra field with the id 1. */
function largeSizes(bytes: Buffer, from: number, to: number, short: Sizes): Sizes {
  const sizes = { ...short };
  for (let at = from; at + 4 <= to; at += 4 + bytes.readUInt16LE(at + 2)) {
    if (bytes.readUInt16LE(at) !== 1) continue;
    let fieldAt = at + 4;
    for (const field of ["bytes", "packedBytes", "headerAt"] as const) {
      if (short[field] !== 0xffffffff || fieldAt + 8 > to) continue;
      sizes[field] = Number(bytes.readBigUInt64LE(fieldAt));
      fieldAt += 8;
    }
  }
  return sizes;
}

/** Entries that share bytes let a small zip expand to petabytes. */
function refuseOverlaps(entries: readonly Entry[], directoryAt: number): void {
  const byPlace = entries.toSorted((one, other) => one.headerAt - other.headerAt);
  for (const [index, entry] of byPlace.entries()) {
    const next = byPlace[index + 1]?.headerAt ?? directoryAt;
    if (entry.headerAt + localHeaderBytes + entry.packedBytes > next) {
      throw bomb(`the entry "${entry.name}" overlaps what follows it`);
    }
  }
}

const localHeaderBytes = 30;

function checkSize(entry: Entry, totalBytes: number, limits: ZipLimits): void {
  const { name, bytes, packedBytes } = entry;
  if (bytes > ratioFreeBytes && bytes > packedBytes * limits.ratioMax) {
    throw bomb(`"${name}" would grow from ${packedBytes} to ${bytes} bytes`);
  }
  if (bytes > limits.entryBytesMax)
    throw tooLarge(`"${name}" has ${bytes} bytes, the limit is ${limits.entryBytesMax}`);
  if (totalBytes > limits.totalBytesMax) throw tooLarge(`its parts have more than ${limits.totalBytesMax} bytes`);
}

/** The entry's bytes in the file. The local header MUST agree with the directory: readers differ in which one they use. */
function packedBytes(bytes: Buffer, entry: Entry): Buffer {
  const at = entry.headerAt;
  if (at + localHeaderBytes > bytes.length || bytes.readUInt32LE(at) !== 0x04034b50) {
    throw damaged(`the entry "${entry.name}" is not where the zip directory says`);
  }
  const nameEnd = at + localHeaderBytes + bytes.readUInt16LE(at + 26);
  const start = nameEnd + bytes.readUInt16LE(at + 28);
  const end = start + entry.packedBytes;
  const sizeIs = (fieldAt: number, size: number): boolean => {
    const field = bytes.readUInt32LE(fieldAt);
    // A streamed entry has its sizes after the data, and 64-bit sizes are elsewhere.
    return field === size || field === 0xffffffff || (entry.streamed && field === 0);
  };
  const agrees =
    bytes.toString("utf8", at + localHeaderBytes, nameEnd) === entry.name &&
    bytes.readUInt16LE(at + 8) === entry.method &&
    sizeIs(at + 18, entry.packedBytes) &&
    sizeIs(at + 22, entry.bytes);
  if (!agrees) throw damaged(`the entry "${entry.name}" and the zip directory contradict each other`);
  if (end > bytes.length) throw damaged(`the entry "${entry.name}" is cut`);
  return bytes.subarray(start, end);
}

function inflate(entry: Entry, packed: Buffer): Uint8Array {
  const bytes = entry.method === stored ? packed : inflateDeflated(entry, packed);
  if (bytes.length !== entry.bytes) throw damaged(`"${entry.name}" has another size than the zip directory says`);
  if (zlib.crc32(bytes) !== entry.crc) throw damaged(`the checksum of "${entry.name}" is wrong`);
  return bytes;
}

function inflateDeflated(entry: Entry, packed: Buffer): Uint8Array {
  if (entry.method !== deflated) throw damaged(`"${entry.name}" is packed with method ${entry.method}`);
  try {
    // In one piece: joining pieces would need the memory twice.
    const chunkSize = Math.max(64, entry.bytes + 1);
    return zlib.inflateRawSync(packed, { maxOutputLength: Math.max(1, entry.bytes), chunkSize });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ERR_BUFFER_TOO_LARGE") throw bomb(`"${entry.name}" holds more than the zip directory says`);
    if (typeof code === "string" && code.startsWith("Z_")) throw damaged(`"${entry.name}" cannot be inflated`);
    throw error;
  }
}
