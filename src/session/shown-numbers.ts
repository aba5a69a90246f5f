/**
 * The numbers under which a session was shown the lines of a file, and where these lines are now. The session's own changes move
 * lines, but the model still has the page with the old numbers. Pure.
 */

import type { LineSpan } from "../contract/problem.ts";
import type { AlignedLines } from "../text/text.ts";
import type { LineChange } from "./line-spans.ts";

/** Lines as they are numbered now, and the number under which the first of them was shown. */
export interface NumberedSpan extends LineSpan {
  readonly as: number;
  /** Another program moved them since. */
  readonly byOthers?: true;
}

/** Spans of one file; the oldest are forgotten, and their lines must be read again before they are edited by number. */
const spansMax = 2_000;

/** Adds lines that were shown under their present numbers. */
export function numbersShown(before: readonly NumberedSpan[], views: readonly LineSpan[]): readonly NumberedSpan[] {
  const added = views.map(({ from, to }): NumberedSpan => ({ from, to, as: from }));
  // Showing the same page again is common and adds nothing.
  const older = before.filter(
    (span) => span.as !== span.from || !added.some((view) => view.from <= span.from && span.to <= view.to),
  );
  return [...older, ...added].slice(-spansMax);
}

/** Whether these lines were shown under the numbers that they have now. */
export const isNumbered = (spans: readonly NumberedSpan[], { from, to }: LineSpan): boolean =>
  linesMeant(spans, { from, to }).some((meant) => meant.from === from);

/** Where the lines are after changes by the session, which refer to the lines before them, in order. Changed lines lose their numbers. */
export function numbersMoved(spans: readonly NumberedSpan[], changes: readonly LineChange[]): readonly NumberedSpan[] {
  if (changes.length === 0) return spans;
  const starts = changes.map(({ line }) => line);
  const ends = changes.map(({ line, linesBefore }) => line + linesBefore);
  const shifts: number[] = [0];
  for (const { linesBefore, linesAfter } of changes) shifts.push((shifts.at(-1) ?? 0) + linesAfter - linesBefore);
  return spans
    .flatMap((span): readonly NumberedSpan[] => {
      const left: NumberedSpan[] = [];
      let from = span.from;
      // The first change that ends after the beginning of the span.
      for (let at = firstAfter(ends, from); from <= span.to; at += 1) {
        const to = Math.min(span.to, (starts[at] ?? Number.POSITIVE_INFINITY) - 1);
        if (from <= to) left.push(partOf(span, from, to, shifts[at] ?? 0));
        from = Math.max(from, ends[at] ?? Number.POSITIVE_INFINITY);
      }
      return left;
    })
    .slice(-spansMax);
}

/** Where the lines are that still stand after another program changed the file. `aligned` is sorted. */
export function numbersAligned(
  spans: readonly NumberedSpan[],
  aligned: readonly AlignedLines[],
): readonly NumberedSpan[] {
  const ends = aligned.map(({ was, count }) => was + count - 1);
  return spans
    .flatMap((span): readonly NumberedSpan[] => {
      const left: NumberedSpan[] = [];
      for (
        let at = firstAfter(ends, span.from - 1);
        (aligned[at]?.was ?? Number.POSITIVE_INFINITY) <= span.to;
        at += 1
      ) {
        const { was = 0, now = 0, count = 0 } = aligned[at] ?? {};
        const moved = partOf(span, Math.max(span.from, was), Math.min(span.to, was + count - 1), now - was);
        left.push(now === was ? moved : { ...moved, byOthers: true });
      }
      return left;
    })
    .slice(-spansMax);
}

/** A part of a span, so many lines further down than before. */
const partOf = (span: NumberedSpan, from: number, to: number, shift: number): NumberedSpan => ({
  ...span,
  from: from + shift,
  to: to + shift,
  as: span.as + from - span.from,
});

/** The index of the first of these ascending numbers that is greater. */
function firstAfter(ascending: readonly number[], than: number): number {
  let [low, high] = [0, ascending.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ascending[middle] ?? 0) > than) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Lines that a number may mean. */
export interface Meant extends LineSpan {
  readonly byOthers: boolean;
}

/** Where lines are that were shown as these: nowhere, at one place, or at several if the session was shown two states of the file. */
export function linesMeant(spans: readonly NumberedSpan[], { from, to }: LineSpan): readonly Meant[] {
  const byShift = new Map<number, NumberedSpan[]>();
  for (const span of spans) {
    const last = span.as + span.to - span.from;
    if (last < from || to < span.as) continue;
    const shift = span.from - span.as;
    byShift.set(shift, [...(byShift.get(shift) ?? []), span]);
  }
  return [...byShift].flatMap(([shift, alike]): readonly Meant[] => {
    let next = from;
    let byOthers = false;
    for (const span of alike.toSorted((a, b) => a.as - b.as)) {
      if (span.as > next) break;
      next = Math.max(next, span.as + span.to - span.from + 1);
      byOthers ||= span.byOthers === true;
    }
    return next > to ? [{ from: from + shift, to: to + shift, byOthers }] : [];
  });
}
