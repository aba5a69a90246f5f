/** Pairs added lines with the removed lines that they replace: in order, and only similar ones. */

/** Indexes into the two lists; undefined if there is no line on that side. */
export interface Pair {
  readonly old: number | undefined;
  readonly new: number | undefined;
  /** Are they two versions of one line, or only next to each other? */
  readonly alike: boolean;
}

/** Comparing takes time in proportion to the product of the lengths; larger blocks are paired from the top. */
const comparisonsMax = 2_500;
const alikeMin = 0.4;

export function aligned(old: readonly string[], fresh: readonly string[]): readonly Pair[] {
  const pairs: Pair[] = [];
  let [from, fromNew] = [0, 0];
  for (const [at, atNew] of alikePairs(old, fresh)) {
    pairs.push(...sideBySide(from, at, fromNew, atNew), { old: at, new: atNew, alike: true });
    [from, fromNew] = [at + 1, atNew + 1];
  }
  return [...pairs, ...sideBySide(from, old.length, fromNew, fresh.length)];
}

function* sideBySide(from: number, to: number, fromNew: number, toNew: number): Generator<Pair> {
  for (let step = 0; from + step < to || fromNew + step < toNew; step += 1) {
    yield {
      old: from + step < to ? from + step : undefined,
      new: fromNew + step < toNew ? fromNew + step : undefined,
      alike: false,
    };
  }
}

/** The pairs, in order, with the largest total similarity. */
function alikePairs(old: readonly string[], fresh: readonly string[]): readonly (readonly [number, number])[] {
  if (old.length * fresh.length > comparisonsMax) {
    return Array.from({ length: Math.min(old.length, fresh.length) }, (_, index) => [index, index] as const);
  }
  const [a, b] = [old.map(wordsOf), fresh.map(wordsOf)];
  const width = b.length + 1;
  const best = new Float64Array((a.length + 1) * width);
  const like = new Float64Array(a.length * width);
  const cell = (list: Float64Array, i: number, j: number): number => list[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      const likeness = likenessOf(a[i] ?? none, b[j] ?? none);
      like[i * width + j] = likeness;
      const paired = likeness < alikeMin ? 0 : likeness + cell(best, i + 1, j + 1);
      best[i * width + j] = Math.max(paired, cell(best, i + 1, j), cell(best, i, j + 1));
    }
  }
  const pairs: (readonly [number, number])[] = [];
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    const likeness = cell(like, i, j);
    if (likeness >= alikeMin && cell(best, i, j) === likeness + cell(best, i + 1, j + 1)) {
      pairs.push([i, j]);
      [i, j] = [i + 1, j + 1];
    } else if (cell(best, i, j) === cell(best, i + 1, j)) i += 1;
    else j += 1;
  }
  return pairs;
}

type Words = ReadonlyMap<string, number>;
const none: Words = new Map();

function wordsOf(line: string): Words {
  const words = new Map<string, number>();
  for (const word of line.match(/[\p{L}\p{N}_$]+|[^\s\p{L}\p{N}_$]/gu) ?? [])
    words.set(word, (words.get(word) ?? 0) + 1);
  return words;
}

/** The share of characters, without whitespace, in words that both lines have. */
function likenessOf(a: Words, b: Words): number {
  let [shared, all] = [0, 0];
  for (const [word, times] of a) {
    shared += 2 * Math.min(times, b.get(word) ?? 0) * word.length;
    all += times * word.length;
  }
  for (const [word, times] of b) all += times * word.length;
  return all === 0 ? 0 : shared / all;
}
