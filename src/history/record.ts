/**
 * Records as lines: `<checksum> <id> <json>`, each with a newline before it, so that a torn line ends where the next
 * begins. A line with a wrong checksum is ignored and reported; one that was cut short because its writer was killed is
 * only ignored.
 */

import { crc32 } from "node:zlib";
import type { ChangeRecord, FileVersion, HistoryRecord, RewindKind } from "../contract/history.ts";

// Checks the checksums of all lines in one pass over the bytes; a call for each line would cost more than reading the
// lines. The CRC-32 of the whole follows from those of its parts: appending `n` bytes multiplies it by x^8n, in the
// polynomial arithmetic of CRCs, and adds the CRC of the appended bytes. A damaged line, wherever it is, changes one
// side and not the other.

/** Digits of a checksum, at the beginning of a line. */
export const sumChars = 8;

const polynomial = 0xedb88320;
/** One, with the coefficient of x^0 in the highest bit, as in CRC-32. */
const one = 0x80000000;
const newline = 10;

/**
 * For lines `<checksum> <body>`; `text` is the decoded bytes. Also false if some line has another shape: then each line
 * must be checked by itself.
 */
export function areSumsRight(bytes: Buffer, text: string): boolean {
  const table = byteTable();
  const powers = new Map<number, number>();
  // If both lengths are equal, offsets are the same, and a string is faster to search.
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

/** Without a branch, which no processor could predict. */
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

/** Eight hex digits and a space. */
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

export interface Entry {
  /** Never used twice, so it identifies an entry that had to be written again. */
  readonly id: string;
  readonly record: HistoryRecord;
}

export interface DecodedLines {
  readonly entries: readonly Entry[];
  /** Offsets of damaged lines. */
  readonly damagedAt: readonly number[];
}

export function encodeEntry({ id, record }: Entry): string {
  const body = `${id} ${JSON.stringify(record)}`;
  return `\n${sumOf(body)} ${body}`;
}

/** Checks all checksums at once, and single lines only if that fails: most of the cost of listing a session. */
export function decodeLines(bytes: Buffer): DecodedLines {
  const text = bytes.toString("utf8");
  if (!areSumsRight(bytes, text)) return decodeOneByOne(bytes);
  const changeAt = writtenChanges(text);
  const entries: Entry[] = [];
  for (let from = 0; from < text.length; ) {
    const newline = text.indexOf("\n", from);
    const to = newline < 0 ? text.length : newline;
    if (to > from) {
      const idFrom = from + sumChars + 1;
      const idTo = text.indexOf(" ", idFrom);
      const record = changeAt(idTo + 1, to) ?? parsed(text.slice(idTo + 1, to));
      if (record === undefined) return decodeOneByOne(bytes);
      entries.push({ id: text.slice(idFrom, idTo), record });
    }
    from = to + 1;
  }
  return { entries, damagedAt: [] };
}

/** By bytes: a damaged line need not be text, and its offset is reported. */
function decodeOneByOne(bytes: Buffer): DecodedLines {
  const entries: Entry[] = [];
  const damagedAt: number[] = [];
  for (let from = 0; from < bytes.length; ) {
    const newline = bytes.indexOf(10, from);
    const to = newline < 0 ? bytes.length : newline;
    if (to > from) {
      const line = bytes.toString("utf8", from, to);
      const entry = decodeLine(line);
      if (entry !== undefined) entries.push(entry);
      else if (!isUnfinished(line, to)) damagedAt.push(from);
    }
    from = to + 1;
  }
  return { entries, damagedAt };
}

/** The smallest unit in which a system accepts written bytes; a kill leaves whole ones. */
const pageBytes = 4_096;

/**
 * Whether its writer was killed while writing it; then it was never acknowledged. A line that ends elsewhere, or is
 * whole, was damaged later.
 */
function isUnfinished(line: string, endByte: number): boolean {
  // A power cut leaves zeros in place of written bytes.
  if (endByte % pageBytes !== 0 || line.includes("\0")) return false;
  const [sum = "", id = "", ...rest] = line.split(" ");
  if (!/^[0-9a-f]*$/u.test(sum) || !/^[0-9a-z-]*$/u.test(id)) return false;
  try {
    JSON.parse(rest.join(" "));
    return false;
  } catch {
    return true;
  }
}

function decodeLine(line: string): Entry | undefined {
  const body = line.slice(sumChars + 1);
  if (line[sumChars] !== " " || line.slice(0, sumChars) !== sumOf(body)) return undefined;
  const space = body.indexOf(" ");
  const record = parsed(body.slice(space + 1));
  return record === undefined ? undefined : { id: body.slice(0, space), record };
}

function parsed(json: string): HistoryRecord | undefined {
  try {
    return recordOf(JSON.parse(json));
  } catch {
    return undefined;
  }
}

/** Of the bytes: a line that is no longer UTF-8 does not survive decoding. */
const sumOf = (body: string): string => crc32(body).toString(16).padStart(sumChars, "0");

/** The checksum proves that a record is whole, not that this version of the program understands it. */
function recordOf(value: unknown): HistoryRecord | undefined {
  if (!isObject(value)) return undefined;
  return isRecord(value) ? (value as unknown as HistoryRecord) : undefined; // every field that the program uses was checked
}

function isRecord(value: Record<string, unknown>): boolean {
  switch (value["type"]) {
    case "start":
      return (
        isText(value["session"]) && isText(value["dialect"]) && isTexts(value["roots"]) && isNumber(value["timeMs"])
      );
    case "turn":
      return isText(value["messageId"]) && isNumber(value["timeMs"]) && isRewinds(value["rewinds"]);
    case "change":
      return (
        isText(value["messageId"]) &&
        isText(value["path"]) &&
        isText(value["relative"]) &&
        isText(value["tool"]) &&
        isNumber(value["timeMs"]) &&
        isVersion(value["before"]) &&
        isVersion(value["after"])
      );
    case "after":
      return isText(value["of"]) && isVersion(value["after"]);
    case "void":
      return isText(value["of"]);
    case "base":
      return isTexts(value["absorbed"]) && isTexts(value["ids"]) && isTexts(value["pruned"]);
    default:
      return false;
  }
}

const rewindKinds: readonly unknown[] = ["rewind", "undo", "redo", "partial"] satisfies RewindKind[];

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;
const isText = (value: unknown): boolean => typeof value === "string";
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText);
const isNumber = (value: unknown): boolean => typeof value === "number" && Number.isFinite(value);
const isRewinds = (value: unknown): boolean =>
  value === undefined || (isObject(value) && isText(value["to"]) && rewindKinds.includes(value["as"]));

function isVersion(value: unknown): value is FileVersion {
  if (!isObject(value)) return false;
  if (value["kind"] === "absent") return true;
  const { content, mark, mode, links, sizeBytes } = value;
  return (
    value["kind"] === "file" &&
    isNumber(sizeBytes) &&
    (mode === undefined || isNumber(mode)) &&
    (links === undefined || isNumber(links)) &&
    (content === undefined || (typeof content === "string" && isContentId(content))) &&
    (mark === undefined || typeof mark === "string")
  );
}

/** It becomes part of a path. */
export const isContentId = (id: string): boolean => /^(?:[0-9a-f]{64}|inode(?:-[0-9a-f]{1,32}){4})$/u.test(id);

// Changes as text in a journal, parsed only when more than their message is needed. Listing turns needs no more, and
// parsing ten thousand changes would be most of its cost. Only lines of exactly the usual shape stay unparsed: every
// value in them was checked by that shape.

/** Without escapes, so that no decoding is needed. */
const string = String.raw`"[^"\\\x00-\x1f]*"`;
const count = String.raw`(?:0|[1-9]\d{0,14})`;
const mark = "inode(?:-[0-9a-f]{1,32}){4}";
const file = [
  `file","sizeBytes":${count}(?:,"mode":${count})?(?:,"links":${count})?`,
  `(?:,"mark":"${mark}")?(?:,"content":"(?:[0-9a-f]{64}|${mark})")?(?:,"notKept":"(?:secret|too large|failed)")?`,
].join("");
const version = String.raw`\{"kind":"(?:absent"|${file})\}`;
const [head, headEnd] = ['{"type":"change","messageId":"', '","path":'];
const shape = [
  String.raw`\{${head.slice(1, -1)}${string},"path":${string},"relative":${string},`,
  String.raw`"before":${version},"after":${version},"tool":${string},"timeMs":${count}\}`,
].join("");

/** Returns a reader of changes in a text: the one from `from` to `to`, or undefined if it has another shape. */
function writtenChanges(text: string): (from: number, to: number) => ChangeRecord | undefined {
  const usual = new RegExp(shape, "y");
  let [messageId, beginning] = ["", head + headEnd];
  return (from, to) => {
    usual.lastIndex = from;
    if (!usual.test(text) || usual.lastIndex !== to) return undefined;
    if (!text.startsWith(beginning, from)) {
      const start = from + head.length;
      messageId = text.slice(start, text.indexOf('"', start));
      beginning = head + messageId + headEnd;
    }
    return new WrittenChange(messageId, text, from, to);
  };
}

/** Has no own properties that a spread could copy: see `plainOf`. */
class WrittenChange implements ChangeRecord {
  readonly type = "change";
  readonly messageId: string;
  readonly #text: string;
  readonly #from: number;
  readonly #to: number;
  #plain: ChangeRecord | undefined;
  constructor(messageId: string, text: string, from: number, to: number) {
    this.messageId = messageId;
    this.#text = text;
    this.#from = from;
    this.#to = to;
  }
  /** Called by JSON.stringify, so that it is written as it was. */
  toJSON(): ChangeRecord {
    this.#plain ??= JSON.parse(this.#text.slice(this.#from, this.#to)) as ChangeRecord; // its shape was checked
    return this.#plain;
  }
  get path(): string {
    return this.toJSON().path;
  }
  get relative(): string {
    return this.toJSON().relative;
  }
  get before(): FileVersion {
    return this.toJSON().before;
  }
  get after(): FileVersion {
    return this.toJSON().after;
  }
  get tool(): string {
    return this.toJSON().tool;
  }
  get timeMs(): number {
    return this.toJSON().timeMs;
  }
}

/** The same as a plain object, for callers that copy it. */
export const plainOf = (change: ChangeRecord): ChangeRecord =>
  change instanceof WrittenChange ? change.toJSON() : change;
