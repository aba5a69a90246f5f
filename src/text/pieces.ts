/** A text under several changes, kept as pieces of the original, so that what nobody touched is never copied. */

import type { TextChange } from "../contract/edit.ts";

/** UTF-16 units `from` up to `to` of the original, or new text. */
export type TextPiece = { readonly from: number; readonly to: number } | string;

/** Changes of the text that `pieces` make, in order and without overlaps, applied to the pieces. */
export function splice(pieces: readonly TextPiece[], changes: readonly TextChange[]): readonly TextPiece[] {
  const result: TextPiece[] = [];
  const put = (piece: TextPiece): void => {
    if (lengthOf(piece) > 0) result.push(piece);
  };
  let at = 0;
  let next = 0;
  for (const [index, piece] of pieces.entries()) {
    const end = at + lengthOf(piece);
    const isLast = index === pieces.length - 1;
    let from = at;
    for (let change = changes[next]; change !== undefined && change.from <= end; change = changes[next]) {
      // What begins at the very end of a piece belongs to the next one, if there is a next one.
      if (change.from === end && end > at && !isLast) break;
      if (change.from >= at) {
        put(cut(piece, from - at, Math.max(from, change.from) - at));
        put(change.text);
      }
      from = Math.max(from, Math.min(change.to, end));
      if (change.to > end) break;
      next += 1;
    }
    put(cut(piece, from - at, end - at));
    at = end;
  }
  for (const change of changes.slice(next)) if (change.from >= at) put(change.text);
  return result;
}

/** More changes at once are made by going through all pieces. */
const fewChanges = 8;

/** The pieces of a text under one round of changes after another, each at the cost of what it touches. */
export class PieceList {
  #pieces: TextPiece[];
  /** The piece that was touched last, and where it begins: most often the next change is near. */
  #index = 0;
  #at = 0;

  constructor(originalLength: number) {
    this.#pieces = originalLength === 0 ? [] : [{ from: 0, to: originalLength }];
  }

  get pieces(): readonly TextPiece[] {
    return this.#pieces;
  }

  /** In order, without overlaps, of the text as the rounds before have left it. */
  splice(changes: readonly TextChange[]): void {
    if (changes.length > fewChanges) {
      this.#pieces = [...splice(this.#pieces, changes)];
      [this.#index, this.#at] = [0, 0];
      return;
    }
    // From the last on, so that none moves another.
    for (const change of changes.toReversed()) this.#put(change);
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

  /** To the piece that holds an offset, or to the end. */
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

/** The pieces as changes of the original: the pieces of the original that are left MUST stand in their old order. */
export function changesOf(pieces: readonly TextPiece[], originalLength: number): readonly TextChange[] {
  const changes: TextChange[] = [];
  let at = 0;
  let text = "";
  const close = (to: number): void => {
    if (to > at || text !== "") changes.push({ from: at, to, text });
    text = "";
  };
  for (const piece of pieces) {
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

/** One change's text in place of what it replaces. */
export function apply(text: string, changes: readonly TextChange[]): string {
  return textOfPieces(splice([{ from: 0, to: text.length }], changes), text);
}
