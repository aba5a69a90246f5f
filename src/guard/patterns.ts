/** One permission rule from text to a gitignore pattern that is anchored somewhere, or what is wrong with it. Pure. */

import { closest, distance } from "fastest-levenshtein";
import { limits } from "../contract/limits.ts";
import type { RuleText, Verdict } from "../contract/permission.ts";
import { charactersOf, expandBraces } from "../text/text.ts";

/** What rules speak of. A folder outside the roots has a permission of its own. */
export type RulePermission = "read" | "edit" | "external_directory";

/** Where a pattern is anchored, so which spelling of a path it is compared with. */
export type Base = "absolute" | "root" | "anywhere";

export interface Pattern {
  readonly base: Base;
  readonly negated: boolean;
  /** Lines of gitignore; each of them stands for the rule. */
  readonly lines: readonly string[];
}

/** Without a pattern the rule covers everything. */
export type Parsed =
  | { readonly permission: RulePermission; readonly pattern: Pattern | undefined }
  | { readonly why: string; readonly isForeign?: true };

/** The tools of all dialects, and those of other programs that rules are written for. */
const kin = {
  read: ["Read", "Glob", "Grep", "LS", "List", "NotebookRead"],
  edit: ["Edit", "Write", "MultiEdit", "NotebookEdit", "Patch", "ApplyPatch", "Rewind"],
  external_directory: ["external_directory"],
} as const satisfies Record<RulePermission, readonly string[]>;

const toolNames: readonly string[] = Object.values(kin).flat();

/** Tools that hosts have rules for and that touch no file by way of Filehand; rules are often kept in one list for all. */
const foreign =
  /^(?:bash|bashoutput|killshell|killbash|shell|webfetch|websearch|task|agent|skill|slashcommand|todowrite|todoread|question|exitplanmode|mcp__.*)$/i;

/** `apply_patch`, `ApplyPatch` and `notebook-edit` are written by different people and mean the same. */
const plain = (tool: string): string => tool.toLowerCase().replace(/[_-]/g, "");

const permissionOf: ReadonlyMap<string, RulePermission> = new Map(
  (["read", "edit", "external_directory"] as const).flatMap((permission) =>
    kin[permission].flatMap((tool) => [[tool, permission] as const, [plain(tool), permission] as const]),
  ),
);

/** Which permission a tool needs; for an unknown one, the words after "the tool" that say so and name the nearest. */
export function toolPermission(tool: string): RulePermission | { readonly fault: string } {
  const permission = permissionOf.get(tool) ?? permissionOf.get(plain(tool));
  if (permission !== undefined) return permission;
  // A long word is no typing error.
  const near = tool.length <= 32 ? closest(plain(tool), toolNames.map(plain)) : "";
  const meant = toolNames.find((name) => plain(name) === near);
  return meant !== undefined && distance(plain(tool), near) <= Math.max(1, Math.ceil(near.length / 3))
    ? { fault: `is unknown, did you mean ${meant}` }
    : { fault: `is unknown, use ${toolNames.slice(0, -1).join(", ")} or ${toolNames.at(-1)}` };
}

export function parseRule(rule: RuleText, home: string | undefined): Parsed {
  const text = rule.text.trim();
  if (foreign.test(/^[^(]*/.exec(text)?.[0] ?? "")) return { why: "it speaks of no tool of Filehand", isForeign: true };
  const [, tool, pattern] = /^([\w-]+)(?:\((.*)\))?$/s.exec(text) ?? [];
  if (tool === undefined) return { why: "it is not of the form Tool(pattern)" };
  const permission = toolPermission(tool);
  if (typeof permission === "object") return { why: `its tool ${permission.fault}` };
  if (pattern === undefined) {
    return permission === "external_directory" && rule.verdict === "allow"
      ? { why: "it would let sessions in everywhere, name the folder as in external_directory(//srv/data)" }
      : { permission, pattern: undefined };
  }

  const negated = pattern.startsWith("!");
  const anchored = anchor(withoutDots(negated ? pattern.slice(1) : pattern), rule.verdict, home);
  if ("why" in anchored) return anchored;
  const { base } = anchored;
  if (permission === "external_directory" && base === "root") {
    return { why: "a folder outside the workspace is named from the file system's root (//srv/data) or home (~/data)" };
  }
  // Such a rule speaks of a folder, and the folder is more than what lies in it.
  const line = permission === "external_directory" ? anchored.line.replace(/\/\*\*\/?$/, "") : anchored.line;
  // What widens access is taken to the letter; what narrows it is widened where a pattern can be read in two ways.
  const strict = rule.verdict === "allow" || negated;
  const why = neverMatches(line, strict);
  if (why !== undefined) return { why };
  if (strict) return { permission, pattern: { base, negated, lines: [line] } };
  if (!line.includes("{")) return { permission, pattern: { base, negated, lines: widened(line) } };
  const choices = expandBraces(line, choicesMax);
  if ("fault" in choices && choices.fault === "too many choices")
    return { why: "its braces stand for too many patterns" };
  // Braces are letters as well: such names exist, in project templates for one.
  const lines = [line, ...("fault" in choices ? [] : choices)].flatMap(widened);
  return { permission, pattern: { base, negated, lines: [...new Set(lines)] } };
}

/** Patterns that the braces of one rule may stand for. */
const choicesMax = 64;

/** `./docs` means `docs`, as in the rules of other programs. */
export const withoutDots = (pattern: string): string => pattern.replace(/^(?:\.\/+)+/, "");

/** Makes every character of a path literal, for patterns made out of paths. */
export const escapePattern = (path: string): string =>
  // gitignore drops line ends and spaces at the end of a line; in brackets they stay.
  path.replace(/[\\*?[\]!#]| (?=$|\/)/g, "\\$&").replace(/[\r\n\t]/g, "[$&]");

/** An absolute path without its leading slash; `C:\x` becomes `c/x`, as it is written in `//c/x`. */
export function belowSystemRoot(absolute: string): string {
  // A path that begins otherwise is one of Windows, where a backslash cannot be part of a name.
  const slashed = absolute.startsWith("/") ? absolute : absolute.replaceAll("\\", "/");
  return slashed.replace(/^\/+/, "").replace(/^([a-z]):(?=\/|$)/i, (_, drive: string) => drive.toLowerCase());
}

type Anchored = { readonly base: Base; readonly line: string } | { readonly why: string };

function anchor(pattern: string, verdict: Verdict, home: string | undefined): Anchored {
  if (pattern.trim() === "") return { why: "its pattern is empty, write the tool alone for everything" };
  if (/^[a-z]:[\\/]/i.test(pattern)) return { base: "absolute", line: `/${belowSystemRoot(pattern)}` };
  if (pattern.startsWith("//")) return { base: "absolute", line: `/${belowSystemRoot(pattern.slice(1))}` };
  if (pattern === "~" || pattern.startsWith("~/")) {
    if (home === undefined || home === "") return { why: "the home folder is not known" };
    const names = [escapePattern(belowSystemRoot(home).replace(/\/+$/, "")), pattern.slice(2)];
    return { base: "absolute", line: `/${names.filter((name) => name !== "").join("/")}` };
  }
  if (pattern.startsWith("/")) return { base: "root", line: pattern };
  // Deny and ask match at any depth, and outside the roots too: a secret is one wherever it lies.
  if (verdict !== "allow") return { base: "anywhere", line: `**/${pattern}` };
  const anyDepth = !/\/(?!$)/.test(pattern.trimEnd());
  return { base: "root", line: anyDepth ? `**/${pattern}` : `/${pattern}` };
}

/** `**` that a pattern which widens access may have before its last name: what is that vague is not taken to the letter. */
const globstarsMax = 3;

function neverMatches(line: string, strict: boolean): string | undefined {
  if (line.length > limits.pathBytesMax) return `it is longer than ${limits.pathBytesMax} characters`;
  // Most rules are that plain, and there may be thousands.
  if (/^(?:\*\*)?\/?[\w-][\w.-]*(?:\/[\w-][\w.-]*)*\/?$/.test(line)) return undefined;
  const { bare, unclosed } = withoutBrackets(line);
  const names = bare.split("/");
  if (/^\/*$/.test(line)) return "it matches nothing, write the tool alone for everything";
  if (names.includes(".") || names.includes("..")) {
    return 'it can never match: paths have no "." or ".." when they are compared, begin with / for the workspace root';
  }
  if (bare.includes("//")) return "it can never match: paths have no empty names when they are compared";
  if (line.includes("\0")) return "it can never match: no path contains NUL";
  const globstars = strict ? line.split("/").filter((name) => /^\*\*+$/.test(name)) : [];
  if (globstars.length - (/(?:^|\/)\*\*+$/.test(line) ? 1 : 0) > globstarsMax) {
    return `it has more than ${globstarsMax} times "**" before its last name, name the folders`;
  }
  const unescaped = line.replace(/\\./gs, "");
  if (unescaped.endsWith("\\")) return "it can never match: it ends with a backslash that escapes nothing";
  if (strict && unclosed) {
    return 'it can never match: a "[" is not closed, write \\[ for the character itself';
  }
  return undefined;
}

/** One letter for each `[…]`: it stands for one, and a slash among its letters parts no names. */
function withoutBrackets(line: string): { readonly bare: string; readonly unclosed: boolean } {
  const letters = Array.from(line);
  let bare = "";
  let unclosed = false;
  for (let at = 0; at < letters.length; at += 1) {
    const letter = letters[at] ?? "";
    const set: ReturnType<typeof charactersOf> | undefined =
      letter === "[" && !unclosed ? charactersOf(letters, at + 1, "ascii") : undefined;
    if (letter === "\\") {
      bare += letter + (letters[at + 1] ?? "");
      at += 1;
    } else if (typeof set === "object") {
      bare += "x";
      at = set.end - 1;
    } else {
      // What no bracket closes here, none closes further on.
      unclosed ||= set !== undefined;
      bare += letter;
    }
  }
  return { bare, unclosed };
}

/**
 * `secrets/` also covers what is named so but is not known to be a folder, and `app/[slug]/**` also covers the folder
 * that is really named `[slug]`, as routers of web frameworks have them. To git an escaped slash after `**` stands for
 * one folder at least; here it means what the plain slash means.
 */
function widened(line: string): readonly string[] {
  const open = line.replace(/\\./gs, (escaped) => (escaped === "\\/" ? "/" : escaped)).replace(/(?<=[^/\\])\/$/, "");
  const literal = open.replace(/\\.|\[/gs, (found) => (found === "[" ? "\\[" : found));
  return literal === open ? [open] : [open, literal];
}

// Which of many patterns can match a path at all, found without trying each: by the texts that every path must contain
// to match. What it finds is a superset in the order of the patterns; comparing says which of them really do. Pure.

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
