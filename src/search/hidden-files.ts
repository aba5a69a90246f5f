/**
 * Looks through the names of a tree for files that rules hide and for links, while ripgrep searches it. Both is left out of
 * a search without a word by ripgrep. The walk ends after a number of entries, so it costs a big search next to nothing.
 */

import { setImmediate } from "node:timers/promises";
import type { WalkEntry, WalkFolder } from "../disk/walk.ts";
import { type Ignored, ignoredIn, isIgnored } from "./files-ignored.ts";

export interface HiddenSearch {
  /** The names of the folders from the top of the workspace down to where the walk starts. */
  readonly above: readonly string[];
  readonly ignored: Ignored;
  /** Is a folder of this name never searched? */
  isLeftOut(name: string): boolean;
  /** Do rules hide it? Paths are below the start, with forward slashes. */
  hiddenAs(path: string): "denied" | "asks" | undefined;
  /** Is this a link to something that the search would miss? */
  isMissed(path: string): boolean;
  readonly entriesMax: number;
  readonly signal: AbortSignal;
}

export interface HiddenFound {
  denied: number;
  asks: number;
  links: number;
  /** How many names were looked at. */
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
  const found: HiddenFound = { denied: 0, asks: 0, links: 0, entries: 0, complete: true };
  const above = [...search.above];
  const stack: Frame[] = [];
  let entriesLeft = search.entriesMax;
  let turnMs = performance.now() + turnMsMax;
  const open = async (folder: WalkFolder, path: string, outer: Ignored): Promise<void> => {
    const listed = folder.entries();
    const entries = listed instanceof Promise ? await listed : listed;
    if ("errno" in entries) {
      stack.push({ folder, path, ignored: outer, todo: [] });
      return;
    }
    const inside = ignoredIn(folder, entries, above.length, outer);
    const ignored = inside instanceof Promise ? await inside : inside;
    const looked = entries.length > entriesLeft ? entries.slice(0, entriesLeft) : entries;
    if (looked.length < entries.length) found.complete = false;
    entriesLeft -= looked.length;
    found.entries += looked.length;
    stack.push({ folder, path, ignored, todo: foldersIn(looked, path, ignored, above, search, found) });
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
      if (entriesLeft <= 0) {
        found.complete = false;
        break;
      }
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
      if (performance.now() >= turnMs) {
        await setImmediate();
        turnMs = performance.now() + turnMsMax;
      }
    }
    return found;
  } finally {
    for (const { folder } of stack.slice(1).toReversed()) folder.close();
  }
}

/** Counts what is no folder; answers with the folders that would be searched. */
function foldersIn(
  entries: readonly WalkEntry[],
  path: string,
  ignored: Ignored,
  above: readonly string[],
  search: HiddenSearch,
  found: HiddenFound,
): string[] {
  const folders: string[] = [];
  for (const entry of entries) {
    const { name } = entry;
    if (entry.isDirectory()) {
      if (!search.isLeftOut(name) && !isIgnored(ignored, above, name, "folder")) folders.push(name);
    } else if (entry.isFile()) {
      // Whether it is hidden is known sooner than whether it is ignored.
      const hidden = search.hiddenAs(path + name);
      if (hidden !== undefined && !isIgnored(ignored, above, name, "file")) found[hidden] += 1;
    } else if (entry.isSymbolicLink()) {
      if (!isIgnored(ignored, above, name, "file") && search.isMissed(path + name)) found.links += 1;
    }
  }
  return folders;
}
