/** Merges the tokens of a line with the marks on its words; cuts long lines. */

import type { Token, TokenKind } from "./tokens.ts";

export interface Segment {
  readonly kind: TokenKind;
  readonly marked: boolean;
  readonly text: string;
}

export interface SegmentLine {
  readonly segments: readonly Segment[];
  /** Number of characters that were cut at the end. */
  readonly left: number;
}

const lineCharsMax = 2_000;

export function segmentsOf(
  tokens: readonly Token[],
  marks: readonly { readonly from: number; readonly to: number }[],
): SegmentLine {
  const segments: Segment[] = [];
  let at = 0;
  let left = 0;
  let next = 0;
  for (const { kind, text } of tokens) {
    const end = at + text.length;
    const shownEnd = Math.min(end, lineCharsMax);
    left += end - Math.max(at, shownEnd);
    for (let from = at; from < shownEnd; ) {
      while ((marks[next]?.to ?? Infinity) <= from) next += 1;
      const mark = marks[next];
      const marked = mark !== undefined && mark.from <= from;
      const to = Math.min(shownEnd, marked ? mark.to : (mark?.from ?? Infinity));
      segments.push({ kind, marked, text: text.slice(from - at, to - at) });
      from = to;
    }
    at = end;
  }
  return { segments, left };
}
