/**
 * The globs that choose files for a search: a list of patterns as Glob takes them, `!` takes away. ripgrep's own `--glob`
 * reads them otherwise and would bring ignored files back, so paths are compared here, and ripgrep gets only what surely
 * narrows the search.
 */

import { limits } from "../contract/limits.ts";
import type { PatternFault } from "../contract/problem.ts";
import { expandBraces, type GlobState, newGlobBudget, newGlobStep, parseGlob, startGlobState } from "../text/text.ts";

export interface Globs {
  /** `path` is below the folder that is searched, with forward slashes. */
  matches(path: string): boolean;
  /** Globs of which the last name of every matching path fits one, in plain characters; undefined where there are none such. */
  readonly names: readonly string[] | undefined;
}

export interface GlobFault {
  readonly glob: string;
  readonly fault: PatternFault;
}

/** `folder`: the folder that is searched; a glob that begins with its path means what lies beneath. */
export function compileGlobs(text: string, folder: string): Globs | GlobFault {
  if (text.length > limits.searchGlobsCharsMax) return { glob: text.slice(0, 80), fault: "too long" };
  const [wanted, unwanted] = [newGlobStep(false), newGlobStep(false)];
  const budget = newGlobBudget();
  const chosen: string[] = [];
  let takesAway = false;
  const list = splitList(text);
  for (const written of list) {
    const negated = isNegated(written);
    const glob = beneath(negated ? written.slice(1) : written, folder);
    const parsed = parseGlob(glob, budget, negated ? unwanted : wanted);
    if ("fault" in parsed) return { glob: written, fault: parsed.fault };
    if (negated) takesAway = true;
    else chosen.push(glob);
  }
  // What reads like a list may be a name with a space or a comma.
  if (list.length > 1 && !list.some(isNegated)) {
    const whole = beneath(text.trim(), folder);
    if (!("fault" in parseGlob(whole, budget, wanted))) chosen.push(whole);
  }
  return {
    matches: matcher(
      chosen.length === 0 ? undefined : startGlobState({ start: wanted, foldersOnly: false }),
      takesAway ? startGlobState({ start: unwanted, foldersOnly: false }) : undefined,
    ),
    names: plainNames(chosen),
  };
}

/** `!(a)` is a group, as in Glob. */
const isNegated = (glob: string): boolean => /^!(?!\()/.test(glob);

/** Where a folder stands in what is wanted and in what is taken away; `gone`: it is taken away itself. */
interface Standing {
  readonly wanted: GlobState | undefined;
  readonly unwanted: GlobState | undefined;
  readonly gone: boolean;
}

/** Folders whose standing is kept: files of one folder mostly come one after the other. */
const standingsMax = 1_000;

function matcher(wanted: GlobState | undefined, unwanted: GlobState | undefined): Globs["matches"] {
  const known = new Map<string, Standing>();
  const top: Standing = { wanted, unwanted, gone: false };
  const standingOf = (names: readonly string[]): Standing => {
    const path = names.join("/");
    const before = known.get(path);
    if (before !== undefined) return before;
    const standing = names.reduce(
      (above, name): Standing => ({
        wanted: above.wanted?.enter(name, "all"),
        unwanted: above.unwanted?.enter(name, "all"),
        // A folder that is taken away takes all that lies in it along.
        gone: above.gone || above.unwanted?.accepts(name, "all") === true,
      }),
      top,
    );
    if (known.size >= standingsMax) known.clear();
    known.set(path, standing);
    return standing;
  };
  return (path) => {
    const names = composed(path).split("/");
    const name = names.pop() ?? "";
    const folder = standingOf(names);
    if (folder.gone || folder.unwanted?.accepts(name, "all") === true) return false;
    return wanted === undefined || folder.wanted?.accepts(name, "all") === true;
  };
}

/** An accent may be part of its letter or stand after it: names of other systems come either way. */
// oxlint-disable-next-line no-control-regex
const composed = (text: string): string => (/[^\0-\x7f]/.test(text) ? text.normalize("NFC") : text);

/** Whitespace and commas outside of braces, brackets and groups part globs. */
function splitList(text: string): readonly string[] {
  const globs: string[] = [];
  const closers: string[] = [];
  let current = "";
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at] ?? "";
    if (sign === "\\") {
      current += sign + (text[at + 1] ?? "");
      at += 1;
      continue;
    }
    const end = sign === "[" ? closing(text, at) : -1;
    if (end > at) {
      current += text.slice(at, end + 1);
      at = end;
      continue;
    }
    if (sign === "{") closers.push("}");
    else if (sign === "(" && /[?*+@!]/.test(text[at - 1] ?? "")) closers.push(")");
    else if (sign === closers.at(-1)) closers.pop();
    if (closers.length === 0 && /[\s,]/.test(sign)) {
      globs.push(current);
      current = "";
    } else current += sign;
  }
  return [...globs, current].filter((glob) => glob !== "" && glob !== "!");
}

/** Where the bracket that opens at `open` is closed; `]` as the first character is meant literally. -1: it is not. */
function closing(glob: string, open: number): number {
  const first = glob[open + 1] === "!" || glob[open + 1] === "^" ? open + 2 : open + 1;
  return glob.indexOf("]", first + 1);
}

function beneath(glob: string, folder: string): string {
  const start = folder.endsWith("/") ? folder : `${folder}/`;
  const inside = glob.startsWith(start) ? `./${glob.slice(start.length)}` : glob;
  // A folder means what lies beneath it.
  return inside.endsWith("/") ? `${inside}**` : inside;
}

/** For ripgrep, whose globs differ from these in the finer signs. */
function plainNames(globs: readonly string[]): readonly string[] | undefined {
  if (globs.length === 0) return undefined;
  const names = new Set<string>();
  for (const glob of globs) {
    const texts = expandBraces(glob, limits.globChoicesMax);
    if ("fault" in texts) return undefined;
    // A file may really be called `{a,b}`.
    for (const text of texts.length > 1 ? [...texts, glob] : texts) {
      const name = plainName(text.slice(text.lastIndexOf("/") + 1));
      if (name === undefined) return undefined;
      names.add(name);
    }
  }
  return names.size > namesMax ? undefined : [...names];
}

/** Each is an argument of ripgrep. */
const namesMax = 256;

function plainName(name: string): string | undefined {
  // One character of ours may be two of ripgrep's: a letter and its accent.
  const text = name.replace(/[?\s,{}]/g, "*").replace(/\*+/g, "*");
  return text !== "" && text !== "*" && /^[\w.*-]+$/.test(text) ? text : undefined;
}
