/** Detects Unicode encodings and binary content, and decodes all encodings. `kinds/charset.ts` detects legacy ones. */

import { Buffer, isAscii as bufferIsAscii, isUtf8 as bufferIsUtf8 } from "node:buffer";
import { TextDecoder } from "node:util";
import type { EncodingName } from "../../contract/read.ts";

/** Detected from the first bytes of a file. */
export interface ByteForm {
  readonly encoding: EncodingName;
  readonly bomBytes: 0 | 2 | 3 | 4;
  readonly unitBytes: 1 | 2 | 4;
}

/** `undefined`: 8-bit text (or binary) without a BOM. */
export function sniff(head: Uint8Array): ByteForm | undefined {
  for (const { bom, form } of boms) if (bom.every((byte, at) => head[at] === byte)) return form;
  return utf16WithoutBom(head);
}

/** The form of UTF-16 or UTF-32 text without a BOM; undefined for other encodings. */
export function wideForm(encoding: EncodingName): ByteForm | undefined {
  const form = boms.find((known) => known.form.encoding === encoding)?.form;
  return form === undefined || form.unitBytes === 1 ? undefined : { ...form, bomBytes: 0 };
}

/** UTF-32LE comes before UTF-16LE, whose BOM is a prefix of it. */
const boms: readonly { readonly bom: readonly number[]; readonly form: ByteForm }[] = [
  { bom: [0xef, 0xbb, 0xbf], form: { encoding: "utf-8", bomBytes: 3, unitBytes: 1 } },
  { bom: [0xff, 0xfe, 0, 0], form: { encoding: "utf-32le", bomBytes: 4, unitBytes: 4 } },
  { bom: [0, 0, 0xfe, 0xff], form: { encoding: "utf-32be", bomBytes: 4, unitBytes: 4 } },
  { bom: [0xff, 0xfe], form: { encoding: "utf-16le", bomBytes: 2, unitBytes: 2 } },
  { bom: [0xfe, 0xff], form: { encoding: "utf-16be", bomBytes: 2, unitBytes: 2 } },
];

const utf16SampleBytes = 8_192;

/** Local: fewer bytes could be a length, a magic number, a flag. */
const utf16BytesMin = 8;

/** From this many units on, text that is mostly not ASCII can be distinguished from numbers. */
const utf16UnitsOfProof = 64;

/** Control characters that no text has (terminal logs have escapes), unassigned and private-use characters. */
const notText = /[\0-\x07\x0e-\x1a\x1c-\x1f\x7f-\x9f\p{Cn}\p{Co}\p{Cs}]/u;

function utf16WithoutBom(head: Uint8Array): ByteForm | undefined {
  const bytes = head.subarray(0, Math.min(head.length - (head.length % 2), utf16SampleBytes));
  if (bytes.length < utf16BytesMin || !bytes.includes(0)) return undefined;
  let nulsAtEven = 0;
  let nulsAtOdd = 0;
  for (let at = 0; at < bytes.length; at += 2) {
    if (bytes[at] === 0) nulsAtEven++;
    if (bytes[at + 1] === 0) nulsAtOdd++;
  }
  // Every newline, space and Latin letter has a NUL as its high byte. A few characters have one as the low byte, such
  // as the Chinese "one", so both byte orders may have to be tried.
  const little = isPlainUtf16(bytes, "utf-16le", nulsAtOdd);
  const big = isPlainUtf16(bytes, "utf-16be", nulsAtEven);
  if (!little && !big) return undefined;
  const encoding = little && (!big || nulsAtOdd > nulsAtEven) ? "utf-16le" : "utf-16be";
  return { encoding, bomBytes: 0, unitBytes: 2 };
}

/** `narrow`: the number of units with a NUL as their high byte. */
function isPlainUtf16(bytes: Uint8Array, encoding: "utf-16le" | "utf-16be", narrow: number): boolean {
  if (narrow === 0) return false;
  const littleEndian = encoding === "utf-16le" ? view(bytes) : Buffer.from(bytes).swap16();
  const text = dropHalfPair(littleEndian.toString("utf16le"));
  if (notText.test(text)) return false;

  const units = bytes.length / 2;
  if (narrow >= units * 0.7) return true;
  if (units < utf16UnitsOfProof || narrow < units * 0.02 || !/[ \n]/.test(text)) return false;
  // Two ASCII bytes are a Chinese character in UTF-16, so NUL-separated names ("./a\0./b\0") would pass as text. In
  // real Chinese, Japanese or Korean about half of the characters have a byte outside ASCII.
  let asciiPairs = 0;
  for (let at = 0; at < bytes.length; at += 2) {
    if (isPrintableAscii(bytes[at]) && isPrintableAscii(bytes[at + 1])) asciiPairs++;
  }
  return asciiPairs <= (units - narrow) * 0.6;
}

const isPrintableAscii = (byte: number | undefined): boolean => byte !== undefined && byte >= 0x20 && byte < 0x7f;

/** `anywhere`: the bytes may end inside a character, as those of a sample do. */
export function isUtf8(bytes: Uint8Array, ends: "anywhere" | "complete"): boolean {
  if (bufferIsUtf8(bytes)) return true;
  const unfinished = ends === "anywhere" ? unfinishedBytes(bytes) : 0;
  return unfinished > 0 && bufferIsUtf8(bytes.subarray(0, bytes.length - unfinished));
}

/** The number of bytes (0 to 3) at the end that are an incomplete UTF-8 character. */
export function unfinishedBytes(bytes: Uint8Array): number {
  for (let count = 1; count <= 3 && count <= bytes.length; count++) {
    const lead = bytes[bytes.length - count] ?? 0;
    if (lead >= 0x80 && lead < 0xc0) continue;
    const second = count > 1 ? bytes[bytes.length - count + 1] : undefined;
    return sequenceBytes(lead, second) > count ? count : 0;
  }
  return 0;
}

/** The length of the UTF-8 character that begins so; 0 if none does. The second byte shows overlong forms and surrogates. */
function sequenceBytes(lead: number, second: number | undefined): 0 | 1 | 2 | 3 | 4 {
  if (lead < 0x80) return 1;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  if (second !== undefined) {
    const from = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
    const last = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
    if (second < from || second > last) return 0;
  }
  return lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

const controlSampleBytes = 4_096;

/** MUST be called only if `sniff` found no Unicode encoding: UTF-16 and UTF-32 are full of NUL bytes. */
export function looksBinary(head: Uint8Array, nulSampleBytes: number): boolean {
  if (head.subarray(0, nulSampleBytes).includes(0)) return true;
  const sample = Buffer.from(head.buffer, head.byteOffset, Math.min(head.length, controlSampleBytes));
  // A regular expression is fast from its first use, a loop only when it is hot.
  const controls = sample.toString("latin1").match(/[\x00-\x08\x0e-\x1f]/g)?.length ?? 0;
  return controls > sample.length * 0.3;
}

export interface Decoded {
  readonly text: string;
  /** Some bytes could not be decoded and became U+FFFD. A U+FFFD in the file itself does not count. */
  readonly lossy: boolean;
}

/** Decodes a slice that begins and ends at a line boundary. Keeps a BOM: the caller removes its bytes. */
export function decode(bytes: Uint8Array, encoding: EncodingName): Decoded {
  if (encoding === "utf-8") {
    // Much source text is ASCII, and Latin-1 is copied 7 to 20 times faster than UTF-8 is decoded.
    if (bufferIsAscii(bytes)) return { text: view(bytes).toString("latin1"), lossy: false };
    return { text: view(bytes).toString("utf8"), lossy: !bufferIsUtf8(bytes) };
  }
  if (encoding === "utf-32le" || encoding === "utf-32be") return decodeUtf32(bytes, encoding === "utf-32le");
  if (encoding === "windows-1252") return { text: decodeWindows1252(bytes), lossy: false };
  return encoding === "euc-kr" ? decodeKorean(bytes) : decodeByTable(bytes, encoding);
}

/** Decodes pieces split anywhere (UTF-32: at four bytes). An incomplete character waits for the next piece. */
export function decodeInPieces(encoding: EncodingName): (bytes: Uint8Array, last: boolean) => string {
  if (encoding === "utf-32le" || encoding === "utf-32be" || encoding === "windows-1252") {
    return (bytes) => decode(bytes, encoding).text;
  }
  if (encoding === "euc-kr") {
    let waiting = Buffer.alloc(0);
    return (bytes, last) => {
      const all = waiting.length > 0 ? Buffer.concat([waiting, bytes]) : bytes;
      const end = last ? all.length : wholeKoreanBytes(all);
      waiting = Buffer.from(all.subarray(end));
      return decode(all.subarray(0, end), encoding).text;
    };
  }
  const decoder = new TextDecoder(encoding, { ignoreBOM: true });
  return (bytes, last) => decoder.decode(bytes, { stream: !last });
}

/** The length without an incomplete character at the end. */
function wholeKoreanBytes(bytes: Uint8Array): number {
  let at = 0;
  while (at < bytes.length) {
    const lead = bytes[at] ?? 0;
    const isLead = lead >= 0x81 && lead < 0xff;
    if (isLead && at + 1 === bytes.length) return at;
    const trail = bytes[at + 1] ?? 0;
    const isPair = isLead && (trail >= 0xa1 || addedSyllable(lead, trail) !== undefined);
    at += isPair ? 2 : 1;
  }
  return at;
}

function decodeByTable(bytes: Uint8Array, encoding: EncodingName): Decoded {
  try {
    return { text: decoderOf(encoding, "fatal").decode(bytes), lossy: false };
  } catch {
    return { text: decoderOf(encoding, "replace").decode(bytes), lossy: true };
  }
}

const decoders = new Map<string, TextDecoder>();

/** Decoders have no state between calls that do not stream, so one of each is enough. */
function decoderOf(encoding: EncodingName, onError: "fatal" | "replace"): TextDecoder {
  const key = `${encoding} ${onError}`;
  const known = decoders.get(key);
  if (known !== undefined) return known;
  const made = new TextDecoder(encoding, { fatal: onError === "fatal", ignoreBOM: true });
  decoders.set(key, made);
  return made;
}

/** The characters 0x80 to 0x9f of windows-1252; five are control characters, as on the web. */
const windows1252Block = "€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ";

/** Not `TextDecoder`: Node 20.18.3 to 24 decodes windows-1252 as Latin-1, with a control character for "€". */
function decodeWindows1252(bytes: Uint8Array): string {
  const text = view(bytes).toString("latin1");
  return text.replace(/[\x80-\x9f]/g, (control) => windows1252Block.charAt(control.charCodeAt(0) - 0x80));
}

/** Windows writes "EUC-KR" with 8,822 syllables more, which Node decodes to other characters without an error. */
function decodeKorean(bytes: Uint8Array): Decoded {
  let text = "";
  let lossy = false;
  let from = 0;
  const flush = (to: number): void => {
    const part = decodeByTable(bytes.subarray(from, to), "euc-kr");
    text += part.text;
    lossy ||= part.lossy;
  };
  for (let at = 0; at < bytes.length; at++) {
    const lead = bytes[at] ?? 0;
    const trail = bytes[at + 1] ?? 0;
    if (lead < 0x81 || lead === 0xff) continue;
    const added = lead < 0xa1 || trail < 0xa1 ? addedSyllable(lead, trail) : undefined;
    if (added !== undefined) {
      flush(at);
      text += added;
      from = at + 2;
    }
    if (added !== undefined || trail >= 0xa1) at++;
  }
  flush(bytes.length);
  return { text, lossy };
}

let addedSyllables: readonly string[] | undefined;
/** Trail bytes from and to, and the column of the first. */
const addedTrails = [[0x41, 0x5a, 0] as const, [0x61, 0x7a, 26] as const, [0x81, 0xfe, 52] as const];

/** The added syllables are in Unicode order: 178 for each lead byte, and 84 for those that the standard shares. */
function addedSyllable(lead: number, trail: number): string | undefined {
  addedSyllables ??= listAddedSyllables();
  const range = addedTrails.find(([from, to]) => trail >= from && trail <= to);
  if (range === undefined) return undefined;
  const column = trail - range[0] + range[2];
  return addedSyllables[lead < 0xa1 ? (lead - 0x81) * 178 + column : 32 * 178 + (lead - 0xa1) * 84 + column];
}

function listAddedSyllables(): readonly string[] {
  const pairs = Uint8Array.from({ length: 25 * 94 * 2 }, (_, at) =>
    at % 2 === 0 ? 0xb0 + Math.floor(at / 188) : 0xa1 + (((at - 1) / 2) % 94),
  );
  const standard = new Set(decodeByTable(pairs, "euc-kr").text);
  const all = Array.from({ length: 11_172 }, (_, at) => String.fromCharCode(0xac00 + at));
  return all.filter((syllable) => !standard.has(syllable));
}

function decodeUtf32(bytes: Uint8Array, littleEndian: boolean): Decoded {
  const words = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const whole = bytes.length - (bytes.length % 4);
  let text = "";
  let lossy = whole < bytes.length;
  for (let at = 0; at < whole; at += 4) {
    const point = words.getUint32(at, littleEndian);
    const valid = point < 0xd800 || (point > 0xdfff && point <= 0x10ffff);
    text += valid ? String.fromCodePoint(point) : "\ufffd";
    lossy ||= !valid;
  }
  return { text: whole < bytes.length ? `${text}\ufffd` : text, lossy };
}

/** Truncates to `charsMax` UTF-16 units; never splits a surrogate pair. */
export const cutChars = (text: string, charsMax: number): string =>
  text.length <= charsMax ? text : dropHalfPair(text.slice(0, Math.max(0, charsMax)));

function dropHalfPair(text: string): string {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff ? text.slice(0, -1) : text;
}

export function codePoints(text: string): number {
  // V8 stores ASCII and Latin-1 strings with one byte per character, so this test is free for them.
  if (!/[\ud800-\udbff]/.test(text)) return text.length;
  let count = 0;
  for (let at = 0; at < text.length; count++) at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  return count;
}

/** The lines with a byte above ASCII, at most `bytesMax` bytes: charset detectors guess far worse with the others. */
export function highLines(bytes: Uint8Array, bytesMax: number): Uint8Array {
  const kept: Uint8Array[] = [];
  let room = bytesMax;
  let lineStart = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (byte === 10) lineStart = at + 1;
    if (byte < 0x80) continue;
    const newline = bytes.indexOf(10, at);
    const lineEnd = newline < 0 ? bytes.length : newline + 1;
    if (lineEnd - lineStart > room) {
      if (kept.length === 0) kept.push(bytes.subarray(at, Math.min(lineEnd, at + room)));
      break;
    }
    kept.push(bytes.subarray(lineStart, lineEnd));
    room -= lineEnd - lineStart;
    lineStart = lineEnd;
    at = lineEnd - 1;
  }
  return Buffer.concat(kept);
}

/** Not a copy. */
const view = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
