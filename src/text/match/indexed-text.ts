/**
 * A text under many edits, in blocks, with an index of the short sequences of characters that each block has. Where a text
 * stands is looked for only in blocks that may have it, and a change copies its block: the cost of an edit does not grow
 * with the text. The index may name blocks that no longer have a sequence; it never lacks one that has it.
 */

import type { TextChange } from "../../contract/edit.ts";
import type { Steps } from "../steps.ts";

interface Block {
  readonly id: number;
  text: string;
  newlines: number;
  /** The number of the search that has this block among its candidates. */
  search: number;
}

const blockLength = 4_096;
/** Characters that are indexed together. */
const gramLength = 6;
const bucketBits = 20;
/** Longer texts are not looked for here, nor are shorter ones than the index knows. */
const wantedLengthMax = 2 * blockLength;
/** Sequences of a text that are looked up to find the rarest of them. */
const gramsTriedMax = 64;

export class IndexedText {
  /** Longer texts would have an index of more than 64 MB. */
  static readonly lengthMax = 8_000_000;

  #blocks: Block[] = [];
  readonly #byId: Block[] = [];
  /** For every bucket its last entry and how many it has; an entry is a block and the entry before. */
  readonly #last = new Int32Array(1 << bucketBits).fill(-1);
  readonly #count = new Int32Array(1 << bucketBits);
  #entryBlock = new Int32Array(1 << 16);
  #entryBefore = new Int32Array(1 << 16);
  #entries = 0;
  #searches = 0;

  static *of(text: string): Steps<IndexedText> {
    const made = new IndexedText();
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

  /** The only place of a text, and how many newlines are before it. Undefined: there is none, or more than one, or it is not known. */
  only(wanted: string): { readonly from: number; readonly newlines: number } | undefined {
    if (wanted.length < gramLength || wanted.length > wantedLengthMax) return undefined;
    const gramAt = this.#rarestGram(wanted);
    this.#searches += 1;
    const bucket = bucketOf(wanted, gramAt);
    for (let entry = this.#last[bucket] ?? -1; entry >= 0; entry = this.#entryBefore[entry] ?? -1) {
      const block = this.#byId[this.#entryBlock[entry] ?? 0];
      if (block !== undefined) block.search = this.#searches;
    }
    let found: { readonly from: number; readonly newlines: number } | undefined;
    let start = 0;
    let newlines = 0;
    for (const [index, block] of this.#blocks.entries()) {
      if (block.search === this.#searches) {
        // The sequence begins in this block, so the text begins so much before it.
        const before = this.#textBefore(index, gramAt);
        const window = before + block.text + this.#textAfter(index, wanted.length - gramAt - 1);
        const end = before.length + block.text.length - gramAt;
        // Of the first block, where less is before it, the text can begin at its beginning at the earliest.
        const at = window.indexOf(wanted);
        if (at >= 0 && at < end) {
          if (found !== undefined) return undefined;
          const next = window.indexOf(wanted, at + 1);
          if (next >= 0 && next < end) return undefined;
          const inWindow = newlinesIn(window.slice(0, at)) - newlinesIn(before);
          found = { from: start - before.length + at, newlines: newlines + inWindow };
        }
      }
      start += block.text.length;
      newlines += block.newlines;
    }
    return found;
  }

  /** Changes in order, without overlaps. */
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
    // What is left of another block stays there, where it is indexed.
    if (tailBlock !== into) setText(tailBlock, tail);
    setText(into, head + text + (tailBlock === into ? tail : ""));
    this.#blocks.splice(first + 1, Math.max(0, last - first - 1));
    if (into.text.length > 2 * blockLength) this.#split(first);
    else this.#indexBlock(first, head.length - gramLength, head.length + text.length);
    // Sequences that begin in blocks before and reach into this one.
    for (let [index, left] = [first - 1, gramLength - head.length]; index >= 0 && left > 0; index -= 1) {
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
    const block = { id: this.#byId.length, text, newlines: newlinesIn(text), search: 0 };
    this.#byId.push(block);
    return block;
  }

  /** The sequences that begin in a block at `from` up to `to`. */
  #indexBlock(index: number, from: number, to: number): void {
    const block = this.#blocks[index];
    if (block === undefined) return;
    const text = block.text + this.#textAfter(index, gramLength - 1);
    const end = Math.min(to, block.text.length, text.length - gramLength + 1);
    for (let at = Math.max(0, from); at < end; at += 1) this.#add(bucketOf(text, at), block.id);
  }

  #add(bucket: number, block: number): void {
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

  /** Where in a text the sequence begins that the fewest blocks have. */
  #rarestGram(wanted: string): number {
    const step = Math.max(1, Math.floor((wanted.length - gramLength + 1) / gramsTriedMax));
    let best = { at: 0, count: Infinity };
    for (let at = 0; at + gramLength <= wanted.length; at += step) {
      const count = this.#count[bucketOf(wanted, at)] ?? 0;
      if (count < best.count) best = { at, count };
    }
    return best.at;
  }

  /** So many characters before a block, or as many as there are. */
  #textBefore(index: number, length: number): string {
    let found = "";
    for (let before = index - 1; before >= 0 && found.length < length; before -= 1) {
      found = (this.#blocks[before]?.text ?? "").slice(-(length - found.length)) + found;
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

function setText(block: Block, text: string): void {
  block.text = text;
  block.newlines = newlinesIn(text);
}

function bucketOf(text: string, at: number): number {
  let hash = 0;
  for (let next = at; next < at + gramLength; next += 1) hash = Math.imul(hash, 0x01000193) ^ text.charCodeAt(next);
  return Math.imul(hash, 0x9e3779b1 | 0) >>> (32 - bucketBits);
}

function doubled(entries: Int32Array): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(2 * entries.length);
  larger.set(entries);
  return larger;
}

function newlinesIn(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}
