/**
 * Counts files that rules hide and symlinks while ripgrep searches the same tree: ripgrep skips both silently. Only the
 * first entries are counted, so a big search costs little more; after those, the walk only looks for ignore files that
 * ripgrep would apply wrongly.
 */

import { setImmediate } from "node:timers/promises";
import { timeSlices, type WalkEntry, type WalkFolder } from "../disk/disk.ts";
import { type Ignored, ignoredIn, ignoredInNamed, isIgnored, type IgnoreDifference } from "./ignored.ts";

export interface HiddenSearch {
  /** Folder names from the top of the workspace down to the start of the walk. */
  readonly above: readonly string[];
  /** From ignore files above the start. */
  readonly ignored: Ignored;
  /** Is a folder of this name never searched? */
  isLeftOut(name: string): boolean;
  /** Whether rules hide the file. Paths are below the start, with forward slashes. */
  hiddenAs(path: string): "denied" | "asks" | undefined;
  /** Whether this symlink leads to something that the search would miss. */
  isMissed(path: string): boolean;
  /** Whether this difference makes ripgrep's result wrong. Then the walk ends. */
  isWrong(what: IgnoreDifference): boolean;
  /** True once the result of the walk can no longer matter. */
  isOver(): boolean;
  readonly entriesMax: number;
  readonly signal: AbortSignal;
}

export interface HiddenFound {
  denied: number;
  asks: number;
  links: number;
  /** Whether ripgrep applies ignore files wrongly in this tree. */
  wrong: boolean;
  /** Names that were examined. */
  entries: number;
  /** False if the walk stopped early. */
  complete: boolean;
}

/** The reader of ripgrep's output must get the event loop at least this often. */
const yieldEveryMsMax = 10;

interface Frame {
  readonly folder: WalkFolder;
  /** Below the start, with a trailing slash; empty for the start. */
  readonly path: string;
  readonly ignored: Ignored;
  readonly todo: string[];
}

/** The caller keeps `start` open until this resolves. */
export async function findHidden(start: WalkFolder, search: HiddenSearch): Promise<HiddenFound> {
  // Lets the ripgrep process start first.
  await setImmediate();
  const found: HiddenFound = { denied: 0, asks: 0, links: 0, wrong: false, entries: 0, complete: true };
  const report = (what: IgnoreDifference): void => {
    found.wrong ||= search.isWrong(what);
  };
  const above = [...search.above];
  const stack: Frame[] = [];
  let entriesLeft = search.entriesMax;
  let listedInAll = 0;
  let yieldAtMs = performance.now() + yieldEveryMsMax;
  const yieldToEventLoop = async (): Promise<void> => {
    await setImmediate();
    search.signal.throwIfAborted();
    if (listedInAll > search.entriesMax) await start.hurry();
    yieldAtMs = performance.now() + yieldEveryMsMax;
  };
  const open = async (folder: WalkFolder, path: string, outer: Ignored): Promise<void> => {
    const listed = folder.entries();
    const entries = listed instanceof Promise ? await listed : listed;
    if ("errno" in entries) {
      stack.push({ folder, path, ignored: outer, todo: [] });
      return;
    }
    const inside =
      path === ""
        ? ignoredInNamed(folder, entries, above, outer, report).then(({ ignored: all }) => all)
        : ignoredIn(folder, entries, above.length, outer, report);
    const ignored = inside instanceof Promise ? await inside : inside;
    const looked = entries.length > entriesLeft ? entries.slice(0, entriesLeft) : entries;
    if (looked.length < entries.length) found.complete = false;
    entriesLeft -= looked.length;
    found.entries += looked.length;
    listedInAll += entries.length;
    const todo: string[] = [];
    for (const entry of looked) {
      if (performance.now() >= yieldAtMs) await yieldToEventLoop();
      countOrCollect(entry, todo, path, ignored, above, search, found);
    }
    for (let at = looked.length; at < entries.length; at += 1) {
      if (performance.now() >= yieldAtMs) await yieldToEventLoop();
      const entry = entries[at];
      if (entry?.isDirectory() === true && isSearched(entry.name, ignored, above, search)) todo.push(entry.name);
    }
    stack.push({ folder, path, ignored, todo });
  };
  try {
    await open(start, "", search.ignored);
    for (let frame = stack.at(-1); frame !== undefined; frame = stack.at(-1)) {
      search.signal.throwIfAborted();
      const name = frame.todo.pop();
      if (name === undefined) {
        if (stack.length > 1) {
          frame.folder.close();
          above.pop();
        }
        stack.pop();
        continue;
      }
      if (entriesLeft <= 0) found.complete = false;
      if (found.wrong || (entriesLeft <= 0 && search.isOver())) break;
      const folder = frame.folder.enter(name);
      // ripgrep cannot search a folder that cannot be entered.
      if ("errno" in folder) continue;
      above.push(name);
      try {
        await open(folder, `${frame.path}${name}/`, frame.ignored);
      } catch (error) {
        folder.close();
        throw error;
      }
      folder.leave();
      if (performance.now() >= yieldAtMs) await yieldToEventLoop();
    }
    return found;
  } finally {
    for (const { folder } of stack.slice(1).toReversed()) folder.close();
  }
}

/** Counts files and symlinks, and collects the folders that ripgrep searches. */
function countOrCollect(
  entry: WalkEntry,
  folders: string[],
  path: string,
  ignored: Ignored,
  above: readonly string[],
  search: HiddenSearch,
  found: HiddenFound,
): void {
  const { name } = entry;
  if (entry.isDirectory()) {
    if (isSearched(name, ignored, above, search)) folders.push(name);
  } else if (entry.isFile()) {
    // The rules answer faster than the ignore files.
    const hidden = search.hiddenAs(path + name);
    if (hidden !== undefined && !isIgnored(ignored, above, name, "file")) found[hidden] += 1;
  } else if (entry.isSymbolicLink()) {
    if (!isIgnored(ignored, above, name, "file") && search.isMissed(path + name)) found.links += 1;
  }
}

const isSearched = (name: string, ignored: Ignored, above: readonly string[], search: HiddenSearch): boolean =>
  !search.isLeftOut(name) && !isIgnored(ignored, above, name, "folder");

// The exclusions for ripgrep, as an ignore file that it reads quickly: ripgrep compiles each line separately, so
// consecutive lines are merged where the merged line means the same.

/** Lines in gitignore syntax; the last matching one decides. ripgrep expands braces in them, Git does not. */
export function leftOutText(lines: readonly string[]): string {
  const merged: string[] = [];
  let names: string[] = [];
  let negated = false;
  const flush = (): void => {
    if (names.length > 0)
      merged.push(`${negated ? "!" : ""}**/${names.length > 1 ? `{${names.join(",")}}` : names[0]}`);
    names = [];
  };
  for (const line of lines) {
    if (line === "") continue;
    const [, not = "", name] = /^(!?)\*\*\/([^/{},\\\s]+)$/.exec(line) ?? [];
    if (name === undefined || (not === "!") !== negated) flush();
    negated = not === "!";
    if (name === undefined) merged.push(line);
    else names.push(name);
  }
  flush();
  return merged.map((line) => `${line}\n`).join("");
}

// Collects what all ignore files of a tree say before it is searched, for a ripgrep run with `--no-ignore`. It walks
// everything that is not ignored, so it is only used for the few trees where ripgrep would apply ignore files wrongly.

export interface Surveying {
  /** Folder names from the top of the workspace down to the start of the walk. */
  readonly above: readonly string[];
  /** What applies directly in the start. */
  readonly ignored: Ignored;
  /** Is a folder of this name never searched? */
  isLeftOut(name: string): boolean;
  /** How many ignored folders to collect. */
  readonly foldersMax: number;
  /** Throws to end the walk. */
  onTurn(): "more" | "enough";
}

export interface Survey {
  /** Ignored folders, by path below the start. The list is cut off at `foldersMax`; `isIgnored` covers the others. */
  readonly folders: readonly string[];
  /** `path`: a file below the start, with forward slashes. */
  isIgnored(path: string): boolean;
}

/** The caller keeps `start` open until this resolves. */
export async function surveyIgnored(start: WalkFolder, search: Surveying): Promise<Survey> {
  /** The folders with ignore files of their own. */
  const changes = new Map<string, Ignored>();
  const folders: string[] = [];
  const above = [...search.above];
  const stack: Frame[] = [];
  const slices = timeSlices();
  let isEnough = false;
  const yieldToEventLoop = async (): Promise<void> => {
    await slices.next();
    isEnough = search.onTurn() === "enough";
  };
  const open = async (folder: WalkFolder, path: string, outer: Ignored): Promise<void> => {
    const entries = await folder.entries();
    const frame: Frame = { folder, path, ignored: outer, todo: [] };
    if ("errno" in entries) {
      stack.push(frame);
      return;
    }
    const ignored = path === "" ? outer : await ignoredIn(folder, entries, above.length, outer);
    if (ignored !== outer) changes.set(path, ignored);
    for (const entry of entries) {
      if (slices.isOver()) await yieldToEventLoop();
      if (isEnough) break;
      if (!entry.isDirectory() || search.isLeftOut(entry.name)) continue;
      if (!isIgnored(ignored, above, entry.name, "folder")) frame.todo.push(entry.name);
      else if (folders.length < search.foldersMax) folders.push(path + entry.name);
    }
    stack.push({ ...frame, ignored });
  };
  try {
    await open(start, "", search.ignored);
    for (let frame = stack.at(-1); frame !== undefined; frame = stack.at(-1)) {
      const name = frame.todo.pop();
      if (name === undefined) {
        if (stack.length > 1) {
          frame.folder.close();
          above.pop();
        }
        stack.pop();
        continue;
      }
      const folder = frame.folder.enter(name);
      if ("errno" in folder) continue;
      above.push(name);
      try {
        await open(folder, `${frame.path}${name}/`, frame.ignored);
      } catch (error) {
        folder.close();
        throw error;
      }
      folder.leave();
      if (slices.isOver()) await yieldToEventLoop();
      if (isEnough) break;
    }
  } finally {
    for (const { folder } of stack.slice(1).toReversed()) folder.close();
  }
  return { folders, isIgnored: (path) => isPathIgnored(path.split("/")) };

  function isPathIgnored(names: readonly string[]): boolean {
    const over = [...search.above];
    let { ignored } = search;
    let path = "";
    for (const [at, name] of names.entries()) {
      if (isIgnored(ignored, over, name, at === names.length - 1 ? "file" : "folder")) return true;
      over.push(name);
      path += `${name}/`;
      ignored = changes.get(path) ?? ignored;
    }
    return false;
  }
}
