/** Parses a permission rule into an anchored gitignore pattern, and finds the patterns that can match a path. Pure. */

import { closest, distance } from "fastest-levenshtein";
import { limits } from "../contract/limits.ts";
import type { RuleText, Verdict } from "../contract/permission.ts";
import { expandBraces, fitsNoName, parseCharacterSet, type Steps } from "../text/text.ts";

export type RulePermission = "read" | "edit" | "external_directory";

/** Where a pattern is anchored, and so which spelling of a path it is compared with. */
export type Base = "absolute" | "root" | "anywhere";

export interface Pattern {
  readonly base: Base;
  readonly negated: boolean;
  readonly lines: readonly string[];
}

/** Without a pattern the rule covers everything. */
export type Parsed =
  | { readonly permission: RulePermission; readonly pattern: Pattern | undefined }
  | { readonly why: string; readonly isForeign?: true };

/** The tools of all dialects, and of other programs that have such rules. */
const toolsOf = {
  read: ["Read", "Glob", "Grep", "LS", "List", "NotebookRead", "Outline"],
  edit: [
    "Edit",
    "Write",
    "MultiEdit",
    "NotebookEdit",
    "Patch",
    "ApplyPatch",
    "Rewind",
    "Delete",
    "Move",
    "Copy",
    "MakeFolder",
  ],
  external_directory: ["external_directory"],
} as const satisfies Record<RulePermission, readonly string[]>;

const toolNames: readonly string[] = Object.values(toolsOf).flat();

/** Tools of hosts that do not touch files through Filehand; hosts often keep the rules of all tools in one list. */
const foreign =
  /^(?:bash|bashoutput|killshell|killbash|shell|webfetch|websearch|task|agent|skill|slashcommand|todowrite|todoread|question|exitplanmode|mcp__.*)$/i;

/** `apply_patch`, `ApplyPatch` and `apply-patch` mean the same. */
const plain = (tool: string): string => tool.toLowerCase().replace(/[_-]/g, "");

const plainNames = toolNames.map(plain);

const permissionOf: ReadonlyMap<string, RulePermission> = new Map(
  (["read", "edit", "external_directory"] as const).flatMap((permission) =>
    toolsOf[permission].flatMap((tool) => [[tool, permission] as const, [plain(tool), permission] as const]),
  ),
);

/** The permission that a tool needs; for an unknown one, the words after "the tool", with the nearest name. */
export function toolPermission(tool: string): RulePermission | { readonly fault: string } {
  const permission = permissionOf.get(tool) ?? permissionOf.get(plain(tool));
  if (permission !== undefined) return permission;
  // A long word is no typing error.
  const near = tool.length <= 32 ? closest(plain(tool), plainNames) : "";
  const meant = toolNames[plainNames.indexOf(near)];
  return meant !== undefined && distance(plain(tool), near) <= Math.max(1, Math.ceil(near.length / 3))
    ? { fault: `is unknown, did you mean ${meant}` }
    : { fault: `is unknown, use ${toolNames.slice(0, -1).join(", ")} or ${toolNames.at(-1)}` };
}

/** Most rules, of which there may be thousands: names with stars. */
const plainRule = /^(\w+)\((\/?\.?[\w*-][\w.*-]*(?:\/\.?[\w*-][\w.*-]*)*)\)$/;

export function parseRule(rule: RuleText, home: string | undefined): Parsed {
  const [, plainTool = "", plainPattern = ""] =
    rule.text.length > limits.pathBytesMax ? [] : (plainRule.exec(rule.text) ?? []);
  const known = permissionOf.get(plainTool);
  if ((known === "read" || known === "edit") && (rule.verdict !== "allow" || !plainPattern.includes("**"))) {
    const anchored = anchor(plainPattern, rule.verdict, home);
    if (!("why" in anchored)) {
      return { permission: known, pattern: { base: anchored.base, negated: false, lines: [anchored.line] } };
    }
  }
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

  if (pattern.length > limits.pathBytesMax) return tooLong;
  const negated = pattern.startsWith("!");
  const anchored = anchor(withoutDots(negated ? pattern.slice(1) : pattern), rule.verdict, home);
  if ("why" in anchored) return anchored;
  const { base } = anchored;
  if (permission === "external_directory" && base === "root") {
    return { why: "a folder outside the workspace is named from the file system's root (//srv/data) or home (~/data)" };
  }
  // Such a rule is about the folder itself, not only about its content.
  const line = permission === "external_directory" ? anchored.line.replace(/\/\*\*\/?$/, "") : anchored.line;
  // Rules that widen access match exactly; rules that narrow it match in both ways if a pattern is ambiguous.
  const strict = rule.verdict === "allow" || negated;
  const why = neverMatches(line, strict);
  if (why !== undefined) return { why };
  if (strict) return { permission, pattern: { base, negated, lines: [line] } };
  if (!line.includes("{")) return { permission, pattern: { base, negated, lines: widened(line) } };
  const choices = expandBraces(line, choicesMax);
  if ("fault" in choices && choices.fault === "too many choices")
    return { why: "its braces stand for too many patterns" };
  // Braces can also be literal: project templates have such names.
  const lines = [line, ...("fault" in choices ? [] : choices)].flatMap(widened);
  return { permission, pattern: { base, negated, lines: [...new Set(lines)] } };
}

const tooLong = { why: `it is longer than ${limits.pathBytesMax} characters` };

/** Each alternative is a line to compare; a rule with more is refused. */
const choicesMax = 64;

/** `./docs` means `docs`, as in other programs. */
export const withoutDots = (pattern: string): string => pattern.replace(/^(?:\.\/+)+/, "");

export const escapePattern = (path: string): string =>
  // gitignore drops line ends and spaces at the end of a line; in brackets they stay.
  path.replace(/[\\*?[\]!#]| (?=$|\/)/g, "\\$&").replace(/[\r\n\t]/g, "[$&]");

/** An absolute path without its leading slash; `C:\x` becomes `c/x`, as it is written in `//c/x`. */
export function belowSystemRoot(absolute: string): string {
  // Any other path is a Windows path, in which a backslash cannot be part of a name.
  const slashed = absolute.startsWith("/") ? absolute : absolute.replaceAll("\\", "/");
  const path = slashed.replace(/^\/+/, "");
  return path[1] === ":" ? path.replace(/^([a-z]):(?=\/|$)/i, (_, drive: string) => drive.toLowerCase()) : path;
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
  // Deny and ask match at any depth, also outside the roots: a secret is one wherever it is.
  if (verdict !== "allow") return { base: "anywhere", line: `**/${pattern}` };
  const anyDepth = !/\/(?!$)/.test(pattern.trimEnd());
  return { base: "root", line: anyDepth ? `**/${pattern}` : `/${pattern}` };
}

/** `**` before the last name of a pattern that widens access: one with more is too vague to be meant exactly. */
const globstarsMax = 3;

function neverMatches(line: string, strict: boolean): string | undefined {
  if (line.length > limits.pathBytesMax) return tooLong.why;
  const { bare, unclosed } = line.includes("[") ? withoutBrackets(line) : { bare: line, unclosed: false };
  const names = bare.split("/");
  if (/^\/*$/.test(line)) return "it matches nothing, write the tool alone for everything";
  if (names.includes(".") || names.includes("..")) {
    return 'it can never match: paths have no "." or ".." when they are compared, begin with / for the workspace root';
  }
  if (bare.includes("//")) return "it can never match: paths have no empty names when they are compared";
  if (line.includes("\0")) return "it can never match: no path contains NUL";
  if (fitsNoName(line)) return "it can never match: no name has so many combining marks";
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

/** Replaces each `[…]` by one letter: it matches one, and a slash inside separates no names. */
function withoutBrackets(line: string): { readonly bare: string; readonly unclosed: boolean } {
  const letters = Array.from(line);
  let bare = "";
  let unclosed = false;
  for (let at = 0; at < letters.length; at += 1) {
    const letter = letters[at] ?? "";
    const set: ReturnType<typeof parseCharacterSet> | undefined =
      letter === "[" && !unclosed ? parseCharacterSet(letters, at + 1, "ascii") : undefined;
    if (letter === "\\") {
      bare += letter + (letters[at + 1] ?? "");
      at += 1;
    } else if (typeof set === "object") {
      bare += "x";
      at = set.end - 1;
    } else {
      // If no bracket closes this one, none closes a later one.
      unclosed ||= set !== undefined;
      bare += letter;
    }
  }
  return { bare, unclosed };
}

/**
 * `secrets/` also covers a file of that name, and `app/[slug]/**` also covers the folder literally named `[slug]`, as
 * in routers of web frameworks. To git an escaped slash after `**` means one folder at least; here it means a plain
 * slash.
 */
function widened(line: string): readonly string[] {
  const open = line.replace(/\\./gs, (escaped) => (escaped === "\\/" ? "/" : escaped)).replace(/(?<=[^/\\])\/$/, "");
  const literal = open.replace(/\\.|\[/gs, (found) => (found === "[" ? "\\[" : found));
  return literal === open ? [open] : [open, literal];
}

// An index of many patterns: finds those that can match a path by texts that the path must contain. The result is a
// superset in the order of the patterns, to be compared one by one. Pure.

/** Up to this number a linear scan is faster than splitting the path. */
const oneByOneMax = 48;
/** A name that more patterns share is a poor key; then three letters may be a better one. */
const sharedMax = 8;
const gramLength = 3;

interface Entry {
  readonly at: number;
  /** In lower case; the path must contain all of them. If empty, the pattern may match anything. */
  readonly needles: readonly string[];
  readonly names: readonly string[];
}

/** The positions of the patterns that may match a path in lower case, ascending. */
export type PatternIndex = (path: string) => readonly number[];

export function* createPatternIndex(lines: readonly string[]): Steps<PatternIndex> {
  const entries: Entry[] = [];
  yield* eachOf(lines, (line, at) => entries.push(entryOf(line, at)));
  if (entries.length <= oneByOneMax) {
    return (path) => entries.filter((entry) => mayMatch(entry, path)).map(({ at }) => at);
  }
  // Each pattern is filed under its rarest name, else under its rarest three letters, so that the lists stay short.
  const byName = new Map<string, Entry[]>();
  const rest = yield* fillBuckets(entries, ({ names }) => names, sharedMax, byName);
  const byGram = new Map<string, Entry[]>();
  const others = yield* fillBuckets(rest, ({ needles }) => needles.flatMap(gramsOf), Number.POSITIVE_INFINITY, byGram);
  return (path) => {
    const found = new Set<number>();
    const take = (bucket: readonly Entry[] = []): void => {
      for (const entry of bucket) if (mayMatch(entry, path)) found.add(entry.at);
    };
    take(others);
    if (byName.size > 0) for (const name of path.split("/")) take(byName.get(name));
    if (byGram.size > 0) for (const gram of gramsOf(path)) take(byGram.get(gram));
    return [...found].toSorted((one, other) => one - other);
  };
}

const mayMatch = ({ needles }: Entry, path: string): boolean => needles.every((needle) => path.includes(needle));

/** Returns the entries without a key that is rare enough. */
function* fillBuckets(
  entries: readonly Entry[],
  keysOf: (entry: Entry) => readonly string[],
  countMax: number,
  into: Map<string, Entry[]>,
): Steps<readonly Entry[]> {
  const counts = new Map<string, number>();
  yield* eachOf(entries, (entry) => {
    for (const key of keysOf(entry)) counts.set(key, (counts.get(key) ?? 0) + 1);
  });
  const others: Entry[] = [];
  yield* eachOf(entries, (entry) => {
    let rarest: string | undefined;
    let fewest = countMax + 1;
    for (const key of keysOf(entry)) {
      const count = counts.get(key) ?? 0;
      if (count < fewest) [rarest, fewest] = [key, count];
    }
    const bucket = rarest === undefined ? others : into.get(rarest);
    if (bucket !== undefined) bucket.push(entry);
    else if (rarest !== undefined) into.set(rarest, [entry]);
  });
  return others;
}

export function firstOf<Item, Answer>(
  items: Iterable<Item>,
  answerOf: (item: Item) => Answer | undefined,
): Answer | undefined {
  for (const item of items) {
    const answer = answerOf(item);
    if (answer !== undefined) return answer;
  }
  return undefined;
}

/** Yields after a few, since a line may be long. */
export function* eachOf<Item>(items: readonly Item[], work: (item: Item, at: number) => void): Steps<void> {
  for (const [at, item] of items.entries()) {
    if (at % 16 === 15) yield;
    work(item, at);
  }
}

function gramsOf(text: string): readonly string[] {
  const grams: string[] = [];
  for (let at = 0; at + gramLength <= text.length; at += 1) grams.push(text.slice(at, at + gramLength));
  return grams;
}

/** Needles are texts that every matching path contains: ASCII only, without slashes at the ends (because of `**`). */
function entryOf(line: string, at: number): Entry {
  // Everything after a bracket is ignored, so that its end need not be found.
  const known = line.toLowerCase().replace(/\\.|\[.*$/gs, "*");
  const needles = known
    .split(/[^\w./-]+/)
    .map((piece) => piece.replace(/^\/+|\/+$/g, ""))
    .filter((piece) => piece !== "");
  return { at, needles, names: known.split("/").filter((name) => /^[\w.-]+$/.test(name)) };
}
