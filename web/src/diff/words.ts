/** Which words of a changed line differ from its counterpart. */

/** UTF-16 units, half-open. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Comparing two lines takes time in proportion to the product of their words; above this, only equal beginnings and ends are found. */
const comparisonsMax = 40_000;
/** Two lines with a smaller share of equal text are unrelated, and marks would be noise. */
const equalShareMin = 0.25;

/** The spans of `text` that `other` does not have; none if the two are unrelated. */
export function changedWords(text: string, other: string): readonly Span[] {
  if (text === other) return [];
  const own = wordsOf(text);
  const others = wordsOf(other);
  const head = equalHead(own, others);
  const tail = equalTail(own, others, head);
  const [a, b] = [own.slice(head, own.length - tail), others.slice(head, others.length - tail)];
  const kept = a.length * b.length > comparisonsMax ? new Set<number>() : keptWords(a, b);
  const spans: { from: number; to: number }[] = [];
  let at = sizeOf(own.slice(0, head));
  let equal = at + sizeOf(own.slice(own.length - tail));
  for (const [index, word] of a.entries()) {
    const last = spans.at(-1);
    if (kept.has(index)) equal += word.trim().length;
    else if (last?.to === at) last.to = at + word.length;
    else spans.push({ from: at, to: at + word.length });
    at += word.length;
  }
  const longer = Math.max(text.trim().length, other.trim().length);
  return longer > 0 && equal / longer < equalShareMin ? [] : joinedOverBlanks(text, spans);
}

/** Names, numbers and runs of whitespace are words; any other character is a word by itself. */
function wordsOf(text: string): readonly string[] {
  return text.match(/[\p{L}\p{N}_$]+|\s+|./gsu) ?? [];
}

const sizeOf = (words: readonly string[]): number => words.reduce((sum, word) => sum + word.length, 0);

function equalHead(a: readonly string[], b: readonly string[]): number {
  let at = 0;
  while (at < a.length && at < b.length && a[at] === b[at]) at += 1;
  return at;
}

function equalTail(a: readonly string[], b: readonly string[], head: number): number {
  let at = 0;
  while (at < a.length - head && at < b.length - head && a[a.length - 1 - at] === b[b.length - 1 - at]) at += 1;
  return at;
}

/** The words of `a` in a longest common subsequence. */
function keptWords(a: readonly string[], b: readonly string[]): ReadonlySet<number> {
  const width = b.length + 1;
  const longest = new Uint16Array((a.length + 1) * width);
  const cell = (i: number, j: number): number => longest[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      longest[i * width + j] = a[i] === b[j] ? cell(i + 1, j + 1) + 1 : Math.max(cell(i + 1, j), cell(i, j + 1));
    }
  }
  const kept = new Set<number>();
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) {
      kept.add(i);
      i += 1;
      j += 1;
    } else if (cell(i + 1, j) >= cell(i, j + 1)) i += 1;
    else j += 1;
  }
  return kept;
}

/** Joins marks that only whitespace separates. */
function joinedOverBlanks(text: string, spans: readonly Span[]): readonly Span[] {
  const joined: { from: number; to: number }[] = [];
  for (const span of spans) {
    const last = joined.at(-1);
    if (last !== undefined && /^\s*$/.test(text.slice(last.to, span.from))) last.to = span.to;
    else joined.push({ ...span });
  }
  return joined;
}
