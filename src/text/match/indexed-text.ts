/**
 * A text for calls with many edits: split into blocks, with an index of the short character sequences (grams) in each block. A
 * search looks only at blocks that may contain the text, and a change copies only its block, so the cost of an edit does not
 * grow with the text. All texts that will be searched for are known from the start, so the index has only their grams. It may
 * list a block that no longer contains a gram; it never misses one that does. `IndexedForms` adds the form in which every line
 * ends with `\n`, for texts with CRLF.
 */

import type { TextChange } from "../../contract/edit.ts";
import { countNewlines } from "../lines/newlines.ts";
import type { Steps } from "../steps.ts";
import { doubled, type NextPlace, placesIn } from "./find-text.ts";
import { exactPlacesFrom } from "./places.ts";

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
    return length >= text.length && this.slice(length - text.length, length) === text;
  }

  /** The first `max` places of a text, overlapping ones included. `search` may look at one character before the place. */
  places(
    wanted: string,
    max: number,
    search: (text: string, wanted: string) => NextPlace = placesIn,
  ): readonly number[] {
    const gramAt = this.#markCandidates(wanted);
    const found: number[] = [];
    let start = 0;
    /** The range where the text may begin. Candidates whose ranges overlap are searched as one. */
    let window: { readonly from: number; to: number } | undefined;
    const searchWindow = (): void => {
      if (window === undefined) return;
      const before = Math.min(1, window.from);
      const from = window.from - before;
      const next = search(this.slice(from, window.to + wanted.length - 1), wanted);
      for (let at = next(before); at >= 0 && found.length < max; at = next(at + 1)) found.push(from + at);
      window = undefined;
    };
    for (const block of this.#blocks) {
      const end = start + block.text.length;
      if (block.search === this.#searches) {
        // The gram begins in this block, so the text begins `gramAt` characters before it.
        const from = Math.max(0, start - gramAt);
        if (window !== undefined && from > window.to + wanted.length) searchWindow();
        if (found.length >= max) return found;
        window ??= { from, to: 0 };
        window.to = end - gramAt;
      }
      start = end;
    }
    searchWindow();
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

  /** Where the line after `newlines` newlines begins; the end of the text if it has fewer. */
  lineStart(newlines: number): number {
    let start = 0;
    let left = newlines;
    for (const block of this.#blocks) {
      if (left <= block.newlines) {
        let at = 0;
        for (; left > 0; left -= 1) at = block.text.indexOf("\n", at) + 1;
        return start + at;
      }
      start += block.text.length;
      left -= block.newlines;
    }
    return start;
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

  slice(from: number, to: number): string {
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

export interface IndexedPlace {
  readonly from: number;
  readonly to: number;
  readonly isExact: boolean;
}

/**
 * A text, and the same text with `\n` for every `\r\n` if it may have any. Both have the same lines, so line and column lead
 * from an offset in one to that in the other. Finds what the first two steps of the ladder find.
 */
export class IndexedForms {
  readonly #own: IndexedText;
  /** Undefined if no text that will be searched for has a line end. */
  readonly #folded: IndexedText | undefined;
  readonly #mayHaveReturns: boolean;

  private constructor(own: IndexedText, folded: IndexedText | undefined, mayHaveReturns: boolean) {
    this.#own = own;
    this.#folded = folded;
    this.#mayHaveReturns = mayHaveReturns;
  }

  /** `wanted` MUST have every text that `onlyPlace` will be called with; none is empty or has a `\r`. */
  static *of(text: string, wanted: readonly string[], mayHaveReturns: boolean): Steps<IndexedForms> {
    const lines = mayHaveReturns ? wanted.filter((one) => one.includes("\n")) : [];
    const own = yield* IndexedText.of(text, wanted);
    const folded = lines.length === 0 ? undefined : yield* IndexedText.of(foldReturns(text), lines);
    return new IndexedForms(own, folded, mayHaveReturns);
  }

  get text(): string {
    return this.#own.text;
  }

  /** The only exact place, or, if there is none, the only one that differs in line ends. Undefined also where the ladder must decide. */
  onlyPlace(wanted: string): IndexedPlace | undefined {
    const exact = this.#own.places(wanted, 2, exactPlacesFrom);
    if (exact.length > 1) return undefined;
    const [own] = exact;
    if (own !== undefined) return { from: own, to: own + wanted.length, isExact: true };
    if (this.#folded === undefined || !wanted.includes("\n")) return undefined;
    const [from, ...others] = this.#folded.places(wanted, 2);
    if (from === undefined || others.length > 0) return undefined;
    // The text may end in the same lines without the last newline: the ladder asks which ones are meant.
    const isUnended = wanted.endsWith("\n") && !this.#own.endsWith("\n") && this.#folded.endsWith(wanted.slice(0, -1));
    if (isUnended) return undefined;
    const unfold = (offset: number): number => offsetIn(this.#own, this.#folded ?? this.#own, offset);
    return { from: unfold(from), to: unfold(from + wanted.length), isExact: false };
  }

  slice(from: number, to: number): string {
    return this.#own.slice(from, to);
  }

  newlinesBefore(offset: number): number {
    return this.#own.newlinesBefore(offset);
  }

  /** As in the ladder: that of the line at an offset, or of the line before if it is the last. Undefined if lines may end with a lone `\r`. */
  lineEndAt(offset: number): "\n" | "\r\n" | undefined {
    if (!this.#mayHaveReturns) return "\n";
    const { newlines } = this.#own;
    if (newlines === 0) return undefined;
    const next = this.#own.lineStart(Math.min(this.#own.newlinesBefore(offset), newlines - 1) + 1);
    return this.#own.slice(Math.max(0, next - 2), next) === "\r\n" ? "\r\n" : "\n";
  }

  /** The changes MUST be in order and without overlaps. */
  splice(changes: readonly TextChange[]): void {
    for (const change of changes.toReversed()) {
      this.#folded?.splice([foldedChange(change, this.#own, this.#folded)]);
      this.#own.splice([change]);
    }
  }
}

const foldReturns = (text: string): string => text.replaceAll("\r\n", "\n");

/** The offset in one form for that in the other, at the same line and column; not between `\r` and `\n`. */
function offsetIn(to: IndexedText, from: IndexedText, offset: number): number {
  const line = from.newlinesBefore(offset);
  return to.lineStart(line) + offset - from.lineStart(line);
}

/** The same change in the folded form. What it puts may become a `\r\n` with the character before or after it. */
function foldedChange(change: TextChange, own: IndexedText, folded: IndexedText): TextChange {
  const before = own.slice(Math.max(0, change.from - 1), change.from) === "\r" ? "\r" : "";
  const after = own.slice(change.to, change.to + 1) === "\n" ? "\n" : "";
  return {
    from: offsetIn(folded, own, change.from - before.length),
    to: offsetIn(folded, own, change.to + after.length),
    text: foldReturns(before + change.text + after),
  };
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
