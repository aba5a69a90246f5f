/** Spans of lines: what they cover together, and where they are after lines were put in or taken out. */

import type { LineSpan } from "../contract/problem.ts";
import type { LinePart } from "./ledger.ts";

/** In order, without overlaps, those that touch made one. */
export function merged(spans: readonly LineSpan[]): readonly LineSpan[] {
  const result: { from: number; to: number }[] = [];
  for (const { from, to } of spans.toSorted((a, b) => a.from - b.from)) {
    const last = result.at(-1);
    if (last !== undefined && from <= last.to + 1) last.to = Math.max(last.to, to);
    else result.push({ from, to });
  }
  return result;
}

/** The same for parts of lines. */
export function mergedParts(parts: readonly LinePart[]): readonly LinePart[] {
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

export const covers = (spans: readonly LineSpan[], span: LineSpan): boolean => hasSpan(merged(spans), span);

/** The same for spans that are merged already. */
export const hasSpan = (spans: readonly LineSpan[], { from, to }: LineSpan): boolean =>
  spans.some((span) => span.from <= from && to <= span.to);

/** Those lines of the first that the second has not; the first are merged. */
export function without(spans: readonly LineSpan[], taken: readonly LineSpan[]): readonly LineSpan[] {
  const gone = merged(taken);
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

/** Lines that give way to others. */
export interface LineChange {
  readonly line: number;
  readonly linesBefore: number;
  readonly linesAfter: number;
}

/**
 * Where lines are after changes. Changes are of the lines as they were, in order. The changed lines themselves count
 * as seen: they are the session's own.
 */
export const shifted = (spans: readonly LineSpan[], changes: readonly LineChange[]): readonly LineSpan[] =>
  merged([...unchanged(merged(spans), changes), ...ownSpans(changes)]);

/** The same for lines of which only a part is known: who changes a part of such a line still does not know the rest. */
export function shiftedCut(spans: readonly LineSpan[], changes: readonly LineChange[]): readonly LineSpan[] {
  const cut = merged(spans);
  let next = 0;
  const isCut = ({ line, linesBefore }: LineChange): boolean => {
    while (next < cut.length && (cut[next]?.to ?? 0) < line) next += 1;
    return (cut[next]?.from ?? Number.POSITIVE_INFINITY) < line + linesBefore;
  };
  return merged([...unchanged(cut, changes), ...ownSpans(changes, isCut)]);
}

/** Where parts of lines are after changes; those of a line that changed are not known any more. Both lists are in order. */
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

/** Lines that the changes put in, where they are when all are made. */
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

/** What of the spans no change covers, where it is when all are made. Both lists are in order, so one pass is enough. */
function unchanged(spans: readonly LineSpan[], changes: readonly LineChange[]): readonly LineSpan[] {
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
