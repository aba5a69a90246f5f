/**
 * A text for calls with many edits: split into blocks, with an index of the short character sequences (grams) in each block. A
 * search looks only at blocks that may contain the text, and a change copies only its block, so the cost of an edit does not
 * grow with the text. All texts that will be searched for are known from the start, so the index has only their grams. It may
 * list a block that no longer contains a gram; it never misses one that does.
 */

import type { TextChange } from "../../contract/edit.ts";
import { countNewlines } from "../lines/newlines.ts";
import type { Steps } from "../steps.ts";
import { doubled, placesIn } from "./find-text.ts";

interface Block {
  readonly id: number;
  text: string;
  newlines: number;
  /** The number of the last search that had this block as a candidate. */
  search: number;
}

const blockLength = 4_096;
/** The lengths of grams: each text uses the longest that fits into it. */
const gramLengths = [32, 16, 8, 4, 2, 1] as const;
const bucketBits = 20;
/** Grams of a text among which the rarest is chosen; fewer if there are many texts, so that the index stays small. */
const gramsTriedMax = 64;
const gramsTriedOfAll = 1 << (bucketBits - 2);

const textsPerStep = 128;

export class IndexedText {
  #blocks: Block[] = [];
  readonly #byId: Block[] = [];
  readonly #grams = new Map<number, Grams>();
  readonly #gramsTried: number;
  #longest = 0;
  #searches = 0;

  private constructor(texts: number) {
    this.#gramsTried = Math.max(4, Math.min(gramsTriedMax, Math.floor(gramsTriedOfAll / Math.max(1, texts))));
  }

  *#want(wanted: readonly string[]): Steps<void> {
    for (const [index, text] of wanted.entries()) {
      if (index % textsPerStep === 0) yield;
      const length = gramLengthOf(text);
      this.#longest = Math.max(this.#longest, length);
      let grams = this.#grams.get(length);
      if (grams === undefined) this.#grams.set(length, (grams = new Grams(length)));
      for (const at of this.#tried(text, length)) grams.want(text, at);
    }
  }

  /** `wanted` MUST have every text that `places` will be called with; none is empty. */
  static *of(text: string, wanted: readonly string[]): Steps<IndexedText> {
    const made = new IndexedText(wanted.length);
    yield* made.#want(wanted);
    for (let at = 0; at < text.length; at += blockLength) {
      made.#blocks.push(made.#newBlock(text.slice(at, at + blockLength)));
    }
    for (const index of made.#blocks.keys()) {
      made.#indexBlock(index, 0, Infinity);
      if (index % 16 === 0) yield;
    }
    return made;
  }

  get text(): string {
    return this.#blocks.map(({ text }) => text).join("");
  }

  get newlines(): number {
    return this.#blocks.reduce((sum, { newlines }) => sum + newlines, 0);
  }

  endsWith(text: string): boolean {
    const length = this.#blocks.reduce((sum, block) => sum + block.text.length, 0);
    return length >= text.length && this.#slice(length - text.length, length) === text;
  }

  /** The first `max` places of a text, overlapping ones included. */
  places(wanted: string, max: number): readonly number[] {
    const gramAt = this.#markCandidates(wanted);
    const found: number[] = [];
    let start = 0;
    /** The range where the text may begin. Candidates whose ranges overlap are searched as one. */
    let window: { readonly from: number; to: number } | undefined;
    const search = (): void => {
      if (window === undefined) return;
      const { from, to } = window;
      const next = placesIn(this.#slice(from, to + wanted.length - 1), wanted);
      for (let at = next(0); at >= 0 && found.length < max; at = next(at + 1)) found.push(from + at);
      window = undefined;
    };
    for (const block of this.#blocks) {
      const end = start + block.text.length;
      if (block.search === this.#searches) {
        // The gram begins in this block, so the text begins `gramAt` characters before it.
        const from = Math.max(0, start - gramAt);
        if (window !== undefined && from > window.to + wanted.length) search();
        if (found.length >= max) return found;
        window ??= { from, to: 0 };
        window.to = end - gramAt;
      }
      start = end;
    }
    search();
    return found;
  }

  newlinesBefore(offset: number): number {
    let start = 0;
    let newlines = 0;
    for (const block of this.#blocks) {
      if (start + block.text.length >= offset) return newlines + countNewlines(block.text.slice(0, offset - start));
      start += block.text.length;
      newlines += block.newlines;
    }
    return newlines;
  }

  /** The changes MUST be in order and without overlaps. */
  splice(changes: readonly TextChange[]): void {
    for (const change of changes.toReversed()) this.#put(change);
  }

  #put({ from, to, text }: TextChange): void {
    let first = 0;
    let start = 0;
    for (let block = this.#blocks[first]; block !== undefined; block = this.#blocks[first]) {
      if (start + block.text.length > from || first === this.#blocks.length - 1) break;
      start += block.text.length;
      first += 1;
    }
    const into = this.#blocks[first] ?? this.#newBlock("");
    if (this.#blocks.length === 0) this.#blocks.push(into);
    let last = first;
    let end = start + into.text.length;
    for (; end < to && last < this.#blocks.length - 1; end += this.#blocks[last]?.text.length ?? 0) last += 1;
    const head = into.text.slice(0, from - start);
    const tailBlock = this.#blocks[last] ?? into;
    const tail = tailBlock.text.slice(tailBlock.text.length - (end - to));
    // The rest of another block stays in that block, where it is indexed already.
    if (tailBlock !== into) setText(tailBlock, tail);
    setText(into, head + text + (tailBlock === into ? tail : ""));
    this.#blocks.splice(first + 1, Math.max(0, last - first - 1));
    if (into.text.length > 2 * blockLength) this.#split(first);
    else this.#indexBlock(first, head.length - this.#longest, head.length + text.length);
    // Grams that begin in earlier blocks and reach into this one.
    for (let [index, left] = [first - 1, this.#longest - head.length]; index >= 0 && left > 0; index -= 1) {
      const { length } = this.#blocks[index]?.text ?? "";
      this.#indexBlock(index, length - left, Infinity);
      left -= length;
    }
  }

  #split(index: number): void {
    const block = this.#blocks[index];
    if (block === undefined) return;
    const { text } = block;
    setText(block, text.slice(0, blockLength));
    const rest: Block[] = [];
    for (let at = blockLength; at < text.length; at += blockLength) {
      rest.push(this.#newBlock(text.slice(at, at + blockLength)));
    }
    this.#blocks = [...this.#blocks.slice(0, index + 1), ...rest, ...this.#blocks.slice(index + 1)];
    for (let next = index; next <= index + rest.length; next += 1) this.#indexBlock(next, 0, Infinity);
  }

  #newBlock(text: string): Block {
    const block = { id: this.#byId.length, text, newlines: countNewlines(text), search: 0 };
    this.#byId.push(block);
    return block;
  }

  #indexBlock(index: number, from: number, to: number): void {
    const block = this.#blocks[index];
    if (block === undefined) return;
    const text = block.text + this.#textAfter(index, this.#longest - 1);
    for (const grams of this.#grams.values()) {
      grams.add(text, Math.max(0, from), Math.min(to, block.text.length), block.id);
    }
  }

  /** Offsets of grams in a text; of a long text only some. */
  *#tried(text: string, length: number): Generator<number> {
    const step = Math.max(1, Math.floor((text.length - length + 1) / this.#gramsTried));
    for (let at = 0; at + length <= text.length; at += step) yield at;
  }

  /** Marks the blocks with the rarest gram of a text; returns that gram's offset in the text. */
  #markCandidates(wanted: string): number {
    const length = gramLengthOf(wanted);
    const grams = this.#grams.get(length);
    let best = { at: 0, count: Infinity };
    for (const at of this.#tried(wanted, length)) {
      const count = grams?.count(wanted, at) ?? 0;
      if (count < best.count) best = { at, count };
    }
    this.#searches += 1;
    grams?.eachBlock(wanted, best.at, (id) => {
      const block = this.#byId[id];
      if (block !== undefined) block.search = this.#searches;
    });
    return best.at;
  }

  #slice(from: number, to: number): string {
    let found = "";
    let start = 0;
    for (const { text } of this.#blocks) {
      if (start >= to) break;
      const end = start + text.length;
      if (end > from) found += text.slice(Math.max(0, from - start), to - start);
      start = end;
    }
    return found;
  }

  #textAfter(index: number, length: number): string {
    let found = "";
    for (let after = index + 1; after < this.#blocks.length && found.length < length; after += 1) {
      found += (this.#blocks[after]?.text ?? "").slice(0, length - found.length);
    }
    return found;
  }
}

/** The grams of one length, by hash, and the blocks in which they begin. */
class Grams {
  readonly #length: number;
  readonly #wanted = new Uint8Array(1 << bucketBits);
  /** For every bucket its last entry and the number of entries. An entry is a block and the entry before it, as in a linked list. */
  readonly #last = new Int32Array(1 << bucketBits).fill(-1);
  readonly #count = new Int32Array(1 << bucketBits);
  #entryBlock = new Int32Array(1 << 12);
  #entryBefore = new Int32Array(1 << 12);
  #entries = 0;

  constructor(length: number) {
    this.#length = length;
  }

  want(text: string, at: number): void {
    this.#wanted[this.#bucketOf(text, at)] = 1;
  }

  count(text: string, at: number): number {
    return this.#count[this.#bucketOf(text, at)] ?? 0;
  }

  eachBlock(text: string, at: number, use: (block: number) => void): void {
    let entry = this.#last[this.#bucketOf(text, at)] ?? -1;
    for (; entry >= 0; entry = this.#entryBefore[entry] ?? -1) use(this.#entryBlock[entry] ?? 0);
  }

  /** Adds the grams that begin at `from` up to `to`, if they end within the text. */
  add(text: string, from: number, to: number, block: number): void {
    const end = Math.min(to, text.length - this.#length + 1);
    if (from >= end) return;
    let hash = hashOf(text, from, this.#length);
    const leaving = powerOf(this.#length);
    for (let at = from; at < end; at += 1) {
      const bucket = spread(hash);
      if (this.#wanted[bucket] === 1) this.#put(bucket, block);
      hash =
        (Math.imul(hash, factor) + text.charCodeAt(at + this.#length) - Math.imul(text.charCodeAt(at), leaving)) | 0;
    }
  }

  #put(bucket: number, block: number): void {
    const before = this.#last[bucket] ?? -1;
    if (before >= 0 && this.#entryBlock[before] === block) return;
    if (this.#entries === this.#entryBlock.length) {
      this.#entryBlock = doubled(this.#entryBlock);
      this.#entryBefore = doubled(this.#entryBefore);
    }
    this.#entryBlock[this.#entries] = block;
    this.#entryBefore[this.#entries] = before;
    this.#last[bucket] = this.#entries;
    this.#count[bucket] = (this.#count[bucket] ?? 0) + 1;
    this.#entries += 1;
  }

  #bucketOf(text: string, at: number): number {
    return spread(hashOf(text, at, this.#length));
  }
}

const gramLengthOf = (text: string): number => gramLengths.find((length) => length <= text.length) ?? 1;

/** The base of a rolling hash: the hash of the next gram follows from the one before in one step. */
const factor = 0x01000193;

function hashOf(text: string, at: number, length: number): number {
  let hash = 0;
  for (let next = at; next < at + length; next += 1) hash = (Math.imul(hash, factor) + text.charCodeAt(next)) | 0;
  return hash;
}

function powerOf(exponent: number): number {
  let power = 1;
  for (let count = 0; count < exponent; count += 1) power = Math.imul(power, factor);
  return power;
}

const spread = (hash: number): number => Math.imul(hash ^ (hash >>> 15), 0x9e3779b1) >>> (32 - bucketBits);

function setText(block: Block, text: string): void {
  block.text = text;
  block.newlines = countNewlines(text);
}
