/**
 * Are the checksums of all lines right? One pass over all bytes tells, where a call for each line would cost more than
 * reading the lines does. What the CRC-32 of the whole must be follows from those of its parts: to append `n` bytes
 * multiplies it by x^8n, in the arithmetic of polynomials that a CRC is made of, and adds the CRC of what was appended.
 * A damaged line changes one side and not the other, wherever it is.
 */

import { crc32 } from "node:zlib";

/** Digits of a checksum, at the beginning of a line. */
export const sumChars = 8;

const polynomial = 0xedb88320;
/** One, with the coefficient of x^0 in the highest bit, as CRC-32 has it. */
const one = 0x80000000;
const newline = 10;

/**
 * Of lines `<checksum> <body>`; `text` is what the bytes say. False also if some line has no such shape: then each has to
 * be looked at by itself.
 */
export function areSumsRight(bytes: Buffer, text: string): boolean {
  const table = byteTable();
  const powers = new Map<number, number>();
  // A letter takes as many bytes or more: if the text is as long, each stands where its byte is, and a string is faster.
  const isByteByByte = text.length === bytes.length;
  let register = -1;
  for (let from = 0; from < bytes.length; ) {
    const next = isByteByByte ? text.indexOf("\n", from) : bytes.indexOf(newline, from);
    const to = next < 0 ? bytes.length : next;
    if (to > from) {
      const body = from + sumChars + 1;
      const sum = sumAt(bytes, from);
      if (sum === undefined || body > to) return false;
      for (let at = from; at < body; at += 1) register = step(table, register, bytes[at] ?? 0);
      const length = to - body;
      const power = powers.get(length) ?? powerFor(length);
      powers.set(length, power);
      register = ~(product(power, ~register) ^ sum);
    }
    if (next >= 0) register = step(table, register, newline);
    from = to + 1;
  }
  return ~register >>> 0 === crc32(bytes);
}

const step = (table: Int32Array, register: number, byte: number): number =>
  (table[(register ^ byte) & 255] ?? 0) ^ (register >>> 8);

function byteTable(): Int32Array {
  const table = new Int32Array(256);
  for (let byte = 0; byte < 256; byte += 1) {
    let value = byte;
    for (let bit = 0; bit < 8; bit += 1) value = timesX(value);
    table[byte] = value;
  }
  return table;
}

/** Without a branch, which no processor could foresee. */
const timesX = (value: number): number => (value >>> 1) ^ (polynomial & -(value & 1));

function product(a: number, b: number): number {
  let sum = 0;
  let shifted = b;
  for (let rest = a; rest !== 0; rest <<= 1) {
    sum ^= shifted & (rest >> 31);
    shifted = timesX(shifted);
  }
  return sum;
}

/** x^8n, by squaring. */
function powerFor(bytes: number): number {
  let [power, square] = [one | 0, one >>> 8];
  for (let rest = bytes; rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) power = product(power, square);
    square = product(square, square);
  }
  return power;
}

/** Eight digits as we write them, and a space. */
function sumAt(bytes: Buffer, from: number): number | undefined {
  let sum = 0;
  for (let at = from; at < from + sumChars; at += 1) {
    const code = bytes[at] ?? 0;
    const digit = code >= 48 && code <= 57 ? code - 48 : code >= 97 && code <= 102 ? code - 87 : -1;
    if (digit < 0) return undefined;
    sum = (sum << 4) | digit;
  }
  return bytes[from + sumChars] === 32 ? sum : undefined;
}
