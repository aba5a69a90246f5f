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
