/**
 * Finds the lines of an earlier version of a text in the current one, by hashes of the lines. Of the earlier version only some
 * lines may be known. A line is found only if its text still stands there and the lines keep their order.
 */

/** Known lines of the earlier version: one hash for each line from line `from` on. */
export interface LineHashes {
  readonly from: number;
  readonly hashes: Float64Array;
}

/** So many lines from `was` on stand from `now` on in the current version. */
export interface AlignedLines {
  readonly was: number;
  readonly now: number;
  readonly count: number;
}

/** Where known lines are gone or new lines stand: lines `from` to `to` of the current version, none if `to` is less than `from`. */
export interface OutsideChange {
  readonly from: number;
  readonly to: number;
  /** Known lines that are gone. */
  readonly removed: number;
}

const newline = 10;
const carriageReturn = 13;

/**
 * A hash for each line of a file, or of lines that were joined by newlines; a `\r` before a newline does not count, nor a byte
 * order mark and the final newline of a file. Undefined if the text is not in lines of bytes (a NUL byte, as in UTF-16) or has
 * more than `linesMax` lines.
 */
export function hashLines(text: string | Uint8Array, linesMax: number): Float64Array | undefined {
  const isFile = typeof text !== "string";
  const bytes = isFile ? text : Buffer.from(text);
  if (bytes.includes(0)) return undefined;
  const start = isFile && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  const end = isFile && bytes.at(-1) === newline ? bytes.length - 1 : bytes.length;
  let count = 1;
  for (let at = bytes.indexOf(newline, start); at !== -1 && at < end; at = bytes.indexOf(newline, at + 1)) {
    count += 1;
    if (count > linesMax) return undefined;
  }
  const hashes = new Float64Array(isFile && bytes.length === start ? 0 : count);
  let from = start;
  for (let line = 0; line < hashes.length; line += 1) {
    const next = bytes.indexOf(newline, from);
    const to = next === -1 || next > end ? end : next;
    hashes[line] = hashOf(bytes, from, to > from && bytes[to - 1] === carriageReturn ? to - 1 : to);
    from = to + 1;
  }
  return hashes;
}

/** 53 bits, so that two different lines of one file hardly ever have the same. */
function hashOf(bytes: Uint8Array, from: number, to: number): number {
  let [one, two] = [0x2f0b4c47, 0x41c6ce57];
  for (let at = from; at < to; at += 1) {
    const byte = bytes[at] ?? 0;
    one = Math.imul(one ^ byte, 0x9e3779b1);
    two = Math.imul(two ^ byte, 0x5f356495);
  }
  one = Math.imul(one ^ (one >>> 16), 0x85ebca6b) ^ Math.imul(two ^ (two >>> 13), 0xc2b2ae35);
  two = Math.imul(two ^ (two >>> 16), 0x85ebca6b) ^ Math.imul(one ^ (one >>> 13), 0xc2b2ae35);
  return 4_294_967_296 * (two & 0x1f_ffff) + (one >>> 0);
}

/**
 * Lines that occur once among the known ones and once in the current version are anchors, as many as keep their order. From
 * these, and from the beginning and the end of the text, the lines next to them are compared. `known` is sorted, without
 * overlaps; `totalBefore` are the lines of the earlier version, if known. Takes n log n steps.
 */
export function alignLines(
  known: readonly LineHashes[],
  totalBefore: number | undefined,
  now: Float64Array,
): readonly AlignedLines[] {
  const knownAt = knownLines(known);
  const runs: { was: number; now: number; count: number }[] = [];
  const keep = (was: number, at: number): void => {
    const last = runs.at(-1);
    if (last !== undefined && last.was + last.count === was && last.now + last.count === at) last.count += 1;
    else runs.push({ was, now: at, count: 1 });
  };
  const isSame = (was: number, at: number): boolean => knownAt.hash(was) === now[at - 1];
  const end: Pair | undefined = totalBefore === undefined ? undefined : { was: totalBefore + 1, now: now.length + 1 };
  let last: Pair = { was: 0, now: 0 };
  const fill = (next: Pair): void => {
    const { was: fromWas, now: fromNow } = last;
    if (next.was - fromWas === next.now - fromNow) {
      knownAt.between(fromWas, next.was, (was) => {
        if (isSame(was, was - fromWas + fromNow)) keep(was, was - fromWas + fromNow);
      });
      return;
    }
    const gapMax = Math.min(next.was - fromWas, next.now - fromNow) - 1;
    let after = 0;
    while (after < gapMax && isSame(fromWas + after + 1, fromNow + after + 1)) after += 1;
    let before = 0;
    while (before < gapMax - after && isSame(next.was - before - 1, next.now - before - 1)) before += 1;
    for (let step = 1; step <= after; step += 1) keep(fromWas + step, fromNow + step);
    for (let step = before; step >= 1; step -= 1) keep(next.was - step, next.now - step);
  };
  for (const anchor of inOrder(anchorsIn(known, now))) {
    fill(anchor);
    keep(anchor.was, anchor.now);
    last = anchor;
  }
  if (end !== undefined) fill(end);
  else {
    for (let step = 1; last.now + step <= now.length && isSame(last.was + step, last.now + step); step += 1)
      keep(last.was + step, last.now + step);
  }
  return runs;
}

interface Pair {
  readonly was: number;
  readonly now: number;
}

/** Looks up known lines by their number. */
function knownLines(known: readonly LineHashes[]) {
  /** The first run that ends at `line` or after it. */
  const runAt = (line: number): number => {
    let [low, high] = [0, known.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const run = known[middle];
      if (run !== undefined && run.from + run.hashes.length <= line) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  let recent: LineHashes | undefined;
  return {
    hash(line: number): number | undefined {
      const isRecent = recent !== undefined && line >= recent.from && line < recent.from + recent.hashes.length;
      if (!isRecent) recent = known[runAt(line)];
      return recent?.hashes[line - recent.from];
    },
    between(after: number, before: number, each: (line: number) => void): void {
      for (let at = runAt(after + 1); at < known.length; at += 1) {
        const { from, hashes } = known[at] ?? { from: before, hashes: [] };
        if (from >= before) return;
        const to = Math.min(before, from + hashes.length);
        for (let line = Math.max(from, after + 1); line < to; line += 1) each(line);
      }
    },
    count(after: number, before: number): number {
      let count = 0;
      for (let at = runAt(after + 1); at < known.length; at += 1) {
        const { from, hashes } = known[at] ?? { from: before, hashes: [] };
        if (from >= before) break;
        count += Math.min(before, from + hashes.length) - Math.max(from, after + 1);
      }
      return count;
    },
  };
}

/** Lines that occur once in each of both versions, in the order of the earlier one. */
function anchorsIn(known: readonly LineHashes[], now: Float64Array): readonly Pair[] {
  const places = new Map<number, { was: number; now: number }>();
  for (const { from, hashes } of known) {
    for (const [index, hash] of hashes.entries()) {
      const place = places.get(hash);
      if (place === undefined) places.set(hash, { was: from + index, now: 0 });
      else place.was = -1;
    }
  }
  for (const [index, hash] of now.entries()) {
    const place = places.get(hash);
    if (place !== undefined) place.now = place.now === 0 ? index + 1 : -1;
  }
  return [...places.values()].filter(({ was, now: at }) => was > 0 && at > 0);
}

/** The longest part of the pairs in which both numbers grow. */
function inOrder(pairs: readonly Pair[]): readonly Pair[] {
  /** By length, the pair with the smallest end; `before` leads back to the pair before it. */
  const ends: number[] = [];
  const before = new Int32Array(pairs.length).fill(-1);
  for (const [index, { now }] of pairs.entries()) {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((pairs[ends[middle] ?? 0]?.now ?? 0) < now) low = middle + 1;
      else high = middle;
    }
    before[index] = ends[low - 1] ?? -1;
    ends[low] = index;
  }
  const found: Pair[] = [];
  for (let at = ends.at(-1) ?? -1; at >= 0; at = before[at] ?? -1) {
    const pair = pairs[at];
    if (pair !== undefined) found.push(pair);
  }
  return found.reverse();
}

/** Where the current version differs from the known lines. A place of which no line was known is no change, whatever it holds. */
export function outsideChanges(
  known: readonly LineHashes[],
  totalBefore: number | undefined,
  aligned: readonly AlignedLines[],
  totalNow: number,
): readonly OutsideChange[] {
  const knownAt = knownLines(known);
  const changes: OutsideChange[] = [];
  const between = (last: Pair, next: Pair): void => {
    const [wasCount, nowCount] = [next.was - last.was - 1, next.now - last.now - 1];
    if (wasCount === 0 && nowCount === 0) return;
    const lost = knownAt.count(last.was, next.was);
    if (lost === 0 && wasCount > 0) return;
    if (wasCount !== nowCount) {
      changes.push({ from: last.now + 1, to: next.now - 1, removed: lost });
      return;
    }
    // As many lines as before: the known ones were replaced where they stood.
    knownAt.between(last.was, next.was, (was) => {
      const line = was - last.was + last.now;
      const open = changes.at(-1);
      if (open !== undefined && open.to === line - 1 && open.from > last.now)
        changes[changes.length - 1] = { from: open.from, to: line, removed: open.removed + 1 };
      else changes.push({ from: line, to: line, removed: 1 });
    });
  };
  let last: Pair = { was: 0, now: 0 };
  for (const { was, now, count } of aligned) {
    between(last, { was, now });
    last = { was: was + count - 1, now: now + count - 1 };
  }
  if (totalBefore !== undefined) between(last, { was: totalBefore + 1, now: totalNow + 1 });
  else {
    const lost = knownAt.count(last.was, Number.POSITIVE_INFINITY);
    const final = known.at(-1);
    const reach = final === undefined ? 0 : final.from + final.hashes.length - 1 - last.was;
    if (lost > 0) changes.push({ from: last.now + 1, to: Math.min(totalNow, last.now + reach), removed: lost });
  }
  return changes;
}
