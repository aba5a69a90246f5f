/**
 * Glob patterns: text in, a tree of steps out, which is walked along with the folders. Each folder stands at a set of
 * steps, so that a file costs one test of its name, a folder that cannot lead to a match is never opened, and no number
 * of `**` costs more than its own step.
 */

import { limits } from "../contract/limits.ts";
import type { PatternFault } from "../contract/problem.ts";
import { expandBraces } from "./braces.ts";
import { compileName, type NameTest } from "./wildcard.ts";

/** A place in the pattern: what may come next. */
export interface GlobStep {
  /** Names without wildcards, also those that look like wildcards: a folder may be called `[id]`. */
  readonly literals: Map<string, GlobStep>;
  readonly tests: { readonly test: NameTest; readonly dotted: boolean; readonly next: GlobStep }[];
  /** Behind a `**` that begins here. */
  deep: GlobStep | undefined;
  /** Is this behind `**`, so that any folder leads here again? */
  readonly loops: boolean;
  /** Does the pattern end here, or (behind a last `**`) with any file? */
  ends: boolean;
}

export interface Glob {
  readonly start: GlobStep;
  /** `src/`: folders are meant, and files are not. */
  readonly foldersOnly: boolean;
}

/** `pattern` is relative to where the search begins. */
export function parseGlob(pattern: string): Glob | { readonly fault: PatternFault } {
  if (pattern.trim() === "") return { fault: "empty" };
  if (pattern.includes("\0")) return { fault: "nul" };
  if (pattern.length > limits.globCharsMax) return { fault: "too long" };
  const texts = expandBraces(pattern.normalize("NFC"), limits.globChoicesMax);
  if ("fault" in texts) return texts;
  const start = newStep(false);
  let names = 0;
  for (const text of texts) {
    const parts = namesOf(text);
    if (typeof parts === "string") return { fault: parts };
    names += parts.length;
    if (names > limits.globNamesMax || parts.length > limits.globDepthMax) return { fault: "too many names" };
    // A name alone holds at any depth; in the first folder it is named outright.
    const fault = plant(start, parts) ?? (text.includes("/") ? undefined : plant(start, parts.slice(-1)));
    if (fault !== undefined) return { fault };
  }
  // A file may really be called `{a,b}`.
  if (texts.length > 1) {
    const literal = namesOf(pattern.normalize("NFC"));
    if (typeof literal !== "string") plantLiteral(start, literal);
  }
  return { start, foldersOnly: /[^\\/]\/+$/.test(pattern) };
}

/** The names between the slashes. Without a slash a pattern holds at any depth, as in ignore files and in ripgrep. */
function namesOf(text: string): readonly string[] | "parent" | "no name" {
  const here = /^\.?\//.test(text);
  const names = text.split("/").filter((name) => name !== "" && name !== ".");
  if (names.includes("..")) return "parent";
  if (names.length === 0) return "no name";
  return names.length === 1 && !here && !/[^/]\/+$/.test(text) && names[0] !== "**" ? ["**", ...names] : names;
}

function plant(start: GlobStep, names: readonly string[]): PatternFault | undefined {
  let at = start;
  for (const name of names) {
    if (/^\*\*+$/.test(name)) {
      at = deepStep(at);
      continue;
    }
    const test = compileName(name, "glob");
    if ("fault" in test) return test.fault;
    at = test.is === "literal" ? literalStep(at, test.text) : testStep(at, name, test);
  }
  at.ends = true;
  return undefined;
}

function plantLiteral(start: GlobStep, names: readonly string[]): void {
  let at = start;
  for (const name of names) at = name === "**" ? deepStep(at) : literalStep(at, name);
  at.ends = true;
}

/** One `**` behind another adds nothing. */
function deepStep(at: GlobStep): GlobStep {
  if (at.loops) return at;
  at.deep ??= newStep(true);
  return at.deep;
}

function literalStep(at: GlobStep, text: string): GlobStep {
  const known = at.literals.get(text);
  if (known !== undefined) return known;
  const next = newStep(false);
  at.literals.set(text, next);
  return next;
}

function testStep(at: GlobStep, name: string, test: NameTest): GlobStep {
  const known = at.tests.find((other) => sameTest(other.test, test));
  if (known !== undefined) return known.next;
  const next = newStep(false);
  at.tests.push({ test, dotted: beginsWithDot(name), next });
  // `app/[id]/page.tsx` means the folder of that very name at least as often as `app/i/page.tsx`.
  if (/[[(]/.test(name) && !at.literals.has(name)) at.literals.set(name, next);
  return next;
}

/** Most steps of one pattern's choices are the same up to the last name. */
const sameTest = (a: NameTest, b: NameTest): boolean =>
  a.is === b.is && (a.is === "anything" || JSON.stringify(a) === JSON.stringify(b));

/** Only a dot that is written finds a hidden name. */
const beginsWithDot = (name: string): boolean => /^(?:\\?\.|[?*+@!]\((?:[^()]*\|)?\\?\.)/.test(name);

const newStep = (loops: boolean): GlobStep => ({
  literals: new Map(),
  tests: [],
  deep: undefined,
  loops,
  ends: false,
});
