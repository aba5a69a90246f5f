/** From text to the bytes of an encoding. What the encoding lacks is named and never replaced. */

import { Buffer } from "node:buffer";
import type { EncodingName } from "../contract/read.ts";
import { encoderOf, packedQuad, quadOfPlane1, type TableName } from "./encode-tables.ts";

export type Encoded = { readonly bytes: Uint8Array } | { readonly lacks: string };

/** The bytes of a text in an encoding, or the first character that the encoding does not have. No BOM is added. */
export function encode(text: string, encoding: EncodingName): Encoded {
  switch (encoding) {
    case "utf-8":
      return lacking(text, loneSurrogate) ?? { bytes: Buffer.from(text, "utf8") };
    case "utf-16le":
      return lacking(text, loneSurrogate) ?? { bytes: Buffer.from(text, "utf16le") };
    case "utf-16be":
      return lacking(text, loneSurrogate) ?? { bytes: Buffer.from(text, "utf16le").swap16() };
    case "utf-32le":
    case "utf-32be":
      return lacking(text, loneSurrogate) ?? { bytes: encodeUtf32(text, encoding === "utf-32le") };
    case "iso-2022-jp":
      return lacking(text, notPlain2022) ?? { bytes: Buffer.from(text, "latin1") };
    default:
      // Every table has these where ASCII has them; some have other controls elsewhere.
      if (!/[^\t\n\r -~]/.test(text)) return { bytes: Buffer.from(text, "latin1") };
      return encodeByTable(text, encoding);
  }
}

/** With the flag `u` a surrogate matches only if it has no other half. */
const loneSurrogate = /[\ud800-\udfff]/u;

/** What a character is in ISO-2022-JP depends on the last switch before it; these three switch. */
const notPlain2022 = /[^\0-\x0d\x10-\x1a\x1c-\x7f]/u;

function lacking(text: string, pattern: RegExp): { readonly lacks: string } | undefined {
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
    // Only the first byte of a longer form is above ASCII for certain, so the number tells how many there are.
    if (packed > 0xff_ffff) bytes[size++] = packed >>> 24;
    if (packed > 0xffff) bytes[size++] = packed >>> 16;
    if (packed > 0xff) bytes[size++] = packed >>> 8;
    bytes[size++] = packed;
  }
  return { bytes: bytes.slice(0, size) };
}
