/**
 * Applies ignore files folder by folder: `.rgignore`, `.ignore`, `.gitignore` and `.git/info/exclude`, in this order of
 * precedence; among files of one kind the nearest folder wins. Git's own files apply up to the folder that contains
 * `.git`. Nothing above the workspace is read.
 */

import { timeSlices, type WalkEntry, type WalkFolder } from "../disk/disk.ts";
import { type IgnoreRules, readIgnoreRules } from "../text/text.ts";

type Kind = ".rgignore" | ".ignore" | ".gitignore" | "exclude";
const kinds: readonly Kind[] = [".rgignore", ".ignore", ".gitignore", "exclude"];
export const isIgnoreFile = (name: string): name is Kind =>
  name.endsWith("ignore") && kinds.some((kind) => kind === name);

interface Level {
  readonly kind: Kind;
  /** Depth of the ignore file's folder: the rules match the names of a path from this index on. */
  readonly from: number;
  readonly rules: IgnoreRules;
}

export interface Ignored {
  readonly levels: readonly Level[];
}

export const nothingIgnored: Ignored = { levels: [] };

/** `above`: the folder names from the top of the workspace down to the entry's folder. */
export function isIgnored(ignored: Ignored, above: readonly string[], name: string, is: "file" | "folder"): boolean {
  if (ignored.levels.length === 0) return false;
  // One step limit for all ignore files; an entry that is undecided when it is used up counts as not ignored.
  const meter = { steps: 0 };
  for (const { rules, from } of ignored.levels) {
    const verdict = rules.judge(above, from, name, is, meter);
    if (verdict !== undefined) return verdict === "ignored";
  }
  return false;
}

export async function parseIgnoreFile(text: string): Promise<IgnoreRules | undefined> {
  const slices = timeSlices();
  for (const reading = readIgnoreRules(text); ; ) {
    const step = reading.next();
    if (step.done === true) return step.value;
    if (slices.isOver()) await slices.next();
  }
}

export async function withGitignore(ignored: Ignored, depth: number, text: string): Promise<Ignored> {
  const rules = await parseIgnoreFile(text);
  return rules === undefined ? ignored : { levels: [{ kind: ".gitignore", from: depth, rules }, ...ignored.levels] };
}

/**
 * Where ripgrep, which reads ignore files by itself, may decide differently. `link`: an ignore file that we do not read.
 * `border`: a repository below ignore files of Git. `exclude`: a repository with its own exclude file. `elsewhere`: a
 * repository whose `.git` is a file that points to Git's folder, which may be outside of the workspace.
 */
export type IgnoreDifference = "link" | "border" | "exclude" | "elsewhere";
type Report = (what: IgnoreDifference) => void;

/** Adds the ignore files of `folder`. Returns a promise only if there is one to read. */
export function ignoredIn(
  folder: WalkFolder,
  entries: readonly WalkEntry[],
  depth: number,
  ignored: Ignored,
  report: Report = () => {},
): Ignored | Promise<Ignored> {
  let found: WalkEntry[] | undefined;
  for (const entry of entries) {
    // The first character excludes nearly every name.
    if (entry.name.charCodeAt(0) === 46 && (entry.name === ".git" || isIgnoreFile(entry.name))) {
      (found ??= []).push(entry);
    }
  }
  return found === undefined ? ignored : readIgnoreFiles(folder, found, depth, ignored, report);
}

export interface NamedIgnored {
  readonly ignored: Ignored;
  /** Which ignore files apply directly in the folder: all, only the folder's own, or none. */
  readonly hold: "all" | "own" | "none";
}

/** If everything in a named folder is ignored, the ignore files above it are dropped, and then its own. */
export async function ignoredInNamed(
  folder: WalkFolder,
  entries: readonly WalkEntry[],
  above: readonly string[],
  outer: Ignored,
  report?: Report,
): Promise<NamedIgnored> {
  const all = await ignoredIn(folder, entries, above.length, outer, report);
  // A root is searched without being named by the caller.
  if (above.length === 0 || !(await leavesNothing(all, above, entries))) return { ignored: all, hold: "all" };
  const own = await ignoredIn(folder, entries, above.length, nothingIgnored);
  if (!(await leavesNothing(own, above, entries))) return { ignored: own, hold: "own" };
  return { ignored: nothingIgnored, hold: "none" };
}

async function leavesNothing(
  ignored: Ignored,
  above: readonly string[],
  entries: readonly WalkEntry[],
): Promise<boolean> {
  if (ignored.levels.length === 0) return false;
  let leavesOut = false;
  const slices = timeSlices();
  for (const entry of entries) {
    if (slices.isOver()) await slices.next();
    if (isIgnored(ignored, above, entry.name, entry.isDirectory() ? "folder" : "file")) leavesOut = true;
    else if (!isIgnoreFile(entry.name) && !placeholders.has(entry.name)) return false;
  }
  return leavesOut;
}

/** Files that keep a folder in Git while everything else in it is ignored. */
const placeholders: ReadonlySet<string> = new Set([".git", ".gitkeep", ".keep"]);

async function readIgnoreFiles(
  folder: WalkFolder,
  found: readonly WalkEntry[],
  depth: number,
  ignored: Ignored,
  report: Report,
): Promise<Ignored> {
  const isRepository = found.some(({ name }) => name === ".git");
  const own: Level[] = [];
  for (const entry of found) {
    const { name } = entry;
    if (entry.isSymbolicLink()) report("link");
    else if (name === ".git" && !entry.isDirectory()) report("elsewhere");
    const text =
      name !== ".git" ? await folder.text(name) : entry.isDirectory() ? await excludeFile(folder, report) : undefined;
    if (text === undefined && name !== ".git" && !entry.isDirectory()) report("link");
    const rules = text === undefined ? undefined : await parseIgnoreFile(text);
    if (rules === undefined) continue;
    if (name === ".git") report("exclude");
    own.push({ kind: isIgnoreFile(name) ? name : "exclude", from: depth, rules });
  }
  const above = isRepository ? ignored.levels.filter(({ kind }) => !isGitKind(kind)) : ignored.levels;
  if (above.length < ignored.levels.length) report("border");
  if (own.length === 0 && above.length === ignored.levels.length) return ignored;
  // A stable sort keeps nearer files before farther ones.
  const strength = ({ kind }: Level): number => kinds.indexOf(kind);
  return { levels: [...own, ...above].toSorted((a, b) => strength(a) - strength(b)) };
}

const isGitKind = (kind: Kind): boolean => kind === ".gitignore" || kind === "exclude";

async function excludeFile(folder: WalkFolder, report: Report): Promise<string | undefined> {
  const outer = folder.enter(".git");
  if ("errno" in outer) return undefined;
  using git = outer;
  const inner = git.enter("info");
  if ("errno" in inner) {
    if (inner.errno !== "ENOENT") report("link");
    return undefined;
  }
  using info = inner;
  const text = await info.text("exclude");
  if (text === undefined && (await info.glance("exclude")) !== undefined) report("link");
  return text;
}
