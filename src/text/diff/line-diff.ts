/**
 * Which lines of two lists differ. The result is always valid, found in bounded time whatever the lists contain, and minimal if
 * the lists differ in at most a few hundred lines that both of them contain.
 *
 * Most of a real change needs no search: equal ends are cut off, and a line that the other list does not contain is changed for
 * certain. The rest goes through Myers' greedy search up to a cap. Beyond it, lines that occur once in each list split the task
 * into smaller ones (patience diff); if there are none, the search commits to the furthest point it reached and goes on from
 * there. All of this shares one budget of steps; when it is spent, the rest is one replacement.
 */

import { finish, inParts, partLength, type Steps } from "../steps.ts";
import { firstIndex } from "../match/find-text.ts";
import type { Numbered } from "./line-numbers.ts";

/** Lines `aFrom` up to `aTo` of the first list are replaced by lines `bFrom` up to `bTo` of the second; lines count from 0. */
export interface ChangedLines {
  readonly aFrom: number;
  readonly aTo: number;
  readonly bFrom: number;
  readonly bTo: number;
}

export interface LineDiff {
  /** In order, with at least one equal line between any two. */
  readonly changed: readonly ChangedLines[];
  /** The budget was spent: some of `changed` may cover lines that are equal. */
  readonly coarse: boolean;
}

/** Up to this many edits a search is exact. Its cost grows with their square. */
const editsMax = 256;
/** For a search that is one of many along the lists: together they cost about this many steps per line. */
const editsPerLegMax = 40;
/** The budget: for lists of 50,000 lines about a tenth of a second. */
const stepsBase = 1_000_000;
const stepsPerLine = 40;

export function lineDiff(a: readonly string[], b: readonly string[], stepsMax?: number): LineDiff {
  const numbers = new Map<string, number>();
  const give = (line: string): number => {
    const known = numbers.get(line);
    if (known !== undefined) return known;
    numbers.set(line, numbers.size);
    return numbers.size - 1;
  };
  const aIds = Int32Array.from(a, give);
  const known = numbers.size;
  const bIds = Int32Array.from(b, give);
  return finish(diffOfNumbers({ a: aIds, b: bIds, known, size: numbers.size }, stepsMax));
}

export function* diffOfNumbers(
  numbers: Numbered,
  stepsMax: number = stepsBase + stepsPerLine * (numbers.a.length + numbers.b.length),
): Steps<LineDiff> {
  const { a, b, known } = numbers;
  const linesMax = Math.min(a.length, b.length);
  let head = 0;
  while (head < linesMax && a[head] === b[head]) head += 1;
  let tail = 0;
  while (tail < linesMax - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail += 1;

  const between = { aFrom: head, aTo: a.length - tail, bFrom: head, bTo: b.length - tail };
  if (head + tail === linesMax) {
    // Lines were only added or only deleted: there is nothing to search.
    const changed = between.aFrom === between.aTo && between.bFrom === between.bTo ? [] : [between];
    return { changed: yield* slideDown(changed, a, b), coarse: false };
  }
  const bBetween = b.subarray(between.bFrom, between.bTo);
  if (!bBetween.some((id) => id < known)) return { changed: [between], coarse: false };
  const task = startTask(a.subarray(between.aFrom, between.aTo), bBetween, numbers.size, stepsMax);
  yield;
  const coarse = yield* matchAll(task);
  yield;
  const changed = yield* changesBetween(task.mates, task.bIds.length, head);
  return { changed: yield* slideDown(changed, a, b), coarse };
}

type Task = ReturnType<typeof startTask>;

interface Stretch {
  readonly a: Int32Array;
  readonly b: Int32Array;
}

function startTask(aIds: Int32Array, bIds: Int32Array, size: number, stepsMax: number) {
  return {
    aIds,
    bIds,
    /** For each line of a the equal line of b that it is paired with, or -1. The result is made from it. */
    mates: new Int32Array(aIds.length).fill(-1),
    /** Per number, zero between uses. */
    aCounts: new Int32Array(size),
    bCounts: new Int32Array(size),
    bPlaces: new Int32Array(size),
    stepsLeft: stepsMax,
  };
}

/** Fills in `mates`. True if the budget was spent before all were found. */
function* matchAll(task: Task): Steps<boolean> {
  let coarse = false;
  const open: Stretch[] = [{ a: upTo(task.aIds.length), b: upTo(task.bIds.length) }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    yield;
    const stretch = matchEnds(task, yield* withoutStrangers(task, matchEnds(task, next)));
    if (stretch.a.length === 0 || stretch.b.length === 0) continue;
    if (task.stepsLeft <= 0) {
      coarse = true;
      continue;
    }
    const a = yield* idsAt(task.aIds, stretch.a);
    const b = yield* idsAt(task.bIds, stretch.b);
    const go = (x: number, y: number, editsMax: number): Search => {
      const search = searchFrom({ a, b, x, y, editsMax, stepsMax: task.stepsLeft });
      task.stepsLeft -= search.steps;
      return search;
    };
    let search = go(0, 0, editsMax);
    const anchors = search.done ? [] : yield* anchorsOf(task, stretch);
    if (anchors.length > 0) {
      yield* splitAt(task, stretch, anchors, open);
      continue;
    }
    for (;;) {
      for (const { x, y, length } of search.equal) {
        for (let at = 0; at < length; at += 1) setMate(task, stretch.a[x + at], stretch.b[y + at]);
      }
      if (search.done || task.stepsLeft <= 0) break;
      yield;
      search = go(search.x, search.y, editsPerLegMax);
    }
    if (!search.done) coarse = true;
  }
  return coarse;
}

function upTo(length: number): Int32Array {
  const places = new Int32Array(length);
  for (let at = 0; at < length; at += 1) places[at] = at;
  return places;
}

function* idsAt(ids: Int32Array, places: Int32Array): Steps<Int32Array> {
  const found = new Int32Array(places.length);
  yield* inParts(places.length, (from, to) => {
    for (let at = from; at < to; at += 1) found[at] = ids[places[at] ?? -1] ?? -1;
  });
  return found;
}

function setMate(task: Task, a: number | undefined, b: number | undefined): void {
  if (a !== undefined && b !== undefined) task.mates[a] = b;
}

function matchEnds(task: Task, { a, b }: Stretch): Stretch {
  const { aIds, bIds } = task;
  const equal = (x: number, y: number) => aIds[a[x] ?? -1] === bIds[b[y] ?? -1];
  let from = 0;
  let aTo = a.length;
  let bTo = b.length;
  for (; from < aTo && from < bTo && equal(from, from); from += 1) setMate(task, a[from], b[from]);
  for (; aTo > from && bTo > from && equal(aTo - 1, bTo - 1); aTo -= 1, bTo -= 1) setMate(task, a[aTo - 1], b[bTo - 1]);
  return { a: a.subarray(from, aTo), b: b.subarray(from, bTo) };
}

/** Drops lines that only one side has. They have no mate anyway, so the result cannot become longer. */
function* withoutStrangers(task: Task, stretch: Stretch): Steps<Stretch> {
  const { aIds, bIds, aCounts, bCounts } = task;
  return yield* counted(task, stretch, function* () {
    return { a: yield* knownOf(stretch.a, aIds, bCounts), b: yield* knownOf(stretch.b, bIds, aCounts) };
  });
}

function* knownOf(places: Int32Array, ids: Int32Array, others: Int32Array): Steps<Int32Array> {
  const known = new Int32Array(places.length);
  let count = 0;
  yield* inParts(places.length, (from, to) => {
    for (let index = from; index < to; index += 1) {
      const at = places[index] ?? -1;
      if ((others[ids[at] ?? -1] ?? 0) > 0) known[count++] = at;
    }
  });
  return known.subarray(0, count);
}

/** Runs `use` while `aCounts` and `bCounts` are those of the stretch. */
function* counted<T>(task: Task, { a, b }: Stretch, use: () => Steps<T>): Steps<T> {
  const { aIds, bIds, aCounts, bCounts } = task;
  task.stepsLeft -= a.length + b.length;
  yield* count(aCounts, aIds, a, 1);
  yield* count(bCounts, bIds, b, 1);
  const result = yield* use();
  yield* count(aCounts, aIds, a, -1);
  yield* count(bCounts, bIds, b, -1);
  return result;
}

function count(counts: Int32Array, ids: Int32Array, places: Int32Array, by: number): Steps<void> {
  return inParts(places.length, (from, to) => {
    for (let at = from; at < to; at += 1) {
      const id = ids[places[at] ?? -1] ?? -1;
      if (id >= 0) counts[id] = (counts[id] ?? 0) + by;
    }
  });
}

interface Anchor {
  readonly x: number;
  readonly y: number;
}

/** The longest series of lines, in order in both, that occur exactly once on each side of the stretch. */
function* anchorsOf(task: Task, stretch: Stretch): Steps<readonly Anchor[]> {
  const { aIds, bIds, aCounts, bCounts, bPlaces } = task;
  const { a, b } = stretch;
  const candidates: Anchor[] = [];
  yield* counted(task, stretch, function* () {
    yield* inParts(b.length, (from, to) => {
      for (let y = from; y < to; y += 1) bPlaces[bIds[b[y] ?? -1] ?? -1] = y;
    });
    yield* inParts(a.length, (from, to) => {
      for (let x = from; x < to; x += 1) {
        const id = aIds[a[x] ?? -1] ?? -1;
        if (aCounts[id] === 1 && bCounts[id] === 1) candidates.push({ x, y: bPlaces[id] ?? 0 });
      }
    });
  });
  return yield* longestRising(candidates);
}

/** Patience sorting: every card goes on the leftmost pile it fits and remembers the top of the pile to the left. */
function* longestRising(candidates: readonly Anchor[]): Steps<readonly Anchor[]> {
  interface Card extends Anchor {
    readonly left: Card | undefined;
  }
  const tops: Card[] = [];
  for (const [index, { x, y }] of candidates.entries()) {
    if (index % partLength === 0) yield;
    const pile = firstIndex(tops.length, (at) => (tops[at]?.y ?? 0) >= y);
    tops[pile] = { x, y, left: tops[pile - 1] };
  }
  const rising: Anchor[] = [];
  for (let card = tops.at(-1); card !== undefined; card = card.left) rising.push(card);
  return rising.reverse();
}

function* splitAt(task: Task, { a, b }: Stretch, anchors: readonly Anchor[], open: Stretch[]): Steps<void> {
  let from: Anchor = { x: 0, y: 0 };
  for (const [index, { x, y }] of [...anchors, { x: a.length, y: b.length }].entries()) {
    if (index % partLength === 0) yield;
    setMate(task, a[x], b[y]);
    if (x > from.x && y > from.y) open.push({ a: a.subarray(from.x, x), b: b.subarray(from.y, y) });
    from = { x: x + 1, y: y + 1 };
  }
}

function* changesBetween(mates: Int32Array, bLength: number, head: number): Steps<readonly ChangedLines[]> {
  const changed: ChangedLines[] = [];
  let aFrom = 0;
  let bFrom = 0;
  yield* inParts(mates.length + 1, (from, to) => {
    for (let at = from; at < to; at += 1) {
      const mate = at < mates.length ? (mates[at] ?? -1) : bLength;
      if (mate < 0) continue;
      if (at > aFrom || mate > bFrom) {
        changed.push({ aFrom: head + aFrom, aTo: head + at, bFrom: head + bFrom, bTo: head + mate });
      }
      aFrom = at + 1;
      bFrom = mate + 1;
    }
  });
  return changed;
}

/** Lines that are only added or only deleted are shown in the lowest of several possible positions, as people expect. */
function* slideDown(changed: readonly ChangedLines[], a: Int32Array, b: Int32Array): Steps<readonly ChangedLines[]> {
  const slid: ChangedLines[] = [];
  for (const [index, change] of changed.toReversed().entries()) {
    if (index % partLength === 0) yield;
    let { aFrom, aTo, bFrom, bTo } = change;
    const below = slid.at(-1);
    const end = below?.aFrom ?? a.length;
    if (aFrom === aTo || bFrom === bTo) {
      const [lines, from, to] = aFrom === aTo ? [b, bFrom, bTo] : [a, aFrom, aTo];
      let by = 0;
      while (aTo + by < end && lines[from + by] === lines[to + by]) by += 1;
      [aFrom, aTo, bFrom, bTo] = [aFrom + by, aTo + by, bFrom + by, bTo + by];
    }
    if (below !== undefined && aTo === below.aFrom)
      slid.splice(-1, 1, { aFrom, aTo: below.aTo, bFrom, bTo: below.bTo });
    else slid.push({ aFrom, aTo, bFrom, bTo });
  }
  return slid.reverse();
}

// Myers' greedy search for a shortest edit script: the fewest lines deleted and added, if they are below a cap, and otherwise the
// path to the furthest point that can be reached with that many.

interface SearchTask {
  readonly a: Int32Array;
  readonly b: Int32Array;
  readonly x: number;
  readonly y: number;
  readonly editsMax: number;
  /** Approximate number of comparisons. May be exceeded by one row. */
  readonly stepsMax: number;
}

interface Search {
  /** Runs of equal lines on the path, the last one first. */
  readonly equal: readonly { readonly x: number; readonly y: number; readonly length: number }[];
  /** The point it reached; always beyond the start, unless the start is the end. */
  readonly x: number;
  readonly y: number;
  readonly done: boolean;
  readonly steps: number;
}

/** The furthest x that a number of edits reaches on every second diagonal (x - y) from -edits to +edits, or -1. */
type Row = Int32Array;

interface Frame {
  readonly width: number;
  readonly height: number;
}

function searchFrom({ a, b, x: xFrom, y: yFrom, editsMax, stepsMax }: SearchTask): Search {
  const frame: Frame = { width: a.length - xFrom, height: b.length - yFrom };
  const { width, height } = frame;
  const rows: Row[] = [];
  let steps = 0;
  for (let edits = 0; ; edits += 1) {
    const row: Row = new Int32Array(2 * edits + 1);
    let reachedMax = -1;
    let furthest = 0;
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      const entered = entry(rows[edits - 1], diagonal, frame);
      let x = entered;
      if (x >= 0) {
        while (x < width && x - diagonal < height && a[xFrom + x] === b[yFrom + x - diagonal]) x += 1;
        if (2 * x - diagonal > reachedMax) {
          reachedMax = 2 * x - diagonal;
          furthest = diagonal;
        }
      }
      row[diagonal + edits] = x;
      steps += 1 + x - entered;
    }
    rows.push(row);
    const done = reachedMax === width + height;
    if (done || edits === editsMax || steps >= stepsMax) {
      const equal = runsOf(rows, furthest, frame).map((run) => ({ ...run, x: run.x + xFrom, y: run.y + yFrom }));
      const x = (reachedMax + furthest) / 2;
      return { equal, x: xFrom + x, y: yFrom + x - furthest, done, steps };
    }
  }
}

/** Where a diagonal is entered from its neighbours in the row above: by deleting a line of `a` or by adding one of `b`. */
function entry(above: Row | undefined, diagonal: number, { width, height }: Frame): number {
  if (above === undefined) return 0;
  const middle = (above.length - 1) / 2;
  const dropped = above[middle + diagonal - 1] ?? -1;
  const taken = above[middle + diagonal + 1] ?? -1;
  const afterDrop = dropped >= 0 && dropped < width ? dropped + 1 : -1;
  return taken >= afterDrop && taken - diagonal <= height ? taken : afterDrop;
}

function runsOf(rows: readonly Row[], last: number, frame: Frame): { x: number; y: number; length: number }[] {
  const runs: { x: number; y: number; length: number }[] = [];
  let diagonal = last;
  for (let edits = rows.length - 1; edits >= 0; edits -= 1) {
    const above = rows[edits - 1];
    const entered = entry(above, diagonal, frame);
    const length = (rows[edits]?.[diagonal + edits] ?? 0) - entered;
    if (length > 0) runs.push({ x: entered, y: entered - diagonal, length });
    // If that neighbour has the same x, a line of `b` was added: deleting a line of `a` increases x.
    diagonal += above?.[edits + diagonal] === entered ? 1 : -1;
  }
  return runs;
}
