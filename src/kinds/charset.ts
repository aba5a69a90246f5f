/** Guesses the encoding of 8-bit text. A detector proposes encodings, and a check of the decoded text decides. */

import { Buffer } from "node:buffer";
import { limits } from "../contract/limits.ts";
import type { EncodingName, LegacyEncodingName } from "../contract/read.ts";
import { timeSlices } from "../disk/disk.ts";
import { decode, highLines, isUtf8 } from "../text/text.ts";
import { hasFailed, runInWorker, packageFiles } from "./worker/host.ts";

/** Enough lines for any language. Detection takes 10 to 500 ms, in a worker. */
export const sampleBytesMax = 16_384;

/** With so few characters above ASCII, the commonest Western ones are taken at face value. */
const fewLettersMax = 3;
const commonestWestern = /[éèàçüöäßñïêâôîûœÉÜÖÄ’“”…–—«»°£€©]/;

/** Each sample MUST begin at the start of a line. "utf-8" if no encoding fits: the text then gets U+FFFD. */
export async function decideEncoding(samples: readonly Uint8Array[]): Promise<{ encoding: EncodingName }> {
  const sample = joinHighLines(samples);
  if (isUtf8(sample, "complete") || isDamagedUtf8(sample)) return { encoding: "utf-8" };

  // Western words with an accent or two also read as Mac Roman or another script, but hardly ever the reverse.
  const readsAsWestern = oddShare(sample, "windows-1252") === 0;
  // So few letters are no evidence for a detector: it may take "naïve" for Czech.
  const asWestern = decode(sample, "windows-1252").text;
  const highs = countOf(asWestern, high);
  if (readsAsWestern && highs <= fewLettersMax && countOf(asWestern, commonestWestern) === highs) {
    return { encoding: "windows-1252" };
  }
  let found: LegacyEncodingName | undefined;
  const slices = timeSlices();
  for (const encoding of await propose(sample)) {
    if (readsAsWestern && !isWindowsLatin(encoding)) continue;
    if (slices.isOver()) await slices.next();
    const odd = oddShare(sample, encoding);
    if (odd <= oddShareMax) found ??= encoding;
    if (odd > 0) continue;
    found = encoding;
    break;
  }
  if (found === undefined) return { encoding: "utf-8" };

  // Many encodings share "é" and "ü": if the text is the same in both, the commoner encoding is used.
  return { encoding: decode(sample, found).text === asWestern ? "windows-1252" : found };
}

function joinHighLines(samples: readonly Uint8Array[]): Uint8Array {
  const share = Math.floor(sampleBytesMax / Math.max(1, samples.length)) - 1;
  return Buffer.concat(
    samples.flatMap((sample) => {
      const lines = dropCutCharacter(highLines(dropCutCharacter(sample), share));
      return [lines.length > 0 ? lines : highLines(sample, share), Buffer.from("\n")];
    }),
  );
}

/** A character cut at the end of a sample would make the detector reject the right encoding. Small files are not cut. */
function dropCutCharacter(bytes: Uint8Array): Uint8Array {
  if (bytes.length < 4_096) return bytes;
  // No encoding has a byte below 0x30 inside a longer character, so bytes that end with one are complete.
  const tail = bytes.subarray(-1_024);
  const end = tail.findLastIndex((byte) => byte < 0x30) + 1;
  return end > 0 ? bytes.subarray(0, bytes.length - tail.length + end) : bytes;
}

/** Legacy text has valid UTF-8 sequences by chance, but fewer than invalid ones. */
function isDamagedUtf8(bytes: Uint8Array): boolean {
  const text = Buffer.from(bytes).toString("utf8");
  let sequences = 0;
  let invalid = 0;
  for (const character of text) {
    if (character === "\ufffd") invalid++;
    else if (character > "\x7f") sequences++;
  }
  return sequences > invalid;
}

async function propose(sample: Uint8Array): Promise<readonly LegacyEncodingName[]> {
  const found = await detect(sample);
  const names = found.map((encoding) => acceptedEncodings.get(encoding));
  return [...new Set([...names, "windows-1252" as const])].filter((name) => name !== undefined);
}

/** Detection is short, so it is not cancelled. */
const never = new AbortController().signal;

async function detect(bytes: Uint8Array): Promise<readonly string[]> {
  const files = packageFiles({ library: "jschardet" });
  if (files === undefined) return [];
  const task = { bytes, names: [...acceptedEncodings.keys()], ...files };
  const found = await runInWorker("encodings", task, { signal: never, msMax: limits.encodingMsMax });
  return hasFailed(found) ? [] : found;
}

/**
 * The encodings that we accept, by the detector's names (lower case), with our name after "=" if it differs. The detector also
 * knows MacIceland, hp-roman8, EBCDIC, Johab and others: files in a workspace practically never have them, but short texts are
 * easily taken for them.
 */
const acceptedEncodings = new Map(
  (
    "gb18030 big5 shift_jis cp932=shift_jis euc-jp euc-kr cp949=euc-kr koi8-r koi8-u ibm866 macroman=macintosh " +
    "cp874=windows-874 tis-620=windows-874 windows-1250 windows-1251 windows-1252 windows-1253 windows-1254 " +
    "windows-1255 windows-1256 windows-1257 cp1258=windows-1258 iso-8859-1=windows-1252 iso-8859-2 iso-8859-5 " +
    "iso-8859-6 iso-8859-7 iso-8859-8 iso-8859-9=windows-1254 iso8859-15=iso-8859-15"
  )
    .split(" ")
    .map((entry) => {
      const [name = "", ours = name] = entry.split("=");
      return [name, ours as LegacyEncodingName] as const; // from the list above
    }),
);

type Script =
  /** `latin` letters occur among ASCII letters, those of `other` scripts never do. */
  { readonly of: "latin" | "other"; readonly letters: RegExp; readonly lettersMin: number } | DoubleBytes;

interface DoubleBytes {
  readonly of: "double bytes";
  readonly leads: readonly ByteRange[];
  readonly trailMin: number;
  readonly singles?: ByteRange;
}

type ByteRange = readonly [first: number, last: number];

const latin = (letters: RegExp): Script => ({ of: "latin", letters, lettersMin: 0 });
/** A minimum of letters: any two bytes can be two Cyrillic letters. */
const other = (letters: RegExp): Script => ({ of: "other", letters, lettersMin: 4 });

const doubleBytes = (trailMin: number, ...leads: readonly ByteRange[]): DoubleBytes => ({
  of: "double bytes",
  leads,
  trailMin,
});

const westernLetters = /[ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜÝÞßàáâãäåæçèéêëìíîïðñòóôõöøùúûüýþŒœŠšŽžªº]/;
const western = latin(westernLetters);
const central = latin(/[ĄąĆćĘęŁłŃńÓóŚśŹźŻżÁáČčĎďÉéĚěÍíŇňŘřŠšŤťÚúŮůÝýŽžĽľĹĺŔŕÔôÄäŐőŰűÖöÜüĂăÂâÎîŞşŢţĐđßËëÇç]/);
const baltic = latin(/[ĄąČčĘęĖėĮįŠšŲųŪūŽžĀāĒēĢģĪīĶķĻļŅņŌōŖŗÕõÄäÖöÜüÓóĆćŁłŃńŚśŹźŻżÅåÉéß]/);
const turkish = latin(/[ÇçĞğİıÖöŞşÜüÂâÎîÛûÄäßÉé]/);
const vietnamese = latin(/[ĂăÂâĐđÊêÔôƠơƯưÀàÁáÈèÉéÍíÓóÙùÚú\p{Mn}]/u);
const cyrillic = other(/[А-яЁёЄєІіЇїҐґЎўЂђЈјЉљЊњЋћЏџ]/);
const greek = other(/[Ά-ώ]/);
const hebrew = other(/[\u05b0-\u05ea]/);
const arabic = other(/[\u060c-\u06d2]/);
const thai = other(/[\u0e01-\u0e5b]/);

const scripts: { readonly [Name in LegacyEncodingName]?: Script } = {
  "windows-1250": central,
  "windows-1251": cyrillic,
  "windows-1252": western,
  "windows-1253": greek,
  "windows-1254": turkish,
  "windows-1255": hebrew,
  "windows-1256": arabic,
  "windows-1257": baltic,
  "windows-1258": vietnamese,
  "windows-874": thai,
  "iso-8859-2": central,
  "iso-8859-5": cyrillic,
  "iso-8859-6": arabic,
  "iso-8859-7": greek,
  "iso-8859-8": hebrew,
  "iso-8859-15": western,
  "koi8-r": cyrillic,
  "koi8-u": cyrillic,
  ibm866: cyrillic,
  // One stray byte is more likely damage than Mac Roman.
  macintosh: { of: "latin", letters: westernLetters, lettersMin: 2 },
  gb18030: doubleBytes(0xa1, [0xa1, 0xa9], [0xb0, 0xd7]),
  big5: doubleBytes(0x40, [0xa1, 0xc6]),
  shift_jis: { ...doubleBytes(0x40, [0x81, 0x84], [0x88, 0x97]), singles: [0xa1, 0xdf] },
  "euc-jp": doubleBytes(0xa1, [0xa1, 0xa8], [0xb0, 0xcf]),
  "euc-kr": doubleBytes(0xa1, [0xa1, 0xa8], [0xb0, 0xc8]),
};

const signs = /[«»“”„‘’‚‹›–—…•·°§©®™€£№±×²³½¼¾µ¡¿†‡\u00a0\u00ad\u200e\u200f]/;

/** Signs that do not occur between two letters; there they are letters of another encoding ("by³y" is Polish "były"). */
const signInWord = /(?<=\p{L})[«»°§©®™€£№±×²³½¼¾µ¡¿†‡](?=\p{L})/gu;

/** The share of odd characters, among those above ASCII, that is accepted. */
const oddShareMax = 0.2;

const isWindowsLatin = (encoding: LegacyEncodingName): boolean =>
  scripts[encoding]?.of === "latin" && encoding !== "macintosh";

/** The share of characters, among those above ASCII, that are unlikely in this encoding; 1 if it is impossible. */
function oddShare(sample: Uint8Array, encoding: LegacyEncodingName): number {
  const script = scripts[encoding];
  const { text, lossy } = decode(sample, encoding);
  if (script === undefined || lossy || /[\x80-\x9f\p{Co}]/u.test(text)) return 1;
  if (script.of === "double bytes") return isCommonlyUsed(sample, script) ? 0 : 1;

  const letters = countOf(text, script.letters);
  if (letters < script.lettersMin) return 1;
  if (script.of === "latin") return oddOf(text, (word) => oddInLatinWord(word, script.letters));
  // In such text nearly all characters above ASCII are letters; of random bytes half are letters in these encodings.
  if (letters < countOf(text, high) * 0.8) return 1;
  return oddOf(text, (word) => oddInOtherWord(word, script.letters));
}

const high = /[^\0-\x7f]/;

function oddOf(text: string, oddInWord: (word: string) => number): number {
  let odd = text.match(signInWord)?.length ?? 0;
  for (const [word] of text.matchAll(/[\p{L}\p{M}]+/gu)) if (high.test(word)) odd += oddInWord(word);
  for (const [sign] of text.matchAll(/(?<![a-z])´|´(?![a-z])|[^\0-\x7f´\p{L}\p{M}]/gu)) if (!signs.test(sign)) odd++;
  return odd / Math.max(1, countOf(text, high));
}

function oddInLatinWord(word: string, letters: RegExp): number {
  const highs = countOf(word, high);
  // Accented letters occur among plain ones, except for words like "à" and listed letters ("äöüÄÖÜß").
  if (highs === word.length) return /^(?:[àáâéèêíóöúüåæøőýªº]|[äöüßåæø]+)$/i.test(word) ? 0 : highs;
  return Math.min(highs, highs - countOf(word, letters) + caseFaults(word));
}

function oddInOtherWord(word: string, letters: RegExp): number {
  const highs = countOf(word, high);
  return highs < word.length ? highs : Math.min(highs, highs - countOf(word, letters) + caseFaults(word));
}

/** Capitals after small letters: KOI8-R read as windows-1251 swaps the case, Mac text read as windows-1252 has "cafŽ". */
function caseFaults(word: string): number {
  const pairs = word.matchAll(/\p{Ll}(?=(\p{Lu}))/gu);
  return [...pairs].filter(([small, capital]) => high.test(`${small}${capital}`)).length;
}

/** Random bytes and wrong encodings give rare characters; how rare says nothing more (GB18030 and EUC-KR). */
function isCommonlyUsed(bytes: Uint8Array, { leads, trailMin, singles }: DoubleBytes): boolean {
  let common = 0;
  let pairs = 0;
  for (let at = 0; at < bytes.length; at++) {
    const lead = bytes[at] ?? 0;
    if (lead < 0x80 || (singles !== undefined && isWithin(lead, singles))) continue;
    pairs++;
    at++;
    if (leads.some((range) => isWithin(lead, range)) && (bytes[at] ?? 0xff) >= trailMin) common++;
  }
  return pairs > 0 && common >= pairs * (1 - oddShareMax);
}

const isWithin = (byte: number, [first, last]: ByteRange): boolean => byte >= first && byte <= last;

function countOf(text: string, characters: RegExp): number {
  let count = 0;
  for (const character of text) if (characters.test(character)) count++;
  return count;
}
