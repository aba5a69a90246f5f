/**
 * Looks through the names of a tree for files that rules hide and for links, while ripgrep searches it. Both is left out of
 * a search without a word by ripgrep. They are looked for among a number of entries, so this costs a big search little;
 * behind those only ignore files are looked for that lead the search astray.
 */

import { setImmediate } from "node:timers/promises";
import { timeSlices, type WalkEntry, type WalkFolder } from "../disk/disk.ts";
import { type Ignored, ignoredIn, ignoredInNamed, isIgnored, type Unlike } from "./ignored.ts";

export interface HiddenSearch {
  /** The names of the folders from the top of the workspace down to where the walk starts. */
  readonly above: readonly string[];
  /** By ignore files above where the walk starts. */
  readonly ignored: Ignored;
  /** Is a folder of this name never searched? */
  isLeftOut(name: string): boolean;
  /** Do rules hide it? Paths are below the start, with forward slashes. */
  hiddenAs(path: string): "denied" | "asks" | undefined;
  /** Is this a link to something that the search would miss? */
  isMissed(path: string): boolean;
  /** Would the search go wrong where this is met? Then the walk ends. */
  isWrong(what: Unlike): boolean;
  /** Nothing depends on the rest of the walk any more. */
  isOver(): boolean;
  readonly entriesMax: number;
  readonly signal: AbortSignal;
}

export interface HiddenFound {
  denied: number;
  asks: number;
  links: number;
  /** Was something met by which the search goes wrong? */
  wrong: boolean;
  /** How many names were looked at for these. */
  entries: number;
  /** Was there nothing more to look at? */
  complete: boolean;
}

/** Whoever reads ripgrep's output gets a turn at least so often. */
const turnMsMax = 10;

interface Frame {
  readonly folder: WalkFolder;
  /** Below the start, with its slash; empty for the start. */
  readonly path: string;
  readonly ignored: Ignored;
  readonly todo: string[];
}

/** The caller keeps the start open until this is over. */
export async function findHidden(start: WalkFolder, search: HiddenSearch): Promise<HiddenFound> {
  // The search that goes on meanwhile is started first.
  await setImmediate();
  const found: HiddenFound = { denied: 0, asks: 0, links: 0, wrong: false, entries: 0, complete: true };
  const tell = (what: Unlike): void => {
    found.wrong ||= search.isWrong(what);
  };
  const above = [...search.above];
  const stack: Frame[] = [];
  let entriesLeft = search.entriesMax;
  let listedInAll = 0;
  let turnMs = performance.now() + turnMsMax;
  const turn = async (): Promise<void> => {
    await setImmediate();
    search.signal.throwIfAborted();
    if (listedInAll > search.entriesMax) await start.hurry();
    turnMs = performance.now() + turnMsMax;
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
        ? ignoredInNamed(folder, entries, above, outer, tell).then(({ ignored: all }) => all)
        : ignoredIn(folder, entries, above.length, outer, tell);
    const ignored = inside instanceof Promise ? await inside : inside;
    const looked = entries.length > entriesLeft ? entries.slice(0, entriesLeft) : entries;
    if (looked.length < entries.length) found.complete = false;
    entriesLeft -= looked.length;
    found.entries += looked.length;
    listedInAll += entries.length;
    const todo: string[] = [];
    for (const entry of looked) {
      if (performance.now() >= turnMs) await turn();
      countOrGather(entry, todo, path, ignored, above, search, found);
    }
    for (let at = looked.length; at < entries.length; at += 1) {
      if (performance.now() >= turnMs) await turn();
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
      // What cannot be entered cannot be searched either.
      if ("errno" in folder) continue;
      above.push(name);
      try {
        await open(folder, `${frame.path}${name}/`, frame.ignored);
      } catch (error) {
        folder.close();
        throw error;
      }
      folder.leave();
      if (performance.now() >= turnMs) await turn();
    }
    return found;
  } finally {
    for (const { folder } of stack.slice(1).toReversed()) folder.close();
  }
}

/** Counts what is no folder, and gathers the folders that would be searched. */
function countOrGather(
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
    // Whether it is hidden is known sooner than whether it is ignored.
    const hidden = search.hiddenAs(path + name);
    if (hidden !== undefined && !isIgnored(ignored, above, name, "file")) found[hidden] += 1;
  } else if (entry.isSymbolicLink()) {
    if (!isIgnored(ignored, above, name, "file") && search.isMissed(path + name)) found.links += 1;
  }
}

const isSearched = (name: string, ignored: Ignored, above: readonly string[], search: HiddenSearch): boolean =>
  !search.isLeftOut(name) && !isIgnored(ignored, above, name, "folder");

// What ripgrep shall leave out, as an ignore file that it reads quickly: it compiles every line by itself, so lines that
// follow each other become one where they mean the same together.

/** Lines in the form of gitignore, the last one that fits decides. Braces are alternatives to ripgrep, not to Git. */
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

// All that ignore files say about a tree, found before it is searched: for searches by a program that must not read these
// files by itself. Takes a walk of all that is not ignored, so it is for the few trees where ripgrep would go wrong.

export interface Surveying {
  /** The names of the folders from the top of the workspace down to where the walk starts. */
  readonly above: readonly string[];
  /** What holds right in the start. */
  readonly ignored: Ignored;
  /** Is a folder of this name never searched? */
  isLeftOut(name: string): boolean;
  /** Folders that are remembered. */
  readonly foldersMax: number;
  /** Throws to end the walk. */
  onTurn(): "more" | "enough";
}

export interface Survey {
  /** Ignored folders, by their paths below the start. Only so many: what lies in others is known to be ignored too. */
  readonly folders: readonly string[];
  /** Of the path of a file below the start, with forward slashes. */
  isIgnored(path: string): boolean;
}

/** The caller keeps the start open until this is over. */
export async function surveyIgnored(start: WalkFolder, search: Surveying): Promise<Survey> {
  /** Where something else holds than in the folder above. */
  const changes = new Map<string, Ignored>();
  const folders: string[] = [];
  const above = [...search.above];
  const stack: Frame[] = [];
  const slices = timeSlices();
  let isEnough = false;
  const turn = async (): Promise<void> => {
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
      if (slices.isOver()) await turn();
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
      if (slices.isOver()) await turn();
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
