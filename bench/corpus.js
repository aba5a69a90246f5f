/**
 * Files to read, made from a fixed seed. Every line follows from its number, so what a method must answer is known
 * without reading the file. Lines of large files grow shorter up to the middle and stay short: guessing a place by the
 * average length of a line fails, and 2,000 lines of the second half fit into the caps that tools have.
 */

import { closeSync, existsSync, mkdirSync, openSync, readFileSync, renameSync } from "node:fs";
import { statfsSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { showSize } from "./units.js";

export const folder = fileURLToPath(new URL("../.bench/files", import.meta.url));

/** Part of every file's name: another recipe makes another file. */
const recipe = 5;

/** @typedef {{ readonly from: number, readonly count: number, readonly fromByte: number, readonly toByte: number }} Span */

/**
 * @typedef {object} Corpus
 * @property {string} path
 * @property {number} bytes
 * @property {number} lines
 * @property {Span} all
 * @property {Span} deep    20 lines at nine tenths of the file
 * @property {Span} second  2,000 lines at six tenths
 * @property {Span} last    the last 2,000 lines, or all if there are fewer
 * @property {(span: Span) => string[]} linesOf
 * @property {(span: Span, count: number) => Span[]} pagesFrom  this one and those that follow it, as far as the file goes
 */

/** @typedef {{ readonly tile: string, readonly charsAt: (share: number) => number }} Shape */

const words =
  "const value = await source.read(buffer, offset) if (found === undefined) return limits.pageLinesMax for (let index = 0; index < lines.length; index += 1) { yield take(lines[index]) } ";
const foreign = ["größe", "naïve", "日本語", "→", "файл", "“x”", "…"];

/** @type {{ readonly source: Shape, readonly log: Shape, readonly large: Shape }} */
const shapes = {
  source: { tile: tileOf(words, foreign), charsAt: () => 21 },
  log: { tile: tileOf("GET /api/items/4711 200 in 12 ms, cache hit; ", []), charsAt: () => 22 },
  large: { tile: tileOf(words, foreign), charsAt: (share) => Math.max(19, 119 - 200 * share) },
};

/**
 * A short file of 2,000 lines, about 24 bytes each: below 51,200 bytes, the page of several tools.
 * @param {"source" | "log"} kind
 */
export function smallCorpus(kind) {
  return corpus(`${kind}-2000`, shapes[kind], 2000);
}

/** Another file of the same shape, large enough to be read by the same way, for calls that warm up the code but know nothing of the file to be measured. */
export const warmUpCorpus = () => corpus("warm-up-20MB", shapes.large, Math.round(20e6 / bytesPerLarge));

/**
 * @param {number} bytes
 * @returns {Corpus | { readonly skipped: string }}
 */
export function largeCorpus(bytes) {
  const name = `large-${showSize(bytes).replace(" ", "")}`;
  mkdirSync(folder, { recursive: true });
  const { bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  if (!existsSync(metaPath(name)) && free < bytes * 1.1 + 1e9) {
    return { skipped: `only ${showSize(Math.floor(free / 1e8) * 1e8)} of disk are free` };
  }
  return corpus(name, shapes.large, Math.round(bytes / bytesPerLarge));
}

/** Measured on the recipe, and a little more: files stay just below their names, where some tools draw their lines. */
const bytesPerLarge = 47.7;

/** @param {string} name */
const metaPath = (name) => join(folder, `${name}-${recipe}.json`);

/**
 * @param {string} name
 * @param {Shape} shape
 * @param {number} lines
 * @returns {Corpus}
 */
function corpus(name, shape, lines) {
  const path = join(folder, `${name}-${recipe}.txt`);
  if (!existsSync(metaPath(name))) {
    mkdirSync(folder, { recursive: true });
    if (lines > 1e6) process.stderr.write(`making ${path}\n`);
    const temporary = `${path}.${process.pid}`;
    const meta = write(temporary, shape, lines);
    renameSync(temporary, path);
    writeFileSync(metaPath(name), JSON.stringify(meta));
  }
  const meta = JSON.parse(readFileSync(metaPath(name), "utf8"));
  const linesOf = (/** @type {Span} */ { from, count }) =>
    Array.from({ length: count }, (_, index) => lineAt(shape, from + index, lines));
  const pagesFrom = (/** @type {Span} */ first, /** @type {number} */ count) => {
    const pages = [first];
    for (let page = first; pages.length < count && page.from + 2 * page.count <= lines; ) {
      const next = { from: page.from + page.count, count: page.count, fromByte: page.toByte, toByte: page.toByte };
      next.toByte += Buffer.byteLength(linesOf(next).join("\n")) + 1;
      pages.push(next);
      page = next;
    }
    return pages;
  };
  return { path, ...meta, linesOf, pagesFrom };
}

/**
 * @param {string} path
 * @param {Shape} shape
 * @param {number} lines
 */
function write(path, shape, lines) {
  const few = Math.min(20, lines);
  const spans = {
    all: { from: 1, count: lines },
    deep: { from: Math.min(Math.floor(lines * 0.9), lines - few + 1), count: few },
    second: { from: Math.floor(lines * 0.6), count: Math.min(2000, Math.floor(lines * 0.4)) },
    last: { from: Math.max(1, lines - 1999), count: Math.min(2000, lines) },
  };
  const marks = Object.values(spans).flatMap(({ from, count }) => [from, from + count]);
  /** @type {Map<number, number>} Byte at which a line starts, for the lines at the spans' ends. */
  const byteOf = new Map();
  const descriptor = openSync(path, "w");
  let bytes = 0;
  for (let line = 1; line <= lines; ) {
    if (marks.includes(line)) byteOf.set(line, bytes);
    const stop = Math.min(line + 8192, lines + 1, ...marks.filter((mark) => mark > line));
    let text = "";
    for (; line < stop; line += 1) text += `${lineAt(shape, line, lines)}\n`;
    bytes += writeSync(descriptor, text);
  }
  byteOf.set(lines + 1, bytes);
  closeSync(descriptor);
  const located = Object.entries(spans).map(([name, { from, count }]) => [
    name,
    { from, count, fromByte: byteOf.get(from), toByte: byteOf.get(from + count) },
  ]);
  return { bytes, lines, ...Object.fromEntries(located) };
}

/**
 * @param {Shape} shape
 * @param {number} line
 * @param {number} lines
 */
function lineAt({ tile, charsAt }, line, lines) {
  const mixed = mix(line);
  const number = line.toString(36);
  const chars = Math.floor(charsAt(line / lines)) + (mixed % 9) - 4 - number.length;
  const start = (mixed >>> 4) % (tile.length - 128);
  return `${number} ${tile.slice(start, start + Math.max(4, chars))};`;
}

/** Text to cut lines from; about every fortieth character begins a word that is not ASCII. */
function tileOf(/** @type {string} */ words, /** @type {readonly string[]} */ others) {
  let text = "";
  for (let index = 0; text.length < 16_384; index += 1) {
    text += words.slice(mix(index) % 20, 40 + (mix(index + 7) % (words.length - 40)));
    if (others.length > 0 && index % 2 === 0) text += ` ${others[mix(index) % others.length]} `;
  }
  return text;
}

/** Neighbouring numbers give unlike ones. */
function mix(/** @type {number} */ number) {
  let value = Math.imul(number ^ 0x9e3779b9, 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}
