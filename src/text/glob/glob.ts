/**
 * Globs, compiled to a tree of steps that a search walks along with the folders. A folder corresponds to a set of
 * steps, so a file costs one test of its name, a folder that cannot contain a match is never opened, and each further
 * `**` costs only its own step.
 */

import { limits } from "../../contract/limits.ts";
import type { PatternFault } from "../../contract/problem.ts";
import { expandBraces } from "./braces.ts";
import { compileName, type NameTest, stepsPerCharacter } from "./name.ts";

export interface GlobStep {
  /** Names without wildcards, and also names that look like wildcards: a folder may be called `[id]`. */
  readonly literals: Map<string, GlobStep>;
  /** By their text: most expansions of a pattern share all steps but the last. */
  readonly tests: Map<string, GlobTest>;
  /** After a `**` that begins here. */
  deep: GlobStep | undefined;
  /** Follows a `**`: any folder leads here again. */
  readonly loops: boolean;
  /** The pattern ends here; after a final `**`, with any file. */
  ends: boolean;
}

export interface GlobTest {
  readonly test: NameTest;
  /** The pattern has a dot here: only such a test matches a hidden name. */
  readonly dotted: boolean;
  readonly next: GlobStep;
}

export interface Glob {
  readonly start: GlobStep;
  /** `src/` matches folders and no files. */
  readonly foldersOnly: boolean;
}

/** Instructions that several patterns may use together. */
export interface GlobBudget {
  instructions: number;
}

export const newGlobBudget = (): GlobBudget => ({ instructions: limits.globInstructionsMax });

/** `pattern` is relative to the searched folder. `start`: shared by patterns that are searched together. */
export function parseGlob(
  pattern: string,
  budget: GlobBudget = newGlobBudget(),
  start: GlobStep = newGlobStep(false),
): Glob | { readonly fault: PatternFault } {
  if (pattern.trim() === "") return { fault: "empty" };
  if (pattern.includes("\0")) return { fault: "nul" };
  if (pattern.length > limits.globCharsMax) return { fault: "too long" };
  const texts = expandBraces(pattern.normalize("NFC"), limits.globChoicesMax);
  if ("fault" in texts) return texts;
  const compilation: Compilation = { compiled: new Map(), budget };
  let names = 0;
  for (const text of texts) {
    const parts = splitNames(text);
    if (typeof parts === "string") return { fault: parts };
    names += parts.length;
    if (names > limits.globNamesMax || parts.length > limits.globDepthMax) return { fault: "too many names" };
    // A single name matches at any depth; in the first folder it counts as named explicitly.
    const alone = text.includes("/") ? undefined : parts.slice(-1);
    const fault = addPath(start, parts, compilation) ?? (alone && addPath(start, alone, compilation));
    if (fault !== undefined) return { fault };
  }
  // A file may be called `{a,b}`.
  if (texts.length > 1) {
    const literal = splitNames(pattern.normalize("NFC"));
    if (typeof literal !== "string") addLiteralPath(start, literal);
  }
  return { start, foldersOnly: /[^\\/]\/+$/.test(pattern) };
}

/** The names between the slashes. A pattern without a slash matches at any depth, as in ignore files and in ripgrep. */
function splitNames(text: string): readonly string[] | "parent" | "no name" {
  const here = /^\.?\//.test(text);
  const names = text.split("/").filter((name) => name !== "" && name !== ".");
  if (names.includes("..")) return "parent";
  if (names.length === 0) return "no name";
  return names.length === 1 && !here && !/[^/]\/+$/.test(text) && names[0] !== "**" ? ["**", ...names] : names;
}

interface Compilation {
  readonly compiled: Map<string, ReturnType<typeof compileName>>;
  readonly budget: GlobBudget;
}

function addPath(start: GlobStep, names: readonly string[], compilation: Compilation): PatternFault | undefined {
  let at = start;
  for (const name of names) {
    if (/^\*\*+$/.test(name)) {
      at = deepStep(at);
      continue;
    }
    const test = compilation.compiled.get(name) ?? compileName(name, { syntax: "glob" });
    compilation.compiled.set(name, test);
    if ("fault" in test) return test.fault;
    if (test.is === "literal") at = literalStep(at, test.text);
    else {
      const next = testStep(at, name, test, compilation.budget);
      if (next === undefined) return "too many wildcards";
      at = next;
    }
  }
  at.ends = true;
  return undefined;
}

function addLiteralPath(start: GlobStep, names: readonly string[]): void {
  let at = start;
  for (const name of names) at = name === "**" ? deepStep(at) : literalStep(at, name);
  at.ends = true;
}

/** Consecutive `**` are one. */
function deepStep(at: GlobStep): GlobStep {
  if (at.loops) return at;
  at.deep ??= newGlobStep(true);
  return at.deep;
}

function literalStep(at: GlobStep, text: string): GlobStep {
  const known = at.literals.get(text);
  if (known !== undefined) return known;
  const next = newGlobStep(false);
  at.literals.set(text, next);
  return next;
}

/** Undefined if the budget is used up. */
function testStep(at: GlobStep, name: string, test: NameTest, budget: GlobBudget): GlobStep | undefined {
  const known = at.tests.get(name);
  if (known !== undefined) return known.next;
  budget.instructions -= stepsPerCharacter(test);
  if (budget.instructions < 0) return undefined;
  const next = newGlobStep(false);
  at.tests.set(name, { test, dotted: beginsWithDot(name), next });
  // `app/[id]/page.tsx` means a folder called `[id]` at least as often as `app/i/page.tsx`.
  if (/[[(]/.test(name) && !at.literals.has(name)) at.literals.set(name, next);
  return next;
}

const beginsWithDot = (name: string): boolean => /^(?:\\?\.|[?*+@!]\((?:[^()]*\|)?\\?\.)/.test(name);

export const newGlobStep = (loops: boolean): GlobStep => ({
  literals: new Map(),
  tests: new Map(),
  deep: undefined,
  loops,
  ends: false,
});
