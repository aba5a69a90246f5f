/**
 * Which of many patterns can match a path at all, found without trying each: by the texts that every path must contain
 * to match. What it finds is a superset in the order of the patterns; comparing says which of them really do. Pure.
 */

/** Fewer patterns are looked through one by one: that is faster than cutting the path up. */
const oneByOneMax = 48;
/** A whole name that more patterns share tells them apart badly; then three letters may do better. */
const sharedMax = 8;
const gramLength = 3;

interface Entry {
  readonly at: number;
  /** In lower case; the path must contain them all. None: it may match anything. */
  readonly needles: readonly string[];
  /** Those that are whole names of the path. */
  readonly names: readonly string[];
}

export interface PatternIndex {
  /** Numbers of the patterns that may match, in rising order. */
  candidates(lowerCasePath: string): readonly number[];
}

export function createPatternIndex(lines: readonly string[]): PatternIndex {
  const entries = lines.map(entryOf);
  if (entries.length <= oneByOneMax) {
    return { candidates: (path) => entries.filter((entry) => mayMatch(entry, path)).map(({ at }) => at) };
  }
  const { byName, byGram, others } = shelved(entries);
  return {
    candidates: (path) => {
      let found: Set<number> | undefined;
      const take = (shelf: readonly Entry[] | undefined): void => {
        if (shelf !== undefined)
          for (const entry of shelf) if (mayMatch(entry, path)) (found ??= new Set()).add(entry.at);
      };
      take(others);
      if (byName.size > 0) for (const name of path.split("/")) take(byName.get(name));
      if (byGram.size > 0) {
        for (let at = 0; at + gramLength <= path.length; at += 1) take(byGram.get(path.slice(at, at + gramLength)));
      }
      if (found === undefined) return none;
      return found.size < 2 ? [...found] : [...found].toSorted((one, other) => one - other);
    },
  };
}

const none: readonly number[] = [];

const mayMatch = ({ needles }: Entry, path: string): boolean => needles.every((needle) => path.includes(needle));

interface Shelves {
  readonly byName: ReadonlyMap<string, readonly Entry[]>;
  readonly byGram: ReadonlyMap<string, readonly Entry[]>;
  readonly others: readonly Entry[];
}

/** Each pattern under the rarest name that it demands, or the rarest three letters, so that few stand together. */
function shelved(entries: readonly Entry[]): Shelves {
  const byName = new Map<string, Entry[]>();
  const rest = shelveBy(entries, ({ names }) => names, sharedMax, byName);
  const byGram = new Map<string, Entry[]>();
  const others = shelveBy(rest, ({ needles }) => gramsOf(needles), Number.POSITIVE_INFINITY, byGram);
  return { byName, byGram, others };
}

/** Answers with those that have no key, or none that is rare enough. */
function shelveBy(
  entries: readonly Entry[],
  keysOf: (entry: Entry) => readonly string[],
  countMax: number,
  into: Map<string, Entry[]>,
): readonly Entry[] {
  const counts = new Map<string, number>();
  for (const entry of entries) for (const key of keysOf(entry)) counts.set(key, (counts.get(key) ?? 0) + 1);
  return entries.filter((entry) => {
    let rarest: string | undefined;
    let fewest = countMax + 1;
    for (const key of keysOf(entry)) {
      const count = counts.get(key) ?? 0;
      if (count < fewest) [rarest, fewest] = [key, count];
    }
    if (rarest === undefined) return true;
    const shelf = into.get(rarest);
    if (shelf === undefined) into.set(rarest, [entry]);
    else shelf.push(entry);
    return false;
  });
}

function gramsOf(needles: readonly string[]): readonly string[] {
  const grams: string[] = [];
  for (const needle of needles) {
    for (let at = 0; at + gramLength <= needle.length; at += 1) grams.push(needle.slice(at, at + gramLength));
  }
  return grams;
}

/**
 * Needles are texts that every path matching a pattern contains. ASCII only: there lower case and the `i` of regular
 * expressions agree. A slash inside is one of the path; at an end `**` may have stood for nothing, so it is left out.
 */
function entryOf(line: string, at: number): Entry {
  // What follows a bracket is left out, so that nobody has to know here where the bracket ends.
  const known = line.toLowerCase().replace(/\\.|\[.*$/gs, "*");
  const needles = known
    .split(/[^\w./-]+/)
    .map((piece) => piece.replace(/^\/+|\/+$/g, ""))
    .filter((piece) => piece !== "");
  return { at, needles, names: known.split("/").filter((name) => /^[\w.-]+$/.test(name)) };
}
