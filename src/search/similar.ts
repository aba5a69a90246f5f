/** Suggests paths that may have been meant when a path names nothing. Reads names, never contents. */

import { basename, dirname, extname, join, parse, relative, resolve, sep } from "node:path";
import { distance } from "fastest-levenshtein";
import { leadsOut } from "../contract/common.ts";
import { limits } from "../contract/limits.ts";
import type { Suggestion } from "../contract/problem.ts";
import type { Place } from "../contract/target.ts";
import { compareCodePoints, FirstOnes } from "../text/text.ts";

/** The part of the disk that the search may see: below the roots, without what rules hide. */
export interface Surroundings {
  /** Passes the names in a folder beneath a root to `take`, as many as time allows. False: no such folder. */
  list(folder: string, take: (entry: Entry) => void): Promise<boolean>;
  /** What an absolute path names; undefined if it does not exist, is outside of the roots or is hidden by rules. */
  lookup(path: string): Promise<"file" | "directory" | undefined>;
  readonly roots: readonly string[];
}

interface Entry {
  readonly name: string;
  readonly kind: "file" | "directory";
}

/** Calls of `lookup` for one search: each may cost the walk of a path. */
const lookupsMax = 40;
/** Other prefixes to try: together with `foldersMax` and `findGap` they leave lookups for the nearest folder. */
const prefixesMax = 16;
/** Folders with a similar name to try. */
const foldersMax = 8;

/** `file or folder`: a file is meant, but a folder can be read as well. */
export type Wanted = "file" | "file or folder" | "anything";

/** Models sometimes copy a path with the quotes around it. */
function withoutQuotes({ asked, absolute }: Place): string | undefined {
  const inner = /^(["'`])(.+)\1$/s.exec(asked)?.[2];
  if (inner === undefined || inner.includes("\0")) return undefined;
  return resolve(absolute.slice(0, absolute.length - resolve("/", asked).length), inner);
}

/** At most `limits.suggestionsMax` paths, best first. Each of them was looked up, so paths that rules hide are not suggested. */
export async function similarPaths(place: Place, wants: Wanted, around: Surroundings): Promise<readonly Suggestion[]> {
  const suggester = newSuggester(place, around);
  const unquoted = withoutQuotes(place);
  if (unquoted !== undefined) await suggester.offer(unquoted);
  if (suggester.suggestions.length > 0) return suggester.suggestions;
  const folder = dirname(place.absolute);
  const near = namesLike(basename(place.absolute), wants);
  if (!(await around.list(folder, near.take))) {
    await searchWithoutFolder(place, around, suggester);
    // A file was asked for: suggesting a distant folder would only lead to the next refusal.
    if (wants === "file") return suggester.suggestions.filter(({ kind }) => kind === "file");
  } else {
    for (const name of near.best()) await suggester.offer(join(folder, name));
    // The prefix may still be wrong although the folder exists: `app/app/x` when the file is `app/x`.
    if (suggester.suggestions.length === 0)
      for (const path of await otherPrefixes(place, around)) await suggester.offer(path);
  }
  return suggester.suggestions;
}

async function searchWithoutFolder(place: Place, around: Surroundings, suggester: Suggester): Promise<void> {
  const gap = await findGap(place, suggester);
  const prefixed = await otherPrefixes(place, around);
  // The bare name at a root is weak evidence (every project has an `index.ts`): it comes after similar folders.
  const isNameAlone = (path: string) => around.roots.some((root) => join(root, basename(path)) === path);
  for (const path of prefixed) if (!isNameAlone(path)) await suggester.offer(path);
  if (gap !== undefined) {
    const near = foldersLike(gap.name);
    await around.list(gap.folder, near.take);
    for (const name of near.best()) await suggester.offer(join(gap.folder, name, ...gap.rest));
  }
  for (const path of prefixed) await suggester.offer(path);

  if (gap === undefined || suggester.suggestions.length > 0) return;
  // The missing folder may be a file (`a.txt/b`), which then is what was meant.
  await suggester.offer(join(gap.folder, gap.name));
  if (suggester.suggestions.length === 0) await suggester.offer(gap.folder);
}

type Suggester = ReturnType<typeof newSuggester>;

function newSuggester(place: Place, around: Surroundings) {
  const suggestions: Suggestion[] = [];
  const seen = new Set([place.absolute]);
  const ownRoot = rootOf(place);
  const roots = ownRoot === undefined ? around.roots : [ownRoot, ...around.roots];
  let lookupsLeft = lookupsMax;
  /** `Surroundings.lookup`, until `lookupsMax` is used up. */
  const lookup = async (path: string) => {
    if (lookupsLeft === 0) return undefined;
    lookupsLeft -= 1;
    return around.lookup(path);
  };
  /** Suggests the path if it exists, is new and `suggestionsMax` is not reached. */
  const offer = async (path: string) => {
    if (suggestions.length >= limits.suggestionsMax || seen.has(path)) return;
    seen.add(path);
    const kind = await lookup(path);
    if (kind !== undefined) suggestions.push({ absolute: path, relative: belowItsRoot(path, roots), kind });
  };
  return { suggestions, lookup, offer };
}

/** The root as `place` spells it, which may differ (through a symlink) from the spelling in `roots`. */
function rootOf(place: Place): string | undefined {
  if (place.relative === "" || place.relative === place.absolute) return undefined;
  return resolve(place.absolute.slice(0, place.absolute.length - place.relative.length));
}

/** With forward slashes; below the innermost root if roots are nested. */
function belowItsRoot(path: string, roots: readonly string[]): string {
  const candidates = roots.map((root) => relative(root, path)).filter((below) => !leadsOut(below));
  const shortest = candidates.reduce((best, candidate) => (candidate.length < best.length ? candidate : best), path);
  return shortest.split(sep).join("/");
}

/** Where a path stops existing: `folder` exists, `folder/name` does not. Binary search: 12 lookups for 2,000 names. */
async function findGap(place: Place, suggester: Suggester) {
  const root = rootOf(place);
  if (root === undefined || (await suggester.lookup(root)) !== "directory") return undefined;
  const names = place.relative.split("/");
  let found = 0;
  let end = names.length - 1;
  while (found < end) {
    const middle = Math.ceil((found + end) / 2);
    const kind = await suggester.lookup(join(root, ...names.slice(0, middle)));
    if (kind === "directory") found = middle;
    else end = middle - 1;
  }
  const name = names[found];
  if (name === undefined) return undefined;
  return { folder: join(root, ...names.slice(0, found)), name, rest: names.slice(found + 1) };
}

/** Every tail of the asked path below each root, the longest first, if its first name is in the root. */
async function otherPrefixes(place: Place, around: Surroundings): Promise<readonly string[]> {
  const names = place.absolute.slice(parse(place.absolute).root.length).split(sep);
  const wanted = new Set(names.map(fold));
  const known = await Promise.all(
    around.roots.map(async (root) => {
      const first = new Set<string>();
      await around.list(root, ({ name }) => {
        const folded = fold(name);
        if (wanted.has(folded)) first.add(folded);
      });
      return { root, first };
    }),
  );
  const tails = names.flatMap((name, from) =>
    known.filter(({ first }) => first.has(fold(name))).map(({ root }) => ({ root, from })),
  );
  // There are too many only if names repeat; then the shorter tails are likelier.
  return tails.slice(-prefixesMax).map(({ root, from }) => join(root, ...names.slice(from)));
}

/** Why a name resembles the asked one; smaller is better. */
const ranks = { twin: 0, contained: 1, stem: 2, distance: 3 } as const;

interface Likeness {
  readonly rank: number;
  readonly distance: number;
}

/** Keeps the best of any number of names. `likenessOf`: undefined for a name that is not like the asked one. */
function bestNames(namesMax: number, likenessOf: (entry: Entry) => Likeness | undefined) {
  const first = new FirstOnes<Likeness & { readonly name: string }>(
    namesMax,
    (a, b) => a.rank - b.rank || a.distance - b.distance || compareCodePoints(a.name, b.name),
    () => 1,
  );
  return {
    take: (entry: Entry): void => {
      const likeness = likenessOf(entry);
      if (likeness !== undefined) first.add({ name: entry.name, ...likeness });
    },
    best: (): readonly string[] => first.sorted().map(({ name }) => name),
  };
}

function namesLike(asked: string, wants: Wanted) {
  const spelling = spell(asked);
  return bestNames(lookupsMax, ({ name, kind }) => {
    const likeness = compare(spelling, spell(name));
    if (likeness === undefined || wants === "anything" || kind !== "directory") return likeness;
    // `lib.ts` does not mean the folder `lib`; `lib` may, but a file of the same rank comes first.
    const isMeant = likeness.rank === ranks.twin || extname(asked) === "";
    return isMeant ? { ...likeness, rank: likeness.rank + 0.5 } : undefined;
  });
}

function foldersLike(asked: string) {
  const folded = fold(asked);
  return bestNames(foldersMax, ({ name, kind }) => {
    const typos = kind === "directory" ? typosBetween(folded, fold(name)) : undefined;
    return typos === undefined ? undefined : { rank: ranks.distance, distance: typos };
  });
}

interface Spelling {
  readonly lower: string;
  readonly folded: string;
  readonly stem: string;
}

function spell(name: string): Spelling {
  const folded = fold(name);
  return { lower: name.toLowerCase(), folded, stem: folded.slice(0, folded.length - extname(folded).length) };
}

/** Twins fold to the same text: letter case, accents, spaces (macOS: U+202F before AM/PM), apostrophes. */
function fold(name: string): string {
  return name
    .toLowerCase()
    .normalize("NFC")
    .replace(/[\u00a0\u202f]/g, " ")
    .replace(/[\u2018\u2019]/g, "'");
}

function compare(asked: Spelling, other: Spelling): Likeness | undefined {
  if (asked.folded === other.folded) return { rank: ranks.twin, distance: 0 };
  if (other.lower.includes(asked.lower) || asked.lower.includes(other.lower)) {
    // The distance is the difference in length.
    return { rank: ranks.contained, distance: Math.abs(asked.lower.length - other.lower.length) };
  }
  if (asked.stem === other.stem) return { rank: ranks.stem, distance: distance(asked.folded, other.folded) };
  const typos = typosBetween(asked.folded, other.folded);
  return typos === undefined ? undefined : { rank: ranks.distance, distance: typos };
}

/** The edit distance, if it is small enough for typos. Two swapped neighbours (`scr`) are one typo, not two. */
function typosBetween(asked: string, other: string): number | undefined {
  const typosMax = Math.min(4, Math.max(1, Math.floor(asked.length / 3)));
  if (Math.abs(asked.length - other.length) > typosMax) return undefined;
  const typos = isSwap(asked, other) ? 1 : distance(asked, other);
  return typos <= typosMax ? typos : undefined;
}

function isSwap(a: string, b: string): boolean {
  if (a.length !== b.length) return false;
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  return at + 1 < a.length && a[at] === b[at + 1] && a[at + 1] === b[at] && a.slice(at + 2) === b.slice(at + 2);
}
