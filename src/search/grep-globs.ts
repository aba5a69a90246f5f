/**
 * The globs that select files for a search: a list of patterns in Glob's syntax, `!` excludes. ripgrep's own `--glob` reads
 * them differently and would bring ignored files back, so paths are matched here, and ripgrep gets only patterns that
 * cannot exclude a match.
 */

import { limits } from "../contract/limits.ts";
import type { PatternFault } from "../contract/problem.ts";
import {
  composed,
  expandBraces,
  type GlobState,
  newGlobBudget,
  newGlobStep,
  parseGlob,
  startGlobState,
} from "../text/text.ts";

export interface Globs {
  /** `path` is below the searched folder, with forward slashes. */
  matches(path: string): boolean;
  /** Simple globs such that the last name of every matching path fits one of them; undefined if there are none. */
  readonly names: readonly string[] | undefined;
}

export interface GlobFault {
  readonly glob: string;
  readonly fault: PatternFault;
}

/** `folder`: the searched folder; a glob that begins with its path is relative to it. */
export function compileGlobs(text: string, folder: string): Globs | GlobFault {
  if (text.length > limits.searchGlobsCharsMax) return { glob: text.slice(0, 80), fault: "too long" };
  const [wanted, unwanted] = [newGlobStep(false), newGlobStep(false)];
  const budget = newGlobBudget();
  const chosen: string[] = [];
  let hasExclusions = false;
  const list = splitList(text);
  for (const written of list) {
    const negated = isNegated(written);
    const glob = beneath(negated ? written.slice(1) : written, folder);
    const parsed = parseGlob(glob, budget, negated ? unwanted : wanted);
    if ("fault" in parsed) return { glob: written, fault: parsed.fault };
    if (negated) hasExclusions = true;
    else chosen.push(glob);
  }
  // Text that reads like a list may be one name with a space or a comma.
  if (list.length > 1 && !list.some(isNegated)) {
    const whole = beneath(text.trim(), folder);
    if (!("fault" in parseGlob(whole, budget, wanted))) chosen.push(whole);
  }
  return {
    matches: matcher(
      chosen.length === 0 ? undefined : startGlobState({ start: wanted, foldersOnly: false }),
      hasExclusions ? startGlobState({ start: unwanted, foldersOnly: false }) : undefined,
    ),
    names: plainNames(chosen),
  };
}

/** `!(a)` is a group, as in Glob. */
const isNegated = (glob: string): boolean => /^!(?!\()/.test(glob);

/** The glob states of a folder; `excluded`: the folder itself is excluded. */
interface FolderState {
  readonly wanted: GlobState | undefined;
  readonly unwanted: GlobState | undefined;
  readonly excluded: boolean;
}

/** Folders whose state is cached: files of one folder mostly arrive together. */
const statesMax = 1_000;

function matcher(wanted: GlobState | undefined, unwanted: GlobState | undefined): Globs["matches"] {
  const known = new Map<string, FolderState>();
  const top: FolderState = { wanted, unwanted, excluded: false };
  const stateOf = (names: readonly string[]): FolderState => {
    const path = names.join("/");
    const cached = known.get(path);
    if (cached !== undefined) return cached;
    const state = names.reduce(
      (above, name): FolderState => ({
        wanted: above.wanted?.enter(name, "all"),
        unwanted: above.unwanted?.enter(name, "all"),
        // Everything in an excluded folder is excluded.
        excluded: above.excluded || above.unwanted?.accepts(name, "all") === true,
      }),
      top,
    );
    if (known.size >= statesMax) known.clear();
    known.set(path, state);
    return state;
  };
  return (path) => {
    const names = composed(path).split("/");
    const name = names.pop() ?? "";
    const folder = stateOf(names);
    if (folder.excluded || folder.unwanted?.accepts(name, "all") === true) return false;
    return wanted === undefined || folder.wanted?.accepts(name, "all") === true;
  };
}

/** Splits at whitespace and commas outside of braces, brackets and groups. */
function splitList(text: string): readonly string[] {
  const globs: string[] = [];
  const closers: string[] = [];
  let current = "";
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] ?? "";
    if (character === "\\") {
      current += character + (text[at + 1] ?? "");
      at += 1;
      continue;
    }
    const end = character === "[" ? closing(text, at) : -1;
    if (end > at) {
      current += text.slice(at, end + 1);
      at = end;
      continue;
    }
    if (character === "{") closers.push("}");
    else if (character === "(" && /[?*+@!]/.test(text[at - 1] ?? "")) closers.push(")");
    else if (character === closers.at(-1)) closers.pop();
    if (closers.length === 0 && /[\s,]/.test(character)) {
      globs.push(current);
      current = "";
    } else current += character;
  }
  return [...globs, current].filter((glob) => glob !== "" && glob !== "!");
}

/** Index of the bracket that closes the one at `open`; `]` as the first character is literal. -1: none. */
function closing(glob: string, open: number): number {
  const first = glob[open + 1] === "!" || glob[open + 1] === "^" ? open + 2 : open + 1;
  return glob.indexOf("]", first + 1);
}

function beneath(glob: string, folder: string): string {
  const start = folder.endsWith("/") ? folder : `${folder}/`;
  const inside = glob.startsWith(start) ? `./${glob.slice(start.length)}` : glob;
  // A folder stands for everything beneath it.
  return inside.endsWith("/") ? `${inside}**` : inside;
}

/** Globs for ripgrep, whose syntax differs in details: only plain characters and `*`. */
function plainNames(globs: readonly string[]): readonly string[] | undefined {
  if (globs.length === 0) return undefined;
  const names = new Set<string>();
  for (const glob of globs) {
    const texts = expandBraces(glob, limits.globChoicesMax);
    if ("fault" in texts) return undefined;
    // A file may really be named `{a,b}`.
    for (const text of texts.length > 1 ? [...texts, glob] : texts) {
      const name = plainName(text.slice(text.lastIndexOf("/") + 1));
      if (name === undefined) return undefined;
      names.add(name);
    }
  }
  return names.size > namesMax ? undefined : [...names];
}

/** Each name is an argument of ripgrep. */
const namesMax = 256;

function plainName(name: string): string | undefined {
  // A composed character may be two characters to ripgrep: a letter and its accent.
  const text = name.replace(/[?\s,{}]/g, "*").replace(/\*+/g, "*");
  return text !== "" && text !== "*" && /^[\w.*-]+$/.test(text) ? text : undefined;
}
