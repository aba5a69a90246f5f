/** Spans of lines: their union, and where they are after lines were inserted or removed. */

import type { LineSpan } from "../contract/problem.ts";
import type { LinePart } from "./ledger.ts";

/** Sorted, without overlaps, adjacent spans joined. */
export function mergeSpans(spans: readonly LineSpan[]): readonly LineSpan[] {
  const result: { from: number; to: number }[] = [];
  for (const { from, to } of spans.toSorted((a, b) => a.from - b.from)) {
    const last = result.at(-1);
    if (last !== undefined && from <= last.to + 1) last.to = Math.max(last.to, to);
    else result.push({ from, to });
  }
  return result;
}

/** The same for parts of lines. */
export function mergeParts(parts: readonly LinePart[]): readonly LinePart[] {
  const result: LinePart[] = [];
  for (const part of parts.toSorted((a, b) => a.line - b.line || a.from - b.from)) {
    const last = result.at(-1);
    if (last === undefined || last.line !== part.line || part.from > last.to + 1) result.push(part);
    else {
      const ends = last.ends === true || part.ends === true;
      const { line, from } = last;
      result[result.length - 1] = { line, from, to: Math.max(last.to, part.to), ...(ends && { ends }) };
    }
  }
  return result;
}

export const isWholeLine = ({ from, ends }: LinePart): boolean => from === 1 && ends === true;

export const covers = (spans: readonly LineSpan[], span: LineSpan): boolean => hasSpan(mergeSpans(spans), span);

/** `spans` are merged. */
export const hasSpan = (spans: readonly LineSpan[], { from, to }: LineSpan): boolean =>
  spans.some((span) => span.from <= from && to <= span.to);

/** The lines of `spans` that are not in `taken`; `spans` are merged. */
export function subtractSpans(spans: readonly LineSpan[], taken: readonly LineSpan[]): readonly LineSpan[] {
  const gone = mergeSpans(taken);
  const left: LineSpan[] = [];
  let next = 0;
  for (const { from, to } of spans) {
    let start = from;
    while (next < gone.length && (gone[next]?.to ?? 0) < start) next += 1;
    for (let at = next; start <= to; at += 1) {
      const hole = gone[at];
      if (hole === undefined || hole.from > to) {
        left.push({ from: start, to });
        break;
      }
      if (hole.from > start) left.push({ from: start, to: hole.from - 1 });
      start = hole.to + 1;
    }
  }
  return left;
}

/** Lines that are replaced by others. */
export interface LineChange {
  readonly line: number;
  readonly linesBefore: number;
  readonly linesAfter: number;
}

/**
 * Where lines are after changes, which refer to the old lines, in order. Changed lines count as seen, because the session wrote
 * them, unless they replace lines that it had not seen whole: of these it may have written only a part.
 */
export function shiftSpans(spans: readonly LineSpan[], changes: readonly LineChange[]): readonly LineSpan[] {
  const seen = mergeSpans(spans);
  let next = 0;
  const wasSeen = ({ line, linesBefore }: LineChange): boolean => {
    while (next < seen.length && (seen[next]?.to ?? 0) < line) next += 1;
    const span = seen[next];
    return linesBefore === 0 || (span !== undefined && span.from <= line && line + linesBefore - 1 <= span.to);
  };
  return mergeSpans([...unchanged(seen, changes), ...ownSpans(changes, wasSeen)]);
}

/** The same for truncated lines: a session that changes part of such a line still does not know the rest. */
export function shiftedCut(spans: readonly LineSpan[], changes: readonly LineChange[]): readonly LineSpan[] {
  const cut = mergeSpans(spans);
  let next = 0;
  const isCut = ({ line, linesBefore }: LineChange): boolean => {
    while (next < cut.length && (cut[next]?.to ?? 0) < line) next += 1;
    return (cut[next]?.from ?? Number.POSITIVE_INFINITY) < line + linesBefore;
  };
  return mergeSpans([...unchanged(cut, changes), ...ownSpans(changes, isCut)]);
}

/** Where parts of lines are after changes; parts of changed lines are no longer known. Both lists are sorted. */
export function shiftedParts(parts: readonly LinePart[], changes: readonly LineChange[]): readonly LinePart[] {
  let next = 0;
  let moved = 0;
  return parts.flatMap((part) => {
    for (let change = changes[next]; change !== undefined; change = changes[next]) {
      if (part.line < change.line + change.linesBefore) break;
      moved += change.linesAfter - change.linesBefore;
      next += 1;
    }
    const isChanged = part.line >= (changes[next]?.line ?? Number.POSITIVE_INFINITY);
    return isChanged ? [] : [{ ...part, line: part.line + moved }];
  });
}

/** The inserted lines, where they are after all changes. */
function ownSpans(
  changes: readonly LineChange[],
  isMeant: (change: LineChange) => boolean = () => true,
): readonly LineSpan[] {
  let moved = 0;
  return changes.flatMap((change) => {
    const from = change.line + moved;
    moved += change.linesAfter - change.linesBefore;
    return change.linesAfter > 0 && isMeant(change) ? [{ from, to: from + change.linesAfter - 1 }] : [];
  });
}

/** The parts of spans that no change covers, where they are after all changes. Both lists are sorted. */
export function unchanged(spans: readonly LineSpan[], changes: readonly LineChange[]): readonly LineSpan[] {
  const left: LineSpan[] = [];
  let next = 0;
  let first = 0;
  let moved = 0;
  const takeTo = (end: number): void => {
    for (let span = spans[next]; span !== undefined; span = spans[next]) {
      const from = Math.max(span.from, first);
      const to = Math.min(span.to, end);
      if (from <= to) left.push({ from: from + moved, to: to + moved });
      if (span.to > end) return;
      next += 1;
    }
  };
  for (const { line, linesBefore, linesAfter } of changes) {
    takeTo(line - 1);
    first = Math.max(first, line + linesBefore);
    moved += linesAfter - linesBefore;
  }
  takeTo(Number.POSITIVE_INFINITY);
  return left;
}
