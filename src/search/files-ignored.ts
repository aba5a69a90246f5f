/**
 * Which entries ignore files leave out, folder by folder: `.rgignore`, `.ignore`, `.gitignore` and `.git/info/exclude`,
 * in this order of strength and, among those of one kind, the nearest first. Git's own files end at the folder that holds
 * `.git`. Nothing above the workspace is read.
 */

import type { WalkEntry, WalkFolder } from "../disk/walk.ts";
import { type IgnoreRules, ignoreRules } from "../text/ignore-rules.ts";

type Kind = ".rgignore" | ".ignore" | ".gitignore" | "exclude";
const kinds: readonly Kind[] = [".rgignore", ".ignore", ".gitignore", "exclude"];
const isIgnoreFile = (name: string): name is Kind => name.endsWith("ignore") && kinds.some((kind) => kind === name);

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
  for (const { rules, from } of ignored.levels) {
    const verdict = rules.judge(above, from, name, is);
    if (verdict !== undefined) return verdict === "ignored";
  }
  return false;
}

/** The same for what lies in `folder`, with the ignore files that it holds. A promise only where reading may take long. */
export function ignoredIn(
  folder: WalkFolder,
  entries: readonly WalkEntry[],
  depth: number,
  ignored: Ignored,
): Ignored | Promise<Ignored> {
  let found: WalkEntry[] | undefined;
  for (const entry of entries) {
    // Nearly every name is done with its first letter.
    if (entry.name.charCodeAt(0) === 46 && (entry.name === ".git" || isIgnoreFile(entry.name))) {
      (found ??= []).push(entry);
    }
  }
  return found === undefined ? ignored : read(folder, found, depth, ignored);
}

async function read(
  folder: WalkFolder,
  found: readonly WalkEntry[],
  depth: number,
  ignored: Ignored,
): Promise<Ignored> {
  const isRepository = found.some(({ name }) => name === ".git");
  const own: Level[] = [];
  for (const entry of found) {
    const { name } = entry;
    const text =
      name !== ".git" ? await folder.text(name) : entry.isDirectory() ? await excludeFile(folder) : undefined;
    const rules = text === undefined ? undefined : ignoreRules(text);
    if (rules !== undefined) own.push({ kind: isIgnoreFile(name) ? name : "exclude", from: depth, rules });
  }
  const above = isRepository ? ignored.levels.filter(({ kind }) => !ofGit(kind)) : ignored.levels;
  if (own.length === 0 && above.length === ignored.levels.length) return ignored;
  // A stable sort: what is nearer stays before what is farther.
  const strength = ({ kind }: Level): number => kinds.indexOf(kind);
  return { levels: [...own, ...above].toSorted((a, b) => strength(a) - strength(b)) };
}

const ofGit = (kind: Kind): boolean => kind === ".gitignore" || kind === "exclude";

async function excludeFile(folder: WalkFolder): Promise<string | undefined> {
  const git = folder.enter(".git");
  if ("errno" in git) return undefined;
  try {
    const info = git.enter("info");
    if ("errno" in info) return undefined;
    try {
      return await info.text("exclude");
    } finally {
      info.close();
    }
  } finally {
    git.close();
  }
}
