/** Which lines two texts share, in order. */

/** Line `before` of the one text is line `after` of the other. */
export interface SharedLine {
  readonly before: number;
  readonly after: number;
}

/** Above this many pairs to compare, lines are paired by the first fit instead of the longest common sequence. */
const cellsMax = 4_000_000;

export function sharedLines(before: readonly string[], after: readonly string[]): readonly SharedLine[] {
  const least = Math.min(before.length, after.length);
  let head = 0;
  while (head < least && before[head] === after[head]) head += 1;
  let tail = 0;
  while (tail < least - head && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail += 1;
  const middle = sharedInside(before.slice(head, before.length - tail), after.slice(head, after.length - tail));
  return [
    ...Array.from({ length: head }, (_, at) => ({ before: at, after: at })),
    ...middle.map((pair) => ({ before: pair.before + head, after: pair.after + head })),
    ...Array.from({ length: tail }, (_, at) => ({
      before: before.length - tail + at,
      after: after.length - tail + at,
    })),
  ];
}

function sharedInside(before: readonly string[], after: readonly string[]): readonly SharedLine[] {
  if (before.length === 0 || after.length === 0) return [];
  return before.length * after.length > cellsMax ? firstFits(before, after) : longest(before, after);
}

function longest(before: readonly string[], after: readonly string[]): readonly SharedLine[] {
  const width = after.length + 1;
  const lengths = new Uint32Array((before.length + 1) * width);
  const at = (row: number, column: number) => lengths[row * width + column] ?? 0;
  for (let row = before.length - 1; row >= 0; row -= 1) {
    for (let column = after.length - 1; column >= 0; column -= 1) {
      lengths[row * width + column] =
        before[row] === after[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  const shared: SharedLine[] = [];
  for (let row = 0, column = 0; row < before.length && column < after.length; ) {
    if (before[row] === after[column]) shared.push({ before: row++, after: column++ });
    else if (at(row + 1, column) >= at(row, column + 1)) row += 1;
    else column += 1;
  }
  return shared;
}

function firstFits(before: readonly string[], after: readonly string[]): readonly SharedLine[] {
  const rows = new Map<string, number[]>();
  for (const [row, line] of before.entries()) {
    const known = rows.get(line);
    if (known === undefined) rows.set(line, [row]);
    else known.push(row);
  }
  const used = new Map<string, number>();
  const shared: SharedLine[] = [];
  let next = 0;
  for (const [column, line] of after.entries()) {
    const candidates = rows.get(line);
    if (candidates === undefined) continue;
    let candidate = used.get(line) ?? 0;
    while ((candidates[candidate] ?? next) < next) candidate += 1;
    used.set(line, candidate);
    const row = candidates[candidate];
    if (row === undefined) continue;
    shared.push({ before: row, after: column });
    next = row + 1;
  }
  return shared;
}
