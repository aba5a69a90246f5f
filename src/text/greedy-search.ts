/**
 * Myers' greedy search for a short way from one list to another: the fewest lines dropped and taken, if that is below a
 * cap, and otherwise the way to the furthest point that can be reached with so many.
 */

export interface SearchTask {
  /** Equal lines have equal numbers. */
  readonly a: Int32Array;
  readonly b: Int32Array;
  /** Where to begin in either. */
  readonly x: number;
  readonly y: number;
  readonly editsMax: number;
  /** Comparisons, more or less. It may be exceeded by one row. */
  readonly stepsMax: number;
}

export interface Search {
  /** Runs of equal lines on the way, the last one first. */
  readonly equal: readonly { readonly x: number; readonly y: number; readonly length: number }[];
  /** How far it came; always some way unless there was none to go. */
  readonly x: number;
  readonly y: number;
  /** It came to the end of both lists. */
  readonly done: boolean;
  readonly steps: number;
}

/**
 * How far along `a` one comes with so many edits, for every diagonal (x - y) from -edits to +edits, or -1. Only every
 * second diagonal can be reached.
 */
type Row = Int32Array;

/** What is left of either list. */
interface Frame {
  readonly width: number;
  readonly height: number;
}

export function searchFrom({ a, b, x: xFrom, y: yFrom, editsMax, stepsMax }: SearchTask): Search {
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

/** Where a diagonal is entered from its neighbours in the row above: by dropping a line of `a` or by taking one of `b`. */
function entry(above: Row | undefined, diagonal: number, { width, height }: Frame): number {
  if (above === undefined) return 0;
  const middle = (above.length - 1) / 2;
  const dropped = above[middle + diagonal - 1] ?? -1;
  const taken = above[middle + diagonal + 1] ?? -1;
  const afterDrop = dropped >= 0 && dropped < width ? dropped + 1 : -1;
  return taken >= afterDrop && taken - diagonal <= height ? taken : afterDrop;
}

/** Walks back from a point of the last row. */
function runsOf(rows: readonly Row[], last: number, frame: Frame): { x: number; y: number; length: number }[] {
  const runs: { x: number; y: number; length: number }[] = [];
  let diagonal = last;
  for (let edits = rows.length - 1; edits >= 0; edits -= 1) {
    const above = rows[edits - 1];
    const entered = entry(above, diagonal, frame);
    const length = (rows[edits]?.[diagonal + edits] ?? 0) - entered;
    if (length > 0) runs.push({ x: entered, y: entered - diagonal, length });
    // A line of `b` was taken exactly if that neighbour lies as far along `a`: dropping one goes a step further.
    diagonal += above?.[edits + diagonal] === entered ? 1 : -1;
  }
  return runs;
}
