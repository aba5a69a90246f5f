/** The tables of the legacy encodings, computed from `decode`: what Read shows and what Edit writes cannot differ. */

import type { EncodingName, LegacyEncodingName } from "../../contract/read.ts";
import { decode } from "./encoding.ts";

export type DoubleByteName = "gb18030" | "big5" | "shift_jis" | "euc-jp" | "euc-kr";

/** Encodings without state; ISO-2022-JP has state. */
export type TableName = Exclude<LegacyEncodingName, "iso-2022-jp">;

export function isDoubleByte(encoding: EncodingName): encoding is DoubleByteName {
  return ["gb18030", "big5", "shift_jis", "euc-jp", "euc-kr"].includes(encoding);
}

export interface CharacterTable {
  /** By byte: its UTF-16 unit, or -1 if it is no character alone. */
  readonly singles: Int32Array;
  /** By `lead << 8 | trail`: one unit, or two as `second << 16 | first`; or `notPair`, or `unassigned`. */
  readonly pairs: Uint32Array;
  /** EUC-JP after 0x8f, rows and columns from 0xa1: one unit each, or `lost`. */
  readonly triples: string;
  /** GB18030, the four-byte characters of the basic plane in order: one unit each. Those of other planes are computed. */
  readonly quads: string;
}

/** Two bytes that are no pair. */
export const notPair = 0;

export const unassigned = 0xffff_ffff;

/** What decoders return for invalid bytes. */
export const lost = "\ufffd";

const tables = new Map<TableName, CharacterTable>();

export function tableOf(encoding: TableName): CharacterTable {
  const known = tables.get(encoding);
  if (known !== undefined) return known;
  const singles = singlesOf(encoding);
  const made: CharacterTable = {
    singles,
    pairs: isDoubleByte(encoding) ? pairsOf(encoding, singles) : new Uint32Array(0),
    triples: encoding === "euc-jp" ? triplesOfEucJp() : "",
    quads: encoding === "gb18030" ? quadsOfGb18030() : "",
  };
  tables.set(encoding, made);
  return made;
}

function singlesOf(encoding: TableName): Int32Array {
  return Int32Array.from({ length: 256 }, (_, byte) => {
    const text = decode(Uint8Array.of(byte), encoding).text;
    return text === lost ? -1 : text.charCodeAt(0);
  });
}

/** The bytes of a pair in all of these encodings: the lead bytes, and the lowest trail byte. */
const [leadMin, leadMax, trailMin] = [0x81, 0xfe, 0x40];
const trails = 0xff - trailMin;

/** Decodes all pairs at once, each on a line of its own: no decoder takes a newline for a trail byte. */
function pairsOf(encoding: DoubleByteName, singles: Int32Array): Uint32Array {
  const lines = new Uint8Array((leadMax - leadMin + 1) * trails * 3);
  for (let at = 0; at < lines.length; at += 3) {
    lines[at] = leadMin + Math.floor(at / 3 / trails);
    lines[at + 1] = trailMin + ((at / 3) % trails);
    lines[at + 2] = 10;
  }
  const pairs = new Uint32Array(0x1_0000);
  for (const [line, text] of decode(lines, encoding).text.split("\n").entries()) {
    const lead = lines[line * 3] ?? 0;
    const trail = lines[line * 3 + 1] ?? 0;
    const twoSingles = text.charCodeAt(0) === singles[lead] && text.charCodeAt(1) === singles[trail];
    // In EUC-KR a lower trail byte is never part of the error: it can begin one of the added syllables.
    const together = encoding !== "euc-kr" || trail >= 0xa1;
    if (text === lost && together) pairs[(lead << 8) | trail] = unassigned;
    else if (text !== "" && !text.includes(lost) && !twoSingles) pairs[(lead << 8) | trail] = packed(text);
  }
  return pairs;
}

/** The second unit is for characters beyond the basic plane, and for letters that Unicode writes with a combining mark. */
const packed = (text: string): number => ((text.length > 1 ? text.charCodeAt(1) << 16 : 0) | text.charCodeAt(0)) >>> 0;

const eucRow = 94;

function triplesOfEucJp(): string {
  const lines = new Uint8Array(eucRow * eucRow * 4);
  for (let at = 0; at < lines.length; at += 4) {
    lines.set([0x8f, 0xa1 + Math.floor(at / 4 / eucRow), 0xa1 + ((at / 4) % eucRow), 10], at);
  }
  const texts = decode(lines, "euc-jp").text.split("\n").slice(0, -1);
  return texts.map((text) => (text.length === 1 ? text : lost)).join("");
}

/** The number of four-byte characters of the basic plane, and the index of U+10000 among all four-byte ones. */
export const quadsTotal = 39_420;
export const quadOfPlane1 = 189_000;

function quadsOfGb18030(): string {
  const bytes = new Uint8Array(quadsTotal * 4);
  for (let quad = 0; quad < quadsTotal; quad++) bytes.set(quadBytes(quad), quad * 4);
  return decode(bytes, "gb18030").text;
}

/** A number with digits of base 10, 126, 10, 126. */
function quadBytes(quad: number): readonly [number, number, number, number] {
  const third = Math.floor(quad / 10);
  const second = Math.floor(third / 126);
  return [0x81 + Math.floor(second / 10), 0x30 + (second % 10), 0x81 + (third % 126), 0x30 + (quad % 10)];
}

/** The bytes as one number, big-endian. */
export const packedQuad = (quad: number): number => {
  const [first, second, third, fourth] = quadBytes(quad);
  return first * 0x100_0000 + ((second << 16) | (third << 8) | fourth);
};

const encoders = new Map<TableName, ReadonlyMap<number, number>>();

/** By code point: the bytes as one number. Without the planes of GB18030 above the basic one. */
export function encoderOf(encoding: TableName): ReadonlyMap<number, number> {
  const known = encoders.get(encoding);
  if (known !== undefined) return known;
  const made = reversed(encoding, tableOf(encoding));
  encoders.set(encoding, made);
  return made;
}

/** If a character has several forms, the one that web encoders write. */
function reversed(encoding: TableName, table: CharacterTable): ReadonlyMap<number, number> {
  const bytesOf = new Map<number, number>();
  const add = (point: number, bytes: number): void => {
    if (point >= 0 && point !== 0xfffd && !bytesOf.has(point)) bytesOf.set(point, bytes);
  };
  for (let byte = 0; byte < 0x80; byte++) add(table.singles[byte] ?? -1, byte);
  if (encoding === "big5") for (const [point, pair] of big5Exceptions(table)) if (pair >= 0) add(point, pair);
  for (const part of ["usual", "rare"] as const) {
    for (let pair = leadMin << 8; pair < table.pairs.length; pair++) {
      const value = table.pairs[pair] ?? notPair;
      if (value === notPair || value === unassigned || isRare(encoding, pair >> 8) !== (part === "rare")) continue;
      add(pointOf(value), pair);
    }
  }
  for (let byte = 0x80; byte < 0x100; byte++) if (!isLead(table, byte)) add(table.singles[byte] ?? -1, byte);
  for (let at = 0; at < table.triples.length; at++) {
    add(table.triples.charCodeAt(at), 0x8f_0000 + ((0xa1 + Math.floor(at / eucRow)) << 8) + 0xa1 + (at % eucRow));
  }
  for (let quad = 0; quad < table.quads.length; quad++) {
    const point = table.quads.charCodeAt(quad);
    // The replacement character is an ordinary character here: this table has no gaps.
    if (point === 0xfffd) bytesOf.set(point, packedQuad(quad));
    else add(point, packedQuad(quad));
  }
  return bytesOf;
}

/** Duplicates in Shift_JIS, and the Hong Kong additions of Big5, which not every reader knows. */
function isRare(encoding: TableName, lead: number): boolean {
  if (encoding === "shift_jis") return lead >= 0xed && lead <= 0xef;
  return encoding === "big5" && lead < 0xa1;
}

/** For these six the Big5 of the web writes the last form, for all others the first. */
function big5Exceptions(table: CharacterTable): ReadonlyMap<number, number> {
  const characters = [0x2550, 0x255e, 0x2561, 0x256a, 0x5341, 0x5345];
  return new Map(characters.map((character) => [character, table.pairs.lastIndexOf(character)]));
}

/** -1: two characters that share one pair cannot be written one by one. */
function pointOf(value: number): number {
  if (value <= 0xffff) return value;
  const point = String.fromCharCode(value & 0xffff, value >>> 16).codePointAt(0) ?? -1;
  return point > 0xffff ? point : -1;
}

/** Such a byte is a character or a lead byte, depending on what follows (EUC-KR has some): not safe to write. */
function isLead(table: CharacterTable, byte: number): boolean {
  return table.pairs.subarray(byte << 8, (byte + 1) << 8).some((value) => value !== notPair && value !== unassigned);
}
