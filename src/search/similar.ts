/** What may have been meant by a path that names nothing. Looks at names, never at contents. */

import { basename, dirname, extname, isAbsolute, join, parse, relative, resolve, sep } from "node:path";
import { distance } from "fastest-levenshtein";
import { limits } from "../contract/limits.ts";
import type { Suggestion } from "../contract/problem.ts";
import type { Place } from "../contract/target.ts";
import { compareCodePoints, FirstOnes } from "../text/text.ts";

/** What the search may look at: the disk below the roots, as far as the rules show it. */
export interface Surroundings {
  /**
   * Hands over the names in a folder beneath a root (absolute path, links resolved by the callee), as many as there is time
   * for. False if it does not exist, is no folder or lies outside.
   */
  list(folder: string, take: (entry: Entry) => void): Promise<boolean>;
  /** What an absolute path names beneath the roots; undefined for nothing, outside, or hidden by the rules. */
  lookup(path: string): Promise<"file" | "directory" | undefined>;
  readonly roots: readonly string[];
}

interface Entry {
  readonly name: string;
  readonly kind: "file" | "directory";
}

/** Times `look` is called for one search: each may cost the walk of a path. */
const looksMax = 40;
/** Other prefixes and respelt folders that are tried: together with `findGap` they leave looks for the nearest folder. */
const prefixesMax = 16;
const foldersMax = 8;

/** `file or folder`: a file is meant, and a folder can be read as well. */
export type Wanted = "file" | "file or folder" | "anything";

/** Models copy a path with the quotes around it. */
function withoutQuotes({ asked, absolute }: Place): string | undefined {
  const inner = /^(["'`])(.+)\1$/s.exec(asked)?.[2];
  if (inner === undefined || inner.includes("\0")) return undefined;
  return resolve(absolute.slice(0, absolute.length - resolve("/", asked).length), inner);
}

/** At most `limits.suggestionsMax` paths, best first. Every one of them was looked at, so what rules hide stays hidden. */
export async function similar(place: Place, wants: Wanted, around: Surroundings): Promise<readonly Suggestion[]> {
  const finds = startFinds(place, around);
  const unquoted = withoutQuotes(place);
  if (unquoted !== undefined) await finds.offer(unquoted);
  if (finds.suggestions.length > 0) return finds.suggestions;
  const folder = dirname(place.absolute);
  const near = namesLike(basename(place.absolute), wants);
  if (!(await around.list(folder, near.take))) {
    await searchWithoutFolder(place, around, finds);
    // Whoever asked for a file far away would be refused a folder.
    if (wants === "file") return finds.suggestions.filter(({ kind }) => kind === "file");
  } else {
    for (const name of near.best()) await finds.offer(join(folder, name));
    // A folder of that name may stand at the wrong prefix too: `app/app` and the file is in `app`.
    if (finds.suggestions.length === 0) for (const path of await otherPrefixes(place, around)) await finds.offer(path);
  }
  return finds.suggestions;
}

async function searchWithoutFolder(place: Place, around: Surroundings, finds: Finds): Promise<void> {
  const gap = await findGap(place, finds);
  const prefixed = await otherPrefixes(place, around);
  // The name alone at a root is weak evidence (every project has an `index.ts`): it comes after respelt folders.
  const isNameAlone = (path: string) => around.roots.some((root) => join(root, basename(path)) === path);
  for (const path of prefixed) if (!isNameAlone(path)) await finds.offer(path);
  if (gap !== undefined) {
    const near = foldersLike(gap.name);
    await around.list(gap.folder, near.take);
    for (const name of near.best()) await finds.offer(join(gap.folder, name, ...gap.rest));
  }
  for (const path of prefixed) await finds.offer(path);

  if (gap === undefined || finds.suggestions.length > 0) return;
  // No folder is there but something may be: a file on the way (`a.txt/b`), which then is what was meant.
  await finds.offer(join(gap.folder, gap.name));
  if (finds.suggestions.length === 0) await finds.offer(gap.folder);
}

interface Finds {
  readonly suggestions: readonly Suggestion[];
  /** `Surroundings.look`, as long as looks are left. */
  lookup(path: string): Promise<"file" | "directory" | undefined>;
  /** Suggests the path if it exists, is new and there is room. */
  offer(path: string): Promise<void>;
}

function startFinds(place: Place, around: Surroundings): Finds {
  const suggestions: Suggestion[] = [];
  const seen = new Set([place.absolute]);
  const ownRoot = rootOf(place);
  const roots = ownRoot === undefined ? around.roots : [ownRoot, ...around.roots];
  let looksLeft = looksMax;
  const lookup = async (path: string) => {
    if (looksLeft === 0) return undefined;
    looksLeft -= 1;
    return around.lookup(path);
  };
  const offer = async (path: string) => {
    if (suggestions.length >= limits.suggestionsMax || seen.has(path)) return;
    seen.add(path);
    const kind = await lookup(path);
    if (kind !== undefined) suggestions.push({ absolute: path, relative: belowItsRoot(path, roots), kind });
  };
  return { suggestions, lookup, offer };
}

/** The root as the place spells it, which may be another spelling (through a link) than that of the roots handed in. */
function rootOf(place: Place): string | undefined {
  if (place.relative === "" || place.relative === place.absolute) return undefined;
  return resolve(place.absolute.slice(0, place.absolute.length - place.relative.length));
}

/** With forward slashes; below the innermost root if roots are nested. */
function belowItsRoot(path: string, roots: readonly string[]): string {
  const ways = roots.map((root) => relative(root, path)).filter((way) => !leadsOut(way));
  const shortest = ways.reduce((best, way) => (way.length < best.length ? way : best), path);
  return shortest.split(sep).join("/");
}

function leadsOut(way: string): boolean {
  return way === ".." || way.startsWith(`..${sep}`) || isAbsolute(way);
}

/** Where a path stops to exist: `folder` does, `folder/name` is missing or no folder, `rest` is what should come below. */
interface Gap {
  readonly folder: string;
  readonly name: string;
  readonly rest: readonly string[];
}

/** By halving, as nothing exists below what is missing: a path of 2,000 names costs 12 looks. */
async function findGap(place: Place, finds: Finds): Promise<Gap | undefined> {
  const root = rootOf(place);
  if (root === undefined || (await finds.lookup(root)) !== "directory") return undefined;
  const names = place.relative.split("/");
  let found = 0;
  let end = names.length - 1;
  while (found < end) {
    const middle = Math.ceil((found + end) / 2);
    const kind = await finds.lookup(join(root, ...names.slice(0, middle)));
    if (kind === "directory") found = middle;
    else end = middle - 1;
  }
  const name = names[found];
  if (name === undefined) return undefined;
  return { folder: join(root, ...names.slice(0, found)), name, rest: names.slice(found + 1) };
}

/**
 * The end of the asked path below each root, the longest end first: `/project/src/x` becomes `<root>/src/x`.
 * Only ends whose first name is in the root; letter case is left to the disk.
 */
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
  const ends = names.flatMap((name, from) =>
    known.filter(({ first }) => first.has(fold(name))).map(({ root }) => ({ root, from })),
  );
  // Too many only where names repeat; the shorter ends are the likelier ones then.
  return ends.slice(-prefixesMax).map(({ root, from }) => join(root, ...names.slice(from)));
}

/** Why a name resembles the asked one; the smaller, the better. */
const ranks = { twin: 0, contained: 1, stem: 2, distance: 3 } as const;

interface Likeness {
  readonly rank: (typeof ranks)[keyof typeof ranks];
  readonly distance: number;
}

/** The best of very many names, which are handed over one by one. */
interface Nearest {
  readonly take: (entry: Entry) => void;
  /** Best first. */
  readonly best: () => readonly string[];
}

interface Candidate extends Likeness {
  readonly name: string;
  readonly unwanted: boolean;
}

/** Names of the folder that resemble the asked one. */
function namesLike(asked: string, wants: Wanted): Nearest {
  const spelling = spell(asked);
  const first = new FirstOnes<Candidate>(
    looksMax,
    (a, b) =>
      a.rank - b.rank ||
      Number(a.unwanted) - Number(b.unwanted) ||
      a.distance - b.distance ||
      compareCodePoints(a.name, b.name),
    () => 1,
  );
  return {
    take: ({ name, kind }) => {
      const likeness = compare(spelling, spell(name));
      if (likeness === undefined) return;
      const unwanted = wants !== "anything" && kind === "directory";
      // Who asks for `lib.ts` does not mean the folder `lib`; who asks for `lib` may.
      if (unwanted && likeness.rank !== ranks.twin && extname(asked) !== "") return;
      first.add({ name, unwanted, ...likeness });
    },
    best: () => first.sorted().map(({ name }) => name),
  };
}

/** Folders whose names are twins of the asked one or a slip away from it. */
function foldersLike(asked: string): Nearest {
  const spelling = spell(asked);
  const first = new FirstOnes<{ readonly name: string; readonly slips: number }>(
    foldersMax,
    (a, b) => a.slips - b.slips || compareCodePoints(a.name, b.name),
    () => 1,
  );
  return {
    take: ({ name, kind }) => {
      const slips = kind === "directory" ? slipsBetween(spelling.folded, fold(name)) : undefined;
      if (slips !== undefined) first.add({ name, slips });
    },
    best: () => first.sorted().map(({ name }) => name),
  };
}

interface Spelling {
  readonly lower: string;
  readonly folded: string;
  /** `folded` without its last extension. */
  readonly stem: string;
}

function spell(name: string): Spelling {
  const folded = fold(name);
  return { lower: name.toLowerCase(), folded, stem: folded.slice(0, folded.length - extname(folded).length) };
}

/**
 * Twins fold to the same text: letter case, composed and decomposed accents, no-break and plain spaces (macOS puts
 * U+202F before AM/PM in screenshot names), curly and straight apostrophes.
 */
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
    // What contains the other is as far from it as it is longer.
    return { rank: ranks.contained, distance: Math.abs(asked.lower.length - other.lower.length) };
  }
  if (asked.stem === other.stem) return { rank: ranks.stem, distance: distance(asked.folded, other.folded) };
  const slips = slipsBetween(asked.folded, other.folded);
  return slips === undefined ? undefined : { rank: ranks.distance, distance: slips };
}

/** The edit distance, if slips of the fingers explain it. Two neighbours swapped (`scr`) are one slip, not two. */
function slipsBetween(asked: string, other: string): number | undefined {
  const slipsMax = Math.min(4, Math.max(1, Math.floor(asked.length / 3)));
  if (Math.abs(asked.length - other.length) > slipsMax) return undefined;
  const slips = isSwap(asked, other) ? 1 : distance(asked, other);
  return slips <= slipsMax ? slips : undefined;
}

function isSwap(a: string, b: string): boolean {
  if (a.length !== b.length) return false;
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  return at + 1 < a.length && a[at] === b[at + 1] && a[at + 1] === b[at] && a.slice(at + 2) === b.slice(at + 2);
}
