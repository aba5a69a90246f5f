/** A text under several changes, as a list of pieces of the original and new text: unchanged text is never copied. */

import type { TextChange } from "../contract/edit.ts";
import type { FileEdits, Position } from "../contract/lsp.ts";
import { countNewlines, startsIn } from "./lines/newlines.ts";
import { finish, partLength, type Steps } from "./steps.ts";

/** UTF-16 units `from` to `to` (exclusive) of the original, or new text. */
export type TextPiece = { readonly from: number; readonly to: number } | string;

/** Applies changes of the text that `pieces` make up; they MUST be in order and without overlaps. */
export const splice = (pieces: readonly TextPiece[], changes: readonly TextChange[]): readonly TextPiece[] =>
  finish(splicing(pieces, changes));

function* splicing(pieces: readonly TextPiece[], changes: readonly TextChange[]): Steps<TextPiece[]> {
  const result: TextPiece[] = [];
  const put = (piece: TextPiece): void => {
    if (lengthOf(piece) > 0) result.push(piece);
  };
  let at = 0;
  let next = 0;
  for (const [index, piece] of pieces.entries()) {
    if ((index + 1) % partLength === 0) yield;
    const end = at + lengthOf(piece);
    const isLast = index === pieces.length - 1;
    let from = at;
    for (let change = changes[next]; change !== undefined && change.from <= end; change = changes[next]) {
      // A change at the end of a piece belongs to the next piece, if there is one.
      if (change.from === end && end > at && !isLast) break;
      if (change.from >= at) {
        put(cut(piece, from - at, Math.max(from, change.from) - at));
        put(change.text);
      }
      from = Math.max(from, Math.min(change.to, end));
      if (change.to > end) break;
      next += 1;
      if (next % partLength === 0) yield;
    }
    put(cut(piece, from - at, end - at));
    at = end;
  }
  for (const change of changes.slice(next)) if (change.from >= at) put(change.text);
  return result;
}

/** More changes than this are made in one pass over all pieces. */
const fewChanges = 8;

/** The pieces of a text under successive rounds of changes, each at the cost of the pieces that it touches. */
export class PieceList {
  #pieces: TextPiece[];
  /** The last piece touched, and its offset: mostly the next change is near. */
  #index = 0;
  #at = 0;

  constructor(originalLength: number) {
    this.#pieces = originalLength === 0 ? [] : [{ from: 0, to: originalLength }];
  }

  get pieces(): readonly TextPiece[] {
    return this.#pieces;
  }

  *splice(changes: readonly TextChange[]): Steps<void> {
    if (changes.length > fewChanges) {
      this.#pieces = yield* splicing(this.#pieces, changes);
      [this.#index, this.#at] = [0, 0];
      return;
    }
    // From the last to the first, so that offsets stay valid.
    for (const change of changes.toReversed()) this.#put(change);
  }

  /** The parts of the original between two offsets, in order. For an empty range, its position in the original. */
  originalsOf(from: number, to: number): readonly Exclude<TextPiece, string>[] {
    this.#goTo(from);
    const found: Exclude<TextPiece, string>[] = [];
    let at = this.#at;
    for (let index = this.#index; index < this.#pieces.length && (at < to || at === from); index += 1) {
      const piece = this.#pieces[index];
      if (typeof piece === "object") {
        const start = piece.from - at;
        found.push({ from: start + Math.max(from, at), to: start + Math.min(to, at + lengthOf(piece)) });
      }
      at += this.#lengthAt(index);
    }
    return found;
  }

  #put({ from, to, text }: TextChange): void {
    this.#goTo(from);
    const first = this.#pieces[this.#index];
    let last = first;
    let end = this.#index;
    let endAt = this.#at;
    for (; endAt < to && end < this.#pieces.length; end += 1) {
      last = this.#pieces[end];
      endAt += this.#lengthAt(end);
    }
    const put: TextPiece[] = [];
    if (first !== undefined && from > this.#at) put.push(cut(first, 0, from - this.#at));
    if (text !== "") put.push(text);
    if (last !== undefined && endAt > to) put.push(cut(last, lengthOf(last) - (endAt - to), lengthOf(last)));
    this.#pieces.splice(this.#index, end - this.#index, ...put);
  }

  #goTo(offset: number): void {
    while (this.#at > offset) this.#at -= this.#lengthAt((this.#index -= 1));
    while (this.#index < this.#pieces.length && this.#at + this.#lengthAt(this.#index) <= offset) {
      this.#at += this.#lengthAt(this.#index);
      this.#index += 1;
    }
  }

  #lengthAt(index: number): number {
    const piece = this.#pieces[index];
    return piece === undefined ? 0 : lengthOf(piece);
  }
}

export const lengthOf = (piece: TextPiece): number =>
  typeof piece === "string" ? piece.length : piece.to - piece.from;

const cut = (piece: TextPiece, from: number, to: number): TextPiece =>
  typeof piece === "string" ? piece.slice(from, to) : { from: piece.from + from, to: piece.from + to };

export const textOfPieces = (pieces: readonly TextPiece[], original: string): string =>
  pieces.map((piece) => (typeof piece === "string" ? piece : original.slice(piece.from, piece.to))).join("");

/** The pieces as changes of the original. The pieces of the original MUST be in their old order. */
export function* changesOfPieces(pieces: readonly TextPiece[], originalLength: number): Steps<readonly TextChange[]> {
  const changes: TextChange[] = [];
  let at = 0;
  let text = "";
  const close = (to: number): void => {
    if (to > at || text !== "") changes.push({ from: at, to, text });
    text = "";
  };
  for (const [index, piece] of pieces.entries()) {
    if ((index + 1) % partLength === 0) yield;
    if (typeof piece === "string") {
      text += piece;
      continue;
    }
    close(piece.from);
    at = piece.to;
  }
  close(originalLength);
  return changes;
}

export function apply(text: string, changes: readonly TextChange[]): string {
  return textOfPieces(splice([{ from: 0, to: text.length }], changes), text);
}

// Inserting lines, with the line endings around them.

export interface Insertion {
  readonly change: TextChange;
  /** The line before the new ones, or the start of the text: the session must have read it. */
  readonly beside: { readonly from: number; readonly to: number };
}

/** Undefined if the text has fewer lines. A text without a final newline stays without one. */
export function insertion(text: string, afterLine: number, newText: string): Insertion | undefined {
  const beside = lineSpan(text, afterLine);
  if (beside === undefined) return undefined;
  const { from, to } = beside;
  const lineEnd = lineEndNear(text, to);
  const lines = newText
    .replace(/\r?\n$/, "")
    .split(/\r?\n/)
    .join(lineEnd);
  const unfinished = to > from && text[to - 1] !== "\n";
  return { change: { from: to, to, text: unfinished ? `${lineEnd}${lines}` : `${lines}${lineEnd}` }, beside };
}

/**
 * Replaces whole lines, `at` to `until`, by new ones with the line ending around them; no new lines delete the old ones. A text
 * without a final newline stays without one.
 */
export function lineReplacement(
  text: string,
  { at, until }: { readonly at: number; readonly until: number },
  newText: string,
): TextChange & { readonly replaced: string } {
  const replaced = text.slice(at, until);
  const lineEnd = lineEndNear(text, replaced.endsWith("\n") ? until : at);
  const lines = newText
    .replace(/\r?\n$/, "")
    .split(/\r?\n/)
    .join(lineEnd);
  // After the last line of a text that has no final newline.
  const isUnended = at === text.length && at > 0 && text[at - 1] !== "\n";
  if (isUnended) return { from: at, to: until, text: `${lineEnd}${lines}`, replaced };
  const isLastUnended = until === text.length && replaced !== "" && !replaced.endsWith("\n");
  if (newText !== "") return { from: at, to: until, text: isLastUnended ? lines : `${lines}${lineEnd}`, replaced };
  if (!isLastUnended || at === 0) return { from: at, to: until, text: "", replaced };
  // With its last line the text loses the newline before it: it still ends without one.
  const from = at - (text[at - 2] === "\r" ? 2 : 1);
  return { from, to: until, text: "", replaced: text.slice(from, until) };
}

/** A final newline adds no line. */
export const countLines = (text: string): number => countNewlines(text) + (text === "" || text.endsWith("\n") ? 0 : 1);

/** A line with its ending; line 0 is the empty place before the first. */
function lineSpan(text: string, line: number): Insertion["beside"] | undefined {
  if (line < 0) return undefined;
  let from = 0;
  let to = 0;
  for (let count = 0; count < line; count += 1) {
    if (to === text.length) return undefined;
    from = to;
    const newline = text.indexOf("\n", to);
    to = newline === -1 ? text.length : newline + 1;
  }
  return { from, to };
}

/** The ending of the line before, else of the first line. */
function lineEndNear(text: string, at: number): string {
  const before = at === 0 ? -1 : text.lastIndexOf("\n", at - 1);
  const newline = before === -1 ? text.indexOf("\n") : before;
  return newline > 0 && text[newline - 1] === "\r" ? "\r\n" : "\n";
}

// Edits by line and column, as a language server returns them for a rename.

export type RangeEdits =
  | { readonly are: "fine"; readonly changes: readonly TextChange[] }
  /** A position does not exist, or the old name is not there: the edits are for another version of the file. */
  | { readonly are: "stale" }
  | { readonly are: "overlapping" };

/** In text order. A range must contain the old name; an insertion must be on a line with it. */
export function changesOfEdits(text: string, edits: FileEdits["edits"], oldName: string): RangeEdits {
  const starts = startsIn(text, "\n");
  const changes = new Map<string, TextChange>();
  for (const { range, text: put } of edits) {
    const [from, to] = [offsetOf(text, starts, range.start), offsetOf(text, starts, range.end)];
    if (from === undefined || to === undefined || to < from) return { are: "stale" };
    const line = text.slice(starts[range.start.line - 1] ?? 0, starts[range.end.line] ?? text.length);
    if (!(from === to ? line : text.slice(from, to)).includes(oldName)) return { are: "stale" };
    // Duplicate replacements are made once; different texts inserted at one place are all kept.
    changes.set(JSON.stringify([from, to, put]), { from, to, text: put });
  }
  // Of two changes at one place, an insertion comes first.
  const sorted = [...changes.values()].toSorted((one, two) => one.from - two.from || one.to - two.to);
  for (const [index, { from }] of sorted.entries()) {
    if (from < (sorted[index - 1]?.to ?? 0)) return { are: "overlapping" };
  }
  return { are: "fine", changes: sorted.filter(({ from, to, text: put }) => text.slice(from, to) !== put) };
}

function offsetOf(text: string, starts: Int32Array, { line, column }: Position): number | undefined {
  const start = starts[line - 1];
  if (start === undefined) return undefined;
  const end = starts[line] === undefined ? text.length : (starts[line] ?? text.length) - 1;
  const offset = start + column - 1;
  return offset > end ? undefined : offset;
}
