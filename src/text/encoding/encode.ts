/** Encodes text. A character that the encoding lacks is reported, never replaced. */

import { Buffer } from "node:buffer";
import type { EncodingName, LegacyEncodingName } from "../../contract/read.ts";
import {
  type DoubleByteName,
  encoderOf,
  notPair,
  packedQuad,
  quadOfPlane1,
  quadsTotal,
  type TableName,
  tableOf,
  unassigned,
} from "./encode-tables.ts";

export type Encoded = { readonly bytes: Uint8Array } | { readonly lacks: string };

/** The bytes, or the first character that the encoding lacks. Adds no BOM. */
export function encode(text: string, encoding: EncodingName): Encoded {
  if (isUnicode(encoding)) return firstMatch(text, loneSurrogate) ?? { bytes: encodeUnicode(text, encoding) };
  if (encoding === "iso-2022-jp") return firstMatch(text, notPlain2022) ?? { bytes: Buffer.from(text, "latin1") };
  // Every table has these at their ASCII places; some have other control characters elsewhere.
  if (!/[^\t\n\r -~]/.test(text)) return { bytes: Buffer.from(text, "latin1") };
  return encodeByTable(text, encoding);
}

type UnicodeName = Exclude<EncodingName, LegacyEncodingName>;

const isUnicode = (encoding: EncodingName): encoding is UnicodeName => encoding.startsWith("utf-");

function encodeUnicode(text: string, encoding: UnicodeName): Uint8Array {
  switch (encoding) {
    case "utf-8":
      return Buffer.from(text, "utf8");
    case "utf-16le":
      return Buffer.from(text, "utf16le");
    case "utf-16be":
      return Buffer.from(text, "utf16le").swap16();
    case "utf-32le":
    case "utf-32be":
      return encodeUtf32(text, encoding === "utf-32le");
  }
}

/** With the flag `u` only a lone surrogate matches. */
const loneSurrogate = /[\ud800-\udfff]/u;

/** The meaning of a byte in ISO-2022-JP depends on the last escape before it; these three switch. */
const notPlain2022 = /[^\0-\x0d\x10-\x1a\x1c-\x7f]/u;

function firstMatch(text: string, pattern: RegExp): { readonly lacks: string } | undefined {
  const found = pattern.exec(text);
  return found === null ? undefined : { lacks: found[0] };
}

function encodeUtf32(text: string, littleEndian: boolean): Uint8Array {
  const words = new DataView(new ArrayBuffer(text.length * 4));
  let size = 0;
  for (const character of text) {
    words.setUint32(size, character.codePointAt(0) ?? 0, littleEndian);
    size += 4;
  }
  return new Uint8Array(words.buffer, 0, size);
}

function encodeByTable(text: string, encoding: TableName): Encoded {
  const table = encoderOf(encoding);
  const bytes = new Uint8Array(text.length * 4);
  let size = 0;
  for (const character of text) {
    const point = character.codePointAt(0) ?? 0;
    const counted = encoding === "gb18030" && point > 0xffff;
    const packed = counted ? packedQuad(quadOfPlane1 + point - 0x1_0000) : table.get(point);
    if (packed === undefined) return { lacks: character };
    // Only the first byte of a longer form is always above ASCII, so the magnitude tells the number of bytes.
    if (packed > 0xff_ffff) bytes[size++] = packed >>> 24;
    if (packed > 0xffff) bytes[size++] = packed >>> 16;
    if (packed > 0xff) bytes[size++] = packed >>> 8;
    bytes[size++] = packed;
  }
  return { bytes: bytes.slice(0, size) };
}

// Decoding bytes one character at a time: its length in bytes, and its UTF-16 units.

/** UTF-16 units written so far, two bytes each, little-endian. */
export interface Units {
  readonly bytes: Buffer;
  length: number;
}

/** Writes the character at `at` and returns its bytes. Only a byte that cannot be decoded becomes U+DC00 + byte. */
export type Step = (bytes: Uint8Array, at: number, units: Units) => number;

function put(units: Units, unit: number): void {
  units.bytes[units.length * 2] = unit;
  units.bytes[units.length * 2 + 1] = unit >> 8;
  units.length++;
}

function putPoint(units: Units, point: number): void {
  if (point > 0xffff) put(units, 0xd800 + ((point - 0x1_0000) >> 10));
  put(units, point > 0xffff ? 0xdc00 + (point & 0x3ff) : point);
}

/** Returns the number of bytes: fewer than `count` at the end of the file. */
function escape(bytes: Uint8Array, at: number, units: Units, count: number): number {
  const end = Math.min(bytes.length, at + count);
  for (let each = at; each < end; each++) put(units, 0xdc00 + (bytes[each] ?? 0));
  return end - at;
}

export const utf8Step: Step = (bytes, at, units) => {
  const lead = bytes[at] ?? 0;
  if (lead < 0x80) {
    put(units, lead);
    return 1;
  }
  const size = lead < 0xc2 || lead > 0xf4 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  let point = lead & (0x7f >> size);
  for (let next = 1; next < size; next++) {
    const byte = bytes[at + next] ?? 0;
    if (byte >> 6 !== 2) return escape(bytes, at, units, 1);
    point = (point << 6) | (byte & 0x3f);
  }
  const overlong = (size === 3 && point < 0x800) || (size === 4 && point < 0x1_0000);
  if (size === 0 || overlong || isSurrogate(point) || point > 0x10_ffff) return escape(bytes, at, units, 1);
  putPoint(units, point);
  return size;
};

const isSurrogate = (point: number): boolean => point >= 0xd800 && point <= 0xdfff;

export function utf32Step(order: "little" | "big"): Step {
  return (bytes, at, units) => {
    const [one, two, three, four] = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
    if (one === undefined || two === undefined || three === undefined || four === undefined) {
      return escape(bytes, at, units, 4);
    }
    const low = order === "little" ? one | (two << 8) | (three << 16) : four | (three << 8) | (two << 16);
    const point = low + (order === "little" ? four : one) * 0x100_0000;
    if (isSurrogate(point) || point > 0x10_ffff) return escape(bytes, at, units, 4);
    putPoint(units, point);
    return 4;
  };
}

/** An invalid sequence has the same length as in the decoder, so both continue at the same byte. */
export function doubleByteStep(encoding: DoubleByteName): Step {
  const { singles, pairs, triples, quads } = tableOf(encoding);
  return (bytes, at, units) => {
    const lead = bytes[at] ?? 0;
    const single = singles[lead] ?? -1;
    if (lead >= 0x80) {
      const pair = pairs[(lead << 8) | (bytes[at + 1] ?? 0)] ?? notPair;
      if (pair === unassigned) return escape(bytes, at, units, 2);
      if (pair !== notPair) {
        put(units, pair & 0xffff);
        if (pair > 0xffff) put(units, pair >>> 16);
        return 2;
      }
      if (quads !== "" && isQuad(bytes, at)) return quadStep(quads, bytes, at, units);
      if (triples !== "" && lead === 0x8f && isTriple(bytes, at)) return tripleStep(triples, bytes, at, units);
    }
    if (single < 0) return escape(bytes, at, units, 1);
    put(units, single);
    return 1;
  };
}

const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= 0x30 && byte <= 0x39;
const isLead = (byte: number | undefined): boolean => byte !== undefined && byte >= 0x81 && byte <= 0xfe;
const isKuten = (byte: number | undefined): boolean => byte !== undefined && byte >= 0xa1 && byte <= 0xfe;

const isQuad = (bytes: Uint8Array, at: number): boolean =>
  isLead(bytes[at]) && isDigit(bytes[at + 1]) && isLead(bytes[at + 2]) && isDigit(bytes[at + 3]);

function quadStep(quads: string, bytes: Uint8Array, at: number, units: Units): number {
  const places = ((bytes[at] ?? 0) - 0x81) * 10 + (bytes[at + 1] ?? 0) - 0x30;
  const quad = (places * 126 + (bytes[at + 2] ?? 0) - 0x81) * 10 + (bytes[at + 3] ?? 0) - 0x30;
  const point = quad < quadsTotal ? quads.charCodeAt(quad) : quad - quadOfPlane1 + 0x1_0000;
  if (point > 0x10_ffff || (quad >= quadsTotal && quad < quadOfPlane1)) return escape(bytes, at, units, 4);
  putPoint(units, point);
  return 4;
}

const isTriple = (bytes: Uint8Array, at: number): boolean => isKuten(bytes[at + 1]) && isKuten(bytes[at + 2]);

function tripleStep(triples: string, bytes: Uint8Array, at: number, units: Units): number {
  const unit = triples.charCodeAt(((bytes[at + 1] ?? 0) - 0xa1) * 94 + (bytes[at + 2] ?? 0) - 0xa1);
  if (unit === 0xfffd) return escape(bytes, at, units, 3);
  put(units, unit);
  return 3;
}
