/**
 * Which entries ignore files leave out, folder by folder: `.rgignore`, `.ignore`, `.gitignore` and `.git/info/exclude`,
 * in this order of strength and, among those of one kind, the nearest first. Git's own files end at the folder that holds
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
  /** How many folders lie above it, so which names of a path are below it. */
  readonly from: number;
  readonly rules: IgnoreRules;
}

/** All that speaks about the entries of one folder, the strongest first. */
export interface Ignored {
  readonly levels: readonly Level[];
}

export const nothingIgnored: Ignored = { levels: [] };

/** `above`: the names from the top of the workspace down to the folder that holds the entry. */
export function isIgnored(ignored: Ignored, above: readonly string[], name: string, is: "file" | "folder"): boolean {
  if (ignored.levels.length === 0) return false;
  // One limit for all files: what is not decided by then counts as not ignored.
  const meter = { steps: 0 };
  for (const { rules, from } of ignored.levels) {
    const verdict = rules.judge(above, from, name, is, meter);
    if (verdict !== undefined) return verdict === "ignored";
  }
  return false;
}

/** The rules of an ignore file, read in slices of time. Undefined if it says nothing. */
export async function rulesOf(text: string): Promise<IgnoreRules | undefined> {
  const slices = timeSlices();
  for (const reading = readIgnoreRules(text); ; ) {
    const step = reading.next();
    if (step.done === true) return step.value;
    if (slices.isOver()) await slices.next();
  }
}

/** The same with one more `.gitignore`, in a folder that lies so deep. */
export async function withGitignore(ignored: Ignored, depth: number, text: string): Promise<Ignored> {
  const rules = await rulesOf(text);
  return rules === undefined ? ignored : { levels: [{ kind: ".gitignore", from: depth, rules }, ...ignored.levels] };
}

/**
 * What ripgrep, which reads ignore files by itself, may take otherwise. `link`: an ignore file that we do not read.
 * `border`: a repository below ignore files of Git. `exclude`: one with an exclude file of its own. `elsewhere`: one whose
 * `.git` is a file that says where Git keeps its own, which may be outside of the workspace.
 */
export type Unlike = "link" | "border" | "exclude" | "elsewhere";
type Tell = (what: Unlike) => void;

/** The same for what lies in `folder`, with the ignore files that it holds. A promise only where reading may take long. */
export function ignoredIn(
  folder: WalkFolder,
  entries: readonly WalkEntry[],
  depth: number,
  ignored: Ignored,
  tell: Tell = () => {},
): Ignored | Promise<Ignored> {
  let found: WalkEntry[] | undefined;
  for (const entry of entries) {
    // Nearly every name is done with its first letter.
    if (entry.name.charCodeAt(0) === 46 && (entry.name === ".git" || isIgnoreFile(entry.name))) {
      (found ??= []).push(entry);
    }
  }
  return found === undefined ? ignored : read(folder, found, depth, ignored, tell);
}

export interface NamedIgnored {
  readonly ignored: Ignored;
  /** Which ignore files hold right in the folder: all, only those in it, or none. */
  readonly hold: "all" | "own" | "none";
}

/**
 * The same for a folder that was asked for by name. Where everything in it is ignored there would be nothing to find, so
 * the ignore files above it are set aside, and if it is its own that say so, these too. Those deeper in it hold.
 */
export async function ignoredInNamed(
  folder: WalkFolder,
  entries: readonly WalkEntry[],
  above: readonly string[],
  outer: Ignored,
  tell?: Tell,
): Promise<NamedIgnored> {
  const all = await ignoredIn(folder, entries, above.length, outer, tell);
  // A root is searched without being named.
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

/** There so that Git keeps a folder of which all else is ignored. */
const placeholders: ReadonlySet<string> = new Set([".git", ".gitkeep", ".keep"]);

async function read(
  folder: WalkFolder,
  found: readonly WalkEntry[],
  depth: number,
  ignored: Ignored,
  tell: Tell,
): Promise<Ignored> {
  const isRepository = found.some(({ name }) => name === ".git");
  const own: Level[] = [];
  for (const entry of found) {
    const { name } = entry;
    if (entry.isSymbolicLink()) tell("link");
    else if (name === ".git" && !entry.isDirectory()) tell("elsewhere");
    const text =
      name !== ".git" ? await folder.text(name) : entry.isDirectory() ? await excludeFile(folder, tell) : undefined;
    if (text === undefined && name !== ".git" && !entry.isDirectory()) tell("link");
    const rules = text === undefined ? undefined : await rulesOf(text);
    if (rules === undefined) continue;
    if (name === ".git") tell("exclude");
    own.push({ kind: isIgnoreFile(name) ? name : "exclude", from: depth, rules });
  }
  const above = isRepository ? ignored.levels.filter(({ kind }) => !ofGit(kind)) : ignored.levels;
  if (above.length < ignored.levels.length) tell("border");
  if (own.length === 0 && above.length === ignored.levels.length) return ignored;
  // A stable sort: what is nearer stays before what is farther.
  const strength = ({ kind }: Level): number => kinds.indexOf(kind);
  return { levels: [...own, ...above].toSorted((a, b) => strength(a) - strength(b)) };
}

const ofGit = (kind: Kind): boolean => kind === ".gitignore" || kind === "exclude";

async function excludeFile(folder: WalkFolder, tell: Tell): Promise<string | undefined> {
  const outer = folder.enter(".git");
  if ("errno" in outer) return undefined;
  using git = outer;
  const inner = git.enter("info");
  if ("errno" in inner) {
    if (inner.errno !== "ENOENT") tell("link");
    return undefined;
  }
  using info = inner;
  const text = await info.text("exclude");
  if (text === undefined && (await info.glance("exclude")) !== undefined) tell("link");
  return text;
}
