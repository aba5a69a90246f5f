/** A file's text with a map back to its bytes: even bytes that do not decode have a place in the text. */

import { Buffer, isAscii, isUtf8 } from "node:buffer";
import type { EncodingName } from "../contract/read.ts";
import { doubleByteStep, type Step, type Units, utf8Step, utf32Step } from "./encoding/encode.ts";
import { isDoubleByte, tableOf } from "./encoding/encode-tables.ts";
import { decode } from "./encoding/encoding.ts";
import { isInsidePair } from "./order.ts";

export interface SourceText {
  /** Without the BOM. A byte that does not decode is a lone low surrogate, U+DC00 + byte. */
  readonly text: string;
  readonly encoding: EncodingName;
  /** The offset in the file's bytes (BOM included) of a UTF-16 unit; inside a character, that of its start. */
  byteAt(unit: number): number;
}

/** `bytes`: the whole file, not copied; it MUST NOT change while the text is in use. */
export function sourceText(
  bytes: Uint8Array,
  form: { readonly encoding: EncodingName; readonly bomBytes: number },
): SourceText {
  const { encoding, bomBytes } = form;
  const body = bytes.subarray(bomBytes);
  const place = decodeWithOffsets(body, encoding);
  return {
    text: place.text,
    encoding,
    byteAt: (unit) => bomBytes + (unit >= place.text.length ? body.length : place.byteAt(Math.max(0, unit))),
  };
}

/** Without a BOM. `byteAt` is called only for units of the text. */
type TextWithOffsets = Pick<SourceText, "text" | "byteAt">;

function decodeWithOffsets(body: Uint8Array, encoding: EncodingName): TextWithOffsets {
  if (encoding === "utf-8") {
    if (isAscii(body))
      return { text: Buffer.from(body.buffer, body.byteOffset, body.length).toString("latin1"), byteAt: same };
    return isUtf8(body) ? withUtf8Offsets(decode(body, "utf-8").text, body.length) : decodeBySteps(body, utf8Step);
  }
  if (encoding === "utf-16le" || encoding === "utf-16be") return decodeUtf16(body, encoding);
  if (encoding === "utf-32le") return decodeBySteps(body, utf32Step("little"));
  if (encoding === "utf-32be") return decodeBySteps(body, utf32Step("big"));
  if (encoding === "iso-2022-jp") return { text: plainOf2022(body), byteAt: same };
  if (isDoubleByte(encoding) && !isAscii(body)) return decodeBySteps(body, doubleByteStep(encoding));
  const { text, lossy } = decode(body, encoding);
  if (!lossy) return { text, byteAt: same };
  const { singles } = tableOf(encoding);
  return { text: unitsOf(body, (byte) => escapedUnless(singles[byte] ?? -1, byte)), byteAt: same };
}

const same = (unit: number): number => unit;

const escapedUnless = (unit: number, byte: number): number => (unit < 0 ? 0xdc00 + byte : unit);

function unitsOf(body: Uint8Array, unitOf: (byte: number, at: number) => number): string {
  const units = Buffer.allocUnsafe(body.length * 2);
  for (let at = 0; at < body.length; at++) {
    const unit = unitOf(body[at] ?? 0, at);
    units[at * 2] = unit;
    units[at * 2 + 1] = unit >> 8;
  }
  return units.toString("utf16le");
}

/** Units between two places whose byte offset is known: each lookup scans at most one such block. */
const blockUnits = 1_024;

function withUtf8Offsets(text: string, sizeBytes: number): TextWithOffsets {
  if (text.length === sizeBytes) return { text, byteAt: same };
  const before = [0];
  const bytesBefore = (block: number): number => {
    for (let known = before.length; known <= block; known++) {
      const from = wholeAt(text, (known - 1) * blockUnits);
      const to = wholeAt(text, known * blockUnits);
      before.push((before[known - 1] ?? 0) + Buffer.byteLength(text.slice(from, to)));
    }
    return before[block] ?? 0;
  };
  /** The last lookup: the next one is mostly a little further on. */
  let last = { unit: 0, byte: 0 };
  return {
    text,
    byteAt: (unit) => {
      const block = Math.floor(unit / blockUnits);
      const from = wholeAt(text, block * blockUnits);
      const to = wholeAt(text, unit);
      const isNear = last.unit >= from && last.unit <= to;
      const known = isNear ? last : { unit: from, byte: bytesBefore(block) };
      last = { unit: to, byte: known.byte + Buffer.byteLength(text.slice(known.unit, to)) };
      return last.byte;
    },
  };
}

const wholeAt = (text: string, unit: number): number => (isInsidePair(text, unit) ? unit - 1 : unit);

/** A lone surrogate stays: it maps back to its two bytes. */
function decodeUtf16(body: Uint8Array, encoding: "utf-16le" | "utf-16be"): TextWithOffsets {
  const wholeBytes = body.length - (body.length % 2);
  const view = Buffer.from(body.buffer, body.byteOffset, wholeBytes);
  const whole = (encoding === "utf-16le" ? view : Buffer.from(view).swap16()).toString("utf16le");
  // An odd byte at the end, escaped as a low surrogate, must not form a pair with the unit before it.
  let headUnits = whole.length;
  if (wholeBytes < body.length) while ((whole.charCodeAt(headUnits - 1) & 0xfc00) === 0xd800) headUnits -= 1;
  const head = whole.slice(0, headUnits);
  const text = head + unitsOf(body.subarray(head.length * 2), (byte) => 0xdc00 + byte);
  return {
    text,
    byteAt: (unit) => (unit > head.length ? head.length + unit : wholeAt(head, unit) * 2),
  };
}

/** Decodes the bytes once, character by character, and one block again for each lookup. */
function decodeBySteps(body: Uint8Array, step: Step): TextWithOffsets {
  // No encoding has a character with more units than bytes.
  const units: Units = { bytes: Buffer.allocUnsafe(body.length * 2), length: 0 };
  /** By block: the byte offset and the first unit of the character that contains the block's first unit. */
  const byteMarks: number[] = [];
  const unitMarks: number[] = [];
  let nextMark = 0;
  for (let at = 0; at < body.length; ) {
    const unit = units.length;
    const size = step(body, at, units);
    for (; nextMark < units.length; nextMark += blockUnits) {
      byteMarks.push(at);
      unitMarks.push(unit);
    }
    at += size;
  }
  return {
    text: units.bytes.toString("utf16le", 0, units.length * 2),
    byteAt: (unit) => {
      const block = Math.floor(unit / blockUnits);
      const passed: Units = { bytes: Buffer.allocUnsafe(16), length: 0 };
      let at = byteMarks[block] ?? 0;
      let from = unitMarks[block] ?? 0;
      for (; at < body.length; passed.length = 0) {
        const size = step(body, at, passed);
        const escaped = passed.length === size && passed.bytes[1] === 0xdc;
        if (from + passed.length > unit) return escaped ? at + unit - from : at;
        at += size;
        from += passed.length;
      }
      return at;
    },
  };
}

/** ISO-2022-JP switches between character sets, so only ASCII can be edited here; all other bytes are escaped. */
function plainOf2022(body: Uint8Array): string {
  let set: "ascii" | "two bytes" | "other" = "ascii";
  let switchEnd = 0;
  return unitsOf(body, (byte, at) => {
    if (byte === 0x1b && (body[at + 1] === 0x28 || body[at + 1] === 0x24)) {
      set = body[at + 1] === 0x24 ? "two bytes" : body[at + 2] === 0x42 ? "ascii" : "other";
      switchEnd = at + 3;
    }
    // The decoder returns to ASCII at the end of a line, unless the set itself contains line endings.
    if (set === "two bytes" && (byte === 10 || byte === 13)) set = "ascii";
    const plain = set === "ascii" && at >= switchEnd && byte < 0x80 && !switches.has(byte);
    return plain ? byte : 0xdc00 + byte;
  });
}

/** Escape, and the two shifts that the decoder refuses. */
const switches: ReadonlySet<number> = new Set([0x0e, 0x0f, 0x1b]);
