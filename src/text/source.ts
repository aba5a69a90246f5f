/**
 * A file's text with the way back to its bytes. An edit is found in the text and made in the bytes, so whatever the text
 * cannot say, it must still hold the place of.
 */

import { Buffer, isAscii, isUtf8 } from "node:buffer";
import type { EncodingName } from "../contract/read.ts";
import { doubleByteStep, type Step, type Units, utf8Step, utf32Step } from "./encoding/encode.ts";
import { isDoubleByte, tableOf } from "./encoding/encode-tables.ts";
import { decode } from "./encoding/encoding.ts";

export interface SourceText {
  /** Without the BOM. A byte that does not decode stands as one lone low surrogate, U+DC00 + byte. */
  readonly text: string;
  readonly encoding: EncodingName;
  /**
   * The offset in the file's bytes (BOM included) of a UTF-16 unit of `text`; `text.length` gives the end. An offset
   * inside a character is the character's start.
   */
  byteAt(unit: number): number;
}

/** `bytes` are the whole file, kept and not copied: they must not change while the text is in use. */
export function sourceText(
  bytes: Uint8Array,
  form: { readonly encoding: EncodingName; readonly bomBytes: number },
): SourceText {
  const { encoding, bomBytes } = form;
  const body = bytes.subarray(bomBytes);
  const place = placed(body, encoding);
  return {
    text: place.text,
    encoding,
    byteAt: (unit) => bomBytes + (unit >= place.text.length ? body.length : place.byteAt(Math.max(0, unit))),
  };
}

/** As a source text, of bytes without a BOM and for units that are there. */
type Placed = Pick<SourceText, "text" | "byteAt">;

function placed(body: Uint8Array, encoding: EncodingName): Placed {
  switch (encoding) {
    case "utf-8":
      if (isAscii(body))
        return { text: Buffer.from(body.buffer, body.byteOffset, body.length).toString("latin1"), byteAt: same };
      return isUtf8(body) ? placedUtf8(decode(body, "utf-8").text, body.length) : walked(body, utf8Step);
    case "utf-16le":
    case "utf-16be":
      return placedUtf16(body, encoding);
    case "utf-32le":
      return walked(body, utf32Step("little"));
    case "utf-32be":
      return walked(body, utf32Step("big"));
    case "iso-2022-jp":
      return { text: plainOf2022(body), byteAt: same };
    default: {
      if (isDoubleByte(encoding) && !isAscii(body)) return walked(body, doubleByteStep(encoding));
      const { text, lossy } = decode(body, encoding);
      if (!lossy) return { text, byteAt: same };
      const { singles } = tableOf(encoding);
      return { text: unitsOf(body, (byte) => escapedUnless(singles[byte] ?? -1, byte)), byteAt: same };
    }
  }
}

const same = (unit: number): number => unit;

const escapedUnless = (unit: number, byte: number): number => (unit < 0 ? 0xdc00 + byte : unit);

/** A text of one unit for each byte. */
function unitsOf(body: Uint8Array, unitOf: (byte: number, at: number) => number): string {
  const units = Buffer.allocUnsafe(body.length * 2);
  for (let at = 0; at < body.length; at++) {
    const unit = unitOf(body[at] ?? 0, at);
    units[at * 2] = unit;
    units[at * 2 + 1] = unit >> 8;
  }
  return units.toString("utf16le");
}

/** Between two places whose bytes are known lie at most this many units, so that asking often stays cheap. */
const blockUnits = 1_024;

function placedUtf8(text: string, sizeBytes: number): Placed {
  if (text.length === sizeBytes) return { text, byteAt: same };
  /** The bytes before each block, as far as anyone has asked. */
  const before = [0];
  const bytesBefore = (block: number): number => {
    for (let known = before.length; known <= block; known++) {
      const from = wholeAt(text, (known - 1) * blockUnits);
      const to = wholeAt(text, known * blockUnits);
      before.push((before[known - 1] ?? 0) + Buffer.byteLength(text.slice(from, to)));
    }
    return before[block] ?? 0;
  };
  /** What was asked last: most often the next place is a little further on. */
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

/** The offset, or the one before it if a surrogate pair would be split. */
function wholeAt(text: string, unit: number): number {
  return isLow(text.charCodeAt(unit)) && isHigh(text.charCodeAt(unit - 1)) ? unit - 1 : unit;
}

const isHigh = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
const isLow = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;

/** A surrogate without its other half stays what it is: its place leads back to its two bytes. */
function placedUtf16(body: Uint8Array, encoding: "utf-16le" | "utf-16be"): Placed {
  const wholeBytes = body.length - (body.length % 2);
  const view = Buffer.from(body.buffer, body.byteOffset, wholeBytes);
  const whole = (encoding === "utf-16le" ? view : Buffer.from(view).swap16()).toString("utf16le");
  // An odd byte at the end must not become the other half of what stands before it, nor must what is escaped for that.
  let headUnits = whole.length;
  if (wholeBytes < body.length) while (isHigh(whole.charCodeAt(headUnits - 1))) headUnits -= 1;
  const head = whole.slice(0, headUnits);
  const text = head + unitsOf(body.subarray(head.length * 2), (byte) => 0xdc00 + byte);
  return {
    text,
    byteAt: (unit) => (unit > head.length ? head.length + unit : wholeAt(head, unit) * 2),
  };
}

/** Goes through the bytes once, character by character, and again over one block for each question. */
function walked(body: Uint8Array, step: Step): Placed {
  // No encoding has a character with more units than bytes.
  const units: Units = { bytes: Buffer.allocUnsafe(body.length * 2), length: 0 };
  /** The character that holds the first unit of each block: its byte, its first unit. */
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

/**
 * ISO-2022-JP switches between sets of characters: a text put into the middle would be read by the last switch before it.
 * Only what stands in ASCII is text here, all else is escaped byte by byte, so nothing but ASCII can be edited.
 */
function plainOf2022(body: Uint8Array): string {
  let set: "ascii" | "two bytes" | "other" = "ascii";
  let switchEnd = 0;
  return unitsOf(body, (byte, at) => {
    if (byte === 0x1b && (body[at + 1] === 0x28 || body[at + 1] === 0x24)) {
      set = body[at + 1] === 0x24 ? "two bytes" : body[at + 2] === 0x42 ? "ascii" : "other";
      switchEnd = at + 3;
    }
    // The decoder goes back to ASCII at the end of a line, unless the set is one that has line ends itself.
    if (set === "two bytes" && (byte === 10 || byte === 13)) set = "ascii";
    const plain = set === "ascii" && at >= switchEnd && byte < 0x80 && !switches.has(byte);
    return plain ? byte : 0xdc00 + byte;
  });
}

/** Escape, and the two shifts that the decoder refuses. */
const switches: ReadonlySet<number> = new Set([0x0e, 0x0f, 0x1b]);
